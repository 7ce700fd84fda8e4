"""Measure retrieval systems: python -m training.eval."""
