"""What the tests of indexes share."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _not_in_a_clone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the printed commands be the plain ones, also where `./pandect test` runs the tests."""
    monkeypatch.setattr("indexes.store.paths.STAMP", "no-such-file")
