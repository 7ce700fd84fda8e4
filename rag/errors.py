"""Errors that a person can act on: what came, what was expected, what to type."""

from __future__ import annotations


class PandectError(Exception):
    """Base of every error that Pandect raises on purpose; its text is fit to show to a person."""


class BadInput(PandectError, ValueError):
    """A file, option or value that cannot be used as it is; names the place and the cure."""


class MissingIndex(PandectError, FileNotFoundError):
    """No index where one was asked for; names the command that builds it."""


class DamagedIndex(PandectError):
    """An index whose files do not match its manifest; names the command that rebuilds it."""


class StaleIndex(PandectError):
    """An index of another format, corpus or analyser than this installation reads."""


class MissingExtra(PandectError, ImportError):
    """A feature whose optional packages are not installed; names the extra to install."""
