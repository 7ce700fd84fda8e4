"""The corpus on disk: read, check, write, export."""
