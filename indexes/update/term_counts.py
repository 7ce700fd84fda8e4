"""Term counts that outlive a build, so that an update analyses only the articles that changed.

They have one form: terms in the order of their strings and only those that stand somewhere, rows
sorted. So a build from nothing and an update that comes to the same law write the same bytes, here
and in all that is computed from them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from rag.retrieval.term_counts import ANNOTATED_FIELDS, LAW_FIELDS, FieldCounts, TermCounts, count
from rag.storage import load_array
from rag.text import Analyser
from rag.types import Article, ArticleOrder, Ints, Progress, Question, no_progress

FOLDER = "counts"  # of an index
FIELDS = (*LAW_FIELDS, *ANNOTATED_FIELDS)  # in which fields are summed: a sum of floats depends on it
_PARTS = {"data": np.float32, "indices": np.int32, "indptr": np.int64}


def canonical(counts: FieldCounts) -> FieldCounts:
    """Return the same counts in their one form."""
    used = np.zeros(len(counts.vocabulary), dtype=np.bool_)
    for matrix in counts.fields.values():
        used[matrix.indices] = True
    words = sorted(word for word, i in counts.vocabulary.items() if used[i])
    column = np.zeros(len(used), dtype=np.int32)
    column[[counts.vocabulary[word] for word in words]] = np.arange(len(words), dtype=np.int32)
    fields = {name: _placed(counts.fields[name], column, len(words)) for name in _in_order(counts.fields)}
    return FieldCounts(counts.order, {word: i for i, word in enumerate(words)}, fields)


def save(counts: FieldCounts, folder: Path) -> None:
    """Write the counts under a folder, each array in the narrowest type that holds it."""
    folder.mkdir(parents=True, exist_ok=True)
    words = sorted(counts.vocabulary, key=counts.vocabulary.__getitem__)
    (folder / "vocabulary.json").write_text(json.dumps(words, ensure_ascii=False), encoding="utf-8")
    for name, matrix in counts.fields.items():
        for part in _PARTS:
            array = getattr(matrix, part)
            narrow = array.astype(np.min_scalar_type(int(array.max(initial=0))))
            np.save(folder / f"{name}.{part}.npy", narrow, allow_pickle=False)


def load(folder: Path, order: ArticleOrder) -> FieldCounts:
    """Read what `save` wrote of articles in this order; OSError or ValueError: a file is missing or unfit."""
    words = json.loads((folder / "vocabulary.json").read_text(encoding="utf-8"))
    shape = (len(order.ids), len(words))
    fields = {}
    for name in _in_order([path.name.removesuffix(".data.npy") for path in folder.glob("*.data.npy")]):
        data, indices, indptr = (
            np.load(folder / f"{name}.{part}.npy", allow_pickle=False).astype(dtype)
            for part, dtype in _PARTS.items()
        )
        fields[name] = sp.csr_array((data, indices, indptr), shape=shape)
    return FieldCounts(order, {word: i for i, word in enumerate(words)}, fields)


class Rows:
    """The counts of a few articles, read from where they lie on disk."""

    def __init__(self, folder: Path, order: ArticleOrder, vocabulary: Mapping[str, int]) -> None:
        """Open what `save` wrote, memory-mapped; the vocabulary comes from BM25. Raises as `load`."""
        self._order, self._vocabulary = order, vocabulary
        self._fields = {
            name: tuple(load_array(folder / f"{name}.{part}.npy") for part in _PARTS) for name in FIELDS
        }

    def __call__(self, ids: Sequence[str], terms: frozenset[str]) -> list[TermCounts]:
        """Return of each article how often those of the terms stand in each field that do."""
        found: list[dict[str, dict[str, int]]] = [{name: {} for name in FIELDS} for _ in ids]
        known = sorted((number, term) for term in terms if (number := self._vocabulary.get(term, -1)) >= 0)
        if not known:
            return list(found)
        numbers = np.array([number for number, _ in known])
        rows = np.array([self._order.positions[id_] for id_ in ids], dtype=np.int64)
        for name, (data, indices, indptr) in self._fields.items():
            begins = indptr[rows].astype(np.int64)
            sizes = indptr[rows + 1].astype(np.int64) - begins
            ends = np.cumsum(sizes)
            at = np.arange(ends[-1] if len(ends) else 0) + np.repeat(begins - ends + sizes, sizes)
            own = indices[at].astype(np.int64)
            place = np.minimum(numbers.searchsorted(own), len(numbers) - 1)
            held = np.flatnonzero(numbers[place] == own)
            articles = ends.searchsorted(held, side="right").tolist()
            often = data[at[held]].tolist()
            for article, term, times in zip(articles, place[held].tolist(), often, strict=True):
                found[article][name][known[term][1]] = int(times)
        return list(found)


def rows(folder: Path, order: ArticleOrder, vocabulary: Mapping[str, int]) -> Rows | None:
    """Open the counts of an index for explanation; None where it keeps none, or not of every field."""
    complete = all((folder / f"{name}.data.npy").is_file() for name in FIELDS)
    return Rows(folder, order, vocabulary) if complete else None


def updated(
    former: FieldCounts,
    articles: Sequence[Article],
    learnt: Sequence[Question],
    analyser: Analyser,
    same: tuple[Ints, Ints],
    progress: Progress = no_progress,
) -> FieldCounts:
    """Return the counts of changed law, made from those of the former law, of all `FIELDS`, and what is new.

    `same` are two arrays (n_articles,): the former row of an article whose words are the same, and of
    one whose annotated questions and answers are the same; -1 for what is to be analysed.
    """
    law_rows, question_rows = same
    fresh = [article for article, row in zip(articles, law_rows, strict=True) if row < 0]
    law = count(fresh, analyser, progress)
    changed = [article.id for article, row in zip(articles, question_rows, strict=True) if row < 0]
    wanted = set(changed)
    questions = FieldCounts(ArticleOrder.of(changed), {}, {}).with_questions(
        (q for q in learnt if not wanted.isdisjoint(q.article_ids)), analyser.terms
    )
    vocabulary = dict(former.vocabulary)
    for term in (*law.vocabulary, *questions.vocabulary):
        vocabulary.setdefault(term, len(vocabulary))
    width, fields = len(vocabulary), {}
    for name in FIELDS:
        new, rows = (questions, question_rows) if name in ANNOTATED_FIELDS else (law, law_rows)
        former_field = former.fields[name]  # its vocabulary begins the common one
        above = sp.csr_array(
            (former_field.data, former_field.indices, former_field.indptr),
            shape=(former_field.shape[0], width),
        )
        column = np.array([vocabulary[word] for word in new.vocabulary], dtype=np.int32)
        below = _placed(new.fields[name], column, width)
        rows = np.where(rows < 0, len(former.order.ids) + np.cumsum(rows < 0) - 1, rows)
        fields[name] = sp.csr_array(sp.vstack([above, below], format="csr"))[rows]
    return canonical(FieldCounts(ArticleOrder.of([a.id for a in articles]), vocabulary, fields))


def _placed(counts: sp.csr_array, column: Ints | np.ndarray, width: int) -> sp.csr_array:
    """Return the counts with each column in another place, every row sorted."""
    placed = sp.csr_array(
        (counts.data.astype(np.float32), column[counts.indices], counts.indptr.copy()),
        shape=(counts.shape[0], width),
    )
    placed.sort_indices()
    return placed


def _in_order(names: Mapping[str, object] | Sequence[str]) -> list[str]:
    """Return names of fields, those that we know first and in their order."""
    return [*(name for name in FIELDS if name in names), *sorted(set(names) - set(FIELDS))]
