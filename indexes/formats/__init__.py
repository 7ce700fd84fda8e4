"""File formats, read and written line by line."""
