"""Make the index that ships from what was written for it and from the official numbers and headings.

The repository holds our own words: a summary of every article of the Code civil, and questions.
Numbers, heading paths and links come from the official text, which does not travel with the
project, and so does the language that the encoder is fitted to. Who has it makes all again with

    python -m indexes make-builtin LAW [--written FOLDER]
    python -m indexes make-builtin LAW --graph   # the references between articles alone
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from indexes.build import legislative_graph
from indexes.build.build import BuildSettings, build_into
from indexes.build.encoder_choice import fit_encoder
from indexes.corpus import corpus as corpora
from indexes.corpus.articles import read_articles
from indexes.corpus.card import parse_card
from indexes.corpus.corpus import Corpus
from indexes.corpus.links import read_references
from indexes.corpus.questions import AnnotatedQuestion, attach, read_cited, read_questions
from indexes.store.manifest import Manifest, stamp, verify
from indexes.store.manifest import read as read_manifest
from indexes.store.paths import BUILTIN
from rag.corpus.card import CorpusCard
from rag.errors import BadInput
from rag.fusion.settings import FusionSettings
from rag.graph.graph import NOWHERE, Graph
from rag.ltr.ranker import Ranker
from rag.ltr.reranker import KEYWORD, MEANING
from rag.retrieval.question_knn import QUESTION_KNN
from rag.text.analysers import analyser
from rag.types import Article, Progress, Question, no_progress

CODE = "Code civil"
# scores, not ranks: where each article carries the questions of laypeople, how far ahead the first
# stands tells much. Chosen on the dev half of the test questions (docs/results.md).
FUSION = FusionSettings("min-max", {KEYWORD: 1.0, MEANING: 1.0, QUESTION_KNN: 0.7})
LISTS = ("contacts", "elsewhere", "moved")  # parts of the card that have a file of their own
TEST = "questions_test.jsonl"
INDEX = "index"
TREES = "trees.json"  # of the learned fusion, fitted by python -m training.train fusion builtin --law LAW


def article_id(number: str) -> str:
    """Return the id that an article of the Code civil bears in the corpus that ships."""
    return f"CC-{number}"


def make(law: Path, folder: Path, progress: Progress, written: Path | None = None) -> Manifest:
    """Make the index that ships, and put it in the place of the former one.

    Args:
        law: JSON Lines of the official articles of the Code civil and of other French codes.
        folder: holds card.json and the lists of the card, and the former index unless `written` is given.
        progress: called as the work goes on.
        written: folder of code_civil_digest.jsonl and code_civil_questions.jsonl, for the first time.

    Raises:
        BadInput: a summary has no article, an article no summary, or a file cannot be used.
    """
    official = read_articles(law)
    card = read_card(folder)
    shipped = assemble(official, card, *(_written(written) if written else _former_corpus(folder)))
    # the encoder learns the law's own language, and every code's: full texts, not summaries
    full = full_text(shipped, official)
    encoder = fit_encoder(full, full.questions, analyser(card.language), 1, progress)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        made = Path(scratch) / "index"
        made.mkdir()
        version = f"{card.law_date}-{shipped.sha256[:8]}"
        settings = BuildSettings(learned=ranker(folder), fusion=FUSION)
        graph = official_graph(shipped, full, progress)
        manifest = build_into(made, shipped, BUILTIN, version, settings, progress, encoder)
        manifest = _with_graph(made, manifest, graph)
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


def read_card(folder: Path) -> CorpusCard:
    """Read the card and the lists that stand beside it."""
    record = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    for name in LISTS:
        record[name] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return parse_card(record, str(folder / "card.json"))


def assemble(
    law: Sequence[Article], card: CorpusCard, summaries: dict[str, str], cited: Sequence[AnnotatedQuestion]
) -> Corpus:
    """Join each official number, heading path and link with its summary, which stands by the number."""
    left = dict(summaries)
    articles = []
    for article in law:
        if article.code == CODE:
            number = article.article_no
            if number not in left:
                raise BadInput(f"article {number} of the {CODE} has no summary: write one")
            own = replace(article, id=article_id(number), text=left.pop(number), references=())
            articles.append(replace(own, language="fr", jurisdiction="FR"))
    if left:
        some = ", ".join([*left][:5])
        raise BadInput(f"summaries without an article in the law at hand: {some}: remove them")
    return Corpus(card, tuple(articles), attach(cited, articles))


def _written(folder: Path) -> tuple[dict[str, str], Sequence[AnnotatedQuestion]]:
    lines = (folder / "code_civil_digest.jsonl").read_text(encoding="utf-8").splitlines()
    summaries = {str(r["article_no"]): str(r["summary"]) for r in map(json.loads, lines)}
    return summaries, read_cited(folder / "code_civil_questions.jsonl")


def _former_corpus(folder: Path) -> tuple[dict[str, str], Sequence[AnnotatedQuestion]]:
    corpus = corpora.read(folder / INDEX / "corpus")
    return {a.article_no: a.text for a in corpus.articles}, by_number(corpus)


def by_number(corpus: Corpus) -> tuple[AnnotatedQuestion, ...]:
    """Return the questions of the corpus that ships, by code and article number."""
    number = {article.id: article.article_no for article in corpus.articles}
    return tuple(
        AnnotatedQuestion(replace(q, article_ids=()), tuple((CODE, number[i]) for i in q.article_ids))
        for q in corpus.questions
    )


def full_text(shipped: Corpus, official: Sequence[Article]) -> Corpus:
    """Return what the encoder that ships is fitted to: full texts of every code, with our questions.

    Articles of the Code civil have the ids that they have in the corpus that ships.
    """
    articles = [replace(a, id=article_id(a.article_no)) if a.code == CODE else a for a in official]
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


def complete_corpus(index: Path) -> Corpus:
    """Return the corpus that ships with all its questions, each with its split.

    Those that the index learns from are "train"; test questions that the law answers follow, "dev" or
    "test". Those without an answer are in no qrels, so they stay in their own file.
    """
    shipped = corpora.read(index / "corpus")
    learnt = tuple(replace(q, split="train") for q in shipped.questions)
    annotated = tuple(q for q in read_test_questions(index) if q.article_ids)
    return replace(shipped, questions=(*learnt, *annotated))
