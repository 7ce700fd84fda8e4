"""Term counts: one form whatever they were made from, and the same after they were written."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from indexes.corpus.corpus import Corpus, to_learn_from
from indexes.update.term_counts import FIELDS, Rows, canonical, load, rows, save, updated
from rag.retrieval.term_counts import FieldCounts, count
from rag.text.analysers import analyser
from rag.types import Article, ArticleOrder, Question
from tests.fakes.law.changing_law import laws
from tests.fakes.law.corpus import VILLAGE

CUT = analyser("fr")


def counted(corpus: Corpus) -> FieldCounts:
    return count(corpus.articles, CUT).with_questions(to_learn_from(corpus.questions), CUT.terms)


def same(one: FieldCounts, other: FieldCounts) -> None:
    assert one.order.ids == other.order.ids
    assert list(one.vocabulary.items()) == list(other.vocabulary.items())
    assert list(one.fields) == list(other.fields)
    for name, matrix in one.fields.items():
        for part in ("data", "indices", "indptr"):
            a, b = getattr(matrix, part), getattr(other.fields[name], part)
            assert a.tolist() == b.tolist()
            assert a.dtype == b.dtype
        assert matrix.shape == other.fields[name].shape


def words(counts: FieldCounts, name: str) -> list[dict[str, float]]:
    """What stands in each row, by word."""
    dense = counts.fields[name].toarray()
    return [{word: row[i] for word, i in counts.vocabulary.items() if row[i]} for row in dense]


@pytest.mark.slow
@given(laws())
@settings(max_examples=40)
def test_the_canonical_form_counts_the_same(corpus: Corpus) -> None:
    made = counted(corpus)
    form = canonical(made)
    assert list(form.vocabulary) == sorted(form.vocabulary)
    assert list(form.vocabulary.values()) == list(range(len(form.vocabulary)))
    assert list(form.fields) == list(FIELDS)
    for name in FIELDS:
        assert words(form, name) == words(made, name)
    same(canonical(form), form)


def test_what_is_read_of_one_article_is_what_was_counted(tmp_path: Path) -> None:
    made = canonical(counted(VILLAGE))
    save(made, tmp_path)
    opened = Rows(tmp_path, made.order, made.vocabulary)
    terms = frozenset(made.vocabulary) | {"unheard"}
    for i, article_id in enumerate(made.order.ids):
        assert opened([article_id], terms) == [{name: words(made, name)[i] for name in FIELDS}]


def test_several_articles_are_read_at_once(tmp_path: Path) -> None:
    made = canonical(counted(VILLAGE))
    save(made, tmp_path)
    opened = Rows(tmp_path, made.order, made.vocabulary)
    ids = made.order.ids[::-1] * 2
    for some in (frozenset(sorted(made.vocabulary)[::3]), frozenset({"unheard"}), frozenset[str]()):
        expected = [
            {name: {t: n for t, n in words(made, name)[i].items() if t in some} for name in FIELDS}
            for i in map(made.order.ids.index, ids)
        ]
        assert opened(ids, some) == expected
    assert opened([], frozenset(made.vocabulary)) == []


def test_numbers_too_large_for_a_field_s_type_stand_nowhere_in_it(tmp_path: Path) -> None:
    words = [f"w{n:03}" for n in range(400)]
    law = [Article("a", "w044 w200", "1", " ".join(words), ())]
    made = canonical(count(law, CUT).with_questions([Question("q", "w000", ("a",))], CUT.terms))
    save(made, tmp_path)
    assert np.load(tmp_path / "code.indices.npy").dtype == np.uint8  # and there are 400 terms
    opened = rows(tmp_path, made.order, made.vocabulary)
    assert opened is not None
    [found] = opened(["a"], frozenset(made.vocabulary))
    assert found["code"] == {"w044": 1, "w200": 1}
    assert len(found["text"]) == 400
    (tmp_path / "answers.data.npy").unlink()
    assert rows(tmp_path, made.order, made.vocabulary) is None


def test_a_word_that_stands_nowhere_is_no_column() -> None:
    made = counted(VILLAGE)
    wider = FieldCounts(
        made.order,
        {**made.vocabulary, "aaa": len(made.vocabulary)},
        {n: _wider(m) for n, m in made.fields.items()},
    )
    same(canonical(wider), canonical(made))


def _wider(matrix: object) -> object:
    made = matrix.copy()  # type: ignore[attr-defined]
    made.resize((made.shape[0], made.shape[1] + 1))
    return made


@pytest.mark.slow
@given(laws())
@settings(max_examples=40)
def test_what_is_written_is_read_again_in_its_order(corpus: Corpus) -> None:
    for made in (canonical(counted(corpus)), counted(corpus)):
        with tempfile.TemporaryDirectory() as scratch:
            save(made, Path(scratch))
            again = load(Path(scratch), made.order)
        assert dict(again.vocabulary) == dict(made.vocabulary)
        assert list(again.fields) == list(FIELDS)
        for name in FIELDS:
            assert words(again, name) == words(made, name)
            assert again.fields[name].data.dtype == np.float32


def test_counts_past_a_byte_are_kept_whole(tmp_path: Path) -> None:
    asked = Question("q", "puits " * 70_000, ("v-1",))
    made = canonical(counted(Corpus(VILLAGE.card, VILLAGE.articles, (asked,))))
    save(made, tmp_path)
    assert words(load(tmp_path, made.order), "questions") == words(made, "questions")
    assert max(words(made, "questions")[0].values()) == 70_000


@pytest.mark.slow
@given(laws(), laws())
@settings(max_examples=40)
def test_updated_counts_are_those_of_a_count_from_nothing(one: Corpus, other: Corpus) -> None:
    at = {a.id: (i, (a.code, a.headings, a.text)) for i, a in enumerate(one.articles)}

    def cited(corpus: Corpus, id_: str) -> list[tuple[str, str]]:
        learnt = to_learn_from(corpus.questions)
        return sorted((q.text, q.answer or "") for q in learnt if id_ in q.article_ids)

    law, asked = [], []
    for article in other.articles:
        row, said = at.get(article.id, (-1, None))
        law.append(row if said == (article.code, article.headings, article.text) else -1)
        asked.append(row if row >= 0 and cited(one, article.id) == cited(other, article.id) else -1)
    made = updated(
        canonical(counted(one)),
        other.articles,
        to_learn_from(other.questions),
        CUT,
        (np.array(law), np.array(asked)),
    )
    same(made, canonical(counted(other)))


def test_counts_that_are_cut_short_are_refused(tmp_path: Path) -> None:
    save(canonical(counted(VILLAGE)), tmp_path)
    order = ArticleOrder.of([a.id for a in VILLAGE.articles[1:]])
    with pytest.raises(ValueError, match="index pointer"):
        load(tmp_path, order)
    (tmp_path / "text.indices.npy").unlink()
    with pytest.raises(OSError, match=r"text\.indices\.npy"):
        load(tmp_path, order)
