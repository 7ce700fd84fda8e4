"""The bridge of an index: learnt when law comes in, kept in its folder, shown by a command."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

from indexes.build.translation_model import TranslationSettings, learn
from rag.encoders.static import StaticEncoder
from rag.errors import BadInput
from rag.retrieval.bm25 import BM25, BM25Settings
from rag.retrieval.query_expansion import ExpandedBM25, LawWords
from rag.retrieval.term_counts import FieldCounts
from rag.retrieval.translation_model import PAIRS, Pair, TranslationModel
from rag.retrieval.vector_store import StoredBM25, StoredExpandedBM25
from rag.text import Analyser
from rag.types import Article, Encoder, Question

FOLDER = "bridge"
LEAST = 100  # annotated questions: of fewer, hardly a pair is seen often enough to be told from chance
_WORD = re.compile(r"[^\W\d_]+")


def learnt_from(
    counts: FieldCounts,
    articles: Sequence[Article],
    questions: Sequence[Question],
    analyser: Analyser,
    encoder: Encoder | None = None,
    settings: TranslationSettings | None = None,
) -> TranslationModel | None:
    """Return the bridge of a corpus; None where it has too few annotated questions to learn one from.

    A static encoder over the same terms gives synonyms too.
    """
    if sum(bool(question.article_ids) for question in questions) < LEAST:
        return None
    static = encoder if isinstance(encoder, StaticEncoder) and encoder.analyser.id == analyser.id else None
    terms = [analyser.terms(q.text) for q in questions]
    made = learn(counts, questions, terms, static, settings, stop_terms(analyser))
    return TranslationModel(made.pairs, forms(articles, analyser, made.law_terms))


def stop_terms(analyser: Analyser) -> frozenset[str]:
    """Return the terms that are never bridged: words that frame a question or an article.

    Stop words of a language give no terms at all.
    """
    file = files("indexes.build") / "translation_stopwords" / f"{analyser.language}.txt"
    lines = file.read_text(encoding="utf-8").splitlines()
    words = (word for line in lines for word in line.partition("#")[0].split())
    return frozenset(term for word in words for term in analyser.terms(word))


def forms(articles: Sequence[Article], analyser: Analyser, terms: Sequence[str]) -> dict[str, str]:
    """Return how articles write each of these terms most often, in small letters.

    Of forms that are as frequent the shorter is taken, then the first. A term of Chinese is its own form.
    """
    if analyser.language == "zh":
        return {}
    often = Counter(word for article in articles for word in _WORD.findall(article.text.lower()))
    best: dict[str, str] = {}
    for word in sorted(often, key=lambda word: (-often[word], len(word), word)):
        for term in analyser.terms(word):
            best.setdefault(term, word)
    return {term: best[term] for term in sorted(best.keys() & set(terms))}


def save(model: TranslationModel, counts: FieldCounts, settings: BM25Settings, folder: Path) -> None:
    """Write into the folder of a version a bridge, and what the words that it reaches add to articles."""
    place = folder / FOLDER
    place.mkdir()
    model.save(place)
    LawWords.of(counts, settings, model.law_terms).save(place)


def load(folder: Path, keyword: BM25) -> ExpandedBM25 | None:
    """Open the bridge of a version; None where it has none.

    Raises:
        BadInput, ValueError: a file is something else.
        OSError: one cannot be read.
    """
    pairs = read_pairs(folder)
    if pairs is None:
        return None
    expanded = StoredExpandedBM25 if isinstance(keyword, StoredBM25) else ExpandedBM25
    return expanded(keyword, pairs, LawWords.load(folder / FOLDER))


def read_pairs(folder: Path) -> TranslationModel | None:
    """Read the translation model of a version, as `TranslationModel.load` does; None where it has none."""
    place = folder / FOLDER
    return TranslationModel.load(place) if (place / PAIRS).is_file() else None


def format_pairs(folder: Path, analyser: Analyser, words: Sequence[str] = ()) -> Iterator[str]:
    """Yield the pairs of a version, one line a lay term; only these words where some are given.

    Raises:
        BadInput: the version has no bridge.
    """
    model = read_pairs(folder)
    if model is None:
        raise BadInput(
            f"{folder} has no bridge: it is learnt by a build from {LEAST} annotated questions or more"
        )
    if not words:
        yield from (_line(lay, pairs, model) for lay, pairs in sorted(model.pairs.items()))
    for word in words:
        terms = analyser.terms(word)
        if not terms:
            yield f"{word}: a stop word, never bridged"
        for term in terms:
            yield _line(word, model.pairs.get(term, ()), model)


def _line(word: str, pairs: Sequence[Pair], model: TranslationModel) -> str:
    parts = []
    for pair in pairs:
        count = f"{pair.questions} questions" if pair.questions else ""
        near = f"synonym {pair.near:.2f}" if pair.near else ""
        evidence = "itself" if pair.lay == pair.law else ", ".join(filter(None, (count, near)))
        parts.append(f"{model.form(pair.law)} {pair.probability:.3f} ({evidence})")
    return f"{word}: {'; '.join(parts) or 'nothing'}"
