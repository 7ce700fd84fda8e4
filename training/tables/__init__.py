"""The tables of the documents, made from result files: python -m training.tables."""
