"""A code of law in six languages, in our own words, with true and false sentences about each of its rules."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

from rag.types import Article


@dataclass(frozen=True)
class Rule:
    """A sentence of law; {a}, {b}: two parties, {n}: a number in words, {d}: in figures, {u}: its unit."""

    law: str
    true: tuple[str, ...]  # beside the sentence itself
    flipped: tuple[str, ...]  # its contrary, or another force, or without its exception


CODE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
RULES: Mapping[str, tuple[Rule, ...]] = {
    language: tuple(Rule(rule["law"], tuple(rule["true"]), tuple(rule["flipped"])) for rule in of["rules"])
    for language, of in CODE.items()
}


@dataclass(frozen=True)
class Filled:
    """A rule with its parties and number, in an article; `slots` fill its sentences."""

    rule: Rule
    slots: Mapping[str, str]
    article: Article
    sentence: str

    def say(self, template: str, **other: str) -> str:
        return template.format(**{**self.slots, **other})


def fill(language: str, rule: Rule, at: int, random: Random) -> Filled:
    of = CODE[language]
    a, b = random.choice(of["pairs"])
    number = random.choice(list(of["numbers"]))
    slots = {"a": a, "b": b, "n": of["numbers"][number], "d": number, "u": random.choice(of["units"])}
    sentence = rule.law.format(**slots)
    before, after = of["around"]
    joint = "" if language == "zh" else " "
    text = joint.join((before, sentence, after))
    article = Article(f"{language}-{at}", f"Code {language}", str(at), text, language=language)
    return Filled(rule, slots, article, sentence)


def shown(language: str, random: Random, count: int = 10) -> list[Filled]:
    """Ten articles as they are shown under one question; several may hold the same rule otherwise filled."""
    rules = RULES[language]
    return [fill(language, rules[at % len(rules)], at + 1, random) for at in range(count)]
