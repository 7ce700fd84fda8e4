"""Damaged law and odd text for what reads them: `python -m tests.fuzz`."""
