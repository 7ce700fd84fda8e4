"""Law in a format that one publisher alone uses."""
