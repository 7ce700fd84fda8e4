"""One article as a card: what it is, the passage that fits, why it is there, what stands around it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from itertools import chain

import streamlit as st

from rag.corpus.asker_situations import region_name
from rag.corpus.card import CorpusCard
from rag.corpus.citation import citation
from rag.corpus.contents import Law, Mention, Need
from rag.corpus.facts import ArticleFacts, TimeLimit
from rag.engine.result import Explanation
from rag.text import Analyser
from rag.text.highlight import best_passage, segments
from rag.types import Article, Shown, Why
from rag.ui.components.article_history import label, text_date
from rag.ui.components.entries import article_entry, link_to, mention_entries, need_entry, title
from rag.ui.components.explanation import panel, reasons
from rag.ui.components.question_form import KEY, LAW_TYPES
from rag.ui.html import Html, bullets, copy_button, folded, join, link, paragraphs, tag, web_address
from rag.ui.i18n import MONTHS, N_, Interface
from rag.ui.layout import source_line
from rag.ui.navigation import LONGEST, address, go, listed

MOST = 6  # cross references of either way told here; the page "Browse" has more
CACHED_NEIGHBOURHOODS = 512  # neighbourhoods that stay at hand: some megabytes of HTML
READ_WITH = 3  # articles to be read beside one that are shown on its card
# what a list of references is called, those shown, and how many there are
_References = tuple[tuple[str, tuple[Mention, ...], int], ...]


def neighbours(
    article: Article, law: Law, t: Interface, card: CorpusCard, shown: Collection[str] = ()
) -> Html:
    """Return the neighbourhood of an article of a card, folded; nothing for one that is not in the corpus."""
    if article.id not in law.articles:
        return Html()
    previous, after = law.previous(article.id), law.after(article.id)
    adjacent = tuple(each for each in (previous, after) if each is not None)
    to, by = law.refers_to(article.id), law.referred_by(article.id)
    lists = ((t("It refers to"), to[:MOST], len(to)), (t("Referred to by"), by.nearest(MOST), len(by)))
    near = (
        each.id for each in chain(adjacent, (mention.article for _, found, _ in lists for mention in found))
    )
    held = frozenset(i for i in near if i in shown)
    here = st.query_params.get("lang"), st.query_params.get(KEY)
    if sum(len(each or "") for each in here) > LONGEST:  # somebody typed it: nothing that long is kept
        return _around.__wrapped__(article, adjacent, lists, t, card, here, held)
    return _around(article, adjacent, lists, t, card, here, held)


def read_with(
    article: Article, law: Law, t: Interface, card: CorpusCard, most: int, *, fold: bool = False
) -> Html:
    """Return what an article must be read with, as a list; nothing where no text says so.

    `fold`: its numbers alone stand open, as on a card.
    """
    found = law.read_with(article.id) if article.id in law.articles else ()
    if not found:
        return Html()
    locale = st.query_params.get("lang")
    made = _read_with.__wrapped__ if len(locale or "") > LONGEST else _read_with
    return made(article, found[:most], len(found), t, card, locale, fold)


@lru_cache(maxsize=CACHED_NEIGHBOURHOODS)
def _read_with(
    article: Article,
    found: tuple[tuple[Need, Mention], ...],
    total: int,
    t: Interface,
    card: CorpusCard,
    locale: str | None,
    fold: bool,
) -> Html:
    name = t("This article must be read with")
    entries = [need_entry(need, mention, t, card, article.code) for need, mention in found]
    items = tag("ul", *entries, role="list")
    rest = _rest(article, name, total - len(found), t)
    if not fold:
        return tag("section", tag("h3", name), items, rest, class_="pd-with")
    numbers = t.listed(title(mention.article, t, card) for _, mention in found)
    return folded(t("To be read with: {articles}", articles=numbers), items, rest, class_="pd-more pd-with")


def _rest(article: Article, name: str, more: int, t: Interface) -> Html:
    """Return a link to where the rest of a list stands."""
    if more < 1:
        return Html()
    text = t.n("and one more", "and {count} more", more)
    return tag("p", link_to(article, text, aria_label=f"{name} {text}"), class_="pd-count")


@lru_cache(maxsize=CACHED_NEIGHBOURHOODS)
def _around(
    article: Article,
    adjacent: tuple[Article, ...],
    lists: _References,
    t: Interface,
    card: CorpusCard,
    here: tuple[str | None, str | None],
    held: frozenset[str],
) -> Html:
    """Return what is folded away; articles and words alone, so that keeping it keeps no index open.

    `here` is the locale, and what was said of the asker, of the address: every link repeats them. The
    articles in `held` stand on the page already.
    """

    def add(other: Article) -> Html:
        if other.id in held:
            said = t("Already in your list")
            return tag("span", said, class_="pd-added", tabindex="-1", data_added=other.id)
        to = address("", add=listed([other.id]), **{KEY: here[1]})  # the same question, one article more
        label = t("Add {article}", article=title(other, t, card))
        return go(t("Add to the list"), to, aria_label=label, class_="pd-add")

    beside = (article_entry(each, t, card, more=add(each)) for each in adjacent)
    head = tag("h4", t("Before and after it in the code"))
    parts = [tag("div", head, tag("ul", *beside, role="list"))] if adjacent else []
    for name, mentions, total in lists:
        if mentions:
            entries = tag("ul", *mention_entries(mentions, t, card, article.code, add), role="list")
            parts.append(tag("div", tag("h4", name), entries, _rest(article, name, total - len(mentions), t)))
    whole = tag("p", link_to(article, t("Read it in its code")))
    return folded(t("Around it in the code"), *parts, whole, class_="pd-more pd-around")


STEPS = 2  # headings of an article's place that are told: the innermost; "Browse" has them all
MAX_UNFOLDED_LENGTH = 420  # characters: a text up to here is shown at once, without a click
PASSAGE = 320  # characters of a longer one
BRIEF_LENGTH, BRIEF_PASSAGE = 240, 200  # the same, of the cards after the first
# What of a card no question changes stays at hand, for so many articles: some megabytes of HTML, and text
# alone, so that keeping it keeps no index open.
CACHED_CARDS = 512


@dataclass(frozen=True, slots=True)
class View:
    """What every card of one page shares."""

    card: CorpusCard
    analyser: Analyser
    t: Interface
    day: date | None = None  # whose law was asked for
    law: Law | None = None  # what stands around an article; None: not told
    ranked: bool = True  # by a question; articles of a link have neither rank nor reason
    facts: Mapping[str, ArticleFacts] = field(default_factory=dict)  # of article ids: `Engine.facts`
    today: date | None = None  # None: the day it is
    listed: frozenset[str] = frozenset()  # article ids that stand on the page


def card_html(
    shown: Shown,
    view: View,
    explanation: Explanation | None = None,
    *,
    marked: bool = False,
    brief: bool = False,
) -> Html:
    """Return one article as HTML in which everything that came with the corpus is escaped.

    What a person needs stands open: number, text, what it sets, place, the official text. Why it is there and
    what surrounds it are folded. `marked`: it very probably answers. `brief`: less of its text stands open.
    """
    article, t, card = shown.article, view.t, view.card
    law = article.language or card.language  # a screen reader reads the law in its own language
    heading = f"pd-{shown.rank}"
    number = tag("span", title(article, t, card), class_="pd-number")
    titled = tag("h3", number, " ", tag("span", article.code, class_="pd-code", lang=law), id=heading)
    likely = tag("span", t("very probably answers"), class_="pd-badge pd-likely") if marked else ""
    first = shown.rank == 1 or not view.ranked  # what all cards of a list have is said at its first
    marks = (tag("span", mark, class_="pd-badge") for mark in badges(article, card, view.day, t, kind=first))
    rank = rank_html(shown.rank, t) if view.ranked else ""
    return tag(
        "article",
        tag("header", rank, titled, likely, *marks),
        tag("div", _passage(shown, view, brief=brief), lang=law) if article.text else "",
        facts_html(article, view.facts.get(article.id, NO_FACTS), card, t, 1 if brief else 2),
        _whole(article, card, t, brief=brief) if article.text else unsummarised(article, card, t),
        read_with(article, view.law, t, card, READ_WITH, fold=True) if view.law is not None else "",
        _reasons(shown, view, explanation),
        neighbours(article, view.law, t, card, view.listed) if view.law is not None else "",
        tag("div", _path(article, t), lang=law) if article.headings else "",
        foot(article, card, t, view.today or date.today()),
        class_="pd-card",
        aria_labelledby=heading,
    )


def _reasons(shown: Shown, view: View, explanation: Explanation | None) -> Html:
    """Return why an article is there, folded; nothing where no question ranked it."""
    if not view.ranked:
        return Html()
    t, law = view.t, shown.article.language or view.card.language
    lines = reasons(shown, view.analyser, t, view.card, ranks=explanation is None)
    by_machine = view.card.question_origin == "machine"
    more = panel(explanation, t, law, by_machine=by_machine) if explanation is not None else ""
    return folded(t("Why this article"), tag("div", lines, class_="pd-why"), more, class_="pd-more")


def row_html(shown: Shown, view: View, explanation: Explanation | None = None) -> Html:
    """Return one article as a line that opens to its card: for those that come after the likely ones."""
    article, t, card = shown.article, view.t, view.card
    law = article.language or card.language
    subject = article.text or (article.headings[-1] if article.headings else "")
    line = tag("span", _opening(subject), class_="pd-row-text", lang=law)
    name = tag("strong", title(article, t, card))
    code = tag("span", article.code, class_="pd-code", lang=law)
    summary = tag("summary", rank_html(shown.rank, t), " ", name, " ", code, line)
    return tag(
        "details", summary, card_html(shown, view, explanation), class_="pd-row", id=f"pd-row-{shown.rank}"
    )


_OPENING = 110  # characters


def _opening(text: str) -> str:
    """Return how a text begins, in one line: its first sentence, or what of it fits."""
    first = " ".join(text.split())
    if len(first) <= _OPENING:
        return first
    blank = first.rfind(" ", 0, _OPENING)
    return first[: blank if blank > 0 else _OPENING].rstrip(" ,;:") + " …"


def rank_html(rank: int, t: Interface) -> Html:
    """Return the place of an article in a list."""
    return tag("span", tag("span", t("Rank"), " ", class_="pd-hidden"), str(rank), class_="pd-rank")


def badges(
    article: Article, card: CorpusCard, day: date | None, t: Interface, *, kind: bool = True
) -> Iterator[str]:
    """Yield what marks an article: not in force on the day asked for, of a region, and a summary (`kind`)."""
    if outdated := label(article, day, t):
        yield outdated
    if article.region:
        yield region_name(article.region, t.language)
    elif article.law_type in LAW_TYPES:
        yield t(LAW_TYPES[article.law_type])
    if kind and _is_summary(article, card):
        yield t("unofficial summary")


def _is_summary(article: Article, card: CorpusCard) -> bool:
    return card.text_kind == "summary" and bool(article.text)


@lru_cache(maxsize=CACHED_CARDS)
def _path(article: Article, t: Interface) -> Html:
    if not article.headings:
        return Html()
    # no landmark: ten of one name would be in the way of who goes from landmark to landmark
    headings = [heading.replace("§ ", "§\u00a0") for heading in article.headings]  # no line ends in "§"
    steps = [tag("li", heading) for heading in headings[-STEPS:]]
    if len(steps) < len(headings):
        steps.insert(0, tag("li", "…", title=" › ".join(headings)))
    return tag("div", tag("ol", *steps, role="list", aria_label=t("Place in the law")), class_="pd-path")


def _passage(shown: Shown, view: View, *, brief: bool) -> Html:
    text, why = shown.article.text, shown.why
    start, end = 0, len(text)
    if len(text) > (BRIEF_LENGTH if brief else MAX_UNFOLDED_LENGTH):
        most = BRIEF_PASSAGE if brief else PASSAGE
        start, end = best_passage(text, why.terms | why.bridged, view.analyser, most)
    marked = _marked(text[start:end].strip(), why, view.analyser)
    return tag("p", "… " * (start > 0), *marked, " …" * (end < len(text)), class_="pd-passage")


def _marked(text: str, why: Why, analyser: Analyser) -> Iterator[Html | str]:
    """Yield the text with the question's own words marked, and in another way those the law has for them."""
    for part, own in segments(text, why.terms, analyser):
        if own:
            yield tag("mark", part)
            continue
        for piece, related in segments(part, why.bridged, analyser):
            yield tag("mark", piece, class_="pd-bridged") if related else piece


@lru_cache(maxsize=CACHED_CARDS)
def _whole(article: Article, card: CorpusCard, t: Interface, *, brief: bool) -> Html:
    if len(article.text) <= (BRIEF_LENGTH if brief else MAX_UNFOLDED_LENGTH):
        return Html()
    label = t("Read the whole summary") if card.text_kind == "summary" else t("Read the whole article")
    text = tag("div", paragraphs(article.text), lang=article.language or card.language)
    return folded(label, text, class_="pd-whole")


@lru_cache(maxsize=CACHED_CARDS)
def foot(article: Article, card: CorpusCard, t: Interface, today: date) -> Html:
    """Return the ways on (official text, citation) and the line that says where the text comes from."""
    cite = citation(article, card)
    # what is pasted elsewhere must still say of when it is, and whether it is a summary
    notes = [t("unofficial summary")] if _is_summary(article, card) else []
    day = card.dated(article.code)
    if day is not None:
        notes.append(t("text: {month} {year}", month=t(MONTHS[day.month - 1]), year=day.year))
    if card.source and card.text_kind == "summary":
        notes.append(t("source: {source}", source=source_line(card)))
    pasted = t.with_note(cite, t.listed(notes)) if notes else cite
    copy = copy_button(t("Copy the citation"), pasted, t("Copied"))
    found = official_link(article, card, t) if article.text else ""  # else it stands above, and alone
    dot = tag("span", " · ", class_="pd-dotted") if found else ""
    ways = tag("p", found, dot, tag("span", cite, class_="pd-cite"), " ", copy, class_="pd-ways")
    return tag("footer", ways, tag("p", " · ".join(_facts(article, card, t, today)), class_="pd-source"))


def official_link(article: Article, card: CorpusCard, t: Interface, label: str = "") -> Html:
    """Return the link to the official text; to the page of the whole code where the article has none."""
    page, own = card.official_page(article.code, article.url)
    if not web_address(page):
        return Html()
    made = link(page, label or t("Official text"))
    return made if own else join(made, " ", tag("span", look_for(article, t), class_="pd-look"))


def look_for(article: Article, t: Interface) -> str:
    """Return what to do on the page of a whole code to find an article."""
    return t("page of the whole text: look for “{number}”", number=article.article_no)


_UNSUMMARISED = N_("Nobody has summarised this article yet. Read the official text.")


def unsummarised(article: Article, card: CorpusCard, t: Interface) -> Html:
    """Return what stands in place of a text that is not there, with the way to the official one."""
    way = official_link(article, card, t, t("Read the official text"))
    return tag("div", tag("p", t(_UNSUMMARISED)), tag("p", way) if way else "", class_="pd-untold")


NO_FACTS = ArticleFacts()
_BLANK = re.compile(r"(?<=\d) (?=[\d€%])")  # within a number and its unit, at which no line shall end
LIMITS = 3  # time limits, and amounts, of an article that are told at once
_OUTDATED = N_("This article has changed since the summary was written. Read the official text.")


def facts_html(
    article: Article, facts: ArticleFacts, card: CorpusCard, t: Interface, most: int | None = None
) -> Html:
    """Return what an article sets: its time limits, then its amounts, then what must be known of its text.

    `most` of the first kind that it has stand open on a card, and all else is folded; None: the page of the
    article, where `LIMITS` of each do.
    """
    law = article.language or card.language
    limits = [limit_html(limit, t, law) for limit in facts.shown.time_limits]
    values = [(each.what, _BLANK.sub("\u00a0", each.value)) for each in facts.shown.amounts]
    amounts = [tag("span", f"{what} — ", tag("strong", value), lang=law) for what, value in values]
    notes = [join(t("To know:"), t.how.space, tag("span", facts.note, lang=law))] if facts.note else []
    behind: list[Html] = []
    if most is not None and limits:
        behind, amounts, notes = [*limits[most:], *amounts, *notes], [], []
        limits = limits[:most]
    elif most is not None and amounts:
        behind, notes = [*amounts[most:], *notes], []
        amounts = amounts[:most]
    parts = [tag("p", t(_OUTDATED), class_="pd-outdated")] if facts.outdated else []
    if limits:
        rest = _more(limits[LIMITS:] or behind, t)
        parts.append(tag("div", bullets(limits[:LIMITS]), rest, class_="pd-limits"))
    if amounts:
        first = join(*[part for each in amounts[:LIMITS] for part in (" · ", each)][1:])
        told = tag("p", t("Amounts and thresholds:"), t.how.space, first)
        parts.append(tag("div", told, _more(amounts[LIMITS:] or behind, t), class_="pd-amounts"))
    return join(*parts, *(tag("p", note, class_="pd-amounts") for note in notes))


def _more(rest: Sequence[Html], t: Interface) -> Html:
    """Return what of a list is not told at once, folded."""
    label = t.n("and one more", "and {count} more", len(rest))
    return folded(label, bullets(rest), class_="pd-more") if rest else Html()


def limit_html(limit: TimeLimit, t: Interface, law: str) -> Html:
    """Return a time limit as HTML, its words in the law's language."""
    return join(*_limit(limit, t, lambda text, name="span": tag(name, text, lang=law)))


def _limit(limit: TimeLimit, t: Interface, say: Callable[..., str]) -> Iterator[str]:
    """Yield the parts of "Time limit: 2 months — to contest (from: the letter). Otherwise: too late."."""
    space = t.how.space
    yield from (t("Time limit:"), space, say(limit.within, "strong"), " — ", say(limit.what))
    if limit.start:
        opening, after = t.how.brackets
        yield from (opening, t("from:"), space, say(limit.start), after)
    if limit.otherwise:
        yield from (". ", t("Otherwise:"), space, say(limit.otherwise))


def fact_lines(article: Article, facts: ArticleFacts, card: CorpusCard, t: Interface) -> Iterator[str]:
    """Yield as plain text what `card_html` says of an article beside its text and its place."""
    if not article.text:
        yield t(_UNSUMMARISED)
    if facts.outdated:
        yield t(_OUTDATED)
    for limit in facts.shown.time_limits:
        yield "".join(_limit(limit, t, lambda text, name="": text))
    if facts.shown.amounts:
        amounts = " · ".join(f"{each.what} — {each.value}" for each in facts.shown.amounts)
        yield t.sentences(t("Amounts and thresholds:"), amounts)
    if facts.note:
        yield t.sentences(t("To know:"), facts.note)


def _facts(article: Article, card: CorpusCard, t: Interface, today: date) -> Iterator[str]:
    """Yield what the text is and of when, from when to when it is in force, and where it comes from."""
    if _is_summary(article, card):
        yield t("unofficial summary")
    if dated := text_date(article.code, card, t, today):
        yield dated
    if article.valid_from is not None:
        yield t("in force since {day}", day=t.day(article.valid_from))
    if article.valid_to is not None:
        yield t("until {day}", day=t.day(article.valid_to))
    if card.source:
        yield t("Source: {source}", source=source_line(card))
    if card.text_kind == "summary":
        yield t("only the official text counts")


@dataclass(frozen=True, slots=True)
class CitedArticles:
    """The articles on the page, by id."""

    shown: Mapping[str, Shown]
    card: CorpusCard
    t: Interface
    facts: Mapping[str, ArticleFacts] = field(default_factory=dict)  # of these articles alone

    @classmethod
    def of(
        cls,
        shown: Sequence[Shown],
        card: CorpusCard,
        t: Interface,
        facts: Mapping[str, ArticleFacts] | None = None,
    ) -> CitedArticles:
        """Take the articles as they are shown, and of all facts those of these articles."""
        by_id = {each.article.id: each for each in shown}
        return cls(by_id, card, t, {id_: facts[id_] for id_ in by_id if id_ in facts} if facts else {})

    @property
    def days(self) -> tuple[date, ...]:
        """The first and last day of their texts: `CorpusCard.law_dates`."""
        return self.card.law_dates(each.article.code for each in self.shown.values())

    @property
    def summary(self) -> bool:
        """Whether the texts are summaries, which are never quoted as law."""
        return self.card.text_kind == "summary"

    def name(self, article_id: str) -> str:
        """Return what an article is called here; with its code where there are several."""
        article = self.shown[article_id].article
        called = title(article, self.t, self.card)
        several = len({each.article.code for each in self.shown.values()}) > 1
        return self.t.with_note(called, article.code) if several else called

    def link(self, article_id: str) -> Html:
        """Return a link to the article's card."""
        return tag("a", self.name(article_id), href=f"#pd-{self.shown[article_id].rank}")

    def links(self, article_ids: Sequence[str]) -> Html:
        """Return links to the cards of those that are shown."""
        made = [self.link(each) for each in article_ids if each in self.shown]
        return join(*[part for link in made for part in (self.t.how.comma, link)][1:])

    def law(
        self,
        article_id: str,
        spans: Sequence[Place],
        brought: Sequence[Place] = (),
        marks: Sequence[Mark] = (),
    ) -> Html:
        """Return places of an article's text under a link to its card; nothing of one that is not shown.

        Where text between two places is left out, that is marked; what came along to be understood is told
        apart. A summary is labelled: it is not the law's own wording.
        """
        if article_id not in self.shown:
            return Html()
        article, t = self.shown[article_id].article, self.t
        label = join(" ", tag("span", t("summary"), class_="pd-badge")) if self.summary else ""
        pieces: list[str] = []
        for number, (start, end) in enumerate(spans):
            if number:
                between = article.text[spans[number - 1][1] : start]
                pieces.append("\n[…]\n" if "\n" in between else " […] ")
            pieces += _told(article.text, (start, end), brought, marks)
        spoken = article.language or self.card.language  # a screen reader reads the law in its own language
        words = tag("span" if self.summary else "q", *pieces, class_="pd-told", lang=spoken)
        head = tag("p", self.link(article_id), label)
        return tag("div", head, tag("blockquote", words), class_="pd-quote")


Place = tuple[int, int]  # start and end, in characters of an article's text
Mark = tuple[int, int, str, str]  # of a word: start, end, class, tooltip


def _told(text: str, span: Place, brought: Sequence[Place], marks: Sequence[Mark]) -> Iterator[str]:
    """Yield a part of a text, with what came along told apart."""
    at, until = span
    for start, end in sorted(brought):
        if at <= start < end <= until:
            yield from _words(text, at, start, marks)
            yield tag("span", *_words(text, start, end, marks), class_="pd-brought")
            at = end
    yield from _words(text, at, until, marks)


def _words(text: str, at: int, until: int, marks: Sequence[Mark]) -> Iterator[str]:
    """Yield a part of a text with its marked words."""
    for start, end, kind, tooltip in sorted(marks):
        if at <= start < end <= until:  # never twice
            yield text[at:start]
            yield tag("mark", text[start:end], class_=kind or None, title=tooltip or None)
            at = end
    yield text[at:until]
