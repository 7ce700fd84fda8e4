"""The clients of one model, shared by the sessions of a process."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from rag.answer.generation.client import Client
from rag.answer.generation.errors import Failure, Reason
from rag.answer.generation.settings import ModelSettings
from rag.errors import PandectError

_log = logging.getLogger(__name__)


class Clients:
    """The clients of one model, made when they are first needed; sessions share them."""

    def __init__(self, settings: ModelSettings, connect: Callable[..., Client]) -> None:
        """Make nothing yet."""
        self._settings, self._connect = settings, connect
        self._made: dict[bool, Client] = {}
        self._lock = threading.Lock()
        self.plain = False  # the server has answered to a plain request, and not to a full one

    def get(self, plain: bool) -> Client:
        """Return a client.

        Args:
            plain: one that sends nothing which some servers reject.

        Raises:
            Failure: it cannot be made; the log says why.
        """
        with self._lock:
            if plain not in self._made:
                try:
                    self._made[plain] = self._connect(self._settings, plain=plain)
                except PandectError as error:  # its message is ours: it holds neither key nor question
                    _log.error("the language model is not set up: %s", error)
                    raise Failure(Reason.SETTINGS) from None
            return self._made[plain]
