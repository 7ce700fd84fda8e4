"""The page to print for a legal-aid desk: the person's facts, the articles, their dates, the limits.

A server cannot set type. What fits on one page is shared out by counting lines of so few letters as hardly
ever stand on one, and the style sheet cuts each text at its lines once more when printed (`--pd-lines`).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

import streamlit as st

from rag.corpus.card import CorpusCard
from rag.corpus.citation import citation
from rag.corpus.export import ArticleExtract
from rag.corpus.facts import ArticleFacts
from rag.engine.engine import Engine
from rag.engine.receipt import short_code
from rag.engine.result import MAX_CHARS
from rag.types import Article
from rag.ui import layout
from rag.ui.components.article_card import LIMITS, NO_FACTS, fact_lines, look_for
from rag.ui.components.article_history import label, law_as_of, text_date
from rag.ui.components.entries import heading
from rag.ui.components.permalink import link, present
from rag.ui.components.question_form import current_day
from rag.ui.components.share import limits
from rag.ui.html import Html, bullets, tag, web_address
from rag.ui.i18n import N_, Interface
from rag.ui.navigation import absolute, address, go, parse_article_ids

PAGE = 58  # lines of 13 points on A4 within margins of 10 mm: 785 points, and two lines to spare
FRAME = 10  # of them: the title, four headings, and the border around what happened
LINE = 95  # letters on a line of ten points
SMALL = 112  # on one of 8.5 points
GAP = 0.5  # of a line, above each article
LEAST = 2  # lines of an article, where there is room for as many of each
WRITTEN = 4  # lines of what happened at least, for a pen too
SHARE = 0.6  # of what is left, to the articles; the rest is the person's
MARK = " …"


@dataclass(frozen=True, slots=True)
class PageSpace:
    """The remaining lines of a page."""

    facts: int
    article: int  # for each, at most


def room(heads: Sequence[str], texts: Sequence[str], small: Sequence[str]) -> PageSpace:
    """Share one page out among the heads and texts of the articles, and the lines in `small` letters below.

    A short text leaves its lines to the others, and then to what happened. What is shared does not hang on
    what the person writes, who may print before it has been sent.
    """
    left: float = PAGE - FRAME - sum(lines(text, SMALL) for text in small)
    left -= sum(lines(head) + GAP for head in heads)
    needed = [lines(text) for text in texts]
    each = LEAST if LEAST * len(texts) + WRITTEN <= left else 1
    while each < max(needed, default=0) and sum(min(need, each + 1) for need in needed) <= SHARE * left:
        each += 1
    taken = sum(min(need, each) for need in needed)
    return PageSpace(max(WRITTEN, int(left - taken)), each)


def lines(text: str, wide: int = LINE) -> int:
    """Return how many lines of so many letters a text takes; an empty one takes one."""
    return sum(max(1, -(-_width(line) // wide)) for line in text.splitlines() or [""])


def truncate_lines(text: str, count: int, wide: int = LINE) -> str:
    """Return a text cut to so many lines, with an ellipsis."""
    if lines(text, wide) <= count:
        return text
    shown_lines: list[str] = []
    for line in text.splitlines():
        left = count - sum(lines(each, wide) for each in shown_lines)
        if lines(line, wide) > left:
            shown_lines += [_head(line, left * wide - _width(MARK))] if left else []
            break
        shown_lines.append(line)
    return "\n".join(shown_lines).rstrip() + MARK


def _head(line: str, wide: int) -> str:
    taken = 0
    for at, letter in enumerate(line):
        taken += _width(letter)
        if taken > wide:
            space = line.rfind(" ", 0, at + 1)
            return line[: space if space > at // 2 else at]  # hardly a space: Chinese
    return line


def _width(text: str) -> int:
    """Return how wide a text is, in letters of Latin script."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


MOST = 10  # articles; more do not fit on a page
CONTACTS = 4

_WHY = N_(
    "A page to bring to a lawyer, a legal-aid desk or an association: what happened, and the articles found."
)
_NOTHING = N_(
    "This page prints articles that you chose. Ask a question first: the way here is below the articles."
)
_FACTS = N_("What happened, in a few lines: dates, amounts, what was signed. You may leave this empty.")
_PRIVATE = N_("What you write stays in this window: it is in no address and is not recorded.")
_CUT = N_("Where “…” stands, a text was cut so that all fits on one page.")
_HINT = N_("In the window that opens you can also save it as a PDF.")


def render(engine: Engine, t: Interface) -> None:
    """Draw the page under the masthead."""
    ids = parse_article_ids(st.query_params.get("articles"))
    articles, gone = present(ids, engine.law)
    intro = [tag("p", t(_WHY))]
    if not articles:
        intro = [tag("p", t(_NOTHING)), tag("p", go(t("Ask a question"), address()))]
    elif len(articles) > MOST:
        intro.append(tag("p", t("Only the first {count} articles fit on the page.", count=MOST)))
    if gone:
        lost = t.n(
            "One article of the link is not in this law.",
            "{count} articles of the link are not in this law.",
            len(gone),
        )
        intro.append(tag("p", lost))
    head = heading(t("One-page sheet"), f"sheet {ids}")
    st.html(tag("div", head, *intro, class_="pd-found pd-screen", role="status"))
    if articles:
        facts = _facts(t)
        button = tag("button", t("Print"), type="button", class_="pd-copy pd-print", data_print="")
        st.html(tag("p", button, " ", t(_HINT), class_="pd-hint pd-screen"))
        st.html(_sheet(engine, articles[:MOST], facts, t))
    layout.notice(t)
    layout.footer(engine, t)


def _facts(t: Interface) -> str:
    """Draw the box of the facts; it begins with the question of this session, and is kept as long as it."""
    if "facts" not in st.session_state:  # Streamlit forgets the boxes of a page that is left
        st.session_state["facts"] = st.session_state.get("facts_kept", st.session_state.get("asked") or "")
    facts: str = st.text_area(t("The facts, in your words"), key="facts", height=150, placeholder=t(_FACTS))
    st.session_state["facts_kept"] = facts
    st.html(tag("p", t(_PRIVATE), class_="pd-hint pd-screen"))
    return facts[: 2 * MAX_CHARS]  # more than the page holds, so that what is cut is marked


def _sheet(engine: Engine, articles: Sequence[Article], facts: str, t: Interface) -> Html:
    card = engine.card
    day = current_day(engine)
    extract = ArticleExtract(card, engine.info.name, engine.info.version, tuple(articles), day=day)
    to_know = (*limits(extract, t), *_origin(engine, articles, t), t(_CUT))
    contacts = (_dotted(c.name, c.phone, c.url, c.note) for c in card.contacts[:CONTACTS])
    helpers = [truncate_lines(contact, 2, SMALL) for contact in contacts]
    notes = [_note(article, card, day, t) for article in articles]
    heads = [f"{citation(article, card)} {note}" for article, note in zip(articles, notes, strict=True)]
    texts = [_text(article, engine.facts.get(article.id, NO_FACTS), card, t) for article in articles]
    fits = room(heads, texts, (*to_know, *helpers))
    about = tag("strong", "Pandect"), " · ", card.title, " · ", t.day(date.today())
    happened = truncate_lines(facts, fits.facts)
    box = tag("div", happened, class_="pd-facts", style=f"--pd-lines:{fits.facts}")
    people = (tag("h3", t("Talk to a person")), bullets(helpers, lang=card.language)) if helpers else ()
    return tag(
        "section",
        tag("p", *about, class_="pd-sheet-head"),
        tag("h3", t("What happened")),
        tag("div", box, class_="pd-happened"),
        tag("h3", t("The articles")),
        *(_article(*each, fits.article, card) for each in zip(articles, texts, notes, strict=True)),
        tag("h3", t("What to know")),
        bullets(to_know),
        *people,
        class_="pd-sheet",
        aria_label=t("The sheet as it is printed"),
    )


def _text(article: Article, facts: ArticleFacts, card: CorpusCard, t: Interface) -> str:
    """Return the time limits of an article, in short, and its text; what has no room is cut at the end."""
    said = fact_lines(article, replace(facts, time_limits=(), amounts=(), note=""), card, t)
    limits = " · ".join(f"{each.within} — {each.what}" for each in facts.shown.time_limits[:LIMITS])
    first = t.sentences(t("Time limit:"), limits) if limits else ""
    return _dotted(*said, first, " ".join(article.text.split()))


def _note(article: Article, card: CorpusCard, day: date | None, t: Interface) -> str:
    page, own = card.official_page(article.code, article.url)
    return _dotted(
        label(article, day, t),
        t("in force since {day}", day=t.day(article.valid_from)) if article.valid_from else "",
        t("until {day}", day=t.day(article.valid_to)) if article.valid_to else "",
        text_date(article.code, card, t),
        web_address(page),
        look_for(article, t) if page and not own else "",
    )


def _article(article: Article, text: str, note: str, most: int, card: CorpusCard) -> Html:
    lang = article.language or card.language
    return tag(
        "article",
        tag("h4", citation(article, card), lang=lang),
        tag("p", truncate_lines(text, most), lang=lang, style=f"--pd-lines:{most}"),
        tag("p", note, class_="pd-source") if note else "",
    )


def _origin(engine: Engine, articles: Sequence[Article], t: Interface) -> Iterator[str]:
    """Yield where the texts come from and where they can be seen again."""
    card, info = engine.card, engine.info
    dated = law_as_of(card.law_dates(article.code for article in articles), t)
    source = t("Source: {source}", source=layout.source_line(card)) if card.source else ""
    index = t("Index: {name}, version {version}", name=info.name, version=info.version)
    code = t("code {code}", code=short_code(info.version, articles))
    yield _dotted(dated, source, index, code)
    yield absolute(link([article.id for article in articles], info.version))


def _dotted(*parts: str | None) -> str:
    return " · ".join(filter(None, parts))
