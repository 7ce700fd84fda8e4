"""HTML read back, so that tests look at elements and not at strings."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass
class Element:
    name: str
    attributes: dict[str, str]
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def all(self, name: str = "", class_: str = "") -> list[Element]:
        found = []
        for child in self.children:
            if name in ("", child.name) and (
                not class_ or class_ in child.attributes.get("class", "").split()
            ):
                found.append(child)
            found += child.all(name, class_)
        return found

    def one(self, name: str = "", class_: str = "") -> Element:
        [found] = self.all(name, class_)
        return found


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open = [Element("root", {})]
        self.later: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {k: v or "" for k, v in attrs})
        self.open[-1].children.append(element)
        self.open.append(element)
        if "data-more" in element.attributes:  # what the page makes of it when it is opened
            self.later.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].name == tag, f"</{tag}> closes <{self.open[-1].name}>"
        if self.later and self.later[-1] is self.open[-1]:
            self.later.pop()
            inside = _Reader()
            inside.open[0] = self.open[-1]
            inside.open[:0] = self.open[:-1]
            inside.feed(self.open[-1].attributes["data-more"])
            inside.close()
            assert inside.open == self.open, f"<{inside.open[-1].name}> is not closed"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.text += data


def read(html: str) -> Element:
    """Return the root of well-formed HTML, with what is made when it is opened (`data-more`) in its place.

    An element left open or closed twice fails the test."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert len(reader.open) == 1, f"<{reader.open[-1].name}> is not closed"
    return reader.open[0]
