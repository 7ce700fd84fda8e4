"""Decide what to do with a question before a language model is asked."""
