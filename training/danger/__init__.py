"""What fits the classifier of danger (`rag.screening.danger_classifier`): `python -m training.danger`."""
