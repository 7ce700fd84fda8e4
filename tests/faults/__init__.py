"""Faults on purpose, for whatever reads, writes and shows law: `python -m tests.faults`."""
