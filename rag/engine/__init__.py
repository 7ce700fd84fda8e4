"""Answer a question: search, confidence, explanation, result."""
