"""Versions of an index on disk: paths, manifests, opening, switching."""
