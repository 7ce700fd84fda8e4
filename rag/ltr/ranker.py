"""What a learned fusion ranks candidates by: boosted trees and small networks, whose scores are added."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rag.errors import BadInput
from rag.ltr.networks import Network
from rag.ltr.trees import FORMAT as TREES_ALONE
from rag.ltr.trees import REFIT_HINT, Matrix, Trees
from rag.types import Floats, Ints

FORMAT = 2  # 1 is that of trees alone, which is still written where there are no networks
_ROUNDING = 1e-9  # what is closer is alike


@dataclass(frozen=True)
class Ranker:
    """A sum of trees and of networks over the same named features.

    They are fitted to the same questions and err elsewhere: by most measures a list that both made is better
    than either's (docs/results.md, what was tried). Either may be missing.
    """

    trees: Trees
    networks: tuple[Network, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        """Refuse networks over another number of features than the trees'."""
        for network in self.networks:
            if len(network.mean) != len(self.features):
                raise BadInput(
                    f"a network of {len(network.mean)} features beside trees of {len(self.features)}: fit "
                    "both again with python -m training.train fusion INDEX"
                )

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features, a column each."""
        return self.trees.features

    @cached_property
    def id(self) -> str:
        """Short hash of all that scores: what was calibrated with it fits no others."""
        if not self.networks:
            return self.trees.id
        record = json.dumps([self.trees.id, [network.to_record() for network in self.networks]])
        return hashlib.sha256(record.encode()).hexdigest()[:16]

    def scores(self, rows: Floats | Matrix) -> Matrix:
        """Return the score, (n,), of each row of numbers, (n, n_features), as `Trees.scores` does."""
        return self._with_networks(self.trees.scores(rows), rows)

    def best(self, rows: Floats | Matrix, n: int, beginning: int) -> tuple[Ints, Matrix]:
        """Return the n rows that the first trees, one in so many, find best, and their scores by all.

        As `Trees.best` does; without trees, all rows are scored.
        """
        if not self.trees.trees:
            return np.arange(len(rows)), self.scores(rows)
        chosen, scores = self.trees.best(rows, n, -(-len(self.trees.trees) // beginning))
        return chosen, self._with_networks(scores, rows[chosen]) if self.networks else scores

    def contributions(self, rows: Floats | Matrix, into: tuple[int, ...] | None = None) -> Matrix:
        """Take scores apart as `Trees.contributions` does: (n, number of sums + 1) that add up to scores."""
        parts = self.trees.contributions(rows, into)
        if self.networks and len(rows):
            own = np.sum([network.contributions(rows) for network in self.networks], axis=0)
            for feature, sum_ in enumerate(into or range(len(self.features))):
                parts[:, sum_] += own[:, feature]
            parts[:, -1] += own[:, -1]
        return parts

    def balanced(self, rows: Floats | Matrix, sizes: Sequence[int]) -> Ranker:
        """Return the same with trees of spread 1 and n networks of 1 / n each, over lists of these sizes.

        Networks that agree then count as much together as the trees, and less where they do not. The spread
        is how far scores lie apart within a list: the mean of the standard deviations.
        """
        if not self.networks:
            return self

        def spread(part: Trees | Network) -> float:
            scores = np.split(part.scores(rows), np.cumsum(sizes)[:-1])
            found = float(np.mean([each.std() for each in scores]))
            return found if found > _ROUNDING else 1.0  # it tells no two rows of any list apart

        scaled = [network.times(1 / (spread(network) * len(self.networks))) for network in self.networks]
        return Ranker(self.trees.times(1 / spread(self.trees)), tuple(scaled))

    def _with_networks(self, scores: Matrix, rows: npt.NDArray[np.floating]) -> Matrix:
        for network in self.networks if len(rows) else ():
            scores = scores + network.scores(rows)
        return scores

    def to_json(self) -> str:
        """Return the file's text; floats come back exactly."""
        record = self.trees.to_record()
        if self.networks:
            record |= {"format": FORMAT, "networks": [network.to_record() for network in self.networks]}
        return json.dumps(record, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Ranker:
        """Read what `to_json` wrote, or trees alone.

        Raises:
            BadInput: it is something else, or of another version.
        """
        try:
            record: Mapping[str, Any] = json.loads(text)
            known = record["format"]
            if known in (TREES_ALONE, FORMAT):
                networks = record["networks"] if known == FORMAT else ()
                return cls(Trees.from_record(record), tuple(map(Network.from_record, networks)))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise BadInput(f"no learned fusion ({error}): {REFIT_HINT}") from error
        raise BadInput(
            f"a learned fusion of format {known}, this version reads {TREES_ALONE} and {FORMAT}: {REFIT_HINT}"
        )
