"""What may go wrong with a law before anybody asks it: texts that cannot be searched, and how much is found.

No question is needed. How much will be found among the first ten is foretold from how often an article is
found by the last heading that it shares with others, and, for R@10, from how many share it and how long they
are: fitted by `training.audit` to parts of four collections, each tested by what the others teach.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from statistics import median

from indexes.describing import doubt
from indexes.describing.doubt import ALARMS, PEOPLE, Doubt
from indexes.describing.doubt import ERROR as DOUBT_ERROR
from indexes.store import paths
from indexes.store.atomic import replacing
from rag.engine.engine import Engine
from rag.library import AuditFinding, AuditKind
from rag.text.language import language_of
from rag.types import Article, Question

SAMPLE = 200  # articles that are asked for by a heading, and as many texts whose language is told
SUCCESS = (-1.1201, 2.8614)  # Success@10: bias and weight of a logistic curve over `found_by_heading`
SUCCESS_ERROR = 0.199  # of nine in ten parts of collections that were left out
# R@10: the same over `found_by_heading`, log10 of `per_heading` and log10 of `terms`
RECALL = (-7.9268, 2.2713, 2.6416, 2.2744)
RECALL_ERROR = 0.266
SHORT, LONG = 3, 20  # terms; times the median
FOREIGN = 0.1  # share of texts in another language than the card's above which it is told
UNREAD = 0.7  # share of letters in words without a term above which the analyser hardly fits
LISTED = 5
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Expected:
    """A measure of an index that nobody has asked yet, 0..1, as foretold."""

    share: float
    error: float  # nine in ten parts of collections left out lay within it, on either side

    @property
    def low(self) -> float:
        """Return the lower end."""
        return max(0.0, self.share - self.error)

    @property
    def high(self) -> float:
        """Return the upper end."""
        return min(1.0, self.share + self.error)


@dataclass(frozen=True, slots=True)
class Audit:
    """What was found of an index; lists hold article ids, shares lie in 0..1."""

    articles: int
    unread: float  # letters in words that became no term: those left out on purpose (de, la, und) too
    termless: tuple[str, ...]
    without_heading: tuple[str, ...]
    short: tuple[str, ...]  # under 3 terms, though there is a text
    long: tuple[str, ...]  # over 20 times the median
    textless: tuple[str, ...]
    twins: tuple[tuple[str, ...], ...]  # articles of one text
    languages: Mapping[str, int]  # of a sample
    language: str  # what the card says
    questions: int
    strangers: tuple[str, ...]  # questions that share no term with any article that answers them
    found_by_heading: float | None  # None: no article has a heading and a text
    per_heading: float  # articles that share their last shared heading, the mean
    terms: float  # of an article with a text, the median
    doubt: Doubt | None  # fitted to this very index; None: there is nothing to fit it to
    fitted: bool = True  # anew; else the one that ships with the index stands

    @property
    def success(self) -> Expected | None:
        """Success@10 as foretold; None where nothing was to be measured."""
        return None if self.found_by_heading is None else success(self.found_by_heading)

    @property
    def recall(self) -> Expected | None:
        """R@10 as foretold; None where nothing was to be measured."""
        found = self.found_by_heading
        return None if found is None else recall(found, self.per_heading, self.terms)


def success(found_by_heading: float) -> Expected:
    """Return the share of questions that find an answering article among the first ten, as foretold."""
    bias, weight = SUCCESS
    return Expected(_sigmoid(bias + weight * found_by_heading), SUCCESS_ERROR)


def recall(found_by_heading: float, per_heading: float, terms: float) -> Expected:
    """Return R@10 as foretold of articles of so many terms, so many of which share a heading."""
    bias, *weights = RECALL
    features = (found_by_heading, math.log10(max(per_heading, 1)), math.log10(max(terms, 1)))
    return Expected(_sigmoid(bias + sum(w * x for w, x in zip(weights, features, strict=True))), RECALL_ERROR)


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def audit(engine: Engine, questions: Sequence[Question] = (), seed: int = 42, *, refit: bool = True) -> Audit:
    """Look through an opened index; `questions` are annotated ones of its corpus, to fit doubt to."""
    articles = list(engine.articles.values())
    of_word: dict[str, int] = {}
    terms = term_counts(articles, engine)
    letters = Counter[bool]()
    for article in articles:
        for word in _WORD.findall(article.text):
            if word not in of_word:
                of_word[word] = len(engine.analyser.terms(word))
            letters[of_word[word] > 0] += len(word)
    texts = [article for article in articles if article.text.strip()]
    by_text: dict[str, list[str]] = {}
    for article in texts:
        by_text.setdefault(" ".join(article.text.split()), []).append(article.id)
    usual = median([terms[article.id] for article in texts] or [0])
    chance = random.Random(seed)  # noqa: S311 - a sample, no secret
    sample = chance.sample(texts, min(SAMPLE, len(texts)))
    return Audit(
        articles=len(articles),
        unread=letters[False] / (letters.total() or 1),
        termless=tuple(article.id for article in texts if not terms[article.id]),
        without_heading=tuple(article.id for article in articles if not article.headings),
        short=tuple(article.id for article in texts if 0 < terms[article.id] < SHORT),
        long=tuple(article.id for article in texts if terms[article.id] > LONG * max(usual, 1)),
        textless=tuple(article.id for article in articles if not article.text.strip()),
        twins=tuple(tuple(ids) for ids in by_text.values() if len(ids) > 1),
        languages=Counter(language_of(article.text, likely=engine.card.language) for article in sample),
        language=engine.card.language,
        questions=len(questions),
        strangers=tuple(q.text for q in questions if _stranger(q, engine)),
        found_by_heading=found_by_heading(engine, chance),
        per_heading=articles_per_heading(engine),
        terms=usual,
        doubt=doubt.fit(engine, questions, seed) if refit else None,
        fitted=refit,
    )


def _stranger(question: Question, engine: Engine) -> bool:
    gold = [engine.articles[id_] for id_ in question.article_ids if id_ in engine.articles]
    asked = set(engine.analyser.terms(question.text))
    law = chain.from_iterable((article.text, *article.headings) for article in gold)
    return bool(gold) and asked.isdisjoint(chain.from_iterable(map(engine.analyser.terms, law)))


def found_by_heading(engine: Engine, chance: random.Random) -> float | None:
    """Return the share of sampled articles that are among the first ten for the last heading that they share.

    A heading of one article alone is its title, as of German paragraphs: who is asked by it is always found.
    """
    shared = _shared_headings(engine)
    sample = chance.sample(sorted(shared), min(SAMPLE, len(shared)))
    if not sample:
        return None
    return sum(_found(id_, shared[id_], engine) for id_ in sample) / len(sample)


def articles_per_heading(engine: Engine) -> float:
    """Return how many articles have the same last shared heading, the mean over headings; 0 without any."""
    under = Counter(_shared_headings(engine).values())
    return under.total() / (len(under) or 1)


def term_counts(articles: Iterable[Article], engine: Engine) -> dict[str, int]:
    """Return how many terms the text of each article has."""
    return {article.id: len(engine.analyser.terms(article.text)) for article in articles}


def _shared_headings(engine: Engine) -> dict[str, str]:
    """Return the last heading of each article with a text that another bears too; its last one if none is."""
    headed = [article for article in engine.articles.values() if article.headings and article.text.strip()]
    bearing = Counter(heading for article in headed for heading in {*article.headings})
    return {
        article.id: next((h for h in reversed(article.headings) if bearing[h] > 1), article.headings[-1])
        for article in headed
    }


def _found(id_: str, heading: str, engine: Engine) -> bool:
    return id_ in {shown.article.id for shown in engine.ask(heading, k=10).shown}


def findings(found: Audit) -> Iterator[AuditFinding]:
    """Yield what an operator is told of an audit, what is grave marked."""
    for kind, ids, most in (
        (AuditKind.TEXTLESS, found.textless, 1.0),
        (AuditKind.TERMLESS, found.termless, 0.0),
        (AuditKind.HEADLESS, found.without_heading, 0.5),
        (AuditKind.SHORT, found.short, 0.1),
        (AuditKind.LONG, found.long, 0.1),
        (AuditKind.TWINS, tuple(ids[0] for ids in found.twins), 0.1),
    ):
        if ids:
            grave = len(ids) > most * found.articles
            yield AuditFinding(kind, grave, len(ids), len(ids) / found.articles, examples=ids[:LISTED])
    yield AuditFinding(AuditKind.UNREAD, found.unread > UNREAD, share=found.unread)
    foreign = 1 - found.languages.get(found.language, 0) / (sum(found.languages.values()) or 1)
    if found.languages:
        yield AuditFinding(AuditKind.FOREIGN, foreign > FOREIGN, share=foreign, examples=[*found.languages])
    if found.questions:
        share = len(found.strangers) / found.questions
        yield AuditFinding(AuditKind.STRANGERS, count=found.questions, share=share)
    if (foretold := found.success) is not None:
        yield AuditFinding(AuditKind.EXPECTED, share=foretold.share, error=foretold.error)
    if (foretold := found.recall) is not None:
        yield AuditFinding(AuditKind.EXPECTED_RECALL, share=foretold.share, error=foretold.error)
    if found.fitted:
        yield _doubt(found)


def _doubt(found: Audit) -> AuditFinding:
    doubt = found.doubt
    if doubt is None:
        return AuditFinding(AuditKind.DOUBT_UNFIT)
    if doubt.error is None:
        return AuditFinding(AuditKind.DOUBT_UNTESTED, count=doubt.people)
    kind = AuditKind.DOUBT if doubt.good_enough else AuditKind.DOUBT_POOR
    return AuditFinding(kind, not doubt.good_enough, doubt.people, doubt.error)


_SAID: Mapping[AuditKind, str] = {
    AuditKind.TEXTLESS: "have no text: they are found by headings and questions alone",
    AuditKind.TERMLESS: "have a text of which nothing can be searched",
    AuditKind.HEADLESS: "have no heading",
    AuditKind.SHORT: f"have fewer than {SHORT} terms",
    AuditKind.LONG: f"are longer than {LONG} times the median: were they cut in the right place?",
    AuditKind.TWINS: "have a text that others have too",
}


def lines(found: Audit) -> Iterator[str]:
    """Yield what a terminal is told, warnings marked."""
    yield f"{found.articles:,} articles"
    for each in findings(found):
        yield f"{'WARNING ' if each.grave else ''}{_line(each, found)}"
    if not found.questions:
        yield "no annotated question: nothing can be measured on this law, and it learns from nobody"
    if not found.fitted:
        yield '"probably no article answers" was fitted to this index by python -m training.confidence'
    if found.success is None:
        yield "how much will be found cannot be foretold: no article has a heading and a text"


def _line(each: AuditFinding, found: Audit) -> str:
    match each.kind:
        case AuditKind.UNREAD:
            why = "left out on purpose, as de, la, und, or not read"
            return f"{each.share:.0%} of the letters stand in words not searched ({why})"
        case AuditKind.FOREIGN:
            languages = sorted(found.languages.items(), key=lambda item: -item[1])
            told = ", ".join(f"{code} {n}" for code, n in languages)
            return f"languages of a sample of texts: {told} (the card says {found.language})"
        case AuditKind.STRANGERS:
            return (
                f"{each.count:,} annotated questions, {each.share:.0%} without one word of what answers them"
            )
        case AuditKind.EXPECTED:
            share = _foretold(found.success, "of questions")
            by_heading = f"{found.found_by_heading:.0%} of articles are found by a heading of theirs"
            return f"foretold: {share} find an answer among the first ten; {by_heading}"
        case AuditKind.EXPECTED_RECALL:
            share = _foretold(found.recall, "of what answers a question")
            return f"foretold: {share} is among the first ten (R@10)"
        case kind if kind in _SAID:
            some = ", ".join(each.examples) + (", …" if each.count > LISTED else "")
            return f"{each.count:,} ({each.share:.1%}) {_SAID[kind]}: {some}"
        case _:
            return f'"probably no article answers" {"; ".join(_doubt_lines(found.doubt))}'


def _foretold(expected: Expected | None, of: str) -> str:
    return (
        "" if expected is None else f"{expected.share:.0%} {of} ({expected.low:.0%} to {expected.high:.0%})"
    )


def _doubt_lines(doubt: Doubt | None) -> Iterator[str]:
    if doubt is None:
        yield "is never said: it takes an encoder, and articles to make questions of"
        return
    if doubt.error is None:
        yield f"is never said: {doubt.people:,} annotated questions are held back, {PEOPLE} are needed"
        yield 'give some the split "test"'
        return
    made = f"{doubt.error_made:.2f} on {doubt.made:,} questions made of the law"
    yield "was fitted to this index" if doubt.good_enough else "is never said: it is not good enough"
    yield (
        f"its calibration error is {doubt.error:.2f} on {doubt.people:,} questions that were held back, each "
        f"asked with and without what answers it ({DOUBT_ERROR} at most), and {made}"
    )
    alarms = f"{doubt.alarms:.0%} of the questions with an answer ({ALARMS:.0%} at most)"
    yield f"it is said of {alarms}, and of {doubt.told:.0%} of those without"
    yield f"those found are told from those not found: AUC {doubt.auc:.2f} or more (0.5 is chance)"


def store(found: Audit, folder: Path) -> None:
    """Put what was found, and a doubt that may be used, beside the version that was looked at.

    Raises:
        OSError: it cannot be written.
    """
    text = json.dumps([asdict(each) for each in findings(found)], ensure_ascii=False, indent=1) + "\n"
    with replacing(paths.version_file(folder, paths.AUDIT)) as part:
        part.write_text(text, encoding="utf-8")
    place = paths.version_file(folder, paths.CONFIDENCE)
    if found.doubt is None or found.doubt.confidence is None:
        place.unlink(missing_ok=True)
    else:
        with replacing(place) as part:
            part.write_text(found.doubt.confidence.to_json(), encoding="utf-8")


def load(folder: Path) -> tuple[AuditFinding, ...]:
    """Return what was found of a version; () where nobody has looked, or it cannot be read."""
    try:
        record = json.loads(paths.version_file(folder, paths.AUDIT).read_text(encoding="utf-8"))
        return tuple(AuditFinding(**{**each, "kind": AuditKind(each["kind"])}) for each in record)
    except (OSError, ValueError, TypeError, KeyError):
        return ()
