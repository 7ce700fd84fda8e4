"""Fit and measure the confidence: python -m training.confidence."""
