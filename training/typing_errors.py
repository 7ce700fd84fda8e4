"""Typing errors as people make them, put into questions to see what a system makes of them.

`python -m training.typing_errors` tells which words of questions the index that ships reads as others.

One word in so many gets one error: a letter left out, doubled, swapped with the next one or with its
neighbour on the keyboard, or another spelling of the same sound (Damerau 1964 found four in five errors to
be of the first kinds). Words of fewer than four letters and numbers are left alone, and so is the first
letter, which people seldom miss. Keyboards and sounds belong to the language; the search knows the same.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import indexes
from indexes.cli.terminal import guarded
from indexes.store.paths import BUILTIN
from rag.errors import BadInput, PandectError
from rag.text import SpellingCorrection
from rag.text.spelling import keyboard, sounds
from rag.types import Question
from training.screening import LAW, QUESTIONS

EVERY = 8  # one word in so many
SHORTEST = 4  # letters
SHIPPED = tuple(LAW / f"questions_{name}.jsonl" for name in QUESTIONS)
_WORD = re.compile(r"[^\W\d_]+")


def with_errors(
    questions: Sequence[Question], language: str, seed: int, every: int = EVERY
) -> list[Question]:
    """Return the questions with one error in so many words, at least one where a word is long enough.

    The language decides the keyboard and the sounds; the same seed gives the same errors.

    Raises:
        BadInput: fewer than one word to an error, or a language that has no keyboard of letters.
    """
    if every < 1:
        raise BadInput(f"one typing error in {every} words: give 1 or more")
    if language == "zh":
        raise BadInput("typing errors of Chinese are not known here: they are other characters, not letters")
    return [replace(q, text=_mistyped(q.text, language, f"{seed} {q.id}", every)) for q in questions]


def without_accents(questions: Sequence[Question]) -> list[Question]:
    """Return the questions as they are typed on a telephone in a hurry."""
    return [replace(q, text=_plain(q.text)) for q in questions]


def _plain(text: str) -> str:
    parts = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(c for c in parts if not unicodedata.combining(c)))


def _mistyped(text: str, language: str, seed: str, every: int) -> str:
    chance = random.Random(seed)  # noqa: S311 - a draw, no secret
    words = list(_WORD.finditer(text))
    long = [match for match in words if len(match.group()) >= SHORTEST]
    chosen = chance.sample(long, min(len(long), max(1, round(len(words) / every))))
    for match in sorted(chosen, key=lambda m: -m.start()):  # from the end: places before stay right
        text = text[: match.start()] + _wrong(match.group(), language, chance) + text[match.end() :]
    return text


def _wrong(word: str, language: str, chance: random.Random) -> str:
    """Return the word with an error of the first kind, in an order that is drawn, that it can have."""
    kinds = ("left out", "doubled", "swapped", "neighbour", "sound")
    for kind in chance.sample(kinds, len(kinds)):
        if kind == "sound":
            typed = _sound(word, language, chance)
        else:
            at = chance.randrange(1, len(word) - (kind == "swapped"))
            before, letter, after = word[:at], word[at], word[at + 1 :]
            if kind == "left out":
                typed = before + after
            elif kind == "doubled":
                typed = before + 2 * letter + after
            elif kind == "swapped":
                typed = before + after[0] + letter + after[1:]
            else:
                adjacent = _adjacent(_plain(letter).lower(), language)
                typed = before + chance.choice(adjacent) + after if adjacent else word
        if typed != word:
            return typed
    return word


def _adjacent(letter: str, language: str) -> list[str]:
    return [
        row[i + step]
        for row in keyboard(language)
        for i, key in enumerate(row)
        for step in (-1, 1)
        if key == letter and 0 <= i + step < len(row)
    ]


def _sound(word: str, language: str, chance: random.Random) -> str:
    pairs = [(a, b) for one, other in sounds(language) for a, b in ((one, other), (other, one))]
    fitting = [(a, b) for a, b in pairs if a and word.find(a, 1) > 0]
    if not fitting:
        return word
    wrong, right = chance.choice(fitting)
    return word[0] + word[1:].replace(wrong, right, 1)


def corrections(paths: Iterable[Path] = SHIPPED) -> tuple[int, list[SpellingCorrection]]:
    """Return how many words questions have, and those that the index that ships reads as others.

    Raises:
        BadInput: a file is no JSON Lines of questions.
    """
    engine, words = indexes.open(BUILTIN), 0
    found: list[SpellingCorrection] = []
    for path in paths:
        try:
            texts = [json.loads(line)["question"] for line in path.read_text(encoding="utf-8").splitlines()]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BadInput(f'{path}: {error!r}; expected {{"question": ...}} a line') from error
        words += sum(len(_WORD.findall(text)) for text in texts)
        found += [each for text in texts for each in engine.notices.corrections(text)]
    return words, found


@guarded
def main(arguments: Sequence[str] | None = None) -> int:
    """Print each word that is read as another, and how many there are of how many."""
    parser = argparse.ArgumentParser(prog="python -m training.typing_errors", description=__doc__)
    parser.add_argument("questions", nargs="*", type=Path, default=SHIPPED, help="default: those that ship")
    try:
        words, found = corrections(parser.parse_args(arguments).questions)
    except PandectError as error:
        sys.stderr.write(f"ERROR {error}\n")
        return 2
    sys.stdout.writelines(f"{each.typed}\t{each.read}\n" for each in found)
    sys.stdout.write(f"{len(found)} of {words:,} words are read as others\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
