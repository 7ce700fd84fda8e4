"""The learned fusion of an index: what it ranks by, and the two BM25 indexes that only it looks at.

They lie in the folder `learned` of a version. Trees and networks are fitted by `python -m training.train
fusion`; the rest is made from the law and its questions, by a build or an update as by that command.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from indexes.build import legislative_graph
from indexes.corpus.corpus import Corpus, human_or_synthetic, to_learn_from
from indexes.store.manifest import Manifest
from rag.corpus.structure import Surroundings
from rag.errors import BadInput
from rag.ltr.features import Evidence
from rag.ltr.ranker import Ranker
from rag.ltr.reranker import LearnedReranker, bm25_over
from rag.ltr.trees import REFIT_HINT
from rag.retrieval.base import Mask
from rag.retrieval.bm25 import BM25, BM25Settings
from rag.retrieval.dense import Dense
from rag.retrieval.query_expansion import ExpandedBM25
from rag.retrieval.question_knn import QuestionKNN
from rag.retrieval.term_counts import ANNOTATED_FIELDS, LAW_FIELDS, FieldCounts
from rag.text import Analyser
from rag.types import Article, Ints, Question

FOLDER = "learned"
TREES = "trees.json"  # and networks
LAW = "law"  # BM25 over the law's own fields
TERMS = "terms"  # of the annotated questions: cutting them takes a second for each ten thousand
REFERENCES = "references.npy"  # of earlier releases: which articles refer to each other, now in the graph
QUESTION_BM25 = "asked"  # BM25 over annotated questions and answers
MIN_QUESTIONS = 300  # annotated questions: of fewer, little is learnt that is not chance


def is_worthwhile(manifest: Manifest) -> bool:
    """Return whether an index has enough annotated questions for a learned fusion.

    It needs some hundreds of annotated questions, and an encoder that was fitted to this law: of another
    nobody knows what it would make of a question that it had not seen.
    """
    encoder = manifest.encoder
    own = encoder is not None and encoder["kind"] == "static" and "borrowed_from" not in encoder
    return own and count_human_questions(manifest) >= MIN_QUESTIONS


def count_human_questions(manifest: Manifest) -> int:
    """Return how many questions a learned fusion would be fitted to: all, if all are synthetic."""
    learnt = int(manifest.corpus["learnt"])
    return learnt - int(manifest.corpus.get("written", 0)) or learnt


def save(
    ranker: Ranker,
    corpus: Corpus,
    counts: FieldCounts,
    settings: BM25Settings,
    analyser: Analyser,
    folder: Path,
) -> None:
    """Write the learned fusion into the folder of a version; the counts are with its annotated questions.

    With these cut into terms, which takes seconds and is not done when an index is opened. What articles
    refer to is in the graph of the version.
    """
    learnt, mask = to_learn_from(corpus.questions), Mask(corpus.articles)
    place = folder / FOLDER
    place.mkdir()
    save_terms([analyser.terms(q.text) for q in learnt], place / TERMS)
    for name, fields in ((LAW, LAW_FIELDS), (QUESTION_BM25, ANNOTATED_FIELDS)):
        bm25_over(fields, counts, settings, mask, analyser).save(place / name)
    (place / TREES).write_text(ranker.to_json(), encoding="utf-8")


def save_terms(texts: Sequence[Sequence[str]], folder: Path) -> None:
    """Write the terms of texts, in order and repeats kept."""
    folder.mkdir()
    number: dict[str, int] = {}
    numbers = [number.setdefault(term, len(number)) for terms in texts for term in terms]
    np.save(folder / "numbers.npy", np.array(numbers, dtype=np.int32), allow_pickle=False)
    np.save(folder / "lengths.npy", np.array([len(t) for t in texts], dtype=np.int32), allow_pickle=False)
    (folder / "vocabulary.json").write_text(json.dumps(list(number), ensure_ascii=False), encoding="utf-8")


def load_terms(folder: Path) -> list[list[str]]:
    """Read what `save_terms` wrote.

    Raises:
        OSError, ValueError: a file is missing or is something else.
    """
    words = json.loads((folder / "vocabulary.json").read_text(encoding="utf-8"))
    terms = [words[i] for i in np.load(folder / "numbers.npy", allow_pickle=False)]
    ends = np.cumsum(np.load(folder / "lengths.npy", allow_pickle=False)).tolist()
    return [terms[begin:end] for begin, end in pairwise([0, *ends])]


def has_learned_fusion(folder: Path) -> bool:
    """Return whether a version has a learned fusion, readable or not."""
    return (folder / FOLDER / TREES).is_file()


def read_ranker(folder: Path) -> Ranker | None:
    """Read the ranker of a version; None where none was fitted.

    Raises:
        BadInput: the file is something else.
        OSError: it cannot be read.
    """
    file = folder / FOLDER / TREES
    return Ranker.from_json(file.read_text(encoding="utf-8")) if has_learned_fusion(folder) else None


def load(
    folder: Path,
    keyword: BM25,
    meaning: Dense | None,
    articles: Sequence[Article],
    learnt: Sequence[Question],
    expansion: ExpandedBM25 | None = None,
) -> LearnedReranker | None:
    """Open the learned fusion of a version over its other parts; None where there is none, or no encoder.

    Raises:
        BadInput: it is of another version, or of another corpus.
        OSError, ValueError: a file cannot be read.
    """
    ranker = read_ranker(folder)
    if ranker is None or meaning is None:
        return None
    place = folder / FOLDER
    law, questions_bm25 = (
        BM25.load(place / name, keyword.order, keyword.mask, keyword.analyser, keyword.weights)
        for name in (LAW, QUESTION_BM25)
    )
    path = place / TERMS
    tokenised = partial(load_terms, path) if path.is_dir() else None  # else of an earlier release
    nearest = QuestionKNN(learnt, keyword.order, keyword.mask, keyword.analyser, meaning.encoder, tokenised)
    nearest.vector = meaning.vector
    around = build_surroundings(articles, learnt, _references(folder, len(articles)))
    evidence = Evidence(keyword, law, questions_bm25, meaning, nearest, around, expansion)
    return LearnedReranker(evidence, ranker)


def _references(folder: Path, articles: int) -> Ints | None:
    """Return (n, 2) positions of articles that refer to each other; None where a version does not say.

    Raises:
        BadInput: they are of another law.
    """
    graph, path = legislative_graph.load(folder), folder / FOLDER / REFERENCES
    if graph is not None:
        links, n = graph.article_references, graph.articles
    elif path.is_file():  # of an earlier release
        links, n = np.load(path, allow_pickle=False), articles
    else:  # of a still earlier one, whose fusions do not ask for it
        return None
    whole = links.ndim == 2 and links.shape[1] == 2 and np.issubdtype(links.dtype, np.integer)
    if not whole or n != articles or (links < 0).any() or (links >= articles).any():
        raise BadInput(f"references in a law of other than {articles} articles: {REFIT_HINT}")
    return np.asarray(links, np.int64)


def build_surroundings(
    articles: Sequence[Article], learnt: Sequence[Question], references: Ints | None
) -> Surroundings:
    """Return where articles stand, and how people's questions cite them: what a machine wrote is no citation.

    References are as `Surroundings.of` takes them.
    """
    people, _ = human_or_synthetic(learnt)
    return Surroundings.of(articles, people, references)
