"""Where a training stands, on disk: weights, optimiser and counts; whole or not at all, and no pickle."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from indexes.store import atomic
from rag.errors import BadInput

CHECKPOINT = "checkpoint"
BEST = "best"
LOG = "log.jsonl"
_WEIGHTS, _OPTIMISER, _STATE = "weights.safetensors", "optimiser.safetensors", "state.json"


@dataclass
class CheckpointState:
    """What a training knows besides its weights."""

    identity: str  # hash of recipe, seed and data: another training cannot go on from here
    step: int = 0  # steps done
    best: float | None = None  # of the measure on the dev questions
    best_step: int = 0
    worse: int = 0  # evaluations since the best
    seconds: float = 0.0  # of training
    earlier: float = 0.0  # of these, before the last stop
    curve: list[dict[str, float]] = field(default_factory=list)  # an evaluation a row


def save_weights(module: Any, folder: Path) -> None:  # noqa: ANN401 - of torch
    """Write a module's weights into a folder that appears whole, over a former one."""
    with _replaced(folder) as part:
        _write(module, part)


def _write(module: Any, folder: Path) -> None:  # noqa: ANN401
    """Write all weights; of a model that is frozen in part, a few of billions, those that learn."""
    from safetensors.torch import save_file, save_model

    path = str(folder / _WEIGHTS)
    if learnt := _trainable_state(module):
        save_file({name: value.detach().contiguous() for name, value in learnt.items()}, path)
    else:
        save_model(module, path)


def load_weights(module: Any, folder: Path) -> None:  # noqa: ANN401
    """Read weights that `save_weights` or `save` wrote into a module of the same shape."""
    from safetensors.torch import load_file, load_model

    path = folder / _WEIGHTS
    if not (learnt := _trainable_state(module)):
        load_model(module, str(path))
        return
    found = load_file(str(path))
    if set(found) != set(learnt):
        raise BadInput(f"{path} is of other layers: remove its folder and start without --resume")
    module.load_state_dict(found, strict=False)


def _trainable_state(module: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return what learns beside weights that do not, by name; nothing where all learn."""
    every = dict(module.named_parameters())
    learnt = {name: value for name, value in every.items() if value.requires_grad}
    return learnt if len(learnt) < len(every) else {}


def save(work: Path, module: Any, optimiser: Any, state: CheckpointState) -> None:  # noqa: ANN401
    """Write a checkpoint over the former one; killed at any moment, one of the two is there whole."""
    from safetensors.torch import save_file

    with _replaced(work / CHECKPOINT) as part:
        _write(module, part)
        tensors = {
            f"{number}.{name}": value.contiguous()
            for number, entries in optimiser.state_dict()["state"].items()
            for name, value in entries.items()
        }
        save_file(tensors, str(part / _OPTIMISER))
        (part / _STATE).write_text(json.dumps(asdict(state)) + "\n", encoding="utf-8")


def has_checkpoint(work: Path) -> bool:
    """Return whether a checkpoint was written; without one a training begins anew."""
    return _whole(work).is_dir()


def other(work: Path) -> str:
    """Return what is said of a training that cannot be gone on with."""
    return (
        f"--resume: {work} is of another recipe, seed or data, or begins with a model that was trained "
        "anew. Use the same ones, or remove it (rm -r) and start without --resume."
    )


def _whole(work: Path) -> Path:
    """Return the folder of the checkpoint that is whole."""
    folder, former = work / CHECKPOINT, work / f"{CHECKPOINT}.old"
    return former if former.is_dir() and not folder.is_dir() else folder  # killed between two renames


def load(work: Path, module: Any, optimiser: Any, identity: str) -> CheckpointState:  # noqa: ANN401
    """Read a checkpoint into a module and an optimiser, and return where the training stands.

    Raises:
        BadInput: it cannot be read, or is of another training.
    """
    from safetensors.torch import load_file

    folder = _whole(work)
    path = folder / _STATE
    try:
        state = CheckpointState(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise BadInput(
            f"{path} cannot be read ({error}): remove its folder and start without --resume"
        ) from error
    if state.identity != identity:
        raise BadInput(other(work))
    state.earlier = state.seconds
    load_weights(module, folder)
    entries: dict[int, dict[str, Any]] = {}
    for name, tensor in load_file(str(folder / _OPTIMISER)).items():
        number, _, key = name.partition(".")
        entries.setdefault(int(number), {})[key] = tensor
    optimiser.load_state_dict({"state": entries, "param_groups": optimiser.state_dict()["param_groups"]})
    return state


@contextmanager
def _replaced(folder: Path) -> Iterator[Path]:
    """Give a new folder that takes the place of another at the end; after an error the other stays."""
    part, former = (folder.with_name(f"{folder.name}.{kind}") for kind in ("new", "old"))
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        yield part
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    atomic.sync(part)
    shutil.rmtree(former, ignore_errors=True)
    if folder.is_dir():
        folder.replace(former)
    part.replace(folder)
    shutil.rmtree(former, ignore_errors=True)
    atomic.sync_one(folder.parent)
