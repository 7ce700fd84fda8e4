"""One pass over a corpus folder: what is in it, counted without keeping its texts.

The questions are read first, for they are few and say which articles matter; then each article is
looked at once. Of an article nothing is kept but the hash of its id, so a million of them fit into memory.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from indexes.corpus import articles as articles_
from indexes.corpus import extras
from indexes.corpus.card import FILE, read_card
from indexes.corpus.folder import articles_file
from indexes.describing.asked import OPTIONAL, Asked, read_asked
from indexes.describing.description import Code, Column, Dates, Description, References
from indexes.describing.spread import Spread
from indexes.describing.units import Lengths, Report, Units, progress_of
from indexes.formats.jsonl import Progress, dump, records
from indexes.formats.validation import Inspection, Reason, UnfitError
from rag.corpus.card import CorpusCard
from rag.errors import BadInput
from rag.types import Article

_OPTIONAL = tuple(key for key in articles_.KEYS if key not in articles_.REQUIRED)


@dataclass
class _Found:
    """What is counted on the way through the articles."""

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


def measure(folder: Path, units: Units, report: Report | None = None) -> Description:
    """Describe the corpus of a folder.

    Args:
        folder: of a corpus, as `indexes.corpus.corpus.write` leaves it.
        units: what lengths are counted in.
        report: called as the files are read.

    Raises:
        BadInput: a file cannot be used; the text names file, line and cure.
    """
    card = read_card(folder / FILE)
    asked = read_asked(folder, units, progress_of("reading questions", report))
    found, lengths = _Found(), Lengths(units)
    stream = _articles(articles_file(folder), found, progress_of("reading articles", report))
    lengths.add(_noted(article, found, card, asked).text for article in stream)
    total = found.codes.total()
    if not total:
        raise BadInput(f"{folder}: no articles in it. Give a corpus folder that holds some.")
    gold = asked.gold(found.code_of, found.numbered)
    citations = Counter(id_ for ids in gold for id_ in ids)
    times = Counter(citations.values())
    times[0] = total - len(citations)
    return Description(
        card=card,
        sha256=found.digest.hexdigest(),
        units={name: unit.name for name, unit in units.items()},
        lengths={"articles": lengths.spreads(), "questions": asked.lengths.spreads()},
        codes=_codes(found, gold),
        gold=asked.by_category(gold),
        citations=Spread.of(times),
        references=References(
            Spread.of(found.references),
            sum(n for target, n in found.targets.items() if target in found.known),
            found.itself,
        ),
        splits=asked.splits(gold),
        languages=dict(found.languages.most_common()),
        dates=_dates(found, card),
        columns=tuple(_columns(folder, found, asked)),
    )


def _articles(path: Path, found: _Found, progress: Progress | None) -> Iterator[Article]:
    inspection = Inspection()
    for place, record in records(path, inspection, progress):
        try:
            article = articles_.article_of(record)
        except UnfitError as unfit:
            inspection.refuse(unfit.reason, place, unfit.problem, unfit.cure)
            continue
        key = hash(article.id)
        if key in found.known:
            problem, cure = f"id {article.id!r} was already used", "Give every article an id of its own"
            inspection.refuse(Reason.DUPLICATE_ID, place, problem, cure)
        found.known.add(key)
        yield article


def _noted(article: Article, found: _Found, card: CorpusCard, asked: Asked) -> Article:
    """Count what there is to count of an article beside its length, and return it."""
    found.digest.update(dump(articles_.record_of(article)))
    found.codes[article.code] += 1
    found.languages[article.language or card.language] += 1
    found.filled.update(key for key in _OPTIONAL if getattr(article, key) not in (None, ()))
    found.references[len(article.references)] += 1
    found.targets.update(map(hash, article.references))
    found.itself += article.id in article.references
    cite = (article.code, article.article_no)
    if cite in asked.cites:
        found.numbered[cite].append(article.id)
    if article.id in asked.ids or cite in asked.cites:
        found.code_of[article.id] = article.code
    begun, ended, day = article.valid_from, article.valid_to, card.law_date
    if begun is not None:
        found.days = [min([begun, *found.days]), max([begun, *found.days])]
    if day is not None:
        found.in_force += (begun is None or begun <= day) and (ended is None or day < ended)
    return article


def _codes(found: _Found, gold: Iterable[tuple[str, ...]]) -> tuple[Code, ...]:
    cited, asking = Counter[str](), Counter[str]()
    seen: set[str] = set()
    for ids in gold:
        asking.update({found.code_of[id_] for id_ in ids})
        cited.update(found.code_of[id_] for id_ in ids if id_ not in seen)
        seen.update(ids)
    made = (Code(name, n, cited[name], asking[name]) for name, n in found.codes.items())
    return tuple(sorted(made, key=lambda code: (-code.articles, code.name)))


def _dates(found: _Found, card: CorpusCard) -> Dates:
    earliest, latest = found.days or (None, None)
    begun, ended = found.filled["valid_from"], found.filled["valid_to"]
    known = card.law_date is not None and bool(begun or ended)
    return Dates(begun, ended, earliest, latest, found.in_force if known else None)


def _columns(folder: Path, found: _Found, questions: Asked) -> Iterator[Column]:
    articles, asked = found.codes.total(), len(questions.entries)
    yield from (Column("article", key, found.filled[key], articles) for key in _OPTIONAL)
    if asked:
        yield from (Column("question", key, questions.filled[key], asked) for key in OPTIONAL)
    for of, name, total in (("article", extras.ARTICLES, articles), ("question", extras.QUESTIONS, asked)):
        counts: Counter[str] = Counter()
        if (folder / name).is_file():
            for _, record in records(folder / name, Inspection()):
                counts.update(key for key in record if key != "id")
        yield from (Column(of, key, n, total, used=False) for key, n in sorted(counts.items()))
