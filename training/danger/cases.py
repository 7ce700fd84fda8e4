"""What the classifier of danger learns from: written cases, ordinary questions, and both put together."""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import indexes
from rag.engine.engine import Engine
from rag.errors import BadInput
from rag.screening.danger import rule_classes
from rag.screening.danger_classifier import plain_words
from training.screening import read_cases

WRITTEN = Path(__file__).with_name("cases.jsonl.xz")
ORDINARY = 12_000  # questions
FIRST = "first"  # who wrote the cases of the folder that the rules were written over
STORY = "story-"  # before the name of who told ordinary troubles as people type them, near a danger or not
JOINED = "joined-"  # before the name of who wrote the case of a text that was put together here
# writers, by how their names begin, that no threshold is set by: the rules were written over the cases of the
# first; some wrote with a classifier's mistakes at hand, and some nothing but long tales or plain statements
THRESHOLD_EXCLUDED = (FIRST, "against", "long", "plain", JOINED)
# texts that are put together: a situation, or a near miss, beside ordinary questions; and those by themselves
JOINED_CASES, JOINED_NEAR, JOINED_ORDINARY = 9_000, 6_000, 3_500
_ENDS = ".?!…。？！؟ "  # of a text, before which another one stands
JOINED_WORDS = (8, 12, 40)  # most words of what is put beside others: a third of it is drawn from each


@dataclass(frozen=True, slots=True)
class Example:
    """A text, the class of its file, whether it is a situation of that class, and who wrote it."""

    text: str
    danger: str  # "" of an ordinary question
    is_case: bool
    writer: str
    language: str = "fr"
    is_law_question: bool = field(default=False, repr=False)  # of the law that ships


def examples(folder: Path, written: Path, seed: int, halves: Collection[str] = ("dev",)) -> list[Example]:
    """Read the cases of some halves, and draw ordinary questions, shared out among the writers.

    Raises:
        BadInput: a file of cases is not there, or no such file.
    """
    found = [
        Example(case.text, case.danger, case.is_case, FIRST, case.language)
        for case in read_cases(folder)
        if case.half in halves
    ]
    try:
        with lzma.open(written, "rt", encoding="utf-8") as lines:
            more = [json.loads(line) for line in lines]
        found += [
            Example(e["text"], e["class"], e["danger"] is not None, e["writer"], e["language"]) for e in more
        ]
    except (OSError, EOFError, lzma.LZMAError, ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"{written}: {error!r}; expected JSON Lines of cases, packed with xz, as the one here"
        ) from error
    writers = sorted({each.writer for each in found if not each.writer.startswith(THRESHOLD_EXCLUDED)})
    questions = _questions(indexes.open())
    drawn = random.Random(seed).sample(questions, min(ORDINARY, len(questions)))  # noqa: S311
    drawn = [text for text in drawn if not any(rule_classes(text).values())]  # some are of danger
    law = [
        Example(text, "", is_case=False, writer=writers[n % len(writers)], is_law_question=True)
        for n, text in enumerate(drawn)
    ]
    return [*found, *law, *joined([*found, *law], seed)]


def joined(of: Sequence[Example], seed: int) -> list[Example]:
    """Put examples together to longer texts: people tell a danger among practical troubles, or those alone.

    Each is an example of its one situation or near miss, and held out with that one's writer.
    """
    chance = random.Random(seed)  # noqa: S311
    words = [len(plain_words(each.text)) for each in of]
    ordinary: dict[str, list[Example]] = {}
    short: dict[str, list[Example]] = {}  # that stand beside others
    for each, count in zip(of, words, strict=True):
        if not each.danger:
            ordinary.setdefault(each.language, []).append(each)
            if count <= JOINED_WORDS[-1]:
                short.setdefault(each.language, []).append(each)
    drawn = [
        each
        for is_case, count in ((True, JOINED_CASES), (False, JOINED_NEAR))
        for most in JOINED_WORDS
        for each in _drawn(
            chance,
            [
                e
                for e, n in zip(of, words, strict=True)
                if e.danger and n <= most and e.is_case == is_case and e.language in short
            ],
            count // len(JOINED_WORDS),
        )
    ]
    together = [(each, [each, *_drawn(chance, short[each.language], chance.randint(1, 2))]) for each in drawn]
    for like in chance.choices(drawn, k=JOINED_ORDINARY) if drawn else ():
        if len(own := ordinary[like.language]) > 1:
            parts = _drawn(chance, own, chance.randint(2, 5))
            together.append((parts[0], parts))
    found = []
    for each, parts in together:
        chance.shuffle(parts)
        found.append(replace(each, text=_put_together(chance, parts), writer=f"{JOINED}{each.writer}"))
    return found


def _put_together(chance: random.Random, parts: Sequence[Example]) -> str:
    """Return a text of several, which people part by full stops, by commas or by nothing."""
    mark = chance.choice((None, None, ",", ""))
    if mark is None:
        return " ".join(_ended(part.text) for part in parts)
    return f"{mark} ".join(part.text.rstrip(_ENDS) or part.text for part in parts)


def _drawn(chance: random.Random, of: Sequence[Example], count: int) -> list[Example]:
    return chance.sample(of, min(count, len(of)))


def _ended(text: str) -> str:
    return text if text.rstrip()[-1:] in set(_ENDS) else f"{text.rstrip()}."


def _questions(engine: Engine) -> list[str]:
    return sorted({q.text for of in engine.explainer.cited.values() for q in of})


def law_that_ships() -> list[str]:
    """Return its summaries and all its questions, that tell which words stand near which."""
    engine = indexes.open()
    return [*_questions(engine), *(article.text for article in engine.articles.values())]


def writers(of: Sequence[Example]) -> list[str]:
    """Return who wrote each example, of what is put together who wrote its case."""
    return [each.writer.removeprefix(JOINED) for each in of]


def is_story(example: Example) -> bool:
    """Tell whether a text is an ordinary trouble as somebody told it."""
    return not example.danger and example.writer.startswith(STORY) and not example.is_law_question


def is_counted(example: Example) -> bool:
    """Tell whether thresholds are set by what somebody wrote."""
    return not example.writer.startswith(THRESHOLD_EXCLUDED)
