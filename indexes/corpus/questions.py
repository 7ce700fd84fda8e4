"""Annotated questions: read, and their gold articles found by id or by code and article number."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from indexes.corpus.articles import ids, name, number, optional, text
from indexes.formats.jsonl import Record, records
from indexes.formats.validation import Inspection, SkipReason, SourceLocation, UnfitError
from rag.types import Article, Progress, Question, no_progress

# The keys of questions.jsonl that are written, in order; code and article_no are read as well.
KEYS = ("id", "question", "article_ids", "answer", "category", "split")
READ = frozenset((*KEYS, "code", "article_no"))


@dataclass(frozen=True, slots=True)
class AnnotatedQuestion:
    """A question with its annotation, before its articles are resolved in a corpus."""

    question: Question  # its article_ids as they were written, if they were
    cites: tuple[tuple[str, str], ...] = ()  # (code, article number)


def read_questions(
    path: Path,
    articles: Iterable[Article],
    *,
    inspection: Inspection | None = None,
    progress: Progress = no_progress,
) -> tuple[Question, ...]:
    """Read questions whose gold articles must be among these articles.

    A question names them as `article_ids` (a list, or one id) or as `code` and `article_no` (text
    or lists; one code may go with several numbers); every article that bears the number is gold.
    An empty list says that no article answers. When the inspection is lenient, a gold article that
    is not there is left out and counted, and a question that keeps none is left out with it.

    Raises:
        BadInput: the file cannot be used; the text names file, line and cure.
    """
    inspection = inspection or Inspection()
    return resolve(collect(records(path, inspection, progress), inspection), articles, inspection)


def read_cited(path: Path, *, inspection: Inspection | None = None) -> tuple[AnnotatedQuestion, ...]:
    """Read questions without a corpus, for `attach`."""
    inspection = inspection or Inspection()
    return tuple(cited for _, cited in collect(records(path, inspection), inspection))


def attach(cited: Iterable[AnnotatedQuestion], articles: Iterable[Article]) -> tuple[Question, ...]:
    """Return the questions that these articles answer, with the ids the articles have here.

    Only `code` and `article_no` count, for ids mean nothing in another corpus; articles that are
    not here are left out, and so is a question that keeps none.
    """
    numbered = _numbered(articles)
    found = []
    for each in cited:
        gold = dict.fromkeys(id_ for cite in each.cites for id_ in numbered.get(cite, ()))
        if gold:
            found.append(replace(each.question, article_ids=tuple(gold)))
    return tuple(found)


def collect(
    found: Iterable[tuple[SourceLocation, Record]], inspection: Inspection
) -> Iterable[tuple[SourceLocation, AnnotatedQuestion]]:
    """Turn records with the keys of this module into questions, each with its place."""
    seen: dict[str, SourceLocation] = {}
    for place, record, cited in inspection.parsed(found, parse_question):
        id_ = cited.question.id
        if id_ in seen:
            problem = f"question id {id_!r} was already used at {seen[id_]}"
            inspection.refuse(SkipReason.DUPLICATE_ID, place, problem, "Give every question an id of its own")
            continue
        seen[id_] = place
        inspection.keep("question", id_, {k: v for k, v in record.items() if k not in READ})
        yield place, cited


def parse_question(record: Record) -> AnnotatedQuestion:
    """Make a question of a record.

    Raises:
        UnfitError: a required column is missing, the question is empty, or a value is of another type.
    """
    by_number = "article_no" in record and "article_ids" not in record
    gold = ("code", "article_no") if by_number else ("article_ids",)
    missing = [key for key in ("id", "question", *gold) if record.get(key) is None]
    if by_number and record["article_no"] == []:
        missing = [key for key in missing if key != "code"]  # no article answers: no code to name
    if missing:
        problem = f"no {', '.join(missing)}; it has: {', '.join(record) or 'nothing'}"
        cure = "Give id, question and article_ids (or code and article_no); [] where no article answers"
        raise UnfitError(SkipReason.MISSING_COLUMN, problem, cure)
    question_text = text(record, "question")
    if not question_text.strip():
        raise UnfitError(SkipReason.EMPTY_TEXT, "the question is empty", "Fill it in or remove the line")
    question = Question(
        id=name(record, "id"),
        text=question_text,
        article_ids=() if by_number else ids(record, "article_ids"),
        category=optional(record, "category"),
        answer=optional(record, "answer"),
        split=optional(record, "split"),
    )
    return AnnotatedQuestion(question, _cites(record) if by_number else ())


def resolve(
    found: Iterable[tuple[SourceLocation, AnnotatedQuestion]],
    articles: Iterable[Article],
    inspection: Inspection,
) -> tuple[Question, ...]:
    """Look the gold articles up; what is not among the articles is refused."""
    articles = tuple(articles)
    known = {article.id for article in articles}
    numbered: dict[tuple[str, str], list[str]] | None = None
    questions = []
    for place, cited in found:
        gold = list(cited.question.article_ids)
        absent = [f"article {id_!r}" for id_ in gold if id_ not in known]
        gold = [id_ for id_ in gold if id_ in known]
        if cited.cites:
            numbered = _numbered(articles) if numbered is None else numbered
            absent += [
                f"article {no!r} of {code!r}" for code, no in cited.cites if (code, no) not in numbered
            ]
            gold += [id_ for cite in cited.cites for id_ in numbered.get(cite, ())]
        if absent:
            few = ", ".join(absent[:3]) + (f" and {len(absent) - 3} more" if len(absent) > 3 else "")
            problem = f"question {cited.question.id!r} cites {few}, which the corpus does not hold"
            cure = "Correct the line, or give the articles it was annotated for"
            inspection.refuse(SkipReason.UNKNOWN_GOLD, place, problem, cure)
        if gold or not absent:
            questions.append(replace(cited.question, article_ids=tuple(dict.fromkeys(gold))))
    return tuple(questions)


def question_record(question: Question) -> Record:
    """Return the record that is written: the keys in order; what is None is left out, article_ids never."""
    written: dict[str, object] = {
        "id": question.id,
        "question": question.text,
        "article_ids": question.article_ids,
    }
    rest = {"answer": question.answer, "category": question.category, "split": question.split}
    return written | {key: value for key, value in rest.items() if value is not None}


def _cites(record: Record) -> tuple[tuple[str, str], ...]:
    numbers, codes = record["article_no"], record.get("code")
    numbers = numbers if isinstance(numbers, list) else [numbers]
    codes = codes if isinstance(codes, list) else [codes] * len(numbers)
    if len(codes) != len(numbers):
        problem = f"{len(codes)} codes came for {len(numbers)} article numbers"
        raise UnfitError(SkipReason.WRONG_TYPE, problem, "Give one code for all of them, or one for each")
    pairs = zip(codes, numbers, strict=True)
    return tuple(dict.fromkeys((number(code, "code"), number(no, "article_no")) for code, no in pairs))


def _numbered(articles: Iterable[Article]) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for article in articles:
        found.setdefault((article.code, article.article_no), []).append(article.id)
    return found
