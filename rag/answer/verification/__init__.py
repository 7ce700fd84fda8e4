"""Check every written sentence against the articles that it cites."""
