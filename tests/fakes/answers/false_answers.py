"""A lying model: statements of seven kinds that must be stopped, and true ones that must not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random

from rag.answer.types import Quote, Statement
from rag.types import Article
from tests.fakes.law.civil_code import NUMBERS, UNITS, Filled, shown

LANGUAGES = ("fr", "en", "de", "zh", "nl", "it")


@dataclass(frozen=True)
class Case:
    kind: str
    statement: Statement
    articles: tuple[Article, ...]


Lie = Callable[[list[Filled], Random, str], Statement]


def _said(text: str, filled: Filled, quote: str | None = None) -> Statement:
    id_ = filled.article.id
    return Statement(text, (id_,), (Quote(id_, filled.sentence if quote is None else quote),))


def _other_number(filled: Filled, random: Random, language: str) -> str:
    return random.choice([word for word in NUMBERS[language].values() if word != filled.slots["n"]])


def _digit_changed(law: list[Filled], random: Random, language: str) -> Statement:
    one = random.choice(law)
    changed = one.say(one.rule.law, n=_other_number(one, random, language))
    text = random.choice((changed, one.sentence, one.rule.true[0].format(**one.slots)))
    return _said(text, one, changed)


_NEGATIONS = {
    "fr": r"\bne (?=peut)| pas(?= )|, sauf si.*(?=\.)",
    "en": r"\bnot | unless.*(?=\.)|\bwithout ",
    "de": r"\bnicht |, es sei denn.*(?=\.)|\bohne |\bnur ",
    "nl": r"\bniet |, tenzij.*(?=\.)",
    "it": r"\bnon |, salvo.*(?=\.)",
    "zh": r"不得|不予|，但是.*(?=。)",
}


def _negation_dropped(law: list[Filled], random: Random, language: str) -> Statement:
    pattern = re.compile(_NEGATIONS[language])
    one = random.choice([each for each in law if pattern.search(each.sentence)])
    cut = random.choice(list(pattern.finditer(one.sentence)))
    dropped = one.sentence[: cut.start()] + one.sentence[cut.end() :]
    kept = one.sentence[: cut.start()] if random.random() < 0.3 and cut.start() > 30 else None
    if kept is not None:  # a verbatim fragment that stops before the negation, and the contrary claimed
        return _said(dropped, one, kept.rstrip(" ,，"))
    return _said(dropped, one, random.choice((dropped, one.sentence)))


def _neighbour(law: list[Filled], random: Random, language: str) -> Statement:
    one, other = random.sample(law, 2)
    while one.sentence == other.sentence:
        one, other = random.sample(law, 2)
    return _said(other.sentence, one, other.sentence)


def _outside(law: list[Filled], random: Random, language: str) -> Statement:
    one = random.choice(law)
    known = one.article.id
    id_ = random.choice(
        (
            f"{language}-11",
            known + "0",
            known.upper(),
            known.replace("-", "–"),
            f"x{known}",
            "",
            known + "\u200b",
        )
    )
    both = random.random() < 0.3
    quotes = (Quote(id_, one.sentence), *((Quote(known, one.sentence),) if both else ()))
    return Statement(one.sentence, (id_, *((known,) if both else ())), quotes)


def _wrong_claim(law: list[Filled], random: Random, language: str) -> Statement:
    one = random.choice(law)
    slots = one.slots
    how = random.choice(("flipped", "number", "unit", "swapped", "another", "digits", "party"))
    if how == "flipped":
        return _said(one.say(random.choice(one.rule.flipped)), one)
    if how == "number":
        return _said(one.say(one.rule.law, n=_other_number(one, random, language)), one)
    if how == "digits":
        return _said(
            one.say(random.choice(one.rule.true), d=str(int(slots["d"]) + random.choice((1, 10, 100)))), one
        )
    if how == "unit":
        unit = random.choice([unit for unit in UNITS[language] if unit != slots["u"]])
        return _said(one.say(random.choice((one.rule.law, *one.rule.true)), u=unit), one)
    if how in ("swapped", "party"):
        swapped = {"a": slots["b"], "b": slots["a"]} if how == "swapped" else {"a": slots["b"]}
        return _said(one.say(one.rule.law, **swapped), one)
    others = [each for each in law if each.sentence != one.sentence]
    return _said(random.choice(others).sentence, one)


_ALIKE = {
    "a": "а",
    "e": "е",
    "o": "о",
    "i": "і",
    "c": "с",
    "p": "р",
    "人": "⼈\u0301",
    "一": "—",
    "二": "ニ",
    "日": "曰",
    "不": "丕",
    "在": "茬",
}


def _look_alike(law: list[Filled], random: Random, language: str) -> Statement:
    one = random.choice(law)
    places = [at for at, sign in enumerate(one.sentence) if sign in _ALIKE]
    at = random.choice(places)
    changed = one.sentence[:at] + _ALIKE[one.sentence[at]] + one.sentence[at + 1 :]
    if language != "zh" and random.random() < 0.4:
        return _said(changed, one)  # in the prose
    return _said(one.sentence, one, changed)


def _split(law: list[Filled], random: Random, language: str) -> Statement:
    one = random.choice(law)
    gap = "" if language == "zh" else " "
    units = list(one.sentence) if language == "zh" else one.sentence.split()
    first = random.randint(len(units) // 4, len(units) // 2 - 1)
    second = random.randint(first + 1, len(units) - 2)
    left, right = gap.join(units[:first]), gap.join(units[second:])
    between = random.choice(("…", " [...] ", " ... ", " (…) ", gap, " — "))
    whole = one.article.text
    quote = left + between + right
    if random.random() < 0.3:  # the end of one sentence joined with another one's beginning
        quote = right + between + whole[:30].rsplit(" ", 1)[0]
    return _said(one.sentence, one, quote)


LIES: Mapping[str, Lie] = {
    "digit changed": _digit_changed,
    "negation dropped": _negation_dropped,
    "neighbour's text": _neighbour,
    "article outside": _outside,
    "wrong claim": _wrong_claim,
    "look-alike": _look_alike,
    "split quote": _split,
}


def lies(each: int, seed: int) -> Iterator[Case]:
    """Yield cases that must be stopped, `each` of a kind, the languages in turn."""
    random = Random(seed)  # noqa: S311 - draws cases
    for kind, lie in LIES.items():
        for at in range(each):
            language = LANGUAGES[at % len(LANGUAGES)]
            law = shown(language, random)
            yield Case(kind, lie(law, random, language), tuple(one.article for one in law))


def truths(count: int, seed: int) -> Iterator[Case]:
    """Yield cases that must pass: copies, rewordings, fragments quoted, other signs, two articles."""
    random = Random(seed)  # noqa: S311 - draws cases
    for at in range(count):
        language = LANGUAGES[at % len(LANGUAGES)]
        law = shown(language, random)
        one = random.choice(law)
        text = random.choice((one.sentence, *(one.say(true) for true in one.rule.true)))
        quote = random.choice(
            (one.sentence, one.sentence.upper(), _fragment(one.sentence, random), _typeset(one.sentence))
        )
        kind = "true"
        statement = _said(text, one, quote)
        articles = [each.article for each in law]
        if at % 7 == 0:
            kind = "true of two"
            other = random.choice(articles)
            twin = Article("twin", one.article.code, "99", one.article.text, language=language)
            articles[articles.index(other)] = twin if other is not one.article else other
            if twin in articles:
                statement = Statement(
                    text, (one.article.id, "twin"), (*statement.quotes, Quote("twin", one.sentence))
                )
        yield Case(kind, statement, tuple(articles))


def _fragment(sentence: str, random: Random) -> str:
    if " " not in sentence:
        return (
            sentence[: random.randint(9, len(sentence))]
            if sentence[8] not in "一二三四五六七八九十不"
            else sentence
        )
    words = sentence.split()
    start = random.randint(0, len(words) - 6)
    return " ".join(words[start : start + random.randint(5, 8)])


def _typeset(sentence: str) -> str:
    return "« " + sentence.replace("'", "’").replace(" ", "\u00a0", 1).replace(" ", "\n  ", 1) + " »"
