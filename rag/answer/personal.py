from __future__ import annotations
from dataclasses import dataclass
@dataclass(frozen=True, slots=True)
class Finding:
    kind: str
def personal_data(q: str, j: str) -> tuple[Finding, ...]: return ()
