"""Time and memory: python -m training.benchmark."""
