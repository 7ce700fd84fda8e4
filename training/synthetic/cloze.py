"""Sentences and headings of the law in the place of questions: the inverse cloze task (Lee et al. 2019).

`python -m training.synthetic cloze --corpus LAW --output FILE` asks no model and no person. What learns from
the file has seen no question: a system for "zero-shot" where no pretrained model is at hand.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from indexes.cli.terminal import guarded
from indexes.corpus.corpus import SYNTHETIC
from indexes.corpus.questions import question_record
from indexes.formats.jsonl import dump, write_lines
from indexes.sources import registry
from indexes.store.atomic import replacing
from rag.errors import BadInput
from rag.types import Article, Question

SHORTEST, LONGEST = 8, 200  # characters
_SENTENCE = re.compile(r"[.!?;。！？；]\s*|\n+")


def cloze(articles: Sequence[Article], count: int, seed: int = 42) -> list[Question]:
    """Return at most so many questions, one an article: of every four one its last heading, else a sentence.

    Sentences are drawn at random, so that most stand behind the part of a long article that a small encoder
    reads; an article without a sentence or heading of 8 characters has none.
    """
    rng = np.random.default_rng(seed)
    found: list[Question] = []
    for number, position in enumerate(rng.permutation(len(articles)).tolist()):
        if len(found) == count:
            break
        article = articles[position]
        texts = [s.strip()[:LONGEST] for s in _SENTENCE.split(article.text)]
        if number % 4 == 0 and article.headings:
            texts = [article.headings[-1].strip()]
        if texts := [text for text in texts if len(text) >= SHORTEST]:
            text = texts[int(rng.integers(len(texts)))]
            found.append(Question(f"cloze-{article.id}", text, (article.id,), split=SYNTHETIC))
    return found


@guarded
def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file."""
    top = argparse.ArgumentParser(
        prog="python -m training.synthetic cloze",
        description="Sentences and headings of a law as questions with gold articles: no model, no person.",
    )
    top.add_argument("--corpus", type=Path, required=True, help="a corpus folder or its articles' file")
    top.add_argument("--language", metavar="XX", help="of a corpus without card.json")
    top.add_argument("--count", type=int, default=3000, metavar="N", help="of so many articles (3000)")
    top.add_argument("--seed", type=int, default=42, help="of what is drawn (42)")
    new = "a new file of questions, .jsonl or .jsonl.gz"
    top.add_argument("--output", type=Path, required=True, metavar="FILE", help=new)
    parsed = top.parse_args(arguments)
    if parsed.count < 1:
        raise BadInput(f"--count {parsed.count}: give 1 or more")
    if parsed.output.exists():
        raise BadInput(f"{parsed.output} is there already: remove it or give another --output")
    corpus = registry.law(parsed.corpus, language=parsed.language)
    written = cloze(corpus.articles, parsed.count, parsed.seed)
    with replacing(parsed.output) as part:
        write_lines(part, (dump(question_record(question)) for question in written))
    print(f"{len(written):,} questions of {len(corpus.articles):,} articles\nwritten: {parsed.output}")  # noqa: T201
    return 0
