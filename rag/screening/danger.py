"""Danger by meaning: who does what to whom, in sixteen languages, with denial and figures of speech left out.

The words are data (`rag/screening/data/danger/`), read by `rag.screening.lexicon`: concepts shared by all
classes in words.toml, and a file a class with its own concepts and the rules that join them.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from rag.screening.danger_classifier import (
    FEWEST,
    FEWEST_FOREIGN,
    NONE,
    Classifier,
    Evidence,
    Scores,
    classifier,
    count_words,
    decider,
    parts,
    plain_words,
    short_runs,
)
from rag.screening.language import QUESTIONS, question_languages
from rag.screening.lexicon import LONGEST, Lexicon, Match, Rule, Word, fold, words
from rag.text.patterns import data
from rag.types import Bools

LIMITS = ("removal", "eviction", "dismissal", "deadline")  # no danger: a time limit that may be running
CLASSES = ("suicide", "child", "sexual", "threat", "violence", "trafficking", "housing", "police", *LIMITS)
FACTS = CLASSES[5:]  # of which people read, write and joke: with a word of that they happen to nobody
_KINDS = {name: (name in FACTS) + (name in LIMITS) for name in CLASSES}
# class -> concepts that make its words figurative: those of the first five hold for all five
_FIGURATIVE = {
    danger: {f"{kin}-figurative" for kin in ((danger,) if danger in FACTS else CLASSES[:5])}
    | ({"since"} if danger in LIMITS else set())
    for danger in CLASSES
}
BELIEVED = 7  # words of a text in which the rules may be doubted: fewer are often the plainest
FEW = 8  # words of a text that is not short
UNSURE, DENIED = 1.0, 1.0  # log odds that such a text loses, and words that are denied, figurative or over
# log odds that a part of a text loses, as a text of its own: one of few words between two marks (which gains
# some, for so the plainest is told), a run of few words within, and another
CLAUSE, RUN, PART = -0.15, 0.8, 2.0
ANYBODY = 2.0  # that a French question loses which asks of "vous" and tells nothing of who asks
_ADDRESSED = frozenset(["vous", "votre", "vos"])
_WHO_ASKS = frozenset(["je", "j", "me", "m", "moi", "mon", "ma", "mes", "nous", "notre", "nos", "on"])
SUICIDE = 1.5  # by which it is likelier where the rules raise it, for who says so in plain words is believed
# by which a class may be less likely than the likeliest, for people are often in two: one of its kind, one of
# another, and, where that is raised, one that the rules raise
BEHIND, BEHIND_OTHERS, RULED_BEHIND = 1.5, 0.9, 4.0
BESIDE_RULED = 0.5  # the same of one that no rule raises, beside one that they do
RULED = 1.7  # log odds that an alarm of the rules needs less: of ordinary stories they raise hardly one
# and less still of violence or suicide where they raise two classes of these ("threatens to kill me and takes
# my passport"), and in few words
RULED_TWICE, RULED_BRIEF, BRIEF = 1.0, 0.4, 12
SHORT_FIGURE = 10  # words of a text in which a figure of speech is all there is
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

    Rules and a classifier tell each of it, of the question and of its parts, and what both tell is weighed
    together. Where that is less sure, and of what the rules alone raise, a class is named (False), so that
    help is shown without an alarm. A time limit that is merely named is shown nowhere, and beside one that is
    raised no lack of a roof, arrest or forced work, for its page would be long.
    """
    question = question[:LONGEST]
    ruled, odds = rule_classes(question), log_odds(question)
    if odds is None:
        return ruled
    by, highest, found = decider(), max(odds.values()), dict.fromkeys(ruled, False)
    count = count_words(question)
    less = RULED + RULED_BRIEF * (count < BRIEF)
    twice = RULED_TWICE * (sum(ruled.get(name, False) for name in CLASSES[:5]) > 1)
    least = {
        name: by.raises - (less + twice * (name in CLASSES[:5])) * ruled.get(name, False) for name in odds
    }
    # in few words, often the plainest, and in an unknown language the classifier knows little
    believed = count < BELIEVED or not question_languages(question)
    first = max(odds, key=odds.__getitem__)
    for name, own in odds.items():
        behind = BEHIND if _KINDS[name] == _KINDS[first] else BEHIND_OTHERS
        behind = min(behind, BESIDE_RULED) if any(ruled.values()) else behind
        if ruled.get(name) and believed:
            found[name] = True
        elif own >= min(by.hints, least[name]) and (ruled.get(name) or own >= highest - behind):
            found[name] = own >= least[name]
        if ruled.get(name) and highest >= least[first] and own >= highest - RULED_BEHIND:
            found[name] = True
    if any(found.get(each) for each in LIMITS):  # beside a time limit rules alone name a fact
        found = {
            name: now for name, now in found.items() if now or name not in FACTS or ruled.get(name) is False
        }
    return found


@lru_cache(maxsize=QUESTIONS)
def log_odds(question: str) -> Mapping[str, float] | None:
    """Return how likely each class is, by rules and classifier together; None of a few words.

    Of those the plainest raise the rules, and a classifier knows little. A part that the rules raise by
    itself is read as a text of its own, which must be surer unless it is a clause of few words: among
    practical troubles the plainest words tell little of the whole.
    """
    if count_words(question) < (FEWEST if _is_french(question) else FEWEST_FOREIGN):
        return None
    whole, of_parts, of_runs = evidence(question, classifier())
    trees, suicide = decider().trees, CLASSES.index("suicide")
    odds = trees.log_odds(whole.rows()) - DENIED * whole.unmeant
    if not whole.ruled.any():
        odds -= DENIED * (whole.unmeant.any() & ~whole.unmeant) + UNSURE * (whole.words < FEW)
    if _is_of_anybody(question):
        odds -= ANYBODY * ~whole.ruled
    lost = [PART if part.words >= BELIEVED else CLAUSE for part in of_parts] + [RUN] * len(of_runs)
    for part, less in zip((*of_parts, *of_runs), lost, strict=True):
        odds = np.where(part.ruled, np.maximum(odds, trees.log_odds(part.rows()) - less), odds)
    odds[suicide] += SUICIDE * whole.ruled[suicide]
    return dict(zip(CLASSES, map(float, odds), strict=True))


def evidence(question: str, by: Classifier) -> tuple[Evidence, list[Evidence], list[Evidence]]:
    """Return what rules and a classifier tell of a question, and of what the rules raise by itself in it.

    These are parts of it, then runs of few words. Where the rules do not raise a class in a sentence a denial
    may stand there, which what is cut out of it would lack.
    """
    worded, french = _worded_classes(question), _is_french(question)
    whole, ruled, sentences = by.scores(question), _raised(question), parts(question)
    unmeant = np.array([name in worded for name in CLASSES]) & ~ruled
    is_one = sum(map(len, sentences)) <= 1  # which is the question
    highest, of_ruled = whole.classes, np.where(ruled & is_one, whole.classes, NONE)
    of_parts: list[Evidence] = []
    of_runs: list[Evidence] = []

    def alone(text: str, within: str, scores: Scores) -> Evidence:
        now, words = _raised(text) & _raised(within), count_words(text)
        own = np.where(now, scores.classes, NONE)
        return Evidence(scores, scores.classes, now, own, unmeant, words, french=french)

    for sentence, *within in sentences:
        scored = {} if is_one else {part: by.scores(part) for part in (sentence, *within)}
        highest = np.max([highest, *(scores.classes for scores in scored.values())], axis=0)
        if ruled.any() and _raised(sentence).any():
            read = [alone(part, sentence, scores) for part, scores in scored.items()]
            of_ruled = np.max([of_ruled, *(each.ruled_parts for each in read)], axis=0)
            of_parts += [each for each in read if each.ruled.any()]
            runs = [run for run in short_runs(sentence) if run not in scored and _raised(run).any()]
            of_runs += [alone(run, sentence, by.scores(run)) for run in dict.fromkeys(runs)]
    words = count_words(question)
    told = Evidence(whole, highest, ruled, of_ruled, unmeant, words, french=french)
    return told, of_parts, of_runs


def _is_of_anybody(question: str) -> bool:
    """Tell whether a French text is worded as a heading of advice is: "Que faire si vous déménagez ?"."""
    words = set(plain_words(question)) if "fr" in question_languages(question) else set[str]()
    return not _ADDRESSED.isdisjoint(words) and _WHO_ASKS.isdisjoint(words)


def _is_french(question: str) -> bool:
    return question_languages(question)[:1] == ["fr"]


def _raised(text: str) -> Bools:
    """Return which classes the rules raise."""
    found = rule_classes(text)
    return np.array([found.get(name, False) for name in CLASSES])


def likeliest(question: str, of: Collection[str]) -> str | None:
    """Return the likeliest of some classes; None of a few words.

    Of suicide that the rules find, which is said in plain words, nothing else is likelier.
    """
    question = question[:LONGEST]
    odds = log_odds(question)
    if "suicide" in of and rule_classes(question).get("suicide"):
        return "suicide"
    return max(of, key=odds.__getitem__) if of and odds is not None else None


@lru_cache(maxsize=4)
def _readings(question: str) -> Sequence[tuple[Sequence[Word], Sequence[Match]]]:
    """Return the words of a question and their matches, as each language that it may be in reads them."""
    grammar, read, found = _grammar(), words(question), []
    for language in question_languages(question) or grammar.lexicon.languages:
        # "ya" is "il y a" there, "now" in Spanish
        text = words(question, grammar.typed) if language == "fr" else read
        found.append((text, grammar.lexicon.matches(text, (language, "any"))))
    return found


def _worded_classes(question: str) -> set[str]:
    """Return the classes whose words a question has, be they meant, denied, figurative or over."""
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


@lru_cache(maxsize=QUESTIONS)
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


def ruled_languages(question: str) -> Sequence[str]:
    """Return the languages in which the rules raise a class, as they are read: of few words these tell."""
    grammar, told = _grammar(), question_languages(question)
    found = []
    for language, (text, matches) in zip(told or grammar.lexicon.languages, _readings(question), strict=True):
        said = _not_denied(matches, text, grammar.undeniable)
        tells = (_tells(each, matches, said, text, grammar.rules[each], sure=bool(told)) for each in CLASSES)
        if any(tells):
            found.append(language)
    return found


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
