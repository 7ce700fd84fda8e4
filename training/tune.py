"""`python -m training.tune`: see `training.fusion.bm25_tuning`."""

from __future__ import annotations

import sys

from training.fusion.bm25_tuning import main

if __name__ == "__main__":
    sys.exit(main())
