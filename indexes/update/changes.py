"""What changed from one version of a law to the next, as it is printed and kept with the version."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

FILE = "changes.json"  # of a version
FEW = 5  # ids that are printed
KINDS = ("added", "changed", "repealed", "removed")


@dataclass(frozen=True, slots=True)
class Changed:
    """The ids of articles, or of questions, by what became of them; each id stands once."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    repealed: tuple[str, ...] = ()  # still listed, and now with the day on which they ceased to be in force
    removed: tuple[str, ...] = ()
    unchanged: int = 0

    def __bool__(self) -> bool:
        """Tell whether there is any."""
        return bool(self.added or self.changed or self.repealed or self.removed)

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Changed:
        """Make it of what JSON holds of it."""
        ids = {kind: tuple(map(str, record[kind])) for kind in KINDS}
        return cls(**ids, unchanged=int(record["unchanged"]))

    def brief(self) -> str:
        """Say how many there are of each kind that there are any of."""
        return ", ".join(f"{len(ids):,} {kind}" for kind in KINDS if (ids := getattr(self, kind)))


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed from one version to another."""

    against: str  # the version before
    articles: Changed = field(default_factory=Changed)
    questions: Changed = field(default_factory=Changed)
    card: tuple[str, ...] = ()  # fields of the card whose values differ
    moved: bool = False  # what both have stands in another order

    def __bool__(self) -> bool:
        """Tell whether anything that an index holds is another."""
        return bool(self.articles or self.questions or self.card or self.moved)

    def brief(self) -> str:
        """Say on one line what changed."""
        parts = [self.articles.brief()]
        if self.questions:
            parts.append(f"questions {self.questions.brief()}")
        if self.card:
            parts.append(f"card: {', '.join(self.card)}")
        if self.moved:
            parts.append("another order")
        return "; ".join(filter(None, parts)) or "the same law"

    def lines(self) -> list[str]:
        """Say what changed, with the first ids of each kind, a line a finding."""
        found = []
        for what, of in (("", self.articles), (" questions", self.questions)):
            for kind in KINDS:
                ids: tuple[str, ...] = getattr(of, kind)
                if ids or not what:  # of questions there is often nothing to say
                    found.append(f"{kind + what:20} {len(ids):>9,}{_first(ids)}")
            if of or not what:
                found.append(f"{'unchanged' + what:20} {of.unchanged:>9,}")
        if self.card:
            found.append(f"card                 {', '.join(self.card)}")
        if self.moved:
            found.append("articles or questions stand in another order")
        return found

    def write(self, folder: Path) -> None:
        """Write the record of these changes into a version."""
        (folder / FILE).write_text(json.dumps(asdict(self), ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Changes | None:
        """Read the record of a version; None where it has none, or none that can be read."""
        try:
            record = json.loads((folder / FILE).read_text(encoding="utf-8"))
            articles, questions = Changed.of(record["articles"]), Changed.of(record["questions"])
            return cls(record["against"], articles, questions, tuple(record["card"]), record["moved"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None


def _first(ids: Sequence[str]) -> str:
    return f"   {', '.join(ids[:FEW])}{', ...' if len(ids) > FEW else ''}" if ids else ""
