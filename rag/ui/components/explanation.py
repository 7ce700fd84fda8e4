"""Why an article is there, in plain words; and small tables behind that, folded until they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from rag.corpus.card import CorpusCard
from rag.engine.result import Explanation
from rag.text import Analyser
from rag.types import Article, Shown, Why, WordShare
from rag.ui.components.article_history import predecessor_note
from rag.ui.components.entries import missing_number
from rag.ui.html import Html, bullets, folded, join, tag
from rag.ui.i18n import N_, Interface

# What the systems behind a hybrid do, as a person would say it; a system of another name is called by it.
LISTS: Mapping[str, str] = {
    "bm25": N_("by words"),
    "bm25+questions": N_("by words"),
    "keyword": N_("by words"),
    "dense": N_("by meaning"),
    "meaning": N_("by meaning"),
    "nearest": N_("by similar questions"),
    "beside": N_("by an article under the same headings"),
}
MAX_SIMILAR = 2
MAX_WORDS = 12


def reasons(shown: Shown, analyser: Analyser, t: Interface, card: CorpusCard, *, ranks: bool = True) -> Html:
    """Return the reasons, the strongest first; `ranks` adds the article's place in each ranking."""
    lines = list(_lines(shown, analyser, t, card, ranks=ranks))
    return bullets(lines or [t("Its meaning is close to that of your question.")])


def _lines(
    shown: Shown, analyser: Analyser, t: Interface, card: CorpusCard, *, ranks: bool
) -> Iterator[Html]:
    why: Why = shown.why
    law = shown.article.language or card.language  # of the questions annotated for it too
    if why.moved_from is not None:
        yield join(predecessor_note(missing_number(why.moved_from, shown.article.code, card), t))
    elif why.known:
        yield join(t("Your question names it by its number."))
    common = matched_words(shown.article, why.terms, analyser)
    if common:
        quoted = t.listed(t("“{word}”", word=word) for word in common)
        yield join(t("Words in common with your question: {words}.", words=quoted))
    similar = why.asked[:MAX_SIMILAR]
    if similar:
        heading = t.n(
            "A similar question that cites this article:",
            "Similar questions that cite this article:",
            len(similar),
        )
        if card.question_origin == "machine":
            heading = t.n(
                "A similar question, written by a machine, that cites this article:",
                "Similar questions, written by a machine, that cite this article:",
                len(similar),
            )
        yield join(heading, *(join(" ", tag("q", question, lang=law)) for question in similar))
    if ranks and why.ranks:
        ordered = sorted(why.ranks.items())
        places = (t("no. {rank} {by}", rank=rank, by=_list_name(name, t)) for name, rank in ordered)
        yield join(t("Its place in each ranking: {places}.", places=t.listed(places)))


def _list_name(system: str, t: Interface) -> str:
    return t(LISTS[system]) if system in LISTS else system


def matched_words(article: Article, terms: frozenset[str], analyser: Analyser) -> list[str]:
    """Return the article's own words behind the terms, in order of appearance, one a term.

    Numbers tell little, and are left out where there are words.
    """
    words: dict[str, str] = {}
    for text in (article.text, *article.headings, article.code):
        for token in analyser.tokens(text):
            if token.term in terms:
                words.setdefault(token.term, text[token.start : token.end].lower())
    found = list(dict.fromkeys(words.values()))
    return ([word for word in found if not word.isdigit()] or found)[:MAX_WORDS]


FIELDS: Mapping[str, str] = {
    "text": N_("text"),
    "headings": N_("headings"),
    "code": N_("name of the code"),
    "questions": N_("its questions"),
    "answers": N_("answers to its questions"),
    "preceding": N_("the article before"),
}
REASONS: Mapping[str, str] = {  # rag.ltr.features.GROUPS
    "words": N_("the words of your question"),
    "meaning": N_("the meaning of your question"),
    "questions": N_("similar questions, and their articles"),
    "place": N_("the articles around it in the code"),
    "references": N_("the articles that it refers to, or that refer to it"),
    "both": N_("its place in both rankings"),
    "prior": N_("how often questions cite it"),
    "bridge": N_("words of the law that stand for yours"),
    "general": N_("the question as a whole, and the length of the article"),
}
CELLS = 2048  # that stay at hand: a share and its bar come back in every table
_NAMED, _HOLDS, _ENDS = Html('<tr><th scope="row">'), Html("</th>"), Html("</tr>")
MAX_ROWS = 8  # words of a table; what the others add is one row more


def panel(explanation: Explanation, t: Interface, law: str, *, by_machine: bool = False) -> Html:
    """Return what put the article where it is, folded; nothing when there is nothing to tell.

    `by_machine` tells that a machine wrote the annotated questions.
    """
    parts = [part for tell in (_reasons, _places, _words, _meaning) for part in tell(explanation, t)]
    parts += _alike(explanation, t, law, by_machine=by_machine)
    if not parts:
        return Html()
    # why an attribute: script.js makes it when it is opened, so that the browser has fewer elements
    # to go through before it shows an answer. What it makes has to be in its lists.
    return folded(t("More about this ranking"), data_more=join(*parts), class_="pd-more")


def percent(share: float, whole: float, t: Interface) -> str:
    """Return a part as a percentage; 0 where there is no whole."""
    value = 100 * share / whole if whole else 0.0
    return _percent("" if 0 < abs(value) < 0.5 else _signed(value), t)


@lru_cache(maxsize=CELLS)
def _percent(number: str, t: Interface) -> str:
    return t("{number}%", number=number) if number else t("under 1%")


def weight(shares: Sequence[WordShare]) -> float:
    """Return what the shares are parts of: their sum, but for a BM25 that also takes away."""
    return sum(abs(each.share) for each in shares)


def points(part: float) -> str:
    """Return a part of 1 as points of 100."""
    return _signed(100 * part)


def _signed(value: float) -> str:
    whole = round(value)  # never "-0"
    return f"−{-whole}" if whole < 0 else str(whole)


def _amount(text: str, value: float) -> Html:
    return _cell(text, f"{min(abs(value), 100):.0f}", less=value < 0)


@lru_cache(maxsize=CELLS)
def _cell(text: str, size: str, *, less: bool) -> Html:
    """Return an amount and its bar from 0 to 100; the style draws the bar, so that the number alone is read.

    One element, not three: the browser looks through each of some hundred cells before it shows a card.
    """
    return tag("td", text, class_="pd-amount pd-less" if less else "pd-amount", style=f"--part:{size}")


def _part(share: float, whole: float, t: Interface) -> Html:
    return _amount(percent(share, whole, t), 100 * share / whole if whole else 0.0)


def _table(caption: str, columns: Sequence[str], rows: Sequence[Html]) -> Html:
    return tag("table", _head(caption, *columns), tag("tbody", *rows))


@lru_cache(maxsize=64)  # six languages have fewer
def _head(caption: str, *columns: str) -> Html:
    row = tag("tr", *(tag("th", column, scope="col") for column in columns))
    return join(tag("caption", caption), tag("thead", row))


def _row(name: str, *cells: Html) -> Html:
    return join(_NAMED, name, _HOLDS, *cells, _ENDS)  # some hundred and eighty a page: one call, not three


def _reasons(explanation: Explanation, t: Interface) -> Iterator[Html]:
    """Say what weighed in a learned ranking; what every article begins with tells nothing of this one."""
    reasons = [reason for reason in explanation.reasons if reason.group in REASONS and reason.share]
    whole = sum(abs(reason.share) for reason in reasons)
    if not whole:
        return
    rows = [_row(t(REASONS[reason.group]), _part(reason.share, whole, t)) for reason in reasons]
    yield _table(t("What weighed for it, and against it"), [t("Reason"), t("Share")], rows)
    yield tag("p", t("How much each reason counts was learnt from questions whose right articles are known."))


def _places(explanation: Explanation, t: Interface) -> Iterator[Html]:
    if not explanation.places:
        return
    fused = explanation.fused
    shared = fused is not None and any(place.share is not None for place in explanation.places)
    columns = [t("Ranking"), t("Place")] + ([t("Part of the final score")] if shared else [])
    rows = []
    for place in explanation.places:
        cells = [tag("td", t.number(place.rank))]
        if fused is not None and place.share is not None:
            cells.append(_part(place.share, fused, t))
        rows.append(_row(_list_name(place.system, t), *cells))
    yield _table(t("Its place in each ranking"), columns, rows)
    if len(explanation.places) > 1 and not explanation.reasons:
        yield tag("p", t("The rankings are put together: the nearer to the top of one, the more it counts."))


def _words(explanation: Explanation, t: Interface) -> Iterator[Html]:
    words = explanation.words
    if not words:
        return
    whole = weight(words)
    rows = []
    for word in words[:MAX_ROWS]:
        name = word.word.lower()
        name = f"{name} → {word.bridged}" if word.bridged else name  # the law's word where it counted as that
        rows.append(_row(name, tag("td", _standing(word, t)), _part(word.share, whole, t)))
    if len(words) > MAX_ROWS:
        rest = sum(word.share for word in words[MAX_ROWS:])
        rows.append(_row(t("other words"), tag("td"), _part(rest, whole, t)))
    columns = [t("Your word"), t("Where it stands"), t("Share")]
    yield _table(t("The ranking by words: what each word counts for"), columns, rows)


def _standing(word: WordShare, t: Interface) -> str:
    """Return the fields that hold the word; with the part of each where there are several."""
    fields = sorted(word.fields.items(), key=lambda field: -field[1])
    names = [t(FIELDS[name]) if name in FIELDS else name for name, _ in fields]
    if len(fields) < 2:
        return t.listed(names)
    rows = zip(names, fields, strict=True)
    return t.listed(t.with_note(name, percent(part, word.share, t)) for name, (_, part) in rows)


def _meaning(explanation: Explanation, t: Interface) -> Iterator[Html]:
    if explanation.cosine is None:
        return
    cosine = points(explanation.cosine)
    if not explanation.meaning:
        yield tag("p", t("Likeness of meaning: {points} out of 100.", points=cosine))
        return
    largest = sorted(explanation.meaning, key=lambda m: -abs(m.share))
    shares = [(m.word.lower(), m.share) for m in sorted(largest[:MAX_ROWS], key=lambda m: -m.share)]
    if len(largest) > MAX_ROWS:
        shares.append((t("other words").lower(), sum(m.share for m in largest[MAX_ROWS:])))
    rows = [_row(word, _amount(points(share), 100 * share)) for word, share in shares]
    columns = [t("Your word"), t("Points")]
    yield _table(t("The ranking by meaning: what each word counts for"), columns, rows)
    yield tag("p", t("Together they make its likeness of meaning: {points} out of 100.", points=cosine))


def _alike(explanation: Explanation, t: Interface, law: str, *, by_machine: bool) -> Iterator[Html]:
    near = [alike for alike in explanation.alike if alike.nearness > 0]
    if not near:
        return
    items = []
    for alike in near:
        nearness = t("(likeness: {points} out of 100)", points=points(alike.nearness))
        items.append(join(tag("q", alike.text, lang=law), " ", nearness))
    said = t("Similar questions, and how alike they are:")
    if by_machine:
        said = t("Similar questions, written by a machine, and how alike they are:")
    yield join(tag("p", said), bullets(items))
