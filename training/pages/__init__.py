"""How fast the pages feel, and what they hold under many people and many corpora: `python -m training.pages`."""
