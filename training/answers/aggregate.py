"""One model in one context: its numbers, with intervals, and what each question had."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from indexes.describing.significance import Interval, interval, ratio
from rag.answer.types import Ending, Usage
from training.answers import score
from training.answers.judge import JudgedAnswers
from training.answers.overlap import OverlapTokeniser, meteor
from training.answers.run import WrittenAnswer
from training.answers.score import Ratio, Values


@dataclass(frozen=True, slots=True)
class Prices:
    """Of a million tokens, in one currency; None: not told."""

    read: float | None = None
    written: float | None = None


@dataclass(frozen=True, slots=True)
class ModelResult:
    """What a result file says of one model in one context."""

    name: str  # "MODEL, CONTEXT"
    questions: int
    measures: Mapping[str, Interval]  # fractions
    more: Mapping[str, Any]  # times, tokens, cost, endings: of JSON's types
    lines: Sequence[Mapping[str, Any]] = field(default=(), repr=False)  # one a question


@dataclass(frozen=True, slots=True)
class Overlap:
    """How answers are compared with reference answers."""

    words: OverlapTokeniser
    rouge: Callable[[str, str], dict[str, float]]


def row(
    name: str,
    written: Sequence[WrittenAnswer],
    *,
    seed: int,
    terms: Callable[[str], Sequence[str]],
    overlap: Overlap | None = None,
    judged: JudgedAnswers | None = None,
    prices: Prices | None = None,
) -> ModelResult:
    """Return the numbers of one model in one context, "MODEL, CONTEXT", with intervals by a seeded bootstrap.

    `terms` are those of the corpus's language, for words quoted; without `overlap` nothing is compared with
    reference answers.
    """
    means = score.citations(written)
    compared = _compared(written, overlap) if overlap is not None else {}
    ratios: dict[str, Ratio] = {
        **score.invented(written),
        **score.refusals(written),
        **score.faithful(written),
        **score.words_quoted(written, terms),
    }
    if judged is not None:
        ratios["faithful by judge"] = judged.faithful
    measures = {m: interval(v, seed) for m, v in (means | compared).items()}
    measures |= {m: ratio(*r, seed) for m, r in ratios.items()}
    ended = [w.answer.ending for w in written]
    more: dict[str, Any] = {"endings": {str(e): ended.count(e) / len(ended) for e in Ending} if ended else {}}
    more["unreadable"] = sum(w.answer.unreadable for w in written)
    more |= cost_summary(
        [w.answer.usage for w in written if w.answer.ending != Ending.FAILED], prices or Prices()
    )
    more["ms_to_first_sentence"] = _times([w.first_seconds for w in written if w.first_seconds is not None])
    if judged is not None:
        more["judge"] = {"sentences": len(judged.replies), "unreadable": judged.unreadable}
    return ModelResult(name, len(written), measures, more, _lines(name, written, ratios, means, compared))


def pooled(name: str, groups: Sequence[Sequence[WrittenAnswer]], seed: int) -> ModelResult:
    """Return refusals over several contexts of the same questions, resampled by question."""
    of = [score.refusals(group) for group in groups]
    sums = {m: np.sum([o[m] for o in of], axis=0) for m in of[0]}
    measures = {m: ratio(above, below, seed) for m, (above, below) in sums.items()}
    return ModelResult(name, sum(map(len, groups)), measures, {})


def cost_summary(usages: Sequence[Usage], prices: Prices) -> dict[str, Any]:
    """Return time, tokens and cost for a result file.

    Tokens are sums over the replies that told them; a cost needs both prices, and every reply to tell.
    """
    known = [u for u in usages if u.input_tokens is not None and u.output_tokens is not None]
    read, wrote = sum(u.input_tokens or 0 for u in known), sum(u.output_tokens or 0 for u in known)
    cost = None
    if prices.read is not None and prices.written is not None and known and len(known) == len(usages):
        cost = (read * prices.read + wrote * prices.written) / 1e6
    return {
        "ms_per_question": _times([u.seconds for u in usages]),
        "tokens": {"replies": len(known), "input": read, "output": wrote},
        "cost": cost,
    }


def _times(seconds: Sequence[float]) -> dict[str, float | None]:
    if not seconds:
        return {"median": None, "p95": None}
    values = np.array(seconds) * 1000
    return {"median": float(np.median(values)), "p95": float(np.quantile(values, 0.95))}


def _referenced(written: Sequence[WrittenAnswer]) -> list[WrittenAnswer]:
    return [w for w in written if (w.context.question.answer or "").strip()]


def _compared(written: Sequence[WrittenAnswer], overlap: Overlap) -> dict[str, Values]:
    """Return METEOR and ROUGE of what a reader sees, of each question that has a reference answer."""
    words, blank = overlap.words.words, "" if overlap.words.language == "zh" else " "
    pairs = [
        (blank.join(s.text for s in w.sentences), w.context.question.answer or "")
        for w in _referenced(written)
    ]
    if not pairs:
        return {}
    rouge = [overlap.rouge(answer, reference) for answer, reference in pairs]
    found = {"METEOR": np.array([meteor(words(a), words(r)) for a, r in pairs])}
    for key, shown in (("rouge1", "ROUGE-1"), ("rouge2", "ROUGE-2"), ("rougeL", "ROUGE-L")):
        found[shown] = np.array([each[key] for each in rouge])
    return found


def _lines(
    name: str,
    written: Sequence[WrittenAnswer],
    ratios: Mapping[str, Ratio],
    means: Mapping[str, Values],
    compared: Mapping[str, Values],
) -> list[dict[str, Any]]:
    """Return what each question had: no text of it, nor of the answer."""
    with_gold = [n for n, w in enumerate(written) if w.context.question.article_ids]
    referenced = {w.context.question.id: n for n, w in enumerate(_referenced(written))}
    place = {n: i for i, n in enumerate(with_gold)}
    lines = []
    for n, w in enumerate(written):
        values: dict[str, Any] = {m: [r[0][n], r[1][n]] for m, r in ratios.items()}
        if n in place:
            values |= {m: v[place[n]] for m, v in means.items()}
        if (at := referenced.get(w.context.question.id)) is not None:
            values |= {m: v[at] for m, v in compared.items()}
        cited = sorted({i for s in w.sentences for i in s.article_ids})
        removed = [str(f) for r in w.answer.removed for f in r.faults]
        about = {"system": name, "id": w.context.question.id, "ending": str(w.answer.ending)}
        shown = [a.id for a in w.context.articles]
        lines.append(about | {"shown": shown, "cited": cited, "faults": removed, "values": values})
    return lines
