"""Danger by meaning: who does what to whom, in sixteen languages, with denial and figures of speech left out.

The words are data (`rag/screening/data/danger/`), read by `rag.screening.lexicon`: concepts shared by all
classes in words.toml, and a file a class with its own concepts and the rules that join them.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from rag.screening.danger_classifier import Assessment, classifier
from rag.screening.language import QUESTIONS, question_languages
from rag.screening.lexicon import CLAUSE, LONGEST, SENTENCE, Lexicon, Match, Rule, Word, fold, words
from rag.text.patterns import data

LIMITS = ("removal", "eviction", "dismissal", "deadline")  # no danger: a time limit that may be running
CLASSES = ("suicide", "child", "sexual", "threat", "violence", "trafficking", "housing", "police", *LIMITS)
FACTS = CLASSES[5:]  # of which people read, write and joke: with a word of that they happen to nobody
# class -> concepts that make its words figurative: those of the first five hold for all five
_FIGURATIVE = {
    danger: {f"{kin}-figurative" for kin in ((danger,) if danger in FACTS else CLASSES[:5])}
    | ({"since"} if danger in LIMITS else set())
    for danger in CLASSES
}
HEARING = 4.0  # by which the classifier must be surer of an arrest where the rules find a hearing
WORDED = 3.0  # the same of a class whose words the rules take for denied, figurative or over
SHORT_FIGURE = 10  # words of a text in which a figure of speech is all there is
UNMARKED = 10  # words of a text without a mark in which several things may be told
_MARKS = re.compile(f"[{re.escape(''.join(sorted(SENTENCE | CLAUSE)))}]+")
_BEFORE, _AFTER = 2, 1  # words between a denial and what it denies


@dataclass(frozen=True, slots=True)
class _Grammar:
    lexicon: Lexicon
    typed: Mapping[str, str]  # what is read as other words in French
    undeniable: frozenset[str]  # concepts of persons, denial and such
    rules: Mapping[str, tuple[Rule, ...]]


_reading = threading.Lock()


def _grammar() -> _Grammar:
    with _reading:  # seconds of work: ten who asked first would each do all of it
        return _read_grammar()


@cache
def _read_grammar() -> _Grammar:
    shared = dict(data("rag.screening", "danger/words"))
    numerals, typed, elided = shared.pop("numerals"), dict(shared.pop("typed")), dict(shared.pop("elided"))
    for participle in elided.pop("participles").split(", "):
        typed |= {fold(f"{word} {participle}"): f"{apart} {participle}" for word, apart in elided.items()}
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
    undeniable = frozenset(shared) - {"got", "have"}  # a letter that never came is no event
    return _Grammar(Lexicon(concepts, numerals), typed, undeniable, rules)


@lru_cache(maxsize=QUESTIONS)
def classes(question: str) -> Mapping[str, bool]:
    """Return the classes of danger that a question speaks of: True where somebody is in it.

    A classifier finds more, whose words the rules do not know; where it is less sure, a class is named
    (False), so that help is shown without an alarm. What the rules raise and it doubts is named, too, unless
    one part of the text tells it by itself. A time limit that is merely named is shown nowhere.
    """
    found, assessed = dict(rule_classes(question)), _assessed(question)
    if assessed is None:
        return found
    doubted = {name for name, now in found.items() if now and assessed.doubts(name)}
    if doubted and question_languages(question):  # what is in an unknown language it cannot judge
        doubted -= _told_by_itself(question)
        found |= dict.fromkeys(doubted, False)
        if any(found.get(each) for each in LIMITS):  # beside which nothing is merely named
            found = {name: now for name, now in found.items() if name not in doubted & {*FACTS}}
    surer = {"police": HEARING} if found.get("deadline") else {}
    more = _more(assessed, found, surer)
    if more and (worded := _literal_classes(question) & set(more)):
        more = _more(assessed, found, surer | {name: surer.get(name, 0.0) + WORDED for name in worded})
    return found | more


def _more(assessed: Assessment, found: Mapping[str, bool], surer: Mapping[str, float]) -> dict[str, bool]:
    """Return the classes that the classifier raises, or names, beyond those that are found."""
    limited = any(found.get(each) for each in LIMITS)  # beside a time limit nothing is merely named
    return {
        danger: now
        for danger, now in assessed.found(surer).items()
        if now > found.get(danger, -1) and not (limited and danger in FACTS and not now)
    }


def _told_by_itself(question: str) -> set[str]:
    """Return the classes that the rules raise in one part of a text, without a doubt of the classifier's.

    Among practical troubles the plainest words have a low score. Who types much without a mark is believed.
    """
    parts = [each for each in _MARKS.split(question[:LONGEST]) if each.strip()]
    if len(parts) == 1:
        return set(CLASSES) if len(question.split()) >= UNMARKED else set()
    told, french = set[str](), question_languages(question)[:1] == ["fr"]
    for each in parts:
        if raised := {name for name, now in rule_classes(each).items() if now}:
            assessed = classifier().assess(each, french=french)
            told |= {name for name in raised if assessed is None or not assessed.doubts(name)}
    return told


def likeliest(question: str, of: Collection[str]) -> str | None:
    """Return the one of some classes that the classifier holds for the likeliest; None of a few words.

    Of suicide that the rules find, which is said in plain words, nothing else is likelier.
    """
    if "suicide" in of and rule_classes(question).get("suicide"):
        return "suicide"
    assessed = _assessed(question)
    return max(of, key=assessed.margin) if of and assessed is not None else None


@lru_cache(maxsize=QUESTIONS)
def _assessed(question: str) -> Assessment | None:
    return classifier().assess(question, french=question_languages(question)[:1] == ["fr"])


def _readings(question: str) -> Iterator[tuple[Sequence[Word], Sequence[Match]]]:
    """Yield the words of a question and their matches, as each language that it may be in reads them."""
    grammar, read = _grammar(), words(question)
    for language in question_languages(question) or grammar.lexicon.languages:
        # "ya" is "il y a" there, "now" in Spanish
        text = words(question, grammar.typed) if language == "fr" else read
        yield text, grammar.lexicon.matches(text, (language, "any"))


def _literal_classes(question: str) -> set[str]:
    """Return the classes whose words a question has, if to the rules they are denied, figurative or over."""
    grammar, worded = _grammar(), set[str]()
    for text, matches in _readings(question):
        concepts = {match.concept for match in matches}
        worded |= set(LIMITS if "bystander" in concepts else ()) | set(FACTS if "unreal" in concepts else ())
        if len(text) < SHORT_FIGURE:
            worded |= {danger for danger in CLASSES if f"{danger}-figurative" in concepts}
        worded |= {
            danger
            for danger in CLASSES
            if danger not in worded
            and any(
                rule.is_possible(concepts) and rule.found(matches, text, matches)
                for rule in grammar.rules[danger]
            )
        }
    return worded


def rule_classes(question: str) -> Mapping[str, bool]:
    """Return the same by the rules alone; what is denied, meant figuratively or long past is none."""
    grammar, sure = _grammar(), bool(question_languages(question))
    told: dict[str, bool] = {}
    framed = False
    for text, matches in _readings(question):
        said = _not_denied(matches, text, grammar.undeniable)
        # what the likeliest language says of who asks holds for words of all that are read as well
        framed = framed or any(match.concept == "bystander" for match in said)
        for danger in CLASSES:
            if framed and danger in LIMITS:
                told.setdefault(danger, False)
                continue
            now = _tells(danger, matches, said, text, grammar.rules[danger], sure=sure)
            if now is not None:
                told[danger] = told.get(danger, False) or now
    return told


def _tells(
    danger: str,
    matches: Sequence[Match],
    said: Sequence[Match],
    text: Sequence[Word],
    rules: Sequence[Rule],
    *,
    sure: bool,
) -> bool | None:
    """Tell whether the matches of one language tell of a danger (True), only name it (False), or neither.

    `said` are those that nothing denies. Where nothing tells that a text is in this language (not `sure`),
    one of its words in a text of another is no danger: "remboursement" begins as an Albanian verb does.
    """
    figurative = [match for match in matches if match.concept in _FIGURATIVE[danger]]
    plain = [
        match
        for match in said
        if not any(figure.overlaps(match) and not match.contains(figure) for figure in figurative)
    ]
    named = any(match.concept == f"{danger}-named" for match in plain)
    if danger in FACTS and any(match.concept == "unreal" for match in plain):
        return False if named else None
    present = {match.concept for match in plain}
    for rule in filter(lambda each: each.is_possible(present), rules):
        chosen = rule.found(plain, text, matches)
        if chosen is None:
            continue
        if not sure and chosen[0].language != "zh" and sum(match.end - match.start for match in chosen) < 2:
            continue
        sentence = text[chosen[0].start].sentence
        beside = [match for match in plain if text[match.start].sentence == sentence]
        spoken = {match.concept for match in beside}
        if danger in FACTS and "over" in spoken:
            continue
        if "past" in spoken and not any(match.concept.endswith("me") for match in chosen):
            continue
        asked = [match for match in beside if match.concept == "law"]
        # a fine that was received is no question about fines
        if "self" in spoken or all(any(m.overlaps(c) for c in chosen) for m in asked):
            return True
        named = True
    return False if named else None


def _not_denied(
    matches: Sequence[Match], text: Sequence[Word], undeniable: frozenset[str]
) -> Sequence[Match]:
    denials = [match for match in matches if match.concept in ("neg", "neg-after")]
    ends = [match for match in matches if match.concept == "then"]
    return [
        match
        for match in matches
        if match.concept in undeniable or not any(_denies(each, match, text, ends) for each in denials)
    ]


def _denies(denial: Match, match: Match, text: Sequence[Word], ends: Sequence[Match]) -> bool:
    if denial.overlaps(match):
        return False
    behind = denial.concept == "neg-after"
    first, last = (match, denial) if behind else (denial, match)
    same = text[first.end - 1].clause == text[last.start].clause
    same = same and not any(first.end <= each.start <= last.start for each in ends)
    return same and 0 <= last.start - first.end <= (_AFTER if behind else _BEFORE)
