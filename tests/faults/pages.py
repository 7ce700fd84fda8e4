"""Markup in what others write, on pages, in files and on the terminal; floods of a page and of a client."""

from __future__ import annotations

import asyncio
import csv
import io
import os
import re
import shutil
import struct
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from lxml import etree

from indexes.__main__ import main
from indexes.corpus.corpus import Corpus, write
from rag.answer.types import Answer, Ending, WritingStarted
from rag.corpus.export import ArticleExtract, ExportLabels, to_markdown
from rag.errors import BadInput, PandectError
from rag.ui.html import _CONTROL as CONTROL
from rag.ui.search import Answers
from tests.fakes.answers import model_server
from tests.fakes.answers.answers import LINES, answer
from tests.fakes.law.corpus import GOAT, VILLAGE, install
from tests.fakes.pages.any_page_driver import open_page
from tests.fakes.pages.ask_page_driver import ask, body, page
from tests.fakes.pages.ui_answers import CUT, HOSTILE, FakeModel, FakeQuoter
from tests.fakes.pages.ui_engine import ARTICLES, CARD, MOVED, TENANCY, FakeEngine
from tests.faults.inputs import Case
from tests.paths import ROOT
from tests.rag.answer.generation.test_transport import MOST, PATHS
from tests.rag.corpus.test_export import TAKEN_OUT
from training.pages import serving
from training.pages.visitor import Visitor

MARK = "pdq7"  # in everything that is put in, so that it can be counted where it comes out
_PIECES = (
    "<script>pdq7</script>", "<img src=pdq7 onerror=alert(1)>", "<svg/onload=pdq7>", "<x-pdq7 a=1>",
    "</p></div><iframe src='javascript:pdq7'>", '" onmouseover="pdq7', "' autofocus onfocus='pdq7",
    "javascript:pdq7", "data:text/html,<b>pdq7</b>", "<style>*{color:red}pdq7</style>", "<!-- pdq7",
    "]]>pdq7", "&lt;b&gt;pdq7", "&#60;script&#62;pdq7", "[pdq7](javascript:alert(1))", "**pdq7**", "`pdq7`",
    "![pdq7](https://evil.example/x.png)", ":red[pdq7]", "\n# pdq7", "\n---\npdq7", "\n    pdq7",
    "<https://evil.example/pdq7>", "https://evil.example/pdq7", "\x1b[2Jpdq7", "\x9b31mpdq7",
    "\x1b]0;pdq7\x07", "\u202epdq7\u2066", "\x00pdq7\x08", "\u2028pdq7", "\r\npdq7", "pdq7\ufeff", "\\pdq7\\",
    "|pdq7| x |", "=cmd|'/c pdq7'!A0", "$$pdq7$$", "@SUM(pdq7)", "+pdq7", "{{pdq7}}", "${pdq7}", "%0d%0apdq7",
)  # fmt: skip
_TAGS = frozenset(
    name for path in (ROOT / "rag" / "ui").rglob("*.py")
    for name in re.findall(r'tag\(\s*"(\w+)"', path.read_text(encoding="utf-8"))
)  # fmt: skip
_DRAWN = {"svg", "g", "rect", "text", "title", "path", "line", "circle", "style", "desc"}
_HREF = re.compile(r"https?://|\./|#|tel:|mailto:|\?|data:(text/(markdown|plain)|application/json)")
_MARKDOWN = re.compile(r"<[a-zA-Z/!]|\]\(|\$\$|:\w+\[|(?<!\w)\*\*|`")
_WRITTEN = re.compile(r"(?<!\\)(?:\\\\)*(?:<[a-zA-Z/!]|!?\[[^\]\n]*\]\(<?(?:javascript|data):)")  # in a .md
_KEPT = {"name", "language", "text_kind", "question_origin", "origin", "split", "article_ids", "references"}


def text(chance: Random) -> str:
    """Return what nobody should write."""
    return " ".join(chance.choice(_PIECES) for _ in range(chance.randint(1, 3)))


def poisoned(value: Any, chance: Random) -> Any:
    """Return a value with other texts in all that it holds."""
    if isinstance(value, str):
        return text(chance) + (" arbre" if len(value) > 50 else "")
    if isinstance(value, tuple):
        return tuple(poisoned(each, chance) for each in value)
    if isinstance(value, Mapping):
        return {key: poisoned(each, chance) for key, each in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        held = {each.name: getattr(value, each.name) for each in fields(value) if each.init}
        changed = {key: poisoned(each, chance) for key, each in held.items() if key not in _KEPT}
        return replace(value, **changed)
    return value


def absent(sign: re.Pattern[str], content: str, where: str) -> None:
    """Hold that a text has no such sign."""
    if found := sign.search(content):
        raise AssertionError(f"through: {where}: {content[max(0, found.start() - 30) :][:90]!r}")


def came_through(app: Any) -> int:
    """Hold that what was put into a page is text there; return how often it came."""
    root = body(app)
    for element in root.all():
        assert element.name in _TAGS, f"through: <{element.name}>"
        for name, value in element.attributes.items():
            assert re.fullmatch(r"[a-z][a-z0-9-]*", name), f"through: attribute {name!r}"
            assert not name.startswith("on"), f"through: {name}={value!r}"
            if name in ("href", "action", "formaction", "xlink-href"):
                assert _HREF.match(value), f"through: {name}={value!r}"
            if name in ("src", "srcdoc", "style"):
                assert MARK not in value, f"through: {name}={value!r}"
    said = [block.body for block in app.html]
    labels = [
        str(getattr(each, "label", "")) for each in (*app.button, *app.checkbox, *app.radio, *app.selectbox)
    ]
    labels += [str(each.value) for each in (*app.markdown, *app.caption)]
    for label in labels:
        absent(_MARKDOWN, re.sub(r"\\.", "", label) if MARK in label else "", "a label")
    for each in (*said, *labels):
        absent(CONTROL, each, "the page")
    return sum(each.count(MARK) for each in (*said, *labels))


def _page(name: str, chance: Random, folder: Path) -> int:
    """A page of a corpus, a person and a model that nobody should trust."""
    del folder
    articles = tuple(
        replace(each, text=f"arbre {text(chance)} " * chance.choice((1, 30)))
        for each in poisoned(ARTICLES, chance)
    )
    card = poisoned(replace(CARD, elsewhere=(TENANCY,), moved=(MOVED,)), chance)
    engine, asked = FakeEngine(card=card, articles=articles, like=text(chance)), f"arbre {text(chance)}"
    if name == "ask":
        parts = poisoned((HOSTILE, CUT), chance)
        events = (WritingStarted(), *parts, Answer(Ending.WRITTEN, parts, reason=text(chance)))
        answers = Answers(FakeQuoter(), FakeModel(events, name=text(chance), judge=text(chance)))
        first = page(engine, answers=answers)
        return came_through(first) + came_through(ask(first, asked))
    one = articles[0]
    query = {"article": one.id, "code": one.code, "articles": one.id, "at": text(chance)}
    chosen = {key: value for key, value in query.items() if chance.random() < 0.5}
    return came_through(open_page(name, engine, chance.choice(("fr-FR", "zh-CN")), asked=asked, **chosen))


def _files(name: str, chance: Random, folder: Path) -> int:
    """What is written and printed of a corpus: its export, its description and what commands say of it."""
    del name
    law, asked = poisoned(VILLAGE.articles, chance), poisoned(VILLAGE.questions, chance)
    corpus = Corpus(
        poisoned(VILLAGE.card, chance),
        tuple(replace(each, id=f"{each.id}{n}") for n, each in enumerate(law)),
        tuple(replace(each, id=f"{each.id}{n}", article_ids=()) for n, each in enumerate(asked)),
    )
    labels = poisoned(ExportLabels("t", "q", ("l",), "o", ("f",)), chance)
    extract = ArticleExtract(corpus.card, "village", "1", corpus.articles, text(chance))
    written = {"export.md": to_markdown(extract, labels)}
    shutil.rmtree(folder, ignore_errors=True)
    said, error = io.StringIO(), io.StringIO()
    with redirect_stdout(said), redirect_stderr(error):
        with suppress(BadInput):  # a corpus that no file can hold
            write(corpus, folder / "law")
        for command in (
            "describe {0} --output {1}",
            "import {0} --name law --replace",
            "describe law",
            "list",
        ):
            main(command.format(folder / "law", folder / "told").split())
    written |= {path.name: path.read_text("utf-8") for path in (folder / "told").glob("*")}
    for file, content in written.items():
        if file.endswith(".md"):
            absent(_WRITTEN, content, file)
        elif file.endswith(".svg"):
            elements = etree.fromstring(content.encode()).iter(etree.Element)
            assert (names := {etree.QName(each).localname for each in elements}) <= _DRAWN, names
        elif file.endswith(".csv"):
            cells = [cell for row in csv.reader(io.StringIO(content, newline="")) for cell in row]
            assert not [cell for cell in cells if MARK in cell and cell[0] in "=+@-\t\r"], f"through: {file}"
    out = said.getvalue() + error.getvalue().replace("\r", "")  # with which progress begins its line again
    absent(TAKEN_OUT, out.replace("\n", "").replace("\t", ""), "the terminal")
    return out.count(MARK) + sum(content.count(MARK) for content in written.values())


MARKUP = {
    **dict.fromkeys(("ask", "browse", "about", "sheet", "quality"), _page), "files": _files
}  # fmt: skip


def markup_case(chance: Random, folder: Path) -> Case:
    """A page, or files, of what nobody should write."""
    kind = chance.choice([*MARKUP])
    return kind, lambda: {"injections": MARKUP[kind](kind, chance, folder / "markup")}


def model_case(chance: Random, folder: Path) -> Case:
    """A server of a model that sends too much, or what is no answer, or nothing."""
    del folder
    provider, sent = chance.choice([*PATHS]), list[int]()
    behaviours = {
        "no newline": model_server.without_newline(sent), "a long error": model_server.long_error(sent),
        "packed": model_server.packed, "one line again": model_server.huge(LINES[0]),
        "signs of life": model_server.keeps_alive(20), "silent": model_server.silent(20),
        "stalls": model_server.stalls(LINES, 20), "breaks": model_server.breaks(LINES),
        "garbage": model_server.garbage, "no protocol": model_server.no_protocol,
        "no JSON": model_server.broken_events, "away": model_server.redirects(307, "http://127.0.0.1:9/"),
    }  # fmt: skip
    kind = chance.choice([*behaviours])

    def run() -> dict[str, int]:
        with model_server.serving(behaviours[kind]) as server:
            url = server.url if provider == "openai" else server.root
            waits = {"first_token": 0.5, "between": 0.5, "whole": 2.0}
            found = answer(server, model=f"{provider}:scripted", url=url, **waits)
        assert sum(sent) < MOST, f"{sum(sent)} bytes were taken"
        assert found.ending is not Ending.WRITTEN or kind == "one line again", found
        return {"floods": 1}

    return kind, run


RUNNING: list[serving.RunningServer] = []


@contextmanager
def served() -> Iterator[None]:
    """Serve the page over a small law, to all processes that are forked meanwhile."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["PANDECT_HOME"] = home
        install(VILLAGE)
        with serving.served("village") as running:
            RUNNING[:] = [running]
            yield


async def _flood(kind: str, port: int, head: bytes) -> None:
    """Send and stay, until it is cancelled."""
    if kind == "HTTP":
        _, to = await asyncio.open_connection("127.0.0.1", port)  # nobody reads what comes
        to.write(head * 20_000)
        await asyncio.sleep(60)
    visitor, _ = await Visitor.arrive(port)
    with suppress(PandectError, OSError, TimeoutError):
        if kind == "megabytes":
            await visitor.ask("x" * 2_000_000)
        elif kind == "no end":
            begun = bytes([0x82, 0xFF]) + struct.pack("!Q", 15_900_000)
            visitor.socket.transport.write(begun + bytes(15_000_000))
        else:
            message = visitor._message(pressed=visitor._typed(GOAT))
            if kind == "never reads":
                visitor.socket.transport.pause_reading()
            for _ in range(200):
                await asyncio.wait_for(visitor.socket.send(message), 5)
                await asyncio.sleep(0.05)
    await asyncio.sleep(60)


def flood_case(chance: Random, folder: Path) -> Case:
    """Sockets that send what no person does, and a person who asks meanwhile."""
    del folder
    kind = chance.choice(("megabytes", "no end", "asks on", "never reads", "HTTP"))
    many = chance.choice((1, 5, 20))
    head = chance.choice((b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET / HTTP/1.1\r\n", b"X: b\r\n"))

    async def visits(running: serving.RunningServer) -> float:
        tasks = [asyncio.ensure_future(_flood(kind, running.port, head)) for _ in range(many)]
        most = 0.0
        for _ in range(10):
            await asyncio.sleep(0.1)
            most = max(most, running.memory())
        asking, _ = await Visitor.arrive(running.port)
        found = await asking.ask(GOAT)
        await asking.leave()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert found.cards > 0, "nobody else is answered"
        return max(most, running.memory())

    def run() -> dict[str, int]:
        return {"floods": many, "peak": int(asyncio.run(visits(RUNNING[0])))}

    return f"{kind}, {many}", run
