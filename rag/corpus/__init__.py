"""What is known of a loaded corpus: card, contents, citations, licence, quality."""
