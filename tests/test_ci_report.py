"""The report of continuous integration: which skips it lets pass."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.paths import ROOT

REPORT = ROOT / ".ci" / "report.py"


def _case(test: str, skipped: str = "", *marks: str) -> str:
    owner, _, name = test.partition("::")
    inside = "".join(f'<property name="mark" value="{mark}"/>' for mark in marks)
    inside = f"<properties>{inside}</properties>" if marks else ""
    inside += f'<skipped type="pytest.skip" message="{skipped}"/>' if skipped else ""
    return f'<testcase classname="{owner}" name="{name}">{inside}</testcase>'


PAGE = _case("tests.b::page", "", "browser")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder as `.ci/run` leaves it, and beside it data and a chromium."""
    (tmp_path / "work").mkdir()
    (tmp_path / "shared" / "data").mkdir(parents=True)
    chromium = tmp_path / "bin" / "chromium"
    chromium.parent.mkdir()
    chromium.write_text("#!/bin/sh\n")
    chromium.chmod(0o755)
    return tmp_path / "work"


def _write(work: Path, name: str, *cases: str) -> None:
    text = f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>"
    (work / f"{name}.xml").write_text(text, encoding="utf-8")


def _report(work: Path, *, shared: str = "shared", path: str = "bin") -> tuple[int, str]:
    place = work.parent
    run = subprocess.run(
        [sys.executable, REPORT, work],
        env={"PANDECT_SHARED": str(place / shared), "PATH": str(place / path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not run.stderr
    return run.returncode, run.stdout


def test_skips_are_grouped_and_excused(work: Path) -> None:
    _write(work, "readme", _case("tests.a::one"), _case("tests.a::two", "no torch"), PAGE)
    _write(work, "models", _case("tests.b::three", "no torch"), _case("tests.b::four", "no network"))
    status, said = _report(work)
    assert status == 0
    assert "    2  no torch\n" in said
    assert said.index("no torch") < said.index("no network")
    assert "2 tests ran, 3 were skipped in every run" in said


def test_a_test_that_another_run_has_run_is_not_skipped(work: Path) -> None:
    _write(work, "readme", _case("tests.a.TestK::one[x/y]", "no network", "data"), PAGE)
    _write(work, "slow", _case("tests.a.TestK::one[x/y]"))
    assert _report(work) == (0, "2 tests ran, 0 were skipped in every run\n")


def test_data_is_here_but_its_test_was_skipped(work: Path) -> None:
    _write(work, "readme", _case("tests.a::one[p::q]", "no reason", "data"), PAGE)
    status, said = _report(work)
    assert status == 1
    assert "ERROR: the measuring data is here, but tests.a::one[p::q] did not run" in said
    assert _report(work, shared="elsewhere")[0] == 0


def test_chromium_is_here_but_no_page_was_opened(work: Path) -> None:
    _write(work, "readme", _case("tests.a::one"), _case("tests.b::page", "no chromium", "browser"))
    status, said = _report(work)
    assert status == 1
    assert "ERROR: chromium is here, but no test marked browser ran" in said
    assert _report(work, path="nowhere")[0] == 0


def test_nothing_ran(work: Path) -> None:
    assert _report(work, shared="elsewhere", path="nowhere")[0] == 1


def _conftest(config: pytest.Config) -> Any:
    return config.pluginmanager.get_plugin(str(REPORT.parent.parent / "tests" / "conftest.py"))


def test_the_marks_of_a_test_are_written_beside_it(request: pytest.FixtureRequest) -> None:
    item = pytest.Function.from_parent(request.node.parent, name="test_nothing_ran")
    item.add_marker("data")
    item.add_marker("models")
    _conftest(request.config).pytest_collection_modifyitems(request.config, [item])
    assert item.user_properties == [("mark", "data")]


def test_the_default_run_leaves_out_what_is_slow(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("test_nothing_ran", "test_skips_are_grouped_and_excused")
    slow, quick = (pytest.Function.from_parent(request.node.parent, name=name) for name in names)
    slow.add_marker("slow")
    for everything, kept in ((False, [quick]), (True, [slow, quick])):
        monkeypatch.setattr(request.config.option, "all", everything)
        items: list[pytest.Item] = [slow, quick]
        _conftest(request.config).pytest_collection_modifyitems(request.config, items)
        assert items == kept
