"""The summaries that ship, compared with the official text: numbers, negation, force, persons, wording."""

from __future__ import annotations

from indexes.digest.check import check
from indexes.digest.finding import KINDS, Finding

__all__ = ["KINDS", "Finding", "check"]
