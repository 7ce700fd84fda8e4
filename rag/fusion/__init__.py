"""Fusing rankings into one: by rank or score, of one question or a whole benchmark; a section boost."""
