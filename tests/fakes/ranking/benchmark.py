"""A benchmark on disk: thirty articles and twenty questions, two of them without an answer."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from indexes.corpus.corpus import Corpus
from rag.corpus.card import CorpusCard
from rag.types import Article, Question

TOPICS = (
    "arbre clôture",
    "mur mitoyen",
    "bail loyer",
    "dette héritage",
    "mariage divorce",
    "enfant autorité",
    "testament légataire",
    "vente immeuble",
    "prêt intérêt",
    "caution garantie",
)

ARTICLES = tuple(
    Article(
        f"a{n}",
        "Code civil",
        str(n),
        f"{TOPICS[n % 10]} disposition numéro{n} règle commune",
        (f"Titre {n % 3}",),
    )
    for n in range(30)
)
ANSWERED = tuple(
    Question(
        f"q{n}",
        f"Que dire de {TOPICS[n % 10]} mot{n} ?",
        (f"a{n % 10}", f"a{n % 10 + 10}"),
        category=f"c{n % 2}",
    )
    for n in range(18)
)
QUESTIONS = (
    *ANSWERED,
    Question("none1", "Quelle est la recette du pain ?", category="elsewhere"),
    Question("none2", "Le loyer en Belgique ?", category="elsewhere"),
)
CORPUS = Corpus(CorpusCard("small", "Petit code", "fr", licence="CC0-1.0"), ARTICLES, QUESTIONS)


def write_lines(path: Path, records: Iterable[Mapping[str, object]]) -> Path:
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(lines.encode()))
    else:
        path.write_text(lines, encoding="utf-8")
    return path


def articles_as_records(articles: Iterable[Article] = ARTICLES) -> list[dict[str, object]]:
    return [
        {"id": a.id, "code": a.code, "article_no": a.article_no, "headings": list(a.headings), "text": a.text}
        for a in articles
    ]


def questions_as_records(questions: Iterable[Question] = QUESTIONS) -> list[dict[str, object]]:
    return [
        {"id": q.id, "question": q.text, "article_ids": list(q.article_ids), "category": q.category}
        for q in questions
    ]
