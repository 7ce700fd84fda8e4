"""The codes that a corpus holds, by every name under which a question may cite them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files

from rag.text import data_lines
from rag.text.folding import fold, level

_WORD = re.compile(r"[^\W_]+")
_STATE = "中华人民共和国"
_BRACKETS = re.compile(
    r"[（(][^（()）]*[)）]$"
)  # 中华人民共和国民法典（2020年）, Codice penale (R.D. 1398/1930)
_QUOTES = re.compile(r"[《》<>〈〉\s]")


def _words(name: str) -> tuple[str, ...]:
    return tuple(map(fold, _WORD.findall(name)))


class CodeNames:
    """Finds which code a piece of text names; also knows names of laws that are not in the corpus.

    Names come from the corpus (in full, without a bracket at the end, without 中华人民共和国), from
    `aliases` (code -> short forms) and from the language's table of usual abbreviations, where it has one;
    the corpus wins over its aliases, these over the table.
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
            plain = _BRACKETS.sub("", code)
            names = (plain, code.removeprefix(_STATE), plain.removeprefix(_STATE))
            for name in dict.fromkeys(names):
                if name != code:  # most are, and a large law has tens of thousands
                    self._add(name, code)
        for code, forms in (aliases or {}).items():
            for form in forms:
                self._add(form, code if code in self.codes else self._of(code))
        table = f"codes/{language}.txt"
        for line in data_lines(table) if (files("rag.text") / table).is_file() else ():
            group = [name.strip() for name in line.split("|")]
            loaded = next((code for code in map(self._of, group) if code is not None), None)
            for name in group:
                self._add(name, loaded)
                if language == "zh":
                    self._add(_STATE + name, loaded)
        self._longest_words = max(map(len, self._words), default=0)
        self._longest_signs = max(map(len, self._signs), default=0)

    def _of(self, name: str) -> str | None:
        plain = level(name)
        return self._words.get(_words(plain)) or self._signs.get(_QUOTES.sub("", plain))

    def _add(self, name: str, code: str | None) -> None:
        plain = level(name)
        if key := _words(plain):
            self._words.setdefault(key, code)
        if sign := _QUOTES.sub("", plain):
            self._signs.setdefault(sign, code)

    def after(self, text: str, at: int) -> tuple[int, str | None] | None:
        """Return where the longest name that begins at `at` ends, and its code (None: not loaded).

        The text is as `level` gives it.
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

    def code_before(self, text: str, end: int) -> tuple[int, str | None] | None:
        """Return where the longest name that ends at `end` begins, and its code (None: not loaded)."""
        window_start = max(0, end - 160)
        words = list(_WORD.finditer(text, window_start, end))[-self._longest_words :]
        if not words or text[words[-1].end() : end].strip(" .)") or self._longest_words == 0:
            return None
        folded = tuple(fold(word[0]) for word in words)
        longest = (i for i in range(len(words)) if folded[i:] in self._words)
        return next(((words[i].start(), self._words[folded[i:]]) for i in longest), None)

    def before_sign(self, text: str, end: int) -> tuple[int, str | None] | None:
        """Return the same as `code_before`, for names written without spaces."""
        starts = range(end - min(self._longest_signs, end), end - 1)
        return next(((at, self._signs[text[at:end]]) for at in starts if text[at:end] in self._signs), None)
