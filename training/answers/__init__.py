"""Measures written answers: `python -m training.eval answers`."""
