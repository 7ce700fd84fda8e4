"""Measures what is decided before a model is asked."""
