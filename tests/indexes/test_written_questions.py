"""The questions that ship for Chinese national law: what they cite, and that they are nobody's test."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

import indexes
from indexes.corpus.corpus import SYNTHETIC
from indexes.corpus.questions import attach, read_cited
from indexes.sources import registry
from indexes.sources.source import read_adjacent_card
from rag.text.analysers import analyser
from training.splits.near_duplicates import THRESHOLD, similar
from training.synthetic.questions import _NUMBER

FILE = Path(indexes.__file__).parent / "written" / "zh" / "questions.jsonl.gz"
MORE = FILE.with_name("more_questions.jsonl.gz")
CITED = [*read_cited(FILE), *read_cited(MORE)]


@pytest.mark.parametrize(
    ("file", "questions", "articles", "longest"), [(FILE, 9463, 5798, 39), (MORE, 16640, 7017, 77)]
)
def test_each_is_marked_as_written_by_a_machine_and_cites_one_to_three_articles(
    file: Path, questions: int, articles: int, longest: int
) -> None:
    found = read_cited(file)
    assert len(found) == questions
    assert len({cite for each in found for cite in each.cites}) == articles
    for each in found:
        assert each.question.split == SYNTHETIC
        assert not each.question.article_ids, "numbers, not the ids of some corpus"
        assert 1 <= len(set(each.cites)) == len(each.cites) <= 3
        assert 5 <= len(each.question.text) <= longest
    lines = gzip.decompress(file.read_bytes()).decode("utf-8").splitlines()
    assert all(set(json.loads(line)) == {"id", "question", "code", "article_no", "split"} for line in lines)


def test_no_question_names_an_article_and_none_is_there_twice() -> None:
    assert not [each.question.text for each in CITED if _NUMBER.search(each.question.text)]
    assert not [text for text, n in Counter(each.question.text for each in CITED).items() if n > 1]


def test_their_card_says_whose_they_are() -> None:
    card = read_adjacent_card(FILE)
    assert card is not None
    assert (card.language, card.jurisdiction, card.licence) == ("zh", "CN", "CC BY 4.0")


@pytest.mark.data
@pytest.mark.slow
def test_every_one_is_answered_by_real_law_and_none_is_one_of_stard_s(data: Path) -> None:
    corpus, _ = registry.load("stard", data / "stard")
    found = attach(CITED, corpus.articles)
    assert [q.id for q in found] == [each.question.id for each in CITED]
    assert all(len(q.article_ids) == len(c.cites) for q, c in zip(found, CITED, strict=True))
    cut = analyser("zh")
    asked, written = ([set(cut.terms(q.text)) for q in each] for each in (corpus.questions, found))
    pairs = similar([*asked, *written], THRESHOLD)
    assert not [(a, b) for a, b in pairs if a < len(asked) <= b]
