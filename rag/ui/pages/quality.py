"""The page "Quality": how often the right articles are found, for what topics, how sure, how fast."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import streamlit as st

from rag.corpus.quality import MIN_QUESTIONS, QualityResults, SystemQuality, TopicRate, recall_by_cutoff
from rag.engine.engine import Engine
from rag.errors import PandectError, without_paths
from rag.ui import layout
from rag.ui.components import charts
from rag.ui.components.charts import ROWS, percent
from rag.ui.components.entries import heading
from rag.ui.components.notices import question_origin
from rag.ui.html import Html, folded, tag
from rag.ui.i18n import N_, Interface

# What systems do, as a person would say it; one that is not here is called by its name.
SYSTEMS: Mapping[str, str] = {
    "bm25": N_("words of the law"),
    "bm25+bridge": N_("words of the law, and those that it has for yours"),
    "bm25+questions": N_("words of the law and of its questions"),
    "bm25+questions+bridge": N_(
        "words of the law and of its questions, and those that the law has for yours"
    ),
    "tfidf": N_("words of the law, rare ones counted more"),
    "ql": N_("words of the law, by their probability"),
    "dense": N_("meaning"),
    "nearest": N_("similar questions"),
    "rrf": N_("all together, by place in each list"),
    "min-max": N_("all together, by points in each list"),
    "hybrid-without-bridge": N_("all together, without the law's words for yours"),
    "hybrid": N_("all together"),
    "learned": N_("all together, learnt from questions"),
}
DRAWN = ("bm25", "bm25+questions", "dense")  # beside the page's own; more curves would hide each other

_WHAT = N_(
    "How often the answering articles are found, measured on {count} questions whose right articles are "
    "known and from which nothing here has learnt."
)
_FOLDS = N_(
    "How often the answering articles are found, measured on {count} questions whose right articles are "
    "known, each asked of a system that had not learnt from it."
)
_NO_FILE = N_("Nothing was measured of this index yet. Whoever runs this page can measure it by typing:")
_STALE = N_(
    "These numbers were measured on another version of this law: they may not hold for what is loaded."
)
_BROKEN = N_("The result file of this index cannot be read.")
_TOPICS = N_("How many questions have an answering article among the first ten, topic by topic.")
_INTERVAL = N_("In brackets: where the true value lies in 95 of 100 such measurements.")
_MEASURES = N_(
    "R@10 and R@100 tell how many of the answering articles are among the first ten and the first hundred. "
    "MRR@10 tells how near the top the first of them is: 100% means always first."
)
_SURE = N_(
    "Where the curve lies above the dashed line, the page was right more often than it believed; below "
    "it, less often."
)
_PUBLISHED = N_(
    "As printed by their authors, on other laws and other questions: they cannot be compared with the "
    "numbers above and were not measured here."
)


def render(engine: Engine, t: Interface, results: Callable[[], QualityResults | None]) -> None:
    """Draw the page under the masthead; `results` gives None where nothing was measured of the open index."""
    title = heading(t("Quality"), "quality")
    try:
        measured = results()
    except PandectError as error:
        st.html(tag("div", title, tag("p", t(_BROKEN), role="status"), class_="pd-found"))
        st.html(folded(t("What the program says"), tag("pre", without_paths(str(error))), class_="pd-whole"))
    else:
        if measured is None:
            st.html(tag("div", title, tag("p", t(_NO_FILE), role="status"), class_="pd-found"))
            st.code(commands(engine.info.name), language=None)
        else:
            _draw(measured, title, engine, t)
    st.html(_published(t))
    layout.notice(t)
    layout.footer(engine, t)


def commands(name: str) -> str:
    """Return what to type to measure an index and to put the results beside it."""
    return (
        f"python -m training.eval --corpus CORPUS --folds 5 --output measured\n"
        f"python -m indexes results {name} measured/metrics.json"
    )


def _draw(measured: QualityResults, title: Html, engine: Engine, t: Interface) -> None:
    folds = measured.learnt_from == "the other folds"
    what = t(_FOLDS if folds else _WHAT, count=t.number(measured.questions))
    paragraphs = [tag("p", t.sentences(*filter(None, (what, question_origin(engine.card, t)))))]
    if measured.corpus_sha256 != engine.info.corpus_sha256:
        paragraphs.append(tag("p", t(_STALE), class_="pd-notice", role="status"))
    st.html(tag("div", title, *paragraphs, class_="pd-found"))
    st.html(_figures(measured, t))
    if measured.topics:
        st.html(_topics(measured, engine.card.language, t))
    st.html(_recall(measured, t))
    st.html(_systems(measured, t))
    if measured.reliability:
        st.html(_reliability(measured, t))


def _section(name: str, *parts: str) -> Html:
    return tag("section", tag("h3", name), *parts, class_="pd-quality")


def _figures(measured: QualityResults, t: Interface) -> Html:
    """Return the three numbers that matter most, large."""
    page = measured.page
    shown: list[tuple[str, str]] = []
    if (found := page.measures.get("Success@10")) is not None:
        shown.append((t("questions answered among the first ten"), percent(found.value, t)))
    if (recall := page.measures.get("R@10")) is not None:
        shown.append((t("of all answering articles among the first ten"), percent(recall.value, t)))
    shown.append((t("for a search, half of the time or less"), milliseconds(page.median_ms, t)))
    items = (tag("div", tag("dt", name), tag("dd", value)) for name, value in shown)
    return tag("dl", *items, class_="pd-figures")


def _topics(measured: QualityResults, law: str, t: Interface) -> Html:
    few = [name for name, topic in measured.topics.items() if topic.questions < MIN_QUESTIONS]
    rows = []
    for name, topic in sorted(measured.topics.items(), key=lambda pair: (-pair[1].rate.value, pair[0])):
        if name not in few:
            often = t("{part} times in 10", part=round(10 * topic.rate.value))
            found = f"{t.number(topic.found)}/{t.number(topic.questions)}"
            rows.append((tag("span", name, lang=law), often, found, interval(topic.rate, t)))
    head = (t("Topic"), t("Answered"), t("Questions"), t("Likely between"))
    table = _table(t("Answered among the first ten, by topic"), head, rows) if rows else ""
    prefix, _, after = t("Too few questions to tell: {topics}.", topics="\0").partition("\0")
    rest = tag("p", prefix, tag("span", t.listed(few), lang=law), after) if few else ""
    return _section(t("Reliability by topic"), tag("p", t(_TOPICS)), table, rest)


def _recall(measured: QualityResults, t: Interface) -> Html:
    drawn = dict.fromkeys((measured.answers_with, *(name for name in DRAWN if name in measured.systems)))
    by_cutoff = {called(name, t): recall_by_cutoff(measured.systems[name]) for name in drawn}
    curves = {name: curve for name, curve in by_cutoff.items() if curve}
    if not curves:
        return Html()
    at = sorted({k for curve in curves.values() for k in curve})
    rows = [(name, *(percent(c[k].value, t) if k in c else "–" for k in at)) for name, c in curves.items()]
    head = (t("Way to search"), *(t.number(k) for k in at))
    table = _table(t("Answering articles found, by how many articles are looked at"), head, rows)
    picture = charts.picture(charts.recall_curves(curves, t))
    return _section(t("The further one looks, the more is found"), picture, table)


def _systems(measured: QualityResults, t: Interface) -> Html:
    """Return every system with the measures that most of them have, and its times."""
    measures = [m for m in ("R@10", "R@100", "MRR@10") if m in measured.page.measures]
    order = sorted(measured.systems, key=lambda name: name != measured.answers_with)
    # the name that a command line knows is there for whoever points at the other
    names = {name: tag("span", called(name, t), title=name) for name in order}
    rows = [(names[name], *_row(measured.systems[name], measures, t)) for name in order]
    head = (t("Way to search"), *measures, t("Time"), t("Slowest twentieth"))
    note = tag("p", t.sentences(t("The first row is how this page searches."), t(_MEASURES), t(_INTERVAL)))
    table = _table(t("Measures and times, by way to search"), head, rows)
    return _section(t("Each way to search"), note, table)


def _row(system: SystemQuality, measures: Sequence[str], t: Interface) -> Iterator[str]:
    for name in measures:
        rate = system.measures.get(name)
        yield t.with_note(percent(rate.value, t), interval(rate, t)) if rate is not None else "–"
    for time in (system.median_ms, system.p95_ms):
        yield tag("span", milliseconds(time, t), class_="pd-time")


def _reliability(measured: QualityResults, t: Interface) -> Html:
    rows = []
    for b in measured.reliability:
        low, high, predicted, observed = (percent(p, t) for p in (b.low, b.high, b.predicted, b.observed))
        rows.append((f"{low}–{high}", predicted, observed, t.number(b.questions)))
    head = (t("How sure"), t("on average"), t("Answered"), t("Questions"))
    table = _table(t("How likely the page held an answer to be, and how often there was one"), head, rows)
    picture = charts.picture(charts.reliability(measured.reliability, t))
    return _section(t("When the page says it is unsure"), picture, tag("p", t(_SURE)), table)


def _published(t: Interface) -> Html:
    measures = ("R@10", "R@100")
    rows = []
    for row in ROWS:
        printed = (percent(row.measures[m] / 100, t) if m in row.measures else "–" for m in measures)
        trained = t("yes") if row.trained else t("no")
        rows.append((t.with_note(row.corpus, row.paper), row.system, trained, *printed))
    head = (t("Collection"), t("System"), t("Trained on it"), *measures)
    table = _table(t("Published results"), head, rows)
    return _section(t("Published elsewhere"), tag("p", t(_PUBLISHED)), table)


def _table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Html:
    """Return a table whose first column names the row; it scrolls by itself where the screen is narrow."""
    top = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in head)))
    lines = (
        tag("tr", tag("th", name, scope="row"), *(tag("td", cell) for cell in cells)) for name, *cells in rows
    )
    table = tag("table", tag("caption", caption), top, tag("tbody", *lines))
    return tag("div", table, class_="pd-table", tabindex="0", role="region", aria_label=caption)


def called(name: str, t: Interface) -> str:
    """Return what a system is called here."""
    return t(SYSTEMS[name]) if name in SYSTEMS else name


def interval(rate: TopicRate, t: Interface) -> str:
    """Return the ends of an interval in whole percent."""
    return f"{round(100 * rate.low)}–{percent(rate.high, t)}"


def milliseconds(value: float, t: Interface) -> str:
    """Return a time that a person can read."""
    return t("{count} ms", count=t.number(round(value)) if value >= 1 else "< 1")
