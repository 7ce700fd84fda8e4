"""Danger by meaning: who does what to whom, in sixteen languages, with denial and figures of speech left out.

The words are data (`rag/screening/data/danger/`), read by `rag.screening.lexicon`: concepts shared by all
classes in words.toml, and a file a class with its own concepts and the rules that join them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from rag.screening.lexicon import LONGEST, Lexicon, Match, Rule, Word, words
from rag.text.patterns import data

LIMITS = ("removal", "eviction", "dismissal", "deadline")  # no danger: a time limit that may be running
CLASSES = ("suicide", "child", "sexual", "threat", "violence", "trafficking", "housing", "police", *LIMITS)
SHARE = 0.6  # of the frequent words of the likeliest language, in another that is read as well
QUESTIONS = 64  # whose classes stay at hand: a page asks several times
_BEFORE, _AFTER = 2, 1  # words between a denial and what it denies


@dataclass(frozen=True, slots=True)
class _Grammar:
    lexicon: Lexicon
    frequent: Lexicon  # words by which languages are told apart
    typed: Mapping[str, str]  # what is read as other words
    letters: Mapping[str, frozenset[str]]  # language -> those that few languages have
    undeniable: frozenset[str]  # concepts of persons, denial and such
    rules: Mapping[str, tuple[Rule, ...]]


@cache
def _grammar() -> _Grammar:
    shared = dict(data("rag.screening", "danger/words"))
    numerals, letters, speech, typed = (shared.pop(n) for n in ("numerals", "letters", "speech", "typed"))
    concepts = dict(shared)
    rules = {}
    for danger in CLASSES:
        read = data("rag.screening", f"danger/{danger}")
        own = {name: lines for name, lines in read.items() if isinstance(lines, dict)}
        if twice := sorted(set(own) & set(concepts)):
            raise ValueError(f"danger/{danger}.toml has concepts of another file: {', '.join(twice)}")
        concepts |= own
        rules[danger] = tuple(map(Rule.read, read["rules"]))
    unknown = {name for of in rules.values() for rule in of for name in rule.concepts()} - set(concepts)
    if unknown:
        raise ValueError(f"rules of danger name concepts without words: {', '.join(sorted(unknown))}")
    signs = {language: frozenset(each) for language, each in letters.items()}
    frequent = Lexicon({"speech": speech}, {})
    undeniable = frozenset(shared) - {"got", "have"}  # a letter that never came is no event
    return _Grammar(Lexicon(concepts, numerals), frequent, typed, signs, undeniable, rules)


@lru_cache(maxsize=QUESTIONS)
def classes(question: str) -> Mapping[str, bool]:
    """Return the classes of danger that a question speaks of: True where somebody is in it.

    What is denied, meant figuratively or long past is none.
    """
    grammar = _grammar()
    text = words(question, grammar.typed)
    spoken = _spoken(question, text, grammar)
    told: dict[str, bool] = {}
    for language in spoken or grammar.lexicon.languages:
        matches = grammar.lexicon.matches(text, (language, "any"))
        for danger in CLASSES:
            now = _tells(danger, matches, text, grammar, sure=bool(spoken))
            if now is not None:
                told[danger] = told.get(danger, False) or now
    return told


def language(question: str) -> str | None:
    """Return the language that a question is most likely in; None where nothing tells."""
    grammar = _grammar()
    return next(iter(_spoken(question, words(question, grammar.typed), grammar)), None)


def _spoken(question: str, text: Sequence[Word], grammar: _Grammar) -> list[str]:
    """Return the languages that a text may be in, the likeliest first; [] where nothing tells.

    Frequent words tell, and letters that few languages have.
    """
    counts = _frequent(question, text, grammar)
    most = max(counts.values(), default=0)
    least = max(1.0, min(SHARE * most, most - 1))  # in a short text one word more tells little
    return [language for language, count in counts.most_common() if count >= least]


def language_counts(question: str) -> Counter[str]:
    """Return how many frequent words and rare letters of each of the sixteen languages a question has."""
    grammar = _grammar()
    return _frequent(question, words(question, grammar.typed), grammar)


def _frequent(question: str, text: Sequence[Word], grammar: _Grammar) -> Counter[str]:
    counts = Counter(match.language for match in grammar.frequent.matches(text, grammar.frequent.languages))
    for sign in question[:LONGEST].casefold():
        counts.update(language for language, signs in grammar.letters.items() if sign in signs)
    return counts


def _tells(
    danger: str, matches: Sequence[Match], text: Sequence[Word], grammar: _Grammar, *, sure: bool
) -> bool | None:
    """Tell whether the matches of one language tell of a danger (True), only name it (False), or neither.

    Where nothing tells that a text is in this language (not `sure`), one of its words in a text of another
    is no danger: "remboursement" begins as an Albanian verb does.
    """
    figurative = [m for m in matches if m.concept.endswith("-figurative")]
    denials = [m for m in matches if m.concept in ("neg", "neg-after")]
    ends = [m for m in matches if m.concept == "then"]
    plain = [
        match
        for match in matches
        if not any(figure.overlaps(match) and not match.contains(figure) for figure in figurative)
        and (match.concept in grammar.undeniable or not any(_denies(d, match, text, ends) for d in denials))
    ]
    named = any(match.concept == f"{danger}-named" for match in plain)
    for rule in grammar.rules[danger]:
        chosen = rule.found(plain, text, matches)
        if chosen is None:
            continue
        if not sure and chosen[0].language != "zh" and sum(match.end - match.start for match in chosen) < 2:
            continue
        sentence = text[chosen[0].start].sentence
        spoken = {match.concept for match in plain if text[match.start].sentence == sentence}
        if "past" in spoken and not any(match.concept.endswith("me") for match in chosen):
            continue
        if "law" not in spoken or "self" in spoken:
            return True
        named = True
    return False if named else None


def _denies(denial: Match, match: Match, text: Sequence[Word], ends: Sequence[Match]) -> bool:
    if denial.overlaps(match):
        return False
    behind = denial.concept == "neg-after"
    first, last = (match, denial) if behind else (denial, match)
    same = text[first.end - 1].clause == text[last.start].clause
    same = same and not any(first.end <= each.start < last.start for each in ends)
    return same and 0 <= last.start - first.end <= (_AFTER if behind else _BEFORE)
