"""Split questions into folds: python -m training.splits."""
