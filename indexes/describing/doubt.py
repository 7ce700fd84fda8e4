"""Fit "probably no article answers" to one law, and measure how well it is calibrated there.

Questions made of the law itself (a heading, some words of an article) say what each feature is worth; a slope
and an offset are then fitted to annotated questions that the index has not learnt from (Platt 2000), for the
probabilities that made questions give are far too low for people's (docs/operate.md). Each question is asked
twice: of the whole law, and of the law without the sections that answer it, which then has no answer. What is
reported of a question comes from weights, offset and threshold that have not seen it.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from indexes.corpus.corpus import HELD_OUT, to_learn_from
from indexes.corpus.folds import folds
from indexes.describing import calibration
from indexes.describing.calibration import AnsweredQuestions, CalibrationPlan
from rag.engine.confidence import NAMES, Confidence
from rag.engine.engine import Engine
from rag.engine.notices import signals_of
from rag.errors import BadInput
from rag.ltr.reranker import KEYWORD, MEANING
from rag.types import Article, Bools, Doubles, Question, Ranking

MADE = 150  # questions of each kind that are made of the law
PEOPLE = 100  # annotated questions, held back, without which no doubt is used
MOST_ASKED = 500  # of them
ERROR = 0.1  # calibration error above which it is not used
ALARMS = 0.06  # share of questions with an answer that may be told there is none: twice what is aimed at
WORDS = 12  # of an article's text, in a question made of it
TOP = 10
_RIDGE = 1.0
_RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Doubt:
    """How well a doubt is calibrated that was fitted to one index; shares lie in 0..1."""

    people: int  # annotated questions held back; each is asked with and without what answers it
    made: int = 0  # questions made of the law, where there are enough of people's
    error_made: float = 0.0  # expected calibration error on them
    error: float | None = None  # on people's; None: there are too few
    auc: float | None = None  # how well people's questions found are told from those not found
    alarms: float | None = None  # share of people's questions with an answer that are told there is none
    told: float | None = None  # share of those without an answer that are
    confidence: Confidence | None = None  # what the page may use; None: it is not good enough

    @property
    def good_enough(self) -> bool:
        """Whether calibration error, order and false alarms, on people's questions, are as they must be."""
        if self.error is None or self.auc is None or self.alarms is None:
            return False
        return self.error <= ERROR and self.auc > 0.5 and self.alarms <= ALARMS


def made_questions(articles: Sequence[Article], chance: random.Random) -> Iterator[Question]:
    """Yield questions made of the law: last headings, and some words of articles in their order."""
    under: dict[str, list[str]] = defaultdict(list)
    texts = [article for article in articles if article.text.strip()]
    for article in texts:
        if article.headings:
            under[article.headings[-1]].append(article.id)
    for heading in chance.sample(sorted(under), min(MADE, len(under))):
        yield Question(f"heading of {under[heading][0]}", heading, tuple(under[heading]))
    for article in chance.sample(texts, min(MADE, len(texts))):
        words = article.text.split()
        if len(words) > 1:
            drawn = sorted(chance.sample(range(len(words)), min(WORDS, (len(words) + 1) // 2)))
            text = " ".join(words[i] for i in drawn)
        else:  # a script without blanks
            begin = chance.randrange(max(1, len(article.text) - WORDS))
            text = article.text[begin : begin + WORDS]
        yield Question(f"words of {article.id}", text, (article.id,))


def can_doubt(engine: Engine) -> bool:
    """Tell whether an index has the words and the encoder whose lists are compared."""
    return engine.searcher.meaning is not None and {KEYWORD, MEANING} <= set(engine.searcher.systems)


def ask(engine: Engine, questions: Sequence[Question], learnt: Sequence[Question]) -> AnsweredQuestions:
    """Ask each question with and without the sections that answer it, two rows a question, in this order.

    `learnt` are the annotated questions that the index learnt from.

    Raises:
        BadInput: the index is none that `can_doubt` tells.
    """
    signals = signals_of(engine.searcher, engine.analyser, learnt)
    if signals is None:
        raise BadInput("doubt needs a BM25 and an encoder: give an index that has both")
    section = {a.id: (a.code, a.headings) for a in engine.articles.values()}
    members: dict[object, list[str]] = defaultdict(list)
    for id_, own in section.items():
        members[own].append(id_)
    hybrid = engine.searcher.retriever("hybrid", engine.searcher.expansion("hybrid"))
    rows: list[list[float]] = []
    asked: list[Question] = []
    labels: list[bool] = []
    for question in questions:
        [(fused, lists)] = hybrid.search_parts([question.text], TOP)
        elsewhere = bool(engine.notices.governing(question.text, None))
        gold = {id_ for own in question.article_ids for id_ in members[section[own]]}
        less = {name: _without(found, gold) for name, found in lists.items()}
        for of, found in ((question, lists), (replace(question, article_ids=()), less)):
            values = signals(of.text, found[KEYWORD], found[MEANING], elsewhere=elsewhere)
            rows.append([values[name] for name in NAMES])
            labels.append(not {*fused.ids}.isdisjoint(of.article_ids))
            asked.append(of)
    whole = np.array(rows, np.float64).reshape(-1, len(NAMES))
    return AnsweredQuestions(
        tuple(asked), whole, np.array(labels, np.float64), np.ones(len(labels), np.bool_)
    )


def _without(found: Ranking, articles: set[str]) -> Ranking:
    keep = np.array([id_ not in articles for id_ in found.ids], np.bool_)
    return Ranking(found.order, found.positions[keep], found.scores[keep])


def fit(engine: Engine, questions: Sequence[Question], seed: int = 42) -> Doubt | None:
    """Fit a doubt to an index and measure it; None where there is nothing to fit to, or no encoder.

    `questions` are the annotated ones of its corpus; those that it may learn from are not asked.
    """
    chance, plan = random.Random(seed), CalibrationPlan(seed=seed)  # noqa: S311 - a sample, no secret
    held = [q for q in questions if q.split in HELD_OUT and q.article_ids]
    people = chance.sample(held, min(MOST_ASKED, len(held)))
    learnt = to_learn_from(questions)
    if not can_doubt(engine):
        return None
    if len(people) < PEOPLE:  # what made questions alone teach is too wrong of people's to be told
        return Doubt(len(people))
    if (fitted := fit_made(engine, learnt, chance, plan)) is None:
        return None
    first, made = fitted
    bins = calibration.reliability(calibration.cross_fit(made, plan).probabilities, made.labels)
    doubt = Doubt(len(people), len(made.labels) // 2, calibration.calibration_error(bins), confidence=first)
    theirs = ask(engine, people, learnt)
    return _measured(doubt, theirs, log_odds(first, theirs), plan)


def fit_made(
    engine: Engine, learnt: Sequence[Question], chance: random.Random, plan: CalibrationPlan
) -> tuple[Confidence, AnsweredQuestions] | None:
    """Fit to questions made of the law alone; None where there are too few of them, or none is found."""
    made = ask(engine, list(made_questions(list(engine.articles.values()), chance)), learnt)
    if len(made.labels) < 2 * plan.folds or len({*made.labels.tolist()}) < 2:
        return None
    corpus, ranked_by = engine.info.corpus_sha256, engine.searcher.ranked_by
    return calibration.fit_all(made, plan, corpus, ranked_by)[0], made


def log_odds(of: Confidence, asked: AnsweredQuestions) -> Doubles:
    """Return (n_questions,) log-odds that an answering article is among the first ten."""
    return np.array([of.odds(dict(zip(NAMES, row, strict=True))) for row in asked.rows.tolist()])


def _measured(doubt: Doubt, theirs: AnsweredQuestions, odds: Doubles, plan: CalibrationPlan) -> Doubt:
    probabilities, doubtful = np.zeros(len(odds)), np.zeros(len(odds), np.bool_)
    for fold in folds(len(odds) // 2, plan.folds, plan.seed):
        learn, out = (np.array([2 * i + j for i in part for j in (0, 1)]) for part in (fold.learn, fold.held))
        scaled, threshold = _scale(odds[learn], theirs.labels[learn], theirs.answerable[learn], plan)
        probabilities[out] = scaled.probability(odds[out, None])
        doubtful[out] = probabilities[out] < threshold
    bins, answerable = calibration.reliability(probabilities, theirs.labels), theirs.answerable
    auc = calibration.roc_auc(probabilities, theirs.labels, plan.seed, _RESAMPLES)
    measured = replace(
        doubt,
        error=calibration.calibration_error(bins),
        auc=auc.low,
        alarms=float(doubtful[answerable].mean()),
        told=float(doubtful[~answerable].mean()),
        confidence=None,
    )
    if not measured.good_enough or doubt.confidence is None:
        return measured
    scaled, threshold = _scale(odds, theirs.labels, answerable, plan)
    slope = float(scaled.weights[0] / scaled.scales[0])
    first = doubt.confidence
    confidence = replace(
        first,
        bias=scaled.bias + slope * (first.bias - float(scaled.means[0])),
        weights={name: slope * weight for name, weight in first.weights.items()},
        threshold=threshold,
    )
    return replace(measured, confidence=confidence)


def _scale(
    odds: Doubles, labels: Doubles, answerable: Bools, plan: CalibrationPlan
) -> tuple[calibration.Logistic, float]:
    """Return the slope and offset of log-odds, and the threshold that keeps its rate of false alarms."""
    scaled = calibration.fit(odds[:, None], labels, [1], _RIDGE)
    return scaled, calibration.alarm_threshold(scaled.probability(odds[:, None])[answerable], plan.rate)
