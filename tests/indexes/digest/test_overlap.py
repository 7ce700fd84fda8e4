"""How many of a question's words are the law's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.builtin_corpus import CODE, article_id, read_test_questions
from indexes.corpus.articles import read_articles
from indexes.corpus.questions import read_questions
from indexes.digest.overlap import mean_shared, shared
from indexes.store import paths
from rag.errors import BadInput
from rag.text.analysers import analyser
from rag.types import Question

TERMS = analyser(language="fr").terms


def test_it_counts_distinct_content_terms() -> None:
    law = ("Les arbres se plantent à deux mètres.", "La haie se taille.")
    assert shared("arbre arbre haie tronçonneuse", law, TERMS) == pytest.approx(2 / 3)
    assert shared("arbre", law[1:], TERMS) == 0.0
    assert shared("et le la", law, TERMS) is None


def test_the_mean_is_over_questions_that_are_answered() -> None:
    texts = {"a": "Les arbres se plantent.", "b": "La haie se taille."}
    asked = (
        Question("1", "mon arbre", ("a",)),
        Question("2", "ma tronçonneuse", ("a", "b")),
        Question("3", "arbre", ()),
    )
    assert mean_shared(asked, texts, TERMS) == pytest.approx(0.5)
    with pytest.raises(BadInput, match="no question with gold articles"):
        mean_shared(asked[2:], texts, TERMS)


@pytest.mark.data
def test_the_test_questions_share_no_more_with_the_law_than_real_ones_do(data: Path) -> None:
    official = read_articles(data / "fr" / "articles.jsonl.gz")
    texts = {a.id: a.text for a in official}
    ours = {article_id(a.article_no): a.text for a in official if a.code == CODE}
    real = mean_shared(read_questions(data / "fr" / "questions_dev.jsonl", official), texts, TERMS)
    folder, _ = paths.locate(paths.BUILTIN)
    own = mean_shared(read_test_questions(folder), ours, TERMS)
    print(f"content words that stand in the law: {100 * own:.0f} % of ours, {100 * real:.0f} % of real ones")  # noqa: T201
    assert own <= real
