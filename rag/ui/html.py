"""HTML made so that text which others wrote cannot become markup.

An imported corpus is not trusted, and a question even less. `tag` escapes every string that it is given; only
what `tag` itself made passes as it is.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import urlsplit

# What Streamlit's Markdown gives a meaning to: emphasis, links, code, maths ($), icons and colours (:), HTML.
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-!|$:~&.@/])")
_TELEPHONE = re.compile(r"\+?[0-9][0-9\s().\-/]*")
# Controls, and those that turn the direction of writing: with one, a text could turn what stands beside it.
_TAKEN_OUT = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069"
_CONTROL = re.compile(f"[{_TAKEN_OUT}]")
_UNSAFE = re.compile(f"[&<>\"'{_TAKEN_OUT}]")  # what of a text may not stay as it is


class Html(str):
    """Markup that is safe already."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Return it for `st.html`, which would look through any other string for a margin to take off."""
        return str(self)


def _inside(parts: tuple[str, ...]) -> str:
    return "".join([part if isinstance(part, Html) else _written(part) for part in parts])


@lru_cache(maxsize=64)  # more than we write
def _attribute(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _written(text: str) -> str:
    if _UNSAFE.search(text) is None:  # most: a page of articles has thousands of strings
        return text
    return html.escape(_CONTROL.sub("", text), quote=True)


def tag(name: str, *children: str, **attributes: str | None) -> Html:
    """Return an element; children that are not `Html` are escaped, and so are attribute values.

    `class_` is class and `aria_label` is aria-label; None leaves the attribute out.
    """
    opening = name
    for key, value in attributes.items():
        if value is not None:
            opening += f' {_attribute(key)}="{_written(value)}"'
    return Html(f"<{opening}>{_inside(children)}</{name}>")  # thousands a page: no call that can be spared


def join(*parts: str) -> Html:
    """Return the parts one after the other, escaped where they are not `Html`."""
    return Html(_inside(parts))


def web_address(url: str | None) -> str | None:
    """Return the address when it is an http or https one that can be a link, else None."""
    if not url or " " in url or not url.isprintable():  # of all blanks only this one can be printed
        return None
    try:
        parts = urlsplit(url)
    except ValueError:  # such as "http://[": not an address at all
        return None
    return url if parts.scheme in ("http", "https") and parts.hostname else None


def link(url: str | None, label: str) -> Html:
    """Return a link that opens in a new tab, or the bare label when the address cannot be one."""
    address = web_address(url)
    if address is None:
        return join(label)
    return tag("a", label, href=address, target="_blank", rel="noopener noreferrer")


def site(url: str | None) -> Html:
    """Return a link that is called by its host: a whole address breaks off in the middle on a phone."""
    address = web_address(url)
    return link(url, (urlsplit(address).hostname or address) if address else url or "")


def telephone(number: str) -> Html:
    """Return a number that a telephone dials when it is touched; anything else stays text."""
    if not _TELEPHONE.fullmatch(number.strip()):
        return join(number)
    return tag("a", number, href="tel:" + "".join(sign for sign in number if sign in "0123456789+"))


def rows(pairs: Iterable[tuple[str, str]]) -> Html:
    """Return a list of names and what they stand for."""
    return tag("dl", *(join(tag("dt", name), tag("dd", text)) for name, text in pairs))


def bullets(lines: Iterable[str], **attributes: str | None) -> Html:
    """Return a list of lines; the attributes are each line's."""
    return tag("ul", *(tag("li", line, **attributes) for line in lines))


def folded(label: str, *content: str, **attributes: str | None) -> Html:
    """Return what is shown when its label is pressed."""
    return tag("details", tag("summary", label), *content, **attributes)


def copy_button(label: str, text: str, done: str) -> Html:
    """Return a button that copies a text, and then says that it is done (`script.js`)."""
    kind = {"type": "button", "class_": "pd-copy"}
    return tag("button", label, **kind, data_copy=text, data_done=done, aria_live="polite")


def paragraphs(text: str) -> Html:
    """Return the text as paragraphs, one a line of it."""
    return join(*(tag("p", line.strip()) for line in text.splitlines() if line.strip()))


def plain_label(text: str) -> str:
    """Return the text, on one line, so that a widget whose label is Markdown shows it letter by letter."""
    line = re.sub(r"[ \t\r\n]+", " ", _CONTROL.sub("", text)).strip()
    unbroken = re.sub(r" (?=[?!:;»])", "\u202f", line)  # French: no line begins with its mark
    return _MARKDOWN.sub(r"\\\1", unbroken)
