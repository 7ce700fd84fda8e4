"""What TensorBoard is given: every number of a look at its step, and nothing twice after a stop."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from rag.errors import MissingExtra
from training.neural.trainer.logging import Events, TrainingLog, summary_writer


class Writer:
    """Stands for torch's, which needs a package that the tests do without."""

    made: list[Writer] = []  # noqa: RUF012 - one list for all on purpose

    def __init__(self, folder: str, purge_step: int | None) -> None:
        self.folder, self.purge_step = folder, purge_step
        self.rows: list[tuple[str, float, int]] = []
        self.flushed = 0
        Writer.made.append(self)

    def add_scalar(self, name: str, value: float, step: int) -> None:
        self.rows.append((name, value, step))

    def flush(self) -> None:
        self.flushed += 1


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[Writer]:
    module = ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = Writer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    monkeypatch.setattr(Writer, "made", [])
    return Writer.made


def test_numbers_are_written_by_name_and_step(tmp_path: Path, written: list[Writer]) -> None:
    pytest.importorskip("torch")
    log = TrainingLog(tmp_path / "log.jsonl", None, Events(tmp_path / "events"))
    log({}, "a plan has no step")
    assert written == []
    log({"step": 3, "loss": 0.5, "said": "text", "rate": 1}, "step 3")
    [writer] = written
    assert writer.rows == [("loss", 0.5, 3), ("rate", 1, 3)]
    assert (writer.folder, writer.purge_step, writer.flushed) == (str(tmp_path / "events"), None, 1)
    assert len((tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines()) == 2


def test_a_run_that_goes_on_leaves_out_what_came_later(tmp_path: Path, written: list[Writer]) -> None:
    pytest.importorskip("torch")
    file = tmp_path / "log.jsonl"
    file.write_text("".join(json.dumps({"step": n}) + "\n" for n in (1, 2, 3)), encoding="utf-8")
    log = TrainingLog(file, None, Events(tmp_path / "events"))
    log.back_to(2)
    log({"step": 3, "loss": 0.25}, "step 3")
    [writer] = written
    assert writer.purge_step == 3  # TensorBoard shows nothing from this step on that was there before
    assert [json.loads(line)["step"] for line in file.read_text("utf-8").splitlines()] == [1, 2, 3]


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(MissingExtra, match="run pip install tensorboard"):
        summary_writer()
