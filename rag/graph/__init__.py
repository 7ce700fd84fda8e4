"""The legislative graph of a corpus, and ranking by it."""
