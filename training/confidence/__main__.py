"""`python -m training.confidence`: fit and measure how sure the page may be that the law answers.

Asked of the index that ships. The label of a question is whether a gold article is among hybrid's
first ten; a question without an answer has label 0. Every number is out of fold: a question's probability
comes from weights, ridge and threshold that were made without it. The unanswerable test questions
take no part in any fit, not even in that of the weights that ship.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from indexes.builtin_corpus import read_test_questions
from indexes.cli.terminal import guarded
from indexes.corpus.corpus import Corpus, appearing, read, to_learn_from
from indexes.corpus.questions import read_questions
from indexes.describing import calibration
from indexes.describing.calibration import FALSE_ALARMS, AnsweredQuestions, CalibrationPlan, OutOfFold
from indexes.describing.significance import interval
from indexes.store import paths
from indexes.store.open_index import open_index
from rag.engine.confidence import NAMES
from rag.engine.engine import Engine
from rag.engine.notices import signals_of
from rag.engine.relevance import features as relevance_features
from rag.errors import BadInput
from rag.ltr.reranker import KEYWORD, MEANING
from rag.types import Bools, Question
from training import everyday
from training.confidence.relevance import RankedArticles, fit_relevance, measures
from training.eval import report

DEV = "questions_unanswerable_dev.jsonl"
TOP = 10
ELSEWHERE = "elsewhere"


def numbers(answered: AnsweredQuestions, out: OutOfFold, seed: int) -> dict[str, Any]:
    """Return what the result file says, for the test questions and for all."""
    dev = np.array([q.split == "dev" for q in answered.questions])
    # of each kind, for how many questions "probably nothing" is said
    by_kind: dict[str, dict[str, int]] = {}
    for question, label, doubtful in zip(answered.questions, answered.labels, out.doubtful, strict=True):
        if question.article_ids:
            kind = "answerable, found" if label else "answerable, not found"
        else:
            kind = question.category or "unanswerable"
        kind = f"{kind} ({'dev' if question.split == 'dev' else 'test'})"
        row = by_kind.setdefault(kind, {"questions": 0, "told": 0})
        row["questions"] += 1
        row["told"] += bool(doubtful)
    return {
        "test": _of(answered, out, ~dev, seed),
        "dev": _of(answered, out, dev, seed),
        "told_probably_nothing": dict(sorted(by_kind.items())),
    }


def _of(answered: AnsweredQuestions, out: OutOfFold, which: Bools, seed: int) -> dict[str, Any]:
    p, labels, answerable = out.probabilities[which], answered.labels[which], answered.answerable[which]
    bins = calibration.reliability(p, labels)
    return {
        "questions": len(p),
        "answered_in_first_ten": int(labels.sum()),
        "brier": asdict(interval((p - labels) ** 2, seed)),
        "brier_of_the_mean": calibration.brier(np.full(len(p), labels.mean()), labels),
        "auc": asdict(calibration.roc_auc(p, labels, seed)),
        "auc_answerable": asdict(calibration.roc_auc(p, answerable.astype(np.float64), seed)),
        "auc_found_among_answerable": asdict(calibration.roc_auc(p[answerable], labels[answerable], seed)),
        "calibration_error": calibration.calibration_error(bins),
        "reliability": [asdict(b) for b in bins],
    }


def gather(folder: Path, engine: Engine, corpus: Corpus) -> tuple[AnsweredQuestions, RankedArticles]:
    """Ask the index its test questions, of which the dev half may be fitted to, and those beside it.

    Raises:
        BadInput: the index has no BM25 or no encoder, or its test questions have no dev half.
    """
    signals = signals_of(engine.searcher, engine.analyser, to_learn_from(corpus.questions))
    if signals is None:
        raise BadInput("confidence needs a BM25 and an encoder: give an index that has both")
    test = list(read_test_questions(folder))
    dev = list(read_questions(folder.parent / DEV, corpus.articles))
    if {q.split for q in test} != {"dev", "test"}:
        raise BadInput(
            'confidence is fitted to one half and measured on the other: give each question a "split"'
        )
    questions = (*test, *dev, *_everyday(corpus))
    hybrid = engine.searcher.retriever("hybrid", engine.searcher.expansion("hybrid"))
    rows, labels, articles, gold = [], [], [], []
    for question in questions:
        [(fused, lists)] = hybrid.search_parts([question.text], TOP)
        topic = bool(engine.ask(question.text, k=1).elsewhere)
        found = signals(question.text, lists[KEYWORD], lists[MEANING], elsewhere=topic)
        rows.append([found[name] for name in NAMES])
        answers = np.array([id_ in question.article_ids for id_ in fused.ids], dtype=np.bool_)
        labels.append(bool(answers.any()))
        articles.append(relevance_features(fused, lists, 0.0, TOP))
        gold.append(answers)
    dev_half = np.array([q.split == "dev" for q in questions])
    answered = AnsweredQuestions(
        questions, np.array(rows, np.float64), np.array(labels, np.float64), dev_half
    )
    return answered, RankedArticles(tuple(articles), tuple(gold))


def _everyday(corpus: Corpus) -> Iterator[Question]:
    """Yield the questions of everyday life, each with the articles of the corpus that are useful."""
    ids = {(article.code, article.article_no): article.id for article in corpus.articles}
    for each in everyday.read():
        if each.kind != "disputed":
            gold = tuple(sorted(ids[cite] for cite in each.cites | each.helps if cite in ids))
            kind = each.trouble if each.kind == "answer" else f"everyday, {each.kind}"
            if gold or each.kind != "answer":  # what does not ship is no answer of it, and no proof of none
                yield Question(each.id, each.question, gold, kind, split=each.split)


@guarded
def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, measure, print, write."""
    typed = list(sys.argv[1:] if arguments is None else arguments)
    top = argparse.ArgumentParser(prog="python -m training.confidence", description=__doc__)
    top.add_argument(
        "--output", type=Path, help="a new folder: metrics.json, confidence.json, reliability.svg"
    )
    top.add_argument("--folds", type=int, default=5, help="folds over the questions (5)")
    top.add_argument("--seed", type=int, default=42, help="of folds and bootstrap (42)")
    top.add_argument(
        "--rate", type=float, default=FALSE_ALARMS, help="false alarms among answerable questions (0.03)"
    )
    parsed = top.parse_args(typed)
    _run(parsed, ["python", "-m", "training.confidence", *typed])
    return 0


def _run(parsed: argparse.Namespace, command: Sequence[str]) -> None:
    if not 0 <= parsed.rate < 1:
        raise BadInput(f"--rate {parsed.rate}: give a share from 0 to below 1")
    if parsed.output is not None and parsed.output.exists():
        raise BadInput(f"{parsed.output} is there already: remove it or give another --output")
    folder, _ = paths.locate(paths.BUILTIN)
    corpus = read(folder / "corpus")
    engine = open_index(paths.BUILTIN)
    answered, ranked = gather(folder, engine, corpus)
    plan = CalibrationPlan(parsed.folds, parsed.seed, parsed.rate)
    shipped, ridge = calibration.fit_all(answered, plan, corpus.sha256, engine.searcher.ranked_by)
    out, less = (calibration.cross_fit(answered, plan, without=left_out) for left_out in (None, ELSEWHERE))
    found, bare = (numbers(answered, each, plan.seed) for each in (out, less))
    articles = fit_relevance(ranked, out, answered.fitted, plan)
    shipped = replace(shipped, relevance=articles.relevance)
    for half in ("dev", "test"):
        which = np.array([(q.split == "dev") == (half == "dev") for q in answered.questions])
        found[half]["answer_sets"] = measures(answered.questions, ranked, articles, out.doubtful, which)
    print(_text(found, "all features"), _text(bare, "without elsewhere"), sep="\n")
    print(*_set_lines(found), sep="\n")
    print(f"threshold {shipped.threshold:.3f}, ridge {ridge:g}")
    if parsed.output is None:
        return
    gold = int(answered.answerable.sum())
    entry = report.record(
        {},
        corpus,
        command=command,
        questions=gold,
        unanswerable=len(answered.labels) - gold,
        seed=plan.seed,
        tuned_on="the other folds",
        learnt_from=f"the dev halves of the test and everyday questions, and {DEV}",
    )
    entry["confidence"] = found | {
        "without_elsewhere": bare,
        "false_alarm_rate": plan.rate,
        "threshold": shipped.threshold,
        "ridge": ridge,
        "weights": dict(shipped.weights),
    }
    with appearing(parsed.output) as part:
        text = json.dumps(entry, ensure_ascii=False, indent=1) + "\n"
        (part / report.METRICS).write_text(text, encoding="utf-8")
        (part / "confidence.json").write_text(shipped.to_json(), encoding="utf-8")
        bins = [calibration.CalibrationBin(**b) for b in found["test"]["reliability"]]
        title = f"Confidence, {found['test']['questions']} test questions"
        (part / "reliability.svg").write_text(calibration.reliability_diagram(bins, title), encoding="utf-8")
    print(f"written: {parsed.output}")


def _text(found: Mapping[str, Any], title: str) -> str:
    lines = [title]
    for name in ("test", "dev"):
        one = found[name]
        for key in ("auc", "auc_answerable", "auc_found_among_answerable", "brier"):
            lines.append(f"  {name:5} {key:28} {{value:.3f}} [{{low:.3f}}, {{high:.3f}}]".format(**one[key]))
        lines.append(f"  {name:5} calibration error            {one['calibration_error']:.3f}")
    lines += [
        f"  {kind:28} {row['told']:3} of {row['questions']:3} told"
        for kind, row in found["told_probably_nothing"].items()
    ]
    return "\n".join(lines)


def _set_lines(found: Mapping[str, Any]) -> Iterator[str]:
    for half in ("dev", "test"):
        one = found[half]["answer_sets"]
        for what in ("sets", "marked"):
            share = one[what]
            if share["of"]:
                shown = "{right} of {of}: {value:.3f} [{low:.3f}, {high:.3f}]".format(**share)
                yield f"{half:5} {what:7} right {shown}, of {one['questions']} questions"
        yield f"{half:5} sizes   {one['sizes']}"


if __name__ == "__main__":
    sys.exit(main())
