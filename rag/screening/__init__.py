"""Decide what a person should see first, and whether a language model may be asked."""
