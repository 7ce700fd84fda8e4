"""Bring law here: from an address, a hub or an archive."""
