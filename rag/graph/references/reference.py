"""What a text says of another article or law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

Kind: TypeAlias = Literal["internal", "relative", "level", "external", "law"]
Role: TypeAlias = Literal["", "definition", "exception", "derogates"]
ROLES: tuple[Role, ...] = get_args(Role)  # by their numbers in a graph


@dataclass(frozen=True, slots=True)
class TextReference:
    """One contiguous expression that names one law, or a list or range of its articles."""

    start: int
    end: int  # characters of the text, end exclusive
    kind: Kind
    law: str  # "" the same law; else as the text writes it; "?" where it cannot be told
    articles: tuple[str, ...]  # as `number_key` gives them; ranges "515-1..515-7"; relative "-1", "+1", "0"
    role: Role = ""  # what the words around it say
