"""Describing a corpus: what is in it as tables and plots, and its data card."""
