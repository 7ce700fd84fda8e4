"""A question is asked: analysers, retrievers, fusion, the engine and its page."""
