"""How fast the pages feel, and what they hold for many people and corpora: `python -m training.pages`."""
