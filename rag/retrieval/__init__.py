"""Retrievers: each ranks a corpus for a question."""
