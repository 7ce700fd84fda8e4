"""Measures of a ranking, by ir_measures, given our final order.

Conventions (they differ between published evaluations, so they are spelt out): gold articles are a
set; AP is divided by the number of gold articles; a question for which nothing is returned counts 0;
one without gold is left out; ties were broken before, by `rag.types.rank`, and each place of a
ranking is handed on as its own score, for metric libraries disagree on ties.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rag.errors import BadInput, MissingExtra, install_hint
from rag.types import Qrels, Run

if TYPE_CHECKING:
    import ir_measures

DEFAULT = ("R@5", "R@10", "R@20", "R@100", "MRR@10", "nDCG@10", "R-precision", "Success@1", "Success@10")
# the papers' names and the library's own -> the library's, and whether a cut-off may, must or must not follow
_STEMS = {
    "R": ("R", "must"),
    "P": ("P", "must"),
    "Success": ("Success", "must"),
    "MRR": ("RR", "may"),
    "RR": ("RR", "may"),
    "MAP": ("AP", "may"),
    "AP": ("AP", "may"),
    "nDCG": ("nDCG", "may"),
    "R-precision": ("Rprec", "not"),
    "Rprec": ("Rprec", "not"),
}


def parse(name: str) -> ir_measures.Measure:
    """Return the library's measure for a name as the papers write it, such as "MRR@10".

    Raises:
        BadInput: there is no such measure.
        MissingExtra: ir_measures is not installed.
    """
    stem, at, depth = name.partition("@")
    library, cutoff = _STEMS.get(stem, ("", ""))
    fits = re.fullmatch("[1-9][0-9]{0,8}", depth) and cutoff != "not" if at else cutoff != "must"
    if not library or not fits:  # asked for a cut-off of 0, the library ends the whole process
        raise BadInput(f"no measure {name!r}: use names such as {', '.join(DEFAULT)}, MAP@100, P@5")
    measure: ir_measures.Measure = _library().parse_measure(library + at + depth)
    return measure


def _library() -> Any:  # noqa: ANN401 - loaded where it is used: the page does without
    try:
        import ir_measures
    except ImportError as error:
        raise MissingExtra(f"measuring needs ir-measures: run {install_hint('eval')}") from error
    return ir_measures


def per_question(
    qrels: Qrels, run: Run, measures: Sequence[str] = DEFAULT
) -> Mapping[str, npt.NDArray[np.float64]]:
    """Return each measure's value for every question that has gold articles, in the order of qrels.

    A question that the run lacks counts as answered by nothing.
    """
    answerable = [question for question, gold in qrels.items() if gold]
    place = {question: i for i, question in enumerate(answerable)}
    values = {name: np.zeros(len(answerable), dtype=np.float64) for name in measures}
    relevance = {question: dict.fromkeys(qrels[question], 1) for question in answerable}
    answered = {
        question: {hit.article_id: float(-n) for n, hit in enumerate(run[question])}
        for question in answerable
        if run.get(question)
    }
    named: dict[ir_measures.Measure, list[str]] = {}
    for name in values:
        named.setdefault(parse(name), []).append(name)  # one measure may be asked for by two names
    if answered:
        for value in _library().iter_calc(list(named), relevance, answered):
            for name in named[value.measure] if value.query_id in place else ():
                values[name][place[value.query_id]] = value.value
    return values
