"""A key that cannot be shown by accident."""

from __future__ import annotations

import hmac
from typing import NoReturn


class Secret:
    """Holds a key; printing, formatting, copying and pickling never show it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        """Hold the key."""
        self._value = value

    def reveal(self) -> str:
        """Return the key: for the client that sends it, and for nothing else."""
        return self._value

    def __repr__(self) -> str:
        """Show that there is a key, and not which."""
        return "Secret(…)"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        """Show as little, whatever the format."""
        return repr(self)

    def __eq__(self, other: object) -> bool:
        """Compare in a time that does not depend on where two keys differ."""
        return isinstance(other, Secret) and hmac.compare_digest(self._value.encode(), other._value.encode())

    __hash__ = None  # type: ignore[assignment]  # a hash would let a key be guessed

    def __copy__(self) -> Secret:
        """Return the same: a copy would be one more place to forget."""
        return self

    def __deepcopy__(self, memo: object) -> Secret:
        """Return the same, likewise."""
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuse: a pickle is written somewhere."""
        raise TypeError("a secret is not pickled")
