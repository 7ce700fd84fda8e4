"""One pass over a corpus folder: what is in it, counted without keeping its texts.

The questions are read first, for they are few and say which articles matter; then each article is
looked at once. Of an article nothing is kept but the hash of its id, so a million of them fit into memory.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

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
from rag.text import Analyser
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


def _lengths(texts: Iterable[str], units: Units) -> dict[str, Distribution]:
    """Return unit -> lengths, counted as the texts come by; none of them is kept."""
    counts = {name: Counter[int]() for name in units}
    stream = iter(texts)
    while chunk := list(islice(stream, _CHUNK)):
        for name, unit in units.items():
            counts[name].update(unit.count(chunk))
    return {name: Distribution.of(found) for name, found in counts.items()}


def units(language: str, tokenizer: str | None = None) -> Units:
    """Return the units of a language, ISO 639-1.

    A tokenizer is a tokenizer.json, the folder of one, or an id on the Hugging Face hub; None counts the
    terms of the language's analyser, which is what BM25 sees.

    Raises:
        BadInput: the tokenizer cannot be had.
        MissingExtra: the package tokenizers is not installed.
    """
    if language in LANGUAGES:
        elided = ", elided ones (l', dell') not" if language in ("fr", "it") else ""
        word_analyser = analyser(language, stop_words=False, chinese="words", stem=False)
        words = _terms(word_analyser, f"as they are written, stop words too{elided}")
        terms = _terms(analyser(language), "terms of the analyser, without stop words")
    else:  # it has no analyser here
        words = terms = Unit(
            "runs of letters and digits", lambda texts: [len(_RUN.findall(text)) for text in texts]
        )
    return {
        "characters": Unit("Unicode code points", lambda texts: [len(text) for text in texts]),
        "words": words,
        "tokens": terms if tokenizer is None else _tokens(tokenizer),
    }


def _terms(word_analyser: Analyser, how: str) -> Unit:
    return Unit(
        f"{how} ({word_analyser.id})", lambda texts: [len(word_analyser.terms(text)) for text in texts]
    )


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


_OF_ARTICLES = tuple(key for key in articles_.KEYS if key not in articles_.REQUIRED)
_OF_QUESTIONS = ("answer", "category", "split")
CitedQuestions = list[tuple[SourceLocation, questions.AnnotatedQuestion]]
Gold = Sequence[tuple[str, ...]]  # ids of articles, a tuple a question


@dataclass
class _ArticleCounts:
    """Counts gathered in one pass over the articles."""

    ids: set[str]  # of the articles that questions name
    cites: set[tuple[str, str]]  # the codes and article numbers that they name
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
    """Describe the corpus of a folder, as `indexes.corpus.corpus.write` leaves it.

    Raises:
        BadInput: a file cannot be used; the text names file, line and cure.
    """
    card = read_card(folder / FILE)
    cited_questions: CitedQuestions = []
    asked_lengths = _lengths(_question_texts(folder, cited_questions, progress), units)
    found = _ArticleCounts(
        ids={id_ for _, cited in cited_questions for id_ in cited.question.article_ids},
        cites={cite for _, cited in cited_questions for cite in cited.cites},
    )
    textless = card.text_kind == "summary"
    articles = _articles(articles_file(folder), found, textless, named(progress, "reading articles"))
    texts = (_note_article(article, found, card).text for article in articles)
    lengths = _lengths(filter(None, texts), units)  # what nobody has summarised has no length
    total = found.codes.total()
    if not total:
        raise BadInput(f"{folder}: no articles in it. Give a corpus folder that holds some.")
    gold = _gold(cited_questions, found)
    times = Counter(Counter(id_ for ids in gold for id_ in ids).values())
    times[0] = total - times.total()
    by_category: defaultdict[str, Counter[int]] = defaultdict(Counter)
    splits: defaultdict[str, Counter[bool]] = defaultdict(Counter)  # whether there are gold articles
    for (_, cited), ids in zip(cited_questions, gold, strict=True):
        by_category[cited.question.category or ""][len(ids)] += 1
        splits[cited.question.split or ""][bool(ids)] += 1
    largest_first = sorted(by_category.items(), key=lambda item: (-item[1].total(), item[0]))
    earliest, latest = found.days or (None, None)
    starts, ended = found.filled["valid_from"], found.filled["valid_to"]
    in_force = found.in_force if card.law_date is not None and (starts or ended) else None
    return Description(
        card=card,
        sha256=found.digest.hexdigest(),
        units={name: unit.name for name, unit in units.items()},
        lengths={"articles": lengths, "questions": asked_lengths},
        codes=_codes(found, gold),
        gold={name: Distribution.of(counts) for name, counts in largest_first},
        citations=Distribution.of(times),
        references=References(
            Distribution.of(found.references),
            sum(n for target, n in found.targets.items() if target in found.known),
            found.itself,
        ),
        splits={name: SplitSummary(n.total(), n[True]) for name, n in sorted(splits.items())},
        languages=dict(found.languages.most_common()),
        dates=Dates(starts, ended, earliest, latest, in_force),
        columns=tuple(_columns(folder, found, cited_questions)),
    )


def _question_texts(folder: Path, to: CitedQuestions, progress: Progress) -> Iterator[str]:
    """Yield the texts of the questions, and keep the questions without texts and answers, which are long."""
    file, inspection = questions_file(folder), Inspection()
    if file is not None:
        stream = records(file, inspection, named(progress, "reading questions"))
        for place, cited in questions.collect(stream, inspection):
            question = cited.question
            answer = None if question.answer is None else ""  # whether there is one is counted
            to.append((place, replace(cited, question=replace(question, text="", answer=answer))))
            yield question.text


def _gold(cited_questions: CitedQuestions, articles: _ArticleCounts) -> Gold:
    """Return the gold articles of each question, each once."""
    found = []
    for place, cited in cited_questions:
        ids = cited.question.article_ids
        absent = [id_ for id_ in ids if id_ not in articles.code_of]
        absent += [" ".join(cite) for cite in cited.cites if cite not in articles.numbered]
        if absent:
            raise BadInput(
                f"{place}: it cites {absent[0]!r}, which the corpus does not hold. Correct the "
                "line, or give the articles it was annotated for."
            )
        numbered = (id_ for cite in cited.cites for id_ in articles.numbered[cite])
        found.append(tuple(dict.fromkeys((*ids, *numbered))))
    return found


def _articles(path: Path, found: _ArticleCounts, textless: bool, progress: Progress) -> Iterator[Article]:
    inspection = Inspection()
    parse = partial(articles_.parse_article, textless=textless)
    for place, _, article in inspection.parsed(records(path, inspection, progress), parse):
        key = hash(article.id)
        if key in found.known:
            problem, cure = f"id {article.id!r} was already used", "Give every article an id of its own"
            inspection.refuse(SkipReason.DUPLICATE_ID, place, problem, cure)
        found.known.add(key)
        yield article


def _note_article(article: Article, found: _ArticleCounts, card: CorpusCard) -> Article:
    """Count what there is to count of an article beside its length, and return it."""
    found.digest.update(dump(articles_.article_record(article)))
    found.codes[article.code] += 1
    found.languages[article.language or card.language] += 1
    found.filled.update(key for key in _OF_ARTICLES if getattr(article, key) not in (None, ()))
    found.references[len(article.references)] += 1
    found.targets.update(map(hash, article.references))
    found.itself += article.id in article.references
    cite = (article.code, article.article_no)
    if cite in found.cites:
        found.numbered[cite].append(article.id)
    if article.id in found.ids or cite in found.cites:
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


def _columns(folder: Path, found: _ArticleCounts, cited_questions: CitedQuestions) -> Iterator[TableColumn]:
    articles, n_asked = found.codes.total(), len(cited_questions)
    yield from (TableColumn("article", key, found.filled[key], articles) for key in _OF_ARTICLES)
    if n_asked:
        for key in _OF_QUESTIONS:
            filled = sum(getattr(cited.question, key) is not None for _, cited in cited_questions)
            yield TableColumn("question", key, filled, n_asked)
    for of, name, total in (("article", extras.ARTICLES, articles), ("question", extras.QUESTIONS, n_asked)):
        counts: Counter[str] = Counter()
        if (folder / name).is_file():
            for _, record in records(folder / name, Inspection()):
                counts.update(key for key in record if key != "id")
        yield from (TableColumn(of, key, n, total, used=False) for key, n in sorted(counts.items()))
