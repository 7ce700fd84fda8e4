"""Cleaning of a corpus as it is imported: optional, counted, and nothing that it takes out is lost."""
