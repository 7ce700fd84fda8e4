"""Learned fusion: trees and networks over what all systems say of the first 1,000 candidates.

LambdaMART (Burges 2010) and listwise networks, fitted by `training.fusion.learned` to annotated questions
that none of the systems had seen; here they only score. "Know When to Fuse" (Louis et al. 2025) found that
fusion helps trained systems only where its weights are learnt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from rag.errors import BadInput, missing, watching
from rag.ltr.features import DEPTH, EXPANSION_FEATURES, GROUPS, NAMES, Candidates, Evidence
from rag.ltr.ranker import Ranker
from rag.retrieval.base import Mask
from rag.retrieval.bm25 import BM25, BM25Settings
from rag.retrieval.query_expansion import ExpandedBM25
from rag.retrieval.term_counts import FieldCounts
from rag.text import Analyser
from rag.types import EMPTY, Filter, Floats, Ranking, Reason, rank

# the lists that candidates are taken from, by their names in training.eval
KEYWORD, MEANING = "bm25+questions", "dense"
# Who asks for few articles, as a page does, has a twentieth of the trees choose the candidates that all trees
# and networks score: by trees alone 1,229 of STARD's 1,235 questions had the same first ten as if all had
# been, with networks all 247 of a fold (docs/ranking.md).
FEW = 20
CHOSEN = 150
BEGINNING = 20
RECENT = 8  # questions whose candidates stay at hand: who asks has the answer explained next


class LearnedReranker:
    """Reranks the candidates of BM25 and the encoder with trees and networks (LambdaMART, listwise)."""

    def __init__(self, evidence: Evidence, ranker: Ranker) -> None:
        """Score what `evidence` knows by what was fitted.

        Raises:
            BadInput: it was fitted to other features than this version computes.
        """
        unknown = sorted(set(ranker.features) - set(NAMES))
        if unknown:
            raise BadInput(
                f"the learned fusion asks for {', '.join(unknown)}, which this version does not know: "
                "fit it again with python -m training.train fusion INDEX"
            )
        self.evidence = evidence
        self.ranker = ranker
        self._columns = [NAMES.index(name) for name in ranker.features]
        self._order = evidence.keyword.order
        self._recent = lru_cache(maxsize=RECENT)(self._look)

    @property
    def uses_expansion(self) -> bool:
        """Whether a feature that is ranked by comes from the bridge, and there is one."""
        return self.evidence.expansion is not None and not set(EXPANSION_FEATURES).isdisjoint(
            self.ranker.features
        )

    def with_expansion(self, words: ExpandedBM25 | None) -> LearnedReranker:
        """Return the same looking over another bridge, or over none."""
        return LearnedReranker(replace(self.evidence, expansion=words), self.ranker)

    def search(self, questions: Sequence[str], k: int, where: Filter | None = None) -> list[Ranking]:
        """Return one ranking of at most k hits a question; only candidates are ranked."""
        return [ranking for ranking, _ in self.search_parts(questions, k, where)]

    def search_parts(
        self, questions: Sequence[str], k: int, where: Filter | None = None
    ) -> list[tuple[Ranking, Mapping[str, Ranking]]]:
        """Return with each ranking the lists that its candidates came from."""
        if k <= 0:
            return [(EMPTY, {KEYWORD: EMPTY, MEANING: EMPTY}) for _ in questions]
        if len(questions) == 1:
            mine, found, parts = self._recent(questions[0], where)
            if parts:  # they may answer now; what was found without them is not to be found again
                self._recent.cache_clear()
                mine, found, parts = self._recent(questions[0], where)
            missing(*parts)
            return [(self._ranked(found, k), mine)]
        lists = first_stage_lists(self.evidence, questions, where)
        return [
            (self._ranked(self.evidence.candidates(question, tuple(mine.values())), k), mine)
            for question, mine in zip(questions, lists, strict=True)
        ]

    def _look(
        self, question: str, where: Filter | None
    ) -> tuple[Mapping[str, Ranking], Candidates, frozenset[str]]:
        """Return the lists, the candidates, and the parts of the collection that did not answer."""
        with watching() as parts:
            [mine] = first_stage_lists(self.evidence, [question], where)
        return mine, self.evidence.candidates(question, tuple(mine.values())), frozenset(parts)

    def reasons(
        self, question: str, article_ids: Sequence[str], where: Filter | None = None
    ) -> dict[str, tuple[Reason, ...]]:
        """Return for each article that is a candidate what moved its score, the largest move first.

        They add up to the score, which a ranking rounds. An article that is none has no entry.
        """
        _, found, _ = self._recent(question, where)
        ranking = Ranking(self._order, found.positions, np.zeros(len(found.positions)))
        at = {
            id_: row
            for id_, row in zip(article_ids, ranking.rows(article_ids).tolist(), strict=True)
            if row >= 0
        }
        names = sorted({GROUPS[name] for name in self.ranker.features})
        into = tuple(names.index(GROUPS[name]) for name in self.ranker.features)
        parts = self.ranker.contributions(self._rows(found)[list(at.values())], into)
        reasons = {}
        for id_, own in zip(at, parts.tolist(), strict=True):
            sums = sorted(zip([*names, "base"], own, strict=True), key=lambda x: (-x[1], x[0]))
            reasons[id_] = tuple(Reason(group, share) for group, share in sums)
        return reasons

    def _ranked(self, found: Candidates, k: int) -> Ranking:
        if not len(found.positions):
            return EMPTY
        rows, positions = self._rows(found), found.positions
        if k <= FEW:
            chosen, scores = self.ranker.best(rows, CHOSEN, BEGINNING)
            positions = positions[chosen]
        else:
            scores = self.ranker.scores(rows)
        return rank(scores, self._order, k, positions=positions)

    def _rows(self, found: Candidates) -> Floats:
        """Return the features that it ranks by, each in one piece."""
        return found.features.T[self._columns].T


def bm25_over(
    fields: Sequence[str], counts: FieldCounts, settings: BM25Settings, mask: Mask, analyser: Analyser
) -> BM25:
    """Return BM25 over some fields alone: the law's own, or annotated questions and their answers."""
    weights = {name: settings.weights.get(name, 0.0) for name in fields}
    return BM25.build(counts, replace(settings, weights=weights), mask, analyser)


def first_stage_lists(
    evidence: Evidence, questions: Sequence[str], where: Filter | None = None
) -> list[dict[str, Ranking]]:
    """Return the first-stage lists of BM25 and the encoder for each question, 1,000 deep."""
    keyword = evidence.keyword.search(questions, DEPTH, where)
    meaning = evidence.meaning.search(questions, DEPTH, where)
    return [{KEYWORD: a, MEANING: b} for a, b in zip(keyword, meaning, strict=True)]
