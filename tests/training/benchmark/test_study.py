"""The benchmark of every fusion says how many it timed."""

from __future__ import annotations

from training.benchmark import fusion


def test_it_times_88_configurations() -> None:
    said: dict[str, float] = {}
    fusion.measure_study(6, lambda what, value, unit: said.update({what.strip(): value}))
    assert said["configurations"] == 88
    assert said["questions"] == 6
    assert said["on the cores"] > 0
