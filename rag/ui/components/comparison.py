"""Several rankings of one question beside each other, each held against the first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from rag.corpus.card import CorpusCard
from rag.engine.result import Explanation
from rag.types import Shown
from rag.ui.components.article_card import rank_html
from rag.ui.components.article_history import label
from rag.ui.components.entries import title
from rag.ui.components.explanation import panel, percent, points, weight
from rag.ui.components.question_form import MODES
from rag.ui.html import Html, join, link, tag
from rag.ui.i18n import Interface

TOP_WORDS = 3  # told at once; the others are in the panel


@dataclass(frozen=True, slots=True)
class ComparisonColumn:
    """What one way to search found, with why."""

    system: str
    shown: Sequence[Shown]
    explanations: Sequence[Explanation]  # one for each that is shown, in the same order
    day: date | None = None  # whose law was asked for


def table(columns: Sequence[ComparisonColumn], gold: frozenset[str], card: CorpusCard, t: Interface) -> Html:
    """Return the columns as HTML, held against the first; what came with the corpus is escaped.

    `gold`: ids of the articles that are known to answer the question; empty where none is.
    """
    first = {shown.article.id: shown.rank for shown in columns[0].shown} if columns else {}
    made = (_column(n, column, first, gold, card, t) for n, column in enumerate(columns, start=1))
    return tag("div", *made, class_="pd-columns")


def recall(gold: frozenset[str], found: Sequence[str]) -> float:
    """Return the part of the gold articles that was found; 0 where there is none."""
    return len(gold.intersection(found)) / len(gold) if gold else 0.0


def reciprocal_rank(gold: frozenset[str], found: Sequence[str]) -> float:
    """Return 1 / the rank of the first gold article; 0 where none was found."""
    return next((1 / n for n, article_id in enumerate(found, start=1) if article_id in gold), 0.0)


def _column(
    n: int,
    column: ComparisonColumn,
    first: Mapping[str, int],
    gold: frozenset[str],
    card: CorpusCard,
    t: Interface,
) -> Html:
    name = t(MODES[column.system]) if column.system in MODES else column.system
    heading = f"pd-system-{n}"
    entries = []
    for shown, why in zip(column.shown, column.explanations, strict=True):
        article = shown.article
        law = article.language or card.language
        badges = (t("known answer") if article.id in gold else "", label(article, column.day, t))
        entry = tag(
            "div",
            rank_html(shown.rank, t),
            tag("strong", link(article.url, title(article, t, card)), class_="pd-name"),
            _move(shown, first, t) if n > 1 else "",
            *(tag("span", badge, class_="pd-badge") for badge in badges if badge),
            class_="pd-entry",
        )
        place = tag("p", " › ".join((article.code, *article.headings[-1:])), lang=law, class_="pd-place")
        by_machine = card.question_origin == "machine"
        lines = *_words(why, t), panel(why, t, law, by_machine=by_machine)
        entries.append(tag("li", entry, place, *lines, id=f"pd-{n}-{shown.rank}"))
    found = tag("ol", *entries) if entries else tag("p", t("No article found."))
    head = tag("h3", name, id=heading)
    return tag("section", head, _metrics(column, gold, t), found, class_="pd-column", aria_labelledby=heading)


def _metrics(column: ComparisonColumn, gold: frozenset[str], t: Interface) -> Html:
    if not gold:
        return Html()
    found = [shown.article.id for shown in column.shown]
    score = t.decimal(reciprocal_rank(gold, found), 2)
    text = t.with_note(t("Known answers found: {part}", part=percent(recall(gold, found), 1.0, t)), "R@10")
    return tag("p", text, " · ", t("reciprocal rank: {score}", score=score), class_="pd-metrics")


def _move(shown: Shown, first: Mapping[str, int], t: Interface) -> Html:
    """Return how the article stands against the first column, as a link to it there."""
    former = first.get(shown.article.id)
    if former is None:
        return tag("span", t("not in the first list"), class_="pd-move pd-new")
    up = former - shown.rank
    if up == 0:
        kind, sign, symbol = "pd-same", "=", t("at the same place as in the first list")
    elif up > 0:
        kind, sign = "pd-up", f"▲ {up}"
        symbol = t.n(
            "one place higher than in the first list", "{count} places higher than in the first list", up
        )
    else:
        kind, sign = "pd-down", f"▼ {-up}"
        symbol = t.n(
            "one place lower than in the first list", "{count} places lower than in the first list", -up
        )
    seen = tag("span", sign, aria_hidden="true")
    hidden = tag("span", symbol, class_="pd-hidden")
    return tag("a", join(seen, hidden), href=f"#pd-1-{former}", class_=f"pd-move {kind}", title=symbol)


def _words(why: Explanation, t: Interface) -> Iterator[Html]:
    """Yield the words that count most: by their share of the score, else by their points of meaning."""
    if why.words:
        whole = weight(why.words)
        words = [t.with_note(w.word.lower(), percent(w.share, whole, t)) for w in why.words[:TOP_WORDS]]
    else:
        words = [f"{m.word.lower()} ({points(m.share)})" for m in why.meaning[:TOP_WORDS] if m.share > 0]
    if words:
        yield tag("p", " · ".join(words), class_="pd-top")
