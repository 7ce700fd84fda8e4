"""Questions that a language model writes for articles: python -m training.synthetic."""
