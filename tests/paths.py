"""Where the tests find the project's files and the measuring data."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("PANDECT_SHARED", ROOT.parent / "shared"))  # the folder that holds `data/`
