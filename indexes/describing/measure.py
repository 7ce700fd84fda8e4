"""One pass over a corpus folder: what is in it, counted without keeping its texts.

The questions are read first, for they are few and say which articles matter; then each article is
looked at once. Of an article nothing is kept but the hash of its id, so a million of them fit into memory.

The questions of a corpus: few beside its articles, so what they cite is kept, and nothing else.

What a length is counted in, each with a name that says exactly how: characters, words, tokens.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from indexes.corpus import articles as articles_
from indexes.corpus import extras, questions
from indexes.corpus.card import FILE, read_card
from indexes.corpus.corpus import articles_file, questions_file
from indexes.describing.description import (
    Code,
    Dates,
    Description,
    Distribution,
    References,
    SplitSummary,
    TableColumn,
)
from indexes.formats.jsonl import dump, records
from indexes.formats.validation import Inspection, SkipReason, SourceLocation
from rag.corpus.card import CorpusCard
from rag.errors import BadInput, MissingExtra
from rag.text.analysers import LANGUAGES, analyser
from rag.types import Article, Progress, named, no_progress

_RUN = re.compile(r"\w+")


@dataclass(frozen=True)
class Unit:
    """Counts one kind of thing in texts."""

    name: str  # how it is done, for people
    count: Callable[[Sequence[str]], list[int]]  # one number a text


Units = Mapping[str, Unit]  # "characters", "words", "tokens"
_CHUNK = 512  # texts that are cut at once: a tokenizer does them in parallel


class Lengths:
    """The lengths of texts in every unit, counted as the texts come by."""

    def __init__(self, units: Units) -> None:
        self._units = units
        self._counts = {name: Counter[int]() for name in units}

    def add(self, texts: Iterable[str]) -> None:
        """Count the texts; none of them is kept."""
        stream = iter(texts)
        while chunk := list(islice(stream, _CHUNK)):
            for name, unit in self._units.items():
                self._counts[name].update(unit.count(chunk))

    def spreads(self) -> dict[str, Distribution]:
        """Return unit -> lengths."""
        return {name: Distribution.of(counts) for name, counts in self._counts.items()}


def units(language: str, tokenizer: str | None = None) -> Units:
    """Return the units of a language.

    Args:
        language: of the texts, ISO 639-1.
        tokenizer: a tokenizer.json, the folder of one, or an id on the Hugging Face hub; None counts
            the terms of the language's analyser, which is what BM25 sees.

    Raises:
        BadInput: the tokenizer cannot be had.
        MissingExtra: the package tokenizers is not installed.
    """
    return {
        "characters": Unit("Unicode code points", lambda texts: [len(text) for text in texts]),
        "words": _words(language),
        "tokens": _terms(language) if tokenizer is None else _tokens(tokenizer),
    }


def _words(language: str) -> Unit:
    if language not in LANGUAGES:
        return _runs()
    cut = analyser(language, stop_words=False, chinese="words", stem=False)
    elided = ", elided ones (l', dell') not" if language in ("fr", "it") else ""
    how = f"as they are written, stop words too{elided} ({cut.id})"
    return Unit(how, lambda texts: [len(cut.terms(text)) for text in texts])


def _terms(language: str) -> Unit:
    if language not in LANGUAGES:
        return _runs()
    cut = analyser(language)
    how = f"terms of the analyser, without stop words ({cut.id})"
    return Unit(how, lambda texts: [len(cut.terms(text)) for text in texts])


def _runs() -> Unit:
    """Count runs of letters and digits, for a language that has no analyser here."""
    return Unit("runs of letters and digits", lambda texts: [len(_RUN.findall(text)) for text in texts])


def _tokens(wanted: str) -> Unit:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise MissingExtra(
            "--tokenizer needs the package tokenizers, without torch: pip install tokenizers"
        ) from error
    place = Path(wanted).expanduser()
    file = place / "tokenizer.json" if place.is_dir() else place
    try:
        made: Any = Tokenizer.from_file(str(file)) if file.is_file() else Tokenizer.from_pretrained(wanted)
    except Exception as error:  # it raises bare Exceptions, and those of the hub's client
        raise BadInput(
            f"--tokenizer {wanted}: cannot be had ({error}): give a tokenizer.json, the folder of one, or "
            "the id of a model on the hub that has one and can be reached"
        ) from error
    made.no_truncation()  # a model's own cut at 512 tokens would hide every longer article
    made.no_padding()
    digest = hashlib.sha256(made.to_str().encode()).hexdigest()[:12]
    name = file.parent.name if file.is_file() and file.name == "tokenizer.json" else place.name
    name = name if file.is_file() else wanted

    def count(texts: Sequence[str]) -> list[int]:
        return [len(found.ids) for found in made.encode_batch(list(texts), add_special_tokens=False)]

    return Unit(f"{name} (tokenizers, sha256 {digest}), special tokens not counted", count)


OPTIONAL = ("answer", "category", "split")
Gold = Sequence[tuple[str, ...]]  # ids of articles, a tuple a question


class Entry(NamedTuple):
    """What is kept of a question."""

    place: SourceLocation
    article_ids: tuple[str, ...]
    cites: tuple[tuple[str, str], ...]  # (code, article number)
    category: str
    split: str


@dataclass
class RawQuestions:
    """All questions of a corpus, before their gold articles are resolved."""

    lengths: Lengths
    entries: list[Entry] = field(default_factory=list)
    filled: Counter[str] = field(default_factory=Counter)  # optional column -> questions that have it
    ids: set[str] = field(default_factory=set)  # of the articles that they name
    cites: set[tuple[str, str]] = field(default_factory=set)

    def gold(self, ids: Mapping[str, object], numbered: Mapping[tuple[str, str], Sequence[str]]) -> Gold:
        """Return the gold articles of each question, each once.

        Args:
            ids: those of `self.ids` that the corpus holds, and those in `numbered`.
            numbered: (code, article number) -> the ids of those that bear it.

        Raises:
            BadInput: a question cites what the corpus does not hold.
        """
        found = []
        for entry in self.entries:
            absent = [id_ for id_ in entry.article_ids if id_ not in ids]
            absent += [" ".join(cite) for cite in entry.cites if cite not in numbered]
            if absent:
                raise BadInput(
                    f"{entry.place}: it cites {absent[0]!r}, which the corpus does not hold. Correct the "
                    "line, or give the articles it was annotated for."
                )
            cited = (id_ for cite in entry.cites for id_ in numbered[cite])
            found.append(tuple(dict.fromkeys((*entry.article_ids, *cited))))
        return found

    def by_category(self, gold: Gold) -> dict[str, Distribution]:
        """Return category -> gold articles a question, the largest category first; "" is none."""
        counts: defaultdict[str, Counter[int]] = defaultdict(Counter)
        for entry, ids in zip(self.entries, gold, strict=True):
            counts[entry.category][len(ids)] += 1
        in_order = sorted(counts.items(), key=lambda item: (-item[1].total(), item[0]))
        return {name: Distribution.of(found) for name, found in in_order}

    def splits(self, gold: Gold) -> dict[str, SplitSummary]:
        """Return split -> its questions; "" is none."""
        every = Counter(entry.split for entry in self.entries)
        answered = Counter(entry.split for entry, ids in zip(self.entries, gold, strict=True) if ids)
        return {name: SplitSummary(every[name], answered[name]) for name in sorted(every)}


def read_questions(folder: Path, units: Units, progress: Progress) -> RawQuestions:
    """Read the questions of a corpus folder, none where it has no file of them.

    Raises:
        BadInput: a line cannot be used.
    """
    made = RawQuestions(Lengths(units))
    path, inspection = questions_file(folder), Inspection()
    if path is not None:
        found = questions.collect(records(path, inspection, progress), inspection)
        made.lengths.add(_note_question(place, cited, made) for place, cited in found)
    return made


def _note_question(place: SourceLocation, cited: questions.AnnotatedQuestion, to: RawQuestions) -> str:
    """Keep what is needed of a question, and return its text."""
    question = cited.question
    to.filled.update(key for key in OPTIONAL if getattr(question, key) is not None)
    to.ids.update(question.article_ids)
    to.cites.update(cited.cites)
    entry = Entry(place, question.article_ids, cited.cites, question.category or "", question.split or "")
    to.entries.append(entry)
    return question.text


_OPTIONAL = tuple(key for key in articles_.KEYS if key not in articles_.REQUIRED)


@dataclass
class _ArticleCounts:
    """Counts gathered in one pass over the articles."""

    digest: hashlib._Hash = field(default_factory=hashlib.sha256)
    known: set[int] = field(default_factory=set)  # hashes of ids
    codes: Counter[str] = field(default_factory=Counter)
    code_of: dict[str, str] = field(default_factory=dict)  # of the articles that questions cite
    numbered: defaultdict[tuple[str, str], list[str]] = field(default_factory=lambda: defaultdict(list))
    references: Counter[int] = field(default_factory=Counter)
    targets: Counter[int] = field(default_factory=Counter)  # hash of the id referred to -> how often
    itself: int = 0
    languages: Counter[str] = field(default_factory=Counter)
    filled: Counter[str] = field(default_factory=Counter)
    days: list[date] = field(default_factory=list)  # the earliest and the latest valid_from
    in_force: int = 0


def measure(folder: Path, units: Units, progress: Progress = no_progress) -> Description:
    """Describe the corpus of a folder.

    Args:
        folder: of a corpus, as `indexes.corpus.corpus.write` leaves it.
        units: what lengths are counted in.
        progress: called as the files are read.

    Raises:
        BadInput: a file cannot be used; the text names file, line and cure.
    """
    card = read_card(folder / FILE)
    raw = read_questions(folder, units, named(progress, "reading questions"))
    found, lengths = _ArticleCounts(), Lengths(units)
    stream = _articles(articles_file(folder), found, named(progress, "reading articles"))
    lengths.add(_note_article(article, found, card, raw).text for article in stream)
    total = found.codes.total()
    if not total:
        raise BadInput(f"{folder}: no articles in it. Give a corpus folder that holds some.")
    gold = raw.gold(found.code_of, found.numbered)
    citations = Counter(id_ for ids in gold for id_ in ids)
    times = Counter(citations.values())
    times[0] = total - len(citations)
    return Description(
        card=card,
        sha256=found.digest.hexdigest(),
        units={name: unit.name for name, unit in units.items()},
        lengths={"articles": lengths.spreads(), "questions": raw.lengths.spreads()},
        codes=_codes(found, gold),
        gold=raw.by_category(gold),
        citations=Distribution.of(times),
        references=References(
            Distribution.of(found.references),
            sum(n for target, n in found.targets.items() if target in found.known),
            found.itself,
        ),
        splits=raw.splits(gold),
        languages=dict(found.languages.most_common()),
        dates=_dates(found, card),
        columns=tuple(_columns(folder, found, raw)),
    )


def _articles(path: Path, found: _ArticleCounts, progress: Progress) -> Iterator[Article]:
    inspection = Inspection()
    for place, _, article in inspection.parsed(records(path, inspection, progress), articles_.parse_article):
        key = hash(article.id)
        if key in found.known:
            problem, cure = f"id {article.id!r} was already used", "Give every article an id of its own"
            inspection.refuse(SkipReason.DUPLICATE_ID, place, problem, cure)
        found.known.add(key)
        yield article


def _note_article(article: Article, found: _ArticleCounts, card: CorpusCard, raw: RawQuestions) -> Article:
    """Count what there is to count of an article beside its length, and return it."""
    found.digest.update(dump(articles_.article_record(article)))
    found.codes[article.code] += 1
    found.languages[article.language or card.language] += 1
    found.filled.update(key for key in _OPTIONAL if getattr(article, key) not in (None, ()))
    found.references[len(article.references)] += 1
    found.targets.update(map(hash, article.references))
    found.itself += article.id in article.references
    cite = (article.code, article.article_no)
    if cite in raw.cites:
        found.numbered[cite].append(article.id)
    if article.id in raw.ids or cite in raw.cites:
        found.code_of[article.id] = article.code
    start, ended, day = article.valid_from, article.valid_to, card.law_date
    if start is not None:
        found.days = [min([start, *found.days]), max([start, *found.days])]
    if day is not None:
        found.in_force += (start is None or start <= day) and (ended is None or day < ended)
    return article


def _codes(found: _ArticleCounts, gold: Iterable[tuple[str, ...]]) -> tuple[Code, ...]:
    cited, asking = Counter[str](), Counter[str]()
    seen: set[str] = set()
    for ids in gold:
        asking.update({found.code_of[id_] for id_ in ids})
        cited.update(found.code_of[id_] for id_ in ids if id_ not in seen)
        seen.update(ids)
    made = (Code(name, n, cited[name], asking[name]) for name, n in found.codes.items())
    return tuple(sorted(made, key=lambda code: (-code.articles, code.name)))


def _dates(found: _ArticleCounts, card: CorpusCard) -> Dates:
    earliest, latest = found.days or (None, None)
    starts, ended = found.filled["valid_from"], found.filled["valid_to"]
    known = card.law_date is not None and bool(starts or ended)
    return Dates(starts, ended, earliest, latest, found.in_force if known else None)


def _columns(folder: Path, found: _ArticleCounts, questions: RawQuestions) -> Iterator[TableColumn]:
    articles, n_codes = found.codes.total(), len(questions.entries)
    yield from (TableColumn("article", key, found.filled[key], articles) for key in _OPTIONAL)
    if n_codes:
        yield from (TableColumn("question", key, questions.filled[key], n_codes) for key in OPTIONAL)
    for of, name, total in (("article", extras.ARTICLES, articles), ("question", extras.QUESTIONS, n_codes)):
        counts: Counter[str] = Counter()
        if (folder / name).is_file():
            for _, record in records(folder / name, Inspection()):
                counts.update(key for key in record if key != "id")
        yield from (TableColumn(of, key, n, total, used=False) for key, n in sorted(counts.items()))
