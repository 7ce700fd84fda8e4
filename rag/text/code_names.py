"""The codes that a corpus holds, by every name under which a question may cite them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files

from rag.text.folding import fold, level

_WORD = re.compile(r"[^\W_]+")
_STATE = "中华人民共和国"
_BRACKETS = re.compile(
    r"[（(][^（()）]*[)）]$"
)  # 中华人民共和国民法典（2020年）, Codice penale (R.D. 1398/1930)
_QUOTES = re.compile(r"[《》<>〈〉\s]")


def _key(name: str) -> tuple[str, ...]:
    return tuple(fold(word) for word in _WORD.findall(level(name)))


def _chinese_key(name: str) -> str:
    return _QUOTES.sub("", level(name))


def _groups(language: str) -> list[list[str]]:
    file = files("rag.text") / "codes" / f"{language}.txt"
    if not file.is_file():
        return []
    lines = (line.partition("#")[0] for line in file.read_text(encoding="utf-8").splitlines())
    return [[name.strip() for name in line.split("|")] for line in lines if line.strip()]


class CodeNames:
    """Finds which code a piece of text names; also knows names of laws that are not in the corpus.

    Names come from the corpus (in full, without a bracket at the end, without 中华人民共和国), from
    `aliases` and from a table of usual abbreviations; the corpus wins over its aliases, these over
    the table.

    Args:
        codes: the names of the codes as the corpus has them.
        aliases: code -> short forms.
        language: ISO 639-1; one without a table has only the other two sources.
    """

    def __init__(
        self, codes: Iterable[str], aliases: Mapping[str, Sequence[str]] | None = None, language: str = "fr"
    ) -> None:
        self.language = language
        self.codes = tuple(dict.fromkeys(codes))
        self._words: dict[tuple[str, ...], str | None] = {}
        self._signs: dict[str, str | None] = {}  # Chinese names, which are not parted into words
        for code in self.codes:
            self._add(code, code)
        for code in self.codes:
            self._add(_BRACKETS.sub("", code), code)
            self._add(code.removeprefix(_STATE), code)
            self._add(_BRACKETS.sub("", code).removeprefix(_STATE), code)
        for code, forms in (aliases or {}).items():
            for form in forms:
                self._add(form, code if code in self.codes else self._of(code))
        for group in _groups(language):
            loaded = next((code for code in map(self._of, group) if code is not None), None)
            for name in group:
                self._add(name, loaded)
                if language == "zh":
                    self._add(_STATE + name, loaded)
        self._longest_words = max(map(len, self._words), default=0)
        self._longest_signs = max(map(len, self._signs), default=0)

    def _of(self, name: str) -> str | None:
        return self._words.get(_key(name)) or self._signs.get(_chinese_key(name))

    def _add(self, name: str, code: str | None) -> None:
        if key := _key(name):
            self._words.setdefault(key, code)
        if sign := _chinese_key(name):
            self._signs.setdefault(sign, code)

    def after(self, text: str, at: int) -> tuple[int, str | None] | None:
        """Return where the longest name that begins at `at` ends, and its code (None: not loaded).

        Args:
            text: as `level` gives it.
            at: where the first word of the name must begin.
        """
        words: list[str] = []
        best: tuple[int, str | None] | None = None
        for word in _WORD.finditer(text, at):
            if (not words and word.start() != at) or len(words) == self._longest_words:
                break
            words.append(fold(word[0]))
            key = tuple(words)
            if key in self._words:
                end = word.end() + (text[word.end() : word.end() + 1] == "." and len(word[0]) <= 6)
                best = end, self._words[key]
        return best

    def before(self, text: str, end: int) -> tuple[int, str | None] | None:
        """Return where the longest name that ends at `end` begins, and its code (None: not loaded)."""
        window_start = max(0, end - 160)
        words = list(_WORD.finditer(text, window_start, end))[-self._longest_words :]
        if not words or text[words[-1].end() : end].strip(" .)") or self._longest_words == 0:
            return None
        folded = [fold(word[0]) for word in words]
        for first, word in enumerate(words):
            key = tuple(folded[first:])
            if key in self._words:
                return word.start(), self._words[key]
        return None

    def before_sign(self, text: str, end: int) -> tuple[int, str | None] | None:
        """Return the same as `before`, for names written without spaces."""
        for length in range(min(self._longest_signs, end), 1, -1):
            name = text[end - length : end]
            if name in self._signs:
                return end - length, self._signs[name]
        return None
