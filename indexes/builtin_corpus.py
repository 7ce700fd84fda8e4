"""Make the index that ships from what was written for it and from the official numbers and headings.

The repository holds our own words: summaries of the Code civil and of articles of everyday law, questions,
time limits and amounts. Numbers, headings and links come from the official text, which does not travel with
the project, and so do the weights of the words of articles that nobody has summarised yet, and the language
that the encoder is fitted to. Who has it makes all again with

    python -m indexes make-builtin LAW [--written FOLDER] [--same-encoder]
    python -m indexes make-builtin LAW --graph   # the references between articles alone
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from indexes.build import legislative_graph
from indexes.build.build import BuildSettings, IndexParts, write_index
from indexes.build.encoder_choice import EncoderChoice, fit_encoder
from indexes.build.shards import count_articles
from indexes.corpus import corpus as corpora
from indexes.corpus.articles import read_articles
from indexes.corpus.corpus import Corpus, to_learn_from
from indexes.corpus.digest import Digest, assemble, read_card, read_digest, read_laws
from indexes.corpus.links import read_references
from indexes.corpus.questions import AnnotatedQuestion, read_questions
from indexes.store.manifest import Manifest, stamp, verify
from indexes.store.manifest import read as read_manifest
from indexes.store.paths import BUILTIN
from indexes.update.reuse import EXACT
from rag.encoders.static import StaticEncoder
from rag.errors import BadInput
from rag.fusion.settings import FusionSettings
from rag.graph.graph import NOWHERE, Graph
from rag.ltr.ranker import Ranker
from rag.ltr.reranker import KEYWORD, MEANING
from rag.retrieval.question_knn import QUESTION_KNN
from rag.text import Analyser
from rag.text.analysers import analyser
from rag.types import Article, Progress, Question, no_progress

# scores, not ranks: where each article carries the questions of laypeople, how far ahead the first
# stands tells much. Chosen on the dev half of the test questions (docs/results.md).
FUSION = FusionSettings("min-max", {KEYWORD: 1.0, MEANING: 1.0, QUESTION_KNN: 0.7})
TEST = "questions_test.jsonl"
INDEX = "index"
TREES = "trees.json"  # of the learned fusion, fitted by python -m training.train fusion builtin --law LAW


def make(
    law: Path, folder: Path, progress: Progress, written: Path | None = None, *, same_encoder: bool = False
) -> Manifest:
    """Make the index that ships, and put it in the place of the former one.

    Args:
        law: JSON Lines of the official articles of the French codes and acts that card and digest name.
        folder: holds card.json and the lists of the card, and the former index unless `written` is given.
        progress: called as the work goes on.
        written: folder of digest.jsonl and questions.jsonl, in place of what the former index holds.
        same_encoder: take the former index's, which is fitted to the official texts and the questions: where
            summaries alone have changed, it is the one that would be fitted anew.

    Raises:
        BadInput: a summary has no article, a law no prefix, a file cannot be used, or the questions are not
            those that the former encoder is fitted to.
    """
    official = read_articles(law)
    card = read_card(folder)
    digest = read_digest(written) if written else former_digest(folder)
    shipped = assemble(official, card, read_laws(folder), digest)
    # the encoder learns the law's own language, and every code's: full texts, not summaries
    full = full_text(shipped, official)
    cut = analyser(card.language)
    encoder, entry = (
        former_encoder(folder, shipped, cut)
        if same_encoder
        else fit_encoder(full, full.questions, cut, 1, progress)
    )
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        made = Path(scratch) / "index"
        made.mkdir()
        encoder.save(made / "encoder")
        version = f"{card.law_date}-{shipped.sha256[:8]}"
        # a quarter of the bytes: the largest part of what is downloaded
        settings = BuildSettings(learned=ranker(folder), fusion=FUSION, vectors="8bit")
        learnt = to_learn_from(shipped.questions)
        searched = searched_articles(shipped, full)
        parts = IndexParts(
            shipped,
            learnt,
            cut,
            {"language": card.language},
            count_articles(searched, learnt, cut, progress),
            official_graph(shipped, full, progress),
            EncoderChoice(encoder, entry),
            encoder.encode_articles(searched),
        )
        manifest = write_index(made, parts, BUILTIN, version, settings)
        (made / EXACT).unlink()  # an update would start from it; what ships is made again instead
        manifest = stamp(replace(manifest, files={}), made)
        if (folder / INDEX).exists():
            (folder / INDEX).replace(Path(scratch) / "former")
        made.replace(folder / INDEX)
        return manifest


def renew_graph(law: Path, folder: Path, progress: Progress) -> Manifest:
    """Put the references of the official texts into the index that ships; all else of it stays as it is.

    An encoder that is fitted anew has other last digits on another processor, and with them other rankings.

    Raises:
        BadInput: a file of the law cannot be used.
        DamagedIndex: the index cannot be read.
    """
    place, cure = folder / INDEX, f"git checkout {folder / INDEX}"
    manifest = read_manifest(place, cure)
    verify(place, manifest, cure)
    shipped = corpora.read(place / "corpus")
    graph = official_graph(shipped, full_text(shipped, read_articles(law)), progress)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        made, former = Path(scratch) / "index", Path(scratch) / "former"
        shutil.copytree(place, made)
        manifest = _with_graph(made, manifest, graph)
        place.replace(former)
        made.replace(place)
    return manifest


def _with_graph(index: Path, manifest: Manifest, graph: Graph) -> Manifest:
    """Give an index that nobody has open another graph."""
    if (index / legislative_graph.FOLDER).is_dir():
        shutil.rmtree(index / legislative_graph.FOLDER)
    legislative_graph.save(graph, index)
    return stamp(replace(manifest, files={}), index)


def ranker(folder: Path) -> Ranker | None:
    """Read the learned fusion that ships, or None; BadInput says that the file is something else."""
    path = folder / TREES
    return Ranker.from_json(path.read_text(encoding="utf-8")) if path.is_file() else None


def former_encoder(folder: Path, shipped: Corpus, cut: Analyser) -> tuple[StaticEncoder, Mapping[str, Any]]:
    """Read the encoder of the index that ships, and its entry in the manifest.

    Raises:
        BadInput: it is fitted to other questions.
    """
    place = folder / INDEX
    manifest = read_manifest(place, f"git checkout {place}")
    if corpora.read(place / "corpus").questions != shipped.questions:
        raise BadInput(
            "the questions are not those that the former encoder is fitted to: leave out --same-encoder"
        )
    return StaticEncoder.load(place / "encoder", cut), manifest.encoder or {}


def former_digest(folder: Path) -> Digest:
    """Return what the index that ships holds of what was written."""
    corpus = corpora.read(folder / INDEX / "corpus")
    summaries = {(a.code, a.article_no): a.text for a in corpus.articles}
    facts = {(a.code, a.article_no): corpus.facts[a.id] for a in corpus.articles if a.id in corpus.facts}
    return Digest(summaries, by_number(corpus), facts)


def searched_articles(shipped: Corpus, full: Corpus) -> tuple[Article, ...]:
    """Return the articles with what is searched of each: the summary, or else the official text.

    Weights of the words of that text ship, and no sentence of it.
    """
    official = {article.id: article for article in full.articles}
    return tuple(a if a.text else replace(a, text=official[a.id].text) for a in shipped.articles)


def by_number(corpus: Corpus) -> tuple[AnnotatedQuestion, ...]:
    """Return the questions of the corpus that ships, by code and article number."""
    cite = {article.id: (article.code, article.article_no) for article in corpus.articles}
    return tuple(
        AnnotatedQuestion(replace(q, article_ids=()), tuple(cite[i] for i in q.article_ids))
        for q in corpus.questions
    )


def full_text(shipped: Corpus, official: Sequence[Article]) -> Corpus:
    """Return what the encoder that ships is fitted to: full texts of every code, with our questions.

    Articles that ship have the ids that they have in the corpus that ships.
    """
    ids = {(article.code, article.article_no): article.id for article in shipped.articles}
    articles = [replace(a, id=ids.get((a.code, a.article_no.strip()), a.id)) for a in official]
    return Corpus(replace(shipped.card, name="fr-full-text"), tuple(articles), shipped.questions)


def official_graph(shipped: Corpus, full: Corpus, progress: Progress = no_progress) -> Graph:
    """Return the graph of the corpus that ships, with the references that the official texts make.

    These are numbers and what they are named for; where they stand is not told, for the texts do not ship.
    """
    place = {article.id: i for i, article in enumerate(shipped.articles)}
    to = np.array([place.get(article.id, -1) for article in full.articles])
    own = np.flatnonzero(to >= 0)
    texts = tuple(replace(article, references=()) for article in full.articles)
    read = read_references(texts, full.card, own.tolist(), progress)
    kept = (to[read.pairs] >= 0).all(axis=1)
    spans = np.full((int(kept.sum()), 2), NOWHERE, np.int32)
    about = {"references": "official text", "law_date": str(shipped.card.law_date)}
    return Graph.of(shipped.articles, to[read.pairs[kept]], (), about, spans, read.roles[kept])


def read_test_questions(index: Path) -> tuple[Question, ...]:
    """Read the test questions that ship beside the index; nothing is fitted to them."""
    articles = corpora.read(index / "corpus").articles
    return read_questions(index.parent / TEST, articles)


def complete_corpus(index: Path, *, written: bool = False) -> Corpus:
    """Return the corpus that ships with all its questions, each with its split.

    With `written`, without the articles that nobody has summarised, of which there is no text to give.
    Those that the index learns from are "train"; test questions that the law answers follow, "dev" or
    "test". Those without an answer are in no qrels, so they stay in their own file.
    """
    shipped = corpora.read(index / "corpus")
    learnt = tuple(replace(q, split="train") for q in shipped.questions)
    annotated = tuple(q for q in read_test_questions(index) if q.article_ids)
    if not written:
        return replace(shipped, questions=(*learnt, *annotated))
    articles = tuple(article for article in shipped.articles if article.text)
    kept = {article.id for article in articles}
    questions = [
        replace(q, article_ids=gold)
        for q in (*learnt, *annotated)
        if (gold := tuple(id_ for id_ in q.article_ids if id_ in kept))
    ]
    facts = {id_: each for id_, each in shipped.facts.items() if id_ in kept}
    return replace(shipped, articles=articles, questions=tuple(questions), facts=facts)
