"""Results that papers print of other corpora, for orientation beside what was measured here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Published:
    """One row of a paper's table."""

    corpus: str
    paper: str
    system: str
    trained: bool  # on questions of that corpus
    measures: Mapping[str, float] = field(default_factory=dict)  # percent, as printed


_STARD = ("STARD", "Su et al. 2024")
_BSARD = ("BSARD", "Louis & Spanakis 2022")
_LLEQA = ("LLeQA", "Louis et al. 2025")
_NSF = "BM25 + DPR + ColBERT"  # fused by their z-scores: the best of theirs on the test questions
ROWS = (
    Published(*_STARD, "BM25", False, {"R@10": 39.43, "R@100": 64.93}),
    Published(*_STARD, "Dense-STARD", True, {"R@10": 60.61, "R@100": 90.65}),
    Published(*_BSARD, "BM25", False, {"R@100": 51.33}),
    Published(*_BSARD, "Two-tower bi-encoder", True, {"R@100": 74.78}),
    Published("BSARD", "JuriFindIT 2025", "DAR + GIR", True, {"R@100": 88.7}),  # the highest known
    Published(*_LLEQA, "BM25", False, {"R@10": 36.7}),
    Published(*_LLEQA, _NSF, False, {"R@10": 40.7}),
)
