"""The questions that ship, for whoever imports the official text of the law that they are about.

They are attached by code and article number, so they fit any edition of the Code civil.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from indexes.builtin_corpus import CODE
from indexes.corpus import Cited, Corpus, attach, read
from indexes.places import builtin

JURISDICTION = "FR"  # Belgium and Luxembourg have a Code civil of their own


def with_shipped_questions(corpus: Corpus) -> Corpus:
    """Return the corpus with the shipped questions of the articles it holds; others come back as they are.

    Only a French corpus that says so on its card (jurisdiction FR, language fr) gets them. A question
    whose id the corpus uses already is left out.
    """
    card = corpus.card
    if card.jurisdiction != JURISDICTION or card.language != "fr":
        return corpus
    there = {question.id for question in corpus.questions}
    fresh = [q for q in attach(shipped(), corpus.articles) if q.id not in there]
    return replace(corpus, questions=(*corpus.questions, *fresh)) if fresh else corpus


@lru_cache(maxsize=1)
def shipped() -> tuple[Cited, ...]:
    """Return the questions that ship, by code and article number."""
    own = read(builtin() / "corpus")
    number = {article.id: article.article_no for article in own.articles}
    return tuple(
        Cited(replace(q, article_ids=()), tuple((CODE, number[i]) for i in q.article_ids))
        for q in own.questions
    )
