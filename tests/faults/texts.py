"""Odd texts in six languages, and the references that are read in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from random import Random

from rag.corpus.card import CorpusCard
from rag.graph.references.reader import ReferenceReader
from rag.types import Article
from tests.faults.inputs import Case
from tests.rag.graph.references.test_latin import CASES

LANGUAGES = ("fr", "nl", "it", "de", "en", "zh")
LONGEST = 120_000  # characters of a text; the longest article of the measuring data has 90,000

_SENTENCES: Mapping[str, Sequence[str]] = {
    **{each: [text for language, text, _ in CASES if language == each] for each in LANGUAGES[:-1]},
    "zh": (
        "除本法第十二条第二款、第十三条至第十五条另有规定外，依照《刑法》第三百零七条之一的规定处罚。",
        "违反前条、本条第一款第（三）项、本章、同法第五条和《城市房地产管理法》第 39 条的",
    ),
}
_ODD = (
    *" \n\t\u00a0\u200b\u202e\0\ufffd\U0001f600éİß١²Ⅳ()[]«»\"'’-–/.,;:°§*第条款之《》、，",
    "  ", "((", "))", "§§", "..", "1", "12", "9" * 40, "0", "1a", "bis", "IV", "L.", "n°", "no", "一百二十",
)  # fmt: skip
_CODES = {
    "fr": ("Code civil", "Code rural"), "nl": ("Burgerlijk Wetboek", "Gerechtelijk Wetboek"),
    "it": ("Codice penale", "Decreto legislativo 24 gennaio 2006, n. 36"), "de": ("BGB", "Insolvenzordnung"),
    "en": ("Data Protection Act 1998", "Companies Act 2006"), "zh": ("刑法", "城市房地产管理法"),
}  # fmt: skip


@cache
def fragments(language: str) -> tuple[str, ...]:
    """Words of the sentences and of the grammar, which are what its patterns wait for."""
    words = [word for sentence in _SENTENCES[language] for word in sentence.split(" ")]
    grammar = files("rag.graph.references") / "grammars" / f"{language}.toml"
    words += re.findall(r"[\"']([^\"'\n]+)[\"']", grammar.read_text(encoding="utf-8"))
    return tuple(dict.fromkeys(word for word in words if word))


@cache
def reader(language: str) -> tuple[ReferenceReader, tuple[Article, ...]]:
    """A small law of two codes, and a reader of it."""
    number = "第{}条" if language == "zh" else "{}"
    law = tuple(
        Article(f"{c}-{n}", code, number.format(n), "x", (f"I {code}", f"II {n // 5}"))
        for c, code in enumerate(_CODES[language])
        for n in range(1, 41)
    )
    card = CorpusCard(name="law", title="Law", language=language)
    return ReferenceReader(law, card), law


def _sentences(language: str, chance: Random) -> str:
    return " ".join(chance.choice(_SENTENCES[language]) for _ in range(chance.randint(1, 30)))


def _mixed(language: str, chance: Random) -> str:
    """Words of the grammar and odd signs in any order."""
    words, gap = fragments(language), chance.choice(["", " ", " ", ", "])
    return gap.join(
        chance.choice(words if chance.random() < 0.75 else _ODD) for _ in range(chance.choice([5, 60, 2000]))
    )


def _characters(language: str, chance: Random) -> str:
    text = list(_sentences(language, chance))
    for _ in range(chance.choice([1, 5, 60])):
        at = chance.randrange(len(text))
        text[at : at + chance.choice([0, 1, 1, 20])] = [chance.choice(_ODD)]
    return "".join(text)


def _runs(language: str, chance: Random) -> str:
    """A few words over and over, in front of a text, in it and behind it: what patterns may go back over."""
    words = (*fragments(language), *_ODD)
    unit = chance.choice(["", " "]).join(chance.choice(words) for _ in range(chance.randint(1, 4))) or "x"
    times = max(1, min(chance.choice([30, 1000, 40_000]), LONGEST // len(unit)))
    begin, end = (chance.choice(["", _sentences(language, chance), chance.choice(words)]) for _ in range(2))
    return begin + unit * times + end


def _numbers(language: str, chance: Random) -> str:
    def number() -> str:
        value = chance.choice([0, 1, 12, 10**9, 10**200]) + chance.randrange(50)
        signs = chance.choice(
            ["{}", "L. {}-1", "{}bis", "{}-bis", "{}a", "{}.{}", "{}/{}", "-{}", "第{}条", "IV{}"]
        )
        return signs.format(value, value)

    gap = chance.choice(
        [", ", " et ", " e ", " und ", " bis ", " à ", " to ", "-", "、", "至", " a ", " en "]
    )
    word = chance.choice(fragments(language))
    return f"{word} " + gap.join(number() for _ in range(chance.choice([1, 20, 3000])))


_TEXTS: Mapping[str, Callable[[str, Random], str]] = {
    "sentences": _sentences, "words": _mixed, "characters": _characters, "runs": _runs,
    "numbers": _numbers,
}  # fmt: skip


def text_case(language: str, chance: Random, folder: Path) -> Case:
    """An article with odd text, and what is read in it."""
    del folder
    kind = chance.choice([*_TEXTS])
    text = _TEXTS[kind](language, chance)[:LONGEST]
    reads, law = reader(language)
    article = replace(chance.choice(law), text=text)

    def run() -> dict[str, int]:
        last, found = 0, list(reads.read(article))
        for each in found:
            assert last <= each.start < each.end <= len(text), f"{each}: out of order or of the text"
            last = each.end
            assert each.kind in ("internal", "relative", "level", "external", "law"), each
            assert all(0 <= position < len(law) for position in reads.resolve(article, each)), each
        return {"texts": 1, "references": len(found)}

    return kind, run
