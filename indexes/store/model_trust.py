"""Which pretrained models a person has chosen on this machine: one that a manifest alone names is not loaded.

An index may come from somebody else, and its manifest names a folder or an id on the hub, from which
weights and tokenizers would be read. So a build keeps under PANDECT_HOME what was chosen there.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from indexes.store.atomic import replacing
from indexes.store.paths import home
from rag.errors import BadInput

SETTING = "PANDECT_TRUST_MODEL"
FILE = "trusted-models.json"


def trust(model: str) -> None:
    """Remember that a person has named a model, by folder or id."""
    if model not in (known := _known()):
        home().mkdir(parents=True, exist_ok=True)
        with replacing(home() / FILE) as part:
            part.write_text(json.dumps(sorted({*known, model}), indent=1) + "\n", encoding="utf-8")


def require_trust(model: str, where: Path) -> None:
    """Refuse with `BadInput` a model that `where` names and nobody here has."""
    chosen = {each.strip() for each in os.environ.get(SETTING, "").split(",")}
    if model not in chosen | _known():
        problem = f"it names the model {model!r}, which nobody has chosen on this machine"
        raise BadInput(f"{where}: {problem}. If you trust it set {SETTING}={model}")


def _known() -> set[str]:
    try:
        return set(map(str, json.loads((home() / FILE).read_text(encoding="utf-8"))))
    except (OSError, ValueError, TypeError):  # none yet, or not readable: nothing is trusted
        return set()
