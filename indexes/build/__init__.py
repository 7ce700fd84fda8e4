"""Build an index from a corpus: tokenise, fit an encoder, index, stamp."""
