"""References in the texts of a corpus: what they say, and which of its articles they mean."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property

from rag.corpus.articles import Articles
from rag.corpus.card import CorpusCard
from rag.graph.references.chinese import chinese_code, chinese_short_names, read_chinese
from rag.graph.references.chinese_grammar import ChineseGrammar, chinese_grammar
from rag.graph.references.grammar import LANGUAGES, load_grammar
from rag.graph.references.latin import law_code, law_numbers, read_latin
from rag.graph.references.reference import Kind, Role, TextReference
from rag.retrieval.known_item import versions_in_force
from rag.text.article_numbers import number_key
from rag.text.code_names import CodeNames
from rag.types import Article

__all__ = ["Kind", "ReferenceReader", "Role", "TextReference"]

LONGEST_RANGE = 500  # articles of one range; of one that holds more, its ends
_CHINESE = "zh"
_CAPITALS = re.compile(r" [A-ZÀ-Ý'’ ]{4}")  # Titolo III LA VALUTAZIONE


class ReferenceReader:
    """Reads the references of a corpus's texts and finds the articles that they mean.

    The language is the article's own, or else the card's; in one that has no grammar nothing is read.
    """

    def __init__(self, articles: Sequence[Article], card: CorpusCard) -> None:
        self._articles = Articles.of(articles)
        self._card = card
        self._names: dict[str, CodeNames] = {}

    def read(self, article: Article) -> tuple[TextReference, ...]:
        """Return what a text refers to, in order, not overlapping."""
        language = article.language or self._card.language
        if language == _CHINESE:
            return read_chinese(article.text, self._chinese, article.code)
        if language not in LANGUAGES:
            return ()
        grammar, names = load_grammar(language), self._named_in(language)
        found = read_latin(article.text, grammar, names, article.code)
        return tuple(each for each in found if not _is_heading(article, each))

    def resolve(self, article: Article, reference: TextReference) -> tuple[int, ...]:
        """Return the positions of the articles that a reference of this one means, each once.

        It is () where the corpus does not hold them, and for a part of a law or a law as a whole. A range
        is all that stands from its first to its last article, in the corpus's order. Of the versions of an
        article the one in force when this one came into force is meant, or at the corpus's own date.
        """
        if not reference.articles:
            return ()
        code = self._code(article, reference.law)
        if code is None:
            return ()
        if reference.kind == "relative":
            found = [each for step in reference.articles for each in self._near(article, int(step))]
        else:
            found = [each for number in reference.articles for each in self._numbered(code, number)]
        return self._in_force(article, list(dict.fromkeys(found)))

    def _code(self, article: Article, law: str) -> str | None:
        """Return the corpus's name of the law that a reference of an article is to, if it holds it."""
        language = article.language or self._card.language
        if not law:
            return article.code
        if law == "?":
            return None
        if language == _CHINESE:
            return chinese_code(law, self._named_in(language))
        return law_code(law, self._named_in(language), self._law_numbers)

    def _named_in(self, language: str) -> CodeNames:
        if language not in self._names:
            codes = self._articles.codes.counts
            aliases: dict[str, Sequence[str]] = dict(self._card.aliases)
            if language == _CHINESE:
                for code, names in chinese_short_names(codes).items():
                    aliases[code] = [*aliases.get(code, ()), *names]
            self._names[language] = CodeNames(codes, aliases, language)
        return self._names[language]

    @cached_property
    def _chinese(self) -> ChineseGrammar:
        return chinese_grammar(self._named_in(_CHINESE))

    @cached_property
    def _law_numbers(self) -> dict[str, str]:
        return law_numbers(self._articles.codes.counts)

    @cached_property
    def _places(self) -> dict[tuple[str, str], list[int]]:
        """Where the articles of a number stand, by code and number; "?1" are those of L1, R1 and D1."""
        places: dict[tuple[str, str], list[int]] = {}
        codes, written = self._articles.codes, self._articles.article_nos
        keys, bare = self._articles.number_keys, self._articles.bare_keys
        for position, (code, number) in enumerate(zip(codes.of.tolist(), written.of.tolist(), strict=True)):
            name = codes.keys[code]
            places.setdefault((name, keys.keys[int(keys.of[number])]), []).append(position)
            if without := bare.keys[int(bare.of[number])]:
                places.setdefault((name, f"?{without}"), []).append(position)
        return places

    def _bearing(self, code: str, number: str) -> list[int]:
        """Return where a number stands in a code; one that lacks its letter finds L, R and D."""
        if not number:
            return []
        return self._places.get((code, number)) or self._places.get((code, f"?{number}"), [])

    def _numbered(self, code: str, number: str) -> list[int]:
        """Return where a number stands in a code, or a range "a..b" with all that is between its ends."""
        first, through, last = number.partition("..")
        begins, ends = self._bearing(code, first), self._bearing(code, last)
        if not through or not begins or not ends:
            return [*begins, *ends]
        held = self._of_code[code]
        between = held[bisect_left(held, begins[0]) : bisect_left(held, ends[-1]) + 1]
        return between if 0 < len(between) <= LONGEST_RANGE else [*begins, *ends]

    @cached_property
    def _of_code(self) -> dict[str, list[int]]:
        codes = self._articles.codes
        return {key: codes.of_number(n).tolist() for n, key in enumerate(codes.keys)}

    def _near(self, article: Article, step: int) -> list[int]:
        """Return the articles so many numbers before or behind this one in its code."""
        at = self._articles.order.positions.get(article.id)
        if at is None:
            return []
        if step == 0:
            return [at]
        held, way = self._of_code[article.code], 1 if step > 0 else -1
        place, number, passed = bisect_left(held, at), article.article_no, 0
        found: list[int] = []
        while 0 <= (place := place + way) < len(held):
            other = self._articles[held[place]]
            if other.article_no != number:
                passed, number = passed + 1, other.article_no
            if passed > abs(step):
                break
            if passed == abs(step):
                found.append(held[place])
        return found

    def _in_force(self, article: Article, found: list[int]) -> tuple[int, ...]:
        """Return those of some positions that are in force when an article comes into force."""
        if len(found) < 2 or not self._articles.dated:
            return tuple(found)
        held = {position: self._articles[position] for position in found}
        day = article.valid_from or self._card.law_date
        left = {each.id for each in versions_in_force(list(held.values()), day)}
        return tuple(position for position, each in held.items() if each.id in left)


def _is_heading(article: Article, reference: TextReference) -> bool:
    """Tell whether it is a title, TITOLO I, or the article's own number in front of its text."""
    if reference.kind == "level":
        behind = article.text[reference.end : reference.end + 5]
        return article.text[reference.start : reference.end].isupper() or _CAPITALS.match(behind) is not None
    own = reference.kind == "internal" and reference.articles == (number_key(article.article_no),)
    return own and not article.text[: reference.start].strip()
