"""References of a law's texts to its own articles and to other laws."""
