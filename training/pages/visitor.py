"""A person without a browser: a session over Streamlit's websocket, as its own front end holds one."""

from __future__ import annotations

import asyncio
import re
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from rag.errors import MissingExtra, PandectError, install_hint

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

PATIENCE = 60.0  # seconds; nobody waits longer, unless whoever measures says so
_ARTICLE = re.compile(r'browse\?article=([^"&]+)')
_WHOLE = (0, 3)  # FINISHED_SUCCESSFULLY, of a run or of a fragment
LARGEST = 2**26  # bytes of one message; a page of articles is a hundredth of that


@dataclass(frozen=True, slots=True)
class VisitorRun:
    """What came back of one thing that the person did."""

    seconds: float  # until the page was whole
    first_card: float | None  # until the first article; None: none came
    cards: int


class _Widget(NamedTuple):
    id: str
    fragment: str  # "" where it stands in none


@dataclass(slots=True)
class Visitor:
    """One session. What is typed or ticked stays, and goes along with every message, as in a browser."""

    socket: ClientConnection
    query: str = ""
    page: str = ""  # "" is "Ask"
    articles: list[str] = field(default_factory=list)  # that the last answer leads to, as the links have them
    patience: float = PATIENCE  # seconds
    lost: float | None = None  # when the connection ended, by time.perf_counter()
    _widgets: dict[str, _Widget] = field(default_factory=dict)  # by key
    _states: dict[str, Any] = field(default_factory=dict)  # id -> WidgetState
    _watching: asyncio.Task[None] | None = None

    @classmethod
    async def arrive(cls, port: int, patience: float = PATIENCE) -> tuple[Visitor, VisitorRun]:
        """Open the page; return the session and what its first view took.

        Raises:
            MissingExtra: websockets, which comes with Streamlit, is not installed.
            PandectError: the page failed.
        """
        try:
            from websockets.asyncio.client import connect
            from websockets.exceptions import WebSocketException
            from websockets.typing import Subprotocol
        except ImportError as error:
            raise MissingExtra(f"a scripted user needs websockets: run {install_hint('dev')}") from error
        start = time.perf_counter()
        address = f"ws://127.0.0.1:{port}/_stcore/stream"
        streamlit = Subprotocol("streamlit")
        try:
            socket = await connect(
                address, subprotocols=[streamlit], max_size=LARGEST, compression=None, open_timeout=patience
            )
        except WebSocketException as error:
            raise PandectError(f"the page does not open: {type(error).__name__}") from error
        visitor = cls(socket, patience=patience)
        visitor._watching = asyncio.create_task(visitor._watch())
        try:
            return visitor, await visitor._run(start=start)
        except PandectError:
            await visitor.leave()
            raise

    async def ask(self, question: str) -> VisitorRun:
        """Send a question as the button does."""
        return await self._run(pressed=self._typed(question))

    async def vanish(self, question: str) -> None:
        """Send a question and be gone before its answer, without closing the page."""
        from websockets.exceptions import WebSocketException

        with suppress(WebSocketException):  # the page was gone first
            await self.socket.send(self._message(pressed=self._typed(question)))
        self.socket.transport.abort()

    def has(self, key: str) -> bool:
        """Return whether the page has what can be pressed under this key."""
        return key in self._widgets

    async def tick(self, key: str) -> VisitorRun | None:
        """Tick the box of this key; None where there is none."""
        box = self._widgets.get(key)
        if box is None:
            return None
        self._states[box.id] = self._state(box.id, bool_value=True)
        return await self._run(fragment=box.fragment)

    async def go(self, page: str, query: str = "") -> VisitorRun:
        """Go to another page, as the links between them do."""
        self.page, self.query = page, query
        return await self._run()

    async def leave(self) -> None:
        """Close the page."""
        await self.socket.close()

    async def _watch(self) -> None:
        await self.socket.wait_closed()
        self.lost = time.perf_counter()

    def _typed(self, question: str) -> _Widget:
        """Put a question into its box; return the button that sends it."""
        if (box := self._widgets.get("question")) is None:
            known = ", ".join(self._widgets) or "none"
            raise PandectError(f"the page has no box 'question'; it has {known}")
        self._states[box.id] = self._state(box.id, string_value=question)
        self.articles.clear()
        [button] = [widget for key, widget in self._widgets.items() if key.startswith("FormSubmitter:ask")]
        return button

    @staticmethod
    def _state(id_: str, **value: Any) -> Any:  # noqa: ANN401 - a message of Streamlit's
        from streamlit.proto.WidgetStates_pb2 import WidgetState

        return WidgetState(id=id_, **value)

    def _message(self, *, pressed: _Widget | None = None, fragment: str = "") -> bytes:
        from streamlit.proto.BackMsg_pb2 import BackMsg

        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.page_name, state.fragment_id = self.query, self.page, fragment
        state.context_info.locale, state.context_info.timezone = "fr-FR", "Europe/Brussels"
        state.widget_states.widgets.extend(self._states.values())
        if pressed is not None:
            state.widget_states.widgets.append(self._state(pressed.id, trigger_value=True))
        return bytes(message.SerializeToString())

    async def _run(
        self, *, pressed: _Widget | None = None, fragment: str = "", start: float | None = None
    ) -> VisitorRun:
        from websockets.exceptions import WebSocketException

        sent = self._message(pressed=pressed, fragment=fragment)
        if not fragment:  # the whole page comes anew: what stood on the former one can be pressed no more
            self._widgets.clear()
        start = time.perf_counter() if start is None else start
        try:
            async with asyncio.timeout(self.patience):
                await self.socket.send(sent)
                return await self._read(start)
        except WebSocketException as error:
            raise PandectError(f"the page hung up: {type(error).__name__}") from error
        except TimeoutError as error:
            raise PandectError(f"the page was not whole after {self.patience:.0f} s") from error

    async def _read(self, start: float) -> VisitorRun:
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

        first: float | None = None
        cards = 0
        async for frame in self.socket:
            message = ForwardMsg()
            message.ParseFromString(frame if isinstance(frame, bytes) else frame.encode())
            match message.WhichOneof("type"):
                case "delta" if message.delta.WhichOneof("type") == "new_element":
                    cards += self._saw(message.delta)
                    if cards and first is None:
                        first = time.perf_counter() - start
                case "script_finished":
                    if message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                        continue  # the page itself asked to be drawn anew
                    if message.script_finished not in _WHOLE:
                        raise PandectError(f"the page ended with status {message.script_finished}")
                    return VisitorRun(time.perf_counter() - start, first, cards)
        raise PandectError("the page hung up")

    def _saw(self, delta: Any) -> int:  # noqa: ANN401 - a message of Streamlit's
        """Remember what can be pressed; return how many articles it was."""
        element = delta.new_element
        kind = element.WhichOneof("type")
        if kind == "exception":
            raise PandectError(f"the page shows an error: {element.exception.type}")
        if kind == "html":
            if found := element.html.body.count('class="pd-card"'):
                self.articles += _ARTICLE.findall(element.html.body)
            return int(found)
        widget = getattr(element, kind or "", None)
        if (id_ := getattr(widget, "id", "")) and id_.startswith("$$ID-"):
            key = id_.split("-", 2)[-1]  # $$ID-<hash>-<key>
            self._widgets[key] = _Widget(id_, delta.fragment_id)
            if kind == "checkbox" and element.checkbox.set_value:  # the page changed it: another question
                self._states.pop(id_, None)
        return 0
