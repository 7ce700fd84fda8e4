"""Odd texts in six languages, and the references that are read in them."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from random import Random

from rag.corpus.card import CorpusCard
from rag.graph.references.reader import ReferenceReader
from rag.types import Article
from tests.faults.acts import Case

LANGUAGES = ("fr", "nl", "it", "de", "en", "zh")
LONGEST = 120_000  # characters of a text; the longest article of the measuring data has 90,000

_SENTENCES: Mapping[str, Sequence[str]] = {
    "fr": (
        "Sous réserve des articles L. 411-1 à L. 411-7 et R.* 123-4 du code "
        "rural, l'article précédent s'applique.",
        "au sens de l'article 2 bis, alinéa 3, de la loi n° 89-462 du 6 juillet 1989 et du même code",
        "les dispositions du présent titre et du chapitre III du titre II du livre IX du code civil",
        "par dérogation aux articles 1er, 3 et suivants dudit code, aux 1° à 3° de "
        "l'article D. 271-2 du présent code",
    ),
    "nl": (
        "Onverminderd de artikelen 3 tot 7 en 9, § 2, eerste lid, van het "
        "Burgerlijk Wetboek geldt het vorige artikel.",
        "in afwijking van artikel 5bis van de wet van 6 juli 1989 en van deze wet, titel II, hoofdstuk 3",
    ),
    "it": (
        "Salvo quanto disposto dagli articoli 624-bis, 625, primo comma, numero "
        "1), del codice penale e seguenti",
        "ai sensi dell'articolo 2, comma 1, lettera e), del decreto legislativo 24 "
        "gennaio 2006, n. 36, di questo capo",
        "gli articoli da 4 a 52 della stessa legge; l'articolo precedente; artt. 3 e "
        "5 c.p.; D.LGS. 26 AGOSTO 2016, N. 179",
    ),
    "de": (
        "nach Maßgabe der §§ 312 bis 312k BGB, § 3 Abs. 2 Satz 1 Nr. 4 und § "
        "26 Absatz 2 der Insolvenzordnung",
        "Artikel 247 § 17 Abs. 2 des Einführungsgesetzes zum Bürgerlichen "
        "Gesetzbuche und die §§ 5 ff. dieses Gesetzes",
        "Unbeschadet des § 8, der §§ 3 bis 5, 6 Abs. 2, §§ 7, 11 und § 12 sowie des "
        "Dritten Abschnitts desselben Gesetzes",
    ),
    "en": (
        "Subject to sections 3 to 7 and 9(2)(b) of the Data Protection Act 1998, "
        "section 16 applies to this Part.",
        "within the meaning of Article 2(1) of Regulation (EU) 2016/679, the "
        "preceding section and this Act, schedule 1",
    ),
    "zh": (
        "除本法第十二条第二款、第十三条至第十五条另有规定外，依"
        "照《中华人民共和国刑法》第三百零七条之一的规定处罚。",
        "违反前条、本条第一款第（三）项、本章、同法第五条和《城"
        "市房地产管理法》（以下简称房地产法）第 39 条的",
    ),
}  # fmt: skip
_ODD = (
    " ", "  ", "\n", "\t", "\u00a0", "\u200b", "\u202e", "\0", "\ufffd", "\U0001f600", "é", "İ", "ß", "١",
    "²", "Ⅳ", "(", ")",
    "((", "))", "[", "]", "«", "»", '"', "'", "’", "-", "–", "/", ".", ",", ";", ":", "°", "§", "§§", "*",
    "..", "1", "12",
    "9" * 40, "0", "1a", "bis", "IV", "iv", "L.", "R.*", "n°", "no", "第", "条", "款", "之", "一百二十",
    "《", "》", "、", "，",
)  # fmt: skip


@cache
def fragments(language: str) -> tuple[str, ...]:
    """Words of the sentences and of the grammar, which are what its patterns wait for."""
    words = [word for sentence in _SENTENCES[language] for word in sentence.split(" ")]
    grammar = files("rag.graph.references") / "grammars" / f"{language}.toml"
    words += _strings(tomllib.loads(grammar.read_text(encoding="utf-8")))
    return tuple(dict.fromkeys(word for word in words if word))


def _strings(of: object) -> Iterator[str]:
    if isinstance(of, str):
        yield of
    elif isinstance(of, Mapping):
        for key, value in of.items():
            yield str(key)
            yield from _strings(value)
    elif isinstance(of, list):
        for value in of:
            yield from _strings(value)


@cache
def reader(language: str) -> tuple[ReferenceReader, tuple[Article, ...]]:
    """A small law of two codes, and a reader of it."""
    codes = {
        "fr": ("Code civil", "Code rural"),
        "nl": ("Burgerlijk Wetboek", "Gerechtelijk Wetboek"),
        "it": ("Codice penale", "Decreto legislativo 24 gennaio 2006, n. 36"),
        "de": ("BGB", "Insolvenzordnung"),
        "en": ("Data Protection Act 1998", "Companies Act 2006"),
        "zh": ("中华人民共和国刑法", "城市房地产管理法"),
    }[language]
    law = tuple(
        Article(
            f"{c}-{n}", code, f"第{n}条" if language == "zh" else str(n), "x", (f"I {code}", f"II {n // 5}")
        )
        for c, code in enumerate(codes)
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


def _cut(language: str, chance: Random) -> str:
    text = _sentences(language, chance)
    return text[chance.randrange(len(text)) :][: chance.randrange(1, len(text))]


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
    "sentences": _sentences, "words": _mixed, "characters": _characters, "cut": _cut, "runs": _runs,
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
