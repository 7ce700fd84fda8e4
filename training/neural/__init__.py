"""Neural retrievers, trained from one recipe by one loop: what they share, and one file a system."""
