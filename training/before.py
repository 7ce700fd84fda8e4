"""`python -m training.before`: see `training.screening`."""

from __future__ import annotations

from training.screening import main

if __name__ == "__main__":
    main()
