"""What was measured of an index: the compact result file beside it, and what a page may say of it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from rag.errors import BadInput

FORMAT = 1
MIN_QUESTIONS = 10  # questions of a topic; of fewer no share is told: each would move it by over 10 points
_Z = 1.959963984540054  # of the normal distribution, for 95 %


@dataclass(frozen=True, slots=True)
class TopicRate:
    """A number from 0 to 1, with the ends of its 95 % interval."""

    value: float
    low: float
    high: float

    def __post_init__(self) -> None:
        """Refuse what is no share."""
        if not 0 <= self.low <= self.value <= self.high <= 1:
            raise BadInput(f"{self} is no share with its interval: 0 <= low <= value <= high <= 1")


@dataclass(frozen=True, slots=True)
class SystemQuality:
    """One way to search, measured."""

    measures: Mapping[str, TopicRate]  # such as R@10
    median_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class Topic:
    """The questions of one category."""

    questions: int
    found: int  # with an answering article among the first ten

    def __post_init__(self) -> None:
        """Refuse more found than asked."""
        if not 0 <= self.found <= self.questions or not self.questions:
            raise BadInput(f"{self.found} of {self.questions} questions found: expected at most all of some")

    @property
    def rate(self) -> TopicRate:
        """The share found."""
        return wilson(self.found, self.questions)


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Questions whose probability of an answer is alike."""

    low: float
    high: float
    questions: int
    predicted: float  # mean probability
    observed: float  # share with an answering article among the first ten


@dataclass(frozen=True, slots=True)
class QualityResults:
    """What is known of the quality of one index."""

    corpus_sha256: str
    questions: int  # with known answers
    answers_with: str  # the system that the page answers with, one of `systems`
    systems: Mapping[str, SystemQuality]
    topics: Mapping[str, Topic]
    reliability: tuple[ReliabilityBin, ...] = ()  # of the confidence; none where none was measured
    learnt_from: str | None = None
    command: str = ""

    def __post_init__(self) -> None:
        """Refuse a file whose parts do not go together."""
        if self.answers_with not in self.systems:
            systems = ", ".join(self.systems)
            raise BadInput(f"the results have no system {self.answers_with!r}, only {systems}")

    @property
    def page(self) -> SystemQuality:
        """The system that the page answers with."""
        return self.systems[self.answers_with]

    def to_json(self) -> str:
        """Return the file's text."""
        return json.dumps({"format": FORMAT} | asdict(self), ensure_ascii=False, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> QualityResults:
        """Read what `to_json` wrote.

        Raises:
            BadInput: it is something else, of another format, or does not hold together.
        """
        try:
            record = json.loads(text)
            if record.pop("format") != FORMAT:
                raise BadInput(f"results of another format than {FORMAT}: make the file again")
            systems = {
                name: SystemQuality(
                    {key: TopicRate(**rate) for key, rate in found["measures"].items()},
                    float(found["median_ms"]),
                    float(found["p95_ms"]),
                )
                for name, found in record.pop("systems").items()
            }
            topics = {name: Topic(**found) for name, found in record.pop("topics").items()}
            reliability = tuple(ReliabilityBin(**found) for found in record.pop("reliability"))
            return cls(systems=systems, topics=topics, reliability=reliability, **record)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise BadInput(f"not a result file ({error}): make it again") from error


def wilson(found: int, of: int) -> TopicRate:
    """Return a share with its 95 % interval (Wilson 1927), which holds for few questions and near 0 or 1."""
    share, z2 = found / of, _Z * _Z
    middle = (share + z2 / (2 * of)) / (1 + z2 / of)
    half = _Z / (1 + z2 / of) * math.sqrt(share * (1 - share) / of + z2 / (4 * of * of))
    return TopicRate(share, max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half)))


def recall_by_cutoff(system: SystemQuality) -> dict[int, TopicRate]:
    """Return recall by cut-off: R@10 at 10."""
    found = ((name.removeprefix("R@"), rate) for name, rate in system.measures.items() if name[:2] == "R@")
    return dict(sorted((int(k), rate) for k, rate in found if k.isdigit()))
