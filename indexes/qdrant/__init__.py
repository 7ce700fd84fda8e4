"""Indexes in a Qdrant vector store, where more law fits than one process holds."""
