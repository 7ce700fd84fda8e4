"""What a report holds: the papers' tables, what ours cost, breakdowns, curves, failures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from indexes.corpus.corpus import Corpus
from rag.corpus.citation import citation
from rag.corpus.svg import Figure, PlotArea, Shape
from rag.types import EMPTY, Qrels, Run
from training.eval.metrics import per_question
from training.report import pareto
from training.report.published import PublishedTable, is_score, tables
from training.report.results import OurResult, spelt
from training.report.table import Block, Failure, Row, Table
from training.tables.efficiency import COLUMNS, cells

# data set of a paper -> names of our corpora that hold it
CORPORA: Mapping[str, tuple[str, ...]] = {
    "BSARD": ("bsard",), "LLeQA": ("lleqa",), "STARD": ("stard", "stard-original"),
    "JuriFindIT": ("jurifindit",), "mMARCO-fr": ("mmarco-fr",),
}  # fmt: skip
_ANSWERS = {  # data set of answers -> our measure of its accuracy
    "JEC-QA, case analysis": "accuracy case analysis",
    "JEC-QA, knowledge": "accuracy knowledge",
    "CAIL2018, charge prediction": "accuracy charges",
}
_OURS = {"RP": "R-precision"}  # a paper's name of a metric -> ours, where it differs
_TIMES = ("latency_ms", "latency_cpu_s", "latency_gpu_s")
_DEPTHS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_GOLD = ((1, 1), (2, 2), (3, 5), (6, 10), (11, 10**9))  # least and most gold articles of a question
_BOX = PlotArea(60, 50, 560, 300)
_SHAPES: Sequence[Shape] = ("circle", "square", "diamond", "triangle")
_DASHES = ("", "6 4", "2 3", "8 3 2 3", "12 4")
FAILURES = 20
_CUT = 400  # characters of an article that a failure shows


def papers(names: Sequence[str], ours: Sequence[OurResult]) -> Iterator[Block]:
    """Yield the tables of these papers: published rows, then ours over a corpus of the same data set."""
    for name in names:
        mine = [table for table in tables() if table.paper == name]
        yield f"{mine[0].cite}: published, and ours"
        yield from (_paper_table(table, ours) for table in mine)


def _paper_table(of: PublishedTable, ours: Sequence[OurResult]) -> Table:
    rows = [
        Row(
            (name, *(_cell(m, values.get(m), of.hardware.get(m, "")) for m in of.metrics)),
            "published",
            of.cite,
        )
        for name, values, _ in of.rows
    ]
    notes = [f"{name}: {note}" for name, _, note in of.rows if note]
    number = 0
    for result in ours:
        found = []
        for name, values in result.systems.items():
            known = [values.get(_measure(of, m)) for m in of.metrics]
            if _comparable(of, result) and any(
                value is not None and is_score(m) for m, value in zip(of.metrics, known, strict=True)
            ):
                shown = (_cell(m, value, result.machine) for m, value in zip(of.metrics, known, strict=True))
                found.append(Row((name, *shown), "ours", f"[{number + 1}]"))
        if found:
            number += 1
            rows += found
            notes.append(f"[{number}] ours: {result.note}")
    title = f"{of.cite}, table {of.number}: {of.about}"
    return Table(title, ("system", *of.metrics), tuple(rows), of.protocol, tuple(notes))


def _comparable(of: PublishedTable, result: OurResult) -> bool:
    return of.dataset in _ANSWERS or result.corpus in CORPORA.get(of.dataset, ())


def _measure(of: PublishedTable, metric: str) -> str:
    return _ANSWERS.get(of.dataset, _OURS.get(metric, metric))


def _cell(metric: str, value: Any, hardware: str) -> str:  # noqa: ANN401 - a number or a word of a paper
    """Return a value as people read it: scores in percent, times with what they were measured on."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if is_score(metric):
        text = f"{100 * value:.2f}"
        return text[:-1] if text.endswith("0") else text
    if metric in _TIMES:
        return f"{value:.4g} ({hardware})"
    return f"{value:.1e}" if metric == "flops" else f"{value:,g}"


# --- what it costs ---


def costs(ours: Sequence[OurResult]) -> Iterator[Block]:
    """Yield the table of costs of each efficiency file, and one drawing of all beside published points."""
    measured = [result for result in ours if result.kind == "efficiency"]
    if not measured:
        return
    yield "What a question costs"
    for result in measured:
        rows = tuple(
            Row(tuple(cell.strip("`") for cell in cells(name, of)), "ours", result.machine)
            for name, of in result.entry["systems"].items()
        )
        about = (
            "times and questions a second are of one core; core-hours are of all that was built until then"
        )
        yield Table(
            f"{result.corpus}: what each way to search costs", COLUMNS, rows, "", (about, result.note)
        )
    yield pareto.draw([*(p for result in measured for p in _points(result)), *_published_points()])


def _points(result: OurResult) -> Iterator[pareto.Point]:
    series = f"ours: {result.corpus}, {result.machine}, one core"
    for name, of in result.systems.items():
        yield pareto.Point(name, series, False, of["R@10"], of["latency_ms"], of["index_mb"])


def _published_points() -> Iterator[pareto.Point]:
    needed = {"R@10", "latency_cpu_s", "index_mb"}
    for table in tables():
        for name, of, _ in table.rows:
            if needed <= of.keys():
                cpu = table.hardware["latency_cpu_s"]
                where = f"published: {table.cite}, {table.dataset} {table.split}, {cpu}"
                yield pareto.Point(name, where, True, of["R@10"], 1000 * of["latency_cpu_s"], of["index_mb"])


# --- one result of ours ---


def details(result: OurResult, corpus: Corpus | None) -> Iterator[Block]:
    """Yield the measures of a retrieval result with intervals, its breakdowns, curves and failures.

    Curves, numbers of gold articles and failures need the runs and judgements beside the file; failures the
    corpus too.
    """
    if result.kind != "retrieval":
        return
    yield f"{result.corpus}: ours in detail"
    yield _intervals(result)
    systems = next(iter(result.entry["systems"].values()))
    measure = "R@10" if "R@10" in systems else next(m for m, of in systems.items() if "value" in of)
    best = result.best(measure)
    categories = result.entry["systems"][best[0]].get("by_category") or {}
    if categories:
        rows = []
        for category, of in categories.items():
            others = (result.entry["systems"][name]["by_category"][category][measure] for name in best)
            rows.append(Row((category, f"{of['questions']:.0f}", *_percents(others)), "ours"))
        title = f"{measure} by category of question"
        yield Table(title, ("category", "questions", *best), tuple(rows), "", (result.note,))
    shown = [name for name in best if name in result.runs]
    if not shown:
        return
    values = {name: per_question(result.qrels, result.runs[name], [measure])[measure] for name in shown}
    sizes = [len(gold) for gold in result.qrels.values() if gold]
    rows = []
    for least, most in _GOLD:
        at = [n for n, size in enumerate(sizes) if least <= size <= most]
        if at:
            label = (
                f"{least}" if least == most else f"{least} or more" if most > 10**8 else f"{least} to {most}"
            )
            means = (float(values[name][at].mean()) for name in shown)
            rows.append(Row((label, f"{len(at)}", *_percents(means)), "ours"))
    title = f"{measure} by number of gold articles"
    yield Table(title, ("gold articles", "questions", *shown), tuple(rows), "", (result.note,))
    yield _recall_curves(result.corpus, result.qrels, {name: result.runs[name] for name in shown})
    if corpus is not None:
        yield from _failures(result, shown, corpus)


def _percents(values: Iterable[float]) -> Iterator[str]:
    return (f"{100 * value:.1f}" for value in values)


def _intervals(result: OurResult) -> Table:
    systems = result.entry["systems"]
    measures = [m for m, of in next(iter(systems.values())).items() if "value" in of]
    rows = []
    for name, of in systems.items():
        found = (of[m] for m in measures)
        scores = (f"{100 * i['value']:.1f} ({100 * i['low']:.1f}–{100 * i['high']:.1f})" for i in found)
        took = of.get("ms_per_question") or {}
        ms = f"{took['median']:.1f} ({took['p95']:.1f}), {result.machine}" if took else "–"
        rows.append(Row((name, *scores, ms), "ours"))
    head = ("system", *measures, "ms a question (p95)")
    return Table("Measures in percent, with 95 % intervals", head, tuple(rows), "", (result.note,))


def _recall_curves(corpus: str, qrels: Qrels, runs: Mapping[str, Run]) -> Figure:
    """Draw recall over how many articles are looked at; lines differ in dashes, marks in shape."""
    title = f"{corpus}: recall by how many articles are looked at"
    figure = Figure(
        660, 410 + 20 * len(runs), title, "Recall in percent over the cut-off k, a logarithmic axis."
    )
    figure.text(_BOX.left, 26, title, size=15)
    for percent in range(0, 101, 20):
        y = _BOX.bottom - _BOX.height * percent / 100
        figure.line((_BOX.left, y), (_BOX.left + _BOX.width, y), "grid" if percent else "axis")
        figure.text(_BOX.left - 8, y + 4, f"{percent} %", anchor="end", kind="soft")
    depth = max((len(ranking) for run in runs.values() for ranking in run.values()), default=1)
    at = [k for k in _DEPTHS if k <= depth] or [1]

    def x(k: int) -> float:
        return _BOX.left + _BOX.width * (math.log(k) / math.log(at[-1]) if len(at) > 1 else 0.5)

    for k in at:
        figure.text(x(k), _BOX.bottom + 20, f"{k}", anchor="middle", kind="soft")
    for n, (name, run) in enumerate(runs.items()):
        found = per_question(qrels, run, [f"R@{k}" for k in at])
        means = {k: float(found[f"R@{k}"].mean()) for k in at}
        points = [(x(k), _BOX.bottom - _BOX.height * mean) for k, mean in means.items()]
        shape, y = _SHAPES[n % len(_SHAPES)], _BOX.bottom + 44 + 20 * n
        figure.curve(points, name, "mark" if not n else "axis", _DASHES[n % len(_DASHES)])
        for (px, py), (k, mean) in zip(points, means.items(), strict=True):
            figure.marker(px, py, 4, shape, f"{name}: R@{k} {100 * mean:.1f}", filled=not n)
        figure.marker(_BOX.left + 8, y - 4, 5, shape, name, filled=not n)
        figure.text(_BOX.left + 24, y, name)
    return figure


def _failures(result: OurResult, shown: Sequence[str], corpus: Corpus) -> Iterator[Block]:
    """Yield questions of which the best system ranks no gold article among the first ten.

    First those that another system answers there: what is to be learnt is in its ranking.
    """
    first, *others = shown
    articles = spelt({article.id: article for article in corpus.articles})
    questions = spelt({question.id: question for question in corpus.questions})

    def place(system: str, question: str, article: str) -> int | None:
        [row] = result.runs[system].get(question, EMPTY).rows([article]).tolist()
        return row + 1 if row >= 0 else None

    def named(article: str) -> str:
        return citation(articles[article], corpus.card) if article in articles else article

    def begins(article: str) -> str:
        text = articles[article].text if article in articles else "not in this corpus"
        return text if len(text) <= _CUT else f"{text[:_CUT]}…"

    found: list[tuple[bool, int, str, list[str]]] = []
    for id_, gold in result.qrels.items():
        if not gold or id_ not in questions or any((place(first, id_, a) or 11) <= 10 for a in gold):
            continue
        better = [o for o in others if any((place(o, id_, a) or 11) <= 10 for a in gold)]
        found.append((not better, len(found), id_, better))
    found.sort()
    if found:
        yield f"{result.corpus}: {len(found)} questions without a gold article among {first}'s first ten"
    for _, _, id_, better in found[:FAILURES]:
        question = questions[id_]
        by = f"found by {', '.join(better)}" if better else "found by none of those shown"
        about = "; ".join(filter(None, (question.category, by)))
        wanted = [
            (f"{named(a)} (place {place(first, id_, a) or 'none'})", begins(a))
            for a in sorted(result.qrels[id_])
        ]
        ranked = result.runs[first].get(id_, EMPTY)[:3].ids
        instead = tuple((named(a), begins(a)) for a in ranked)
        yield Failure(question.text, about, tuple(wanted[:5]), instead)
