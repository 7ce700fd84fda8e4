"""The commands of `python -m indexes`."""
