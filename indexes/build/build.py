"""Build an index from a corpus: BM25, an encoder, the articles' vectors, a manifest last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from indexes.build import learned_fusion, legislative_graph, query_expansion, score_distributions
from indexes.build.encoder_choice import EncoderChoice, choose, pretrained
from indexes.build.fit_settings import FitSpec, refuse_no_fit
from indexes.build.shards import count_articles, encode_articles
from indexes.corpus.corpus import Corpus, split_synthetic, to_learn_from
from indexes.corpus.corpus import write as write_corpus
from indexes.store import article_store, paths, versions
from indexes.store.manifest import Manifest, stamp
from indexes.store.model_trust import trust
from indexes.store.versions import DEFAULT_VERSIONS
from indexes.update import reuse
from indexes.update.diff import FormerCorpus, compare
from rag.encoders.static import StaticEncoder
from rag.errors import BadInput, PandectError
from rag.fusion.settings import FusionSettings
from rag.graph.graph import Graph
from rag.ltr.ranker import Ranker
from rag.ltr.reranker import KEYWORD, MEANING
from rag.retrieval.base import Mask
from rag.retrieval.bm25 import BM25, BM25Settings
from rag.retrieval.dense import INT8_FROM, Dense, Int8Vectors, Kind, build_vectors
from rag.retrieval.question_knn import QUESTION_KNN
from rag.retrieval.term_counts import FieldCounts
from rag.text import Analyser
from rag.text.analysers import analyser
from rag.types import Floats, Progress, Question, no_progress


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """What a person may choose about an index."""

    encoder: str = "auto"  # auto | fit | borrow | none | a model's path or hub id
    bm25: BM25Settings = field(default_factory=BM25Settings)
    fit: FitSpec = 1  # a number: so many fits, as is suited to the number of questions
    lending: tuple[Corpus, ...] = ()  # of the same language, whose questions the encoder learns from too
    vectors: Kind = "flat"
    analyser: Mapping[str, Any] = field(default_factory=dict)  # options past the language
    model: Mapping[str, Any] = field(default_factory=dict)  # prompts and pooling of a pretrained model
    fusion: FusionSettings | None = None  # None: reciprocal rank of words and meaning, both alike
    learned: Ranker | None = None  # a learned fusion, which goes before the other
    updatable: bool = True  # keep what an update starts from; a version grows by a quarter or so

    def __post_init__(self) -> None:
        """Refuse an encoder of no fit, and several fits of one that is not fitted."""
        if not isinstance(self.fit, int):
            return
        refuse_no_fit(self.fit)
        if self.fit > 1 and self.encoder not in ("auto", "fit"):
            raise BadInput(
                f"--fits {self.fit}: only an encoder that is fitted here is fitted several times, and "
                f"{self.encoder!r} is not: --encoder fit, or leave --fits out"
            )


def build(
    corpus: Corpus,
    name: str,
    settings: BuildSettings | None = None,
    progress: Progress = no_progress,
    keep: int = DEFAULT_VERSIONS,
) -> Path:
    """Build the index of a corpus, switch it in and return its folder; the former one serves until then.

    As many versions are kept as said, the new one among them, with what changed against the one in use.

    Raises:
        BadInput: a setting cannot be used, or another build of this index is running.
    """
    version = f"{versions.stamp_now()}-{corpus.sha256[:8]}"
    with versions.only_one(name), versions.new_version(name, version, keep) as folder:
        # there may be no former one, or it is damaged: that is why it is built again
        former = None
        with suppress(PandectError, OSError):
            former = FormerCorpus.read(paths.current(name))
        if former is not None:
            compare(former, corpus).changes.write(folder)
        build_into(folder, corpus, name, version, settings, progress)
    return paths.index_folder(name) / version


def build_into(
    folder: Path,
    corpus: Corpus,
    name: str,
    version: str,
    settings: BuildSettings | None = None,
    progress: Progress = no_progress,
    encoder: tuple[StaticEncoder, Mapping[str, Any]] | None = None,
) -> Manifest:
    """Write an index into an empty folder, wherever it is; the manifest is its last file.

    A fitted encoder may be given, with the manifest's entry for it, instead of the settings' choice.
    """
    chosen = settings or BuildSettings()
    analyser, options = resolve_analyser(corpus, chosen.analyser)
    learnt = to_learn_from(corpus.questions)
    counts = count_articles(corpus.articles, learnt, analyser, progress)
    meaning: EncoderChoice | None
    if encoder is not None:
        meaning = EncoderChoice(*encoder)
    elif chosen.encoder in ("auto", "fit", "borrow", "none"):
        meaning = choose(chosen.encoder, corpus, learnt, analyser, chosen.fit, progress, chosen.lending)
    elif chosen.lending:
        raise BadInput(f"--lent: {chosen.encoder} is pretrained and learns from no questions: leave out one")
    else:
        meaning = pretrained(chosen.encoder, chosen.model)
        trust(chosen.encoder)
    vectors = None
    if meaning is not None:
        vectors = encode_articles(meaning.encoder, corpus.articles, progress)
        if isinstance(meaning.encoder, StaticEncoder):
            meaning.encoder.save(folder / "encoder")
    graph = legislative_graph.build(corpus, progress=progress)
    ready = IndexParts(corpus, learnt, analyser, options, counts, graph, meaning, vectors)
    return write_index(folder, ready, name, version, chosen)


def resolve_analyser(corpus: Corpus, chosen: Mapping[str, Any]) -> tuple[Analyser, Mapping[str, Any]]:
    """Return the analyser of a corpus's language with the options chosen, and all options as they are kept.

    Raises:
        BadInput: an option or the language is unknown.
    """
    options = {"language": corpus.card.language, **chosen}
    try:
        return analyser(**options), options
    except TypeError as error:  # an option of another version, or misspelt
        raise BadInput(f"analyser options {options}: {error}: give stop_words, chinese or stem") from error


@dataclass(frozen=True)
class IndexParts:
    """The parts of an index once terms are counted and articles encoded."""

    corpus: Corpus
    learnt: Sequence[Question]
    analyser: Analyser
    options: Mapping[str, Any]  # that make the analyser again
    counts: FieldCounts  # in their canonical form
    graph: Graph
    meaning: EncoderChoice | None = None
    vectors: Floats | None = None  # (n_articles, dim), where there is an encoder


def write_index(
    folder: Path,
    ready: IndexParts,
    name: str,
    version: str,
    settings: BuildSettings,
    known: Mapping[str, str] | None = None,
) -> Manifest:
    """Write an index into a folder that holds its encoder if that is a static one, and nothing else.

    Both a build from nothing and an update end here: what they hand over alike, they write alike. The hashes
    of some files in the folder may be known already: see `indexes.store.manifest.stamp`.
    """
    _refuse_unfit(settings.fusion)
    corpus, counts, analyser, learnt = ready.corpus, ready.counts, ready.analyser, ready.learnt
    # extra columns stay where retrieval never looks; not compressed, for an article is read by itself
    write_corpus(corpus, folder / "corpus", compress=False, extras=False)
    article_store.write(corpus.articles, corpus.card.language, folder)
    mask = Mask(corpus.articles)
    keyword = BM25.build(counts, settings.bm25, mask, analyser)
    keyword.save(folder / "bm25")
    scored: dict[str, score_distributions.ScoresAll] = {KEYWORD: keyword}
    encoder = ready.meaning.encoder if ready.meaning is not None else None
    if encoder is not None and ready.vectors is not None:
        meaning = Dense(encoder, build_vectors(ready.vectors, settings.vectors), counts.order, mask)
        meaning.save(folder / "vectors.faiss")
        if settings.vectors == "flat" and len(ready.vectors) >= INT8_FROM:
            Int8Vectors.of(ready.vectors).save(folder)
        scored[MEANING] = meaning
    sample = score_distributions.sample(learnt, corpus.articles)
    score_distributions.save(score_distributions.estimate(scored, sample), folder)
    if settings.fusion is not None:
        score_distributions.save_fusion(settings.fusion, folder)
    legislative_graph.save(ready.graph, folder)
    model = query_expansion.learnt_from(counts, corpus.articles, learnt, analyser, encoder)
    if model is not None:
        query_expansion.save(model, counts, settings.bm25, folder)
    if settings.learned is not None and encoder is not None:
        learned_fusion.save(settings.learned, corpus, counts, settings.bm25, analyser, folder)
    if settings.updatable:
        reuse.store_for_updates(counts, ready.vectors, settings.vectors, folder)
    _, written = split_synthetic(learnt)
    manifest = Manifest(
        name=name,
        version=version,
        built=datetime.now(UTC).isoformat(timespec="seconds"),
        corpus={
            "sha256": corpus.sha256,
            "articles": len(corpus.articles),
            "questions": len(corpus.questions),
            "questions_sha256": corpus.questions_sha256,
            "learnt": len(learnt),
            **({"written": len(written)} if written else {}),  # of these by a machine
            "licence": corpus.card.licence,
        },
        analyser={"id": analyser.id, "options": ready.options},
        bm25=asdict(settings.bm25),
        encoder=None if ready.meaning is None else ready.meaning.entry,
    )
    return stamp(manifest, folder, known)


def _refuse_unfit(fusion: FusionSettings | None) -> None:
    """Refuse a fusion that no index could answer with, before it is written.

    Raises:
        BadInput: it names other lists than there are, one alone, or percentiles of a list that has none.
    """
    if fusion is None or not fusion.systems:
        return
    named, lists = set(fusion.systems), {KEYWORD, MEANING, QUESTION_KNN}
    if len(named) < 2 or not named <= lists:
        raise BadInput(
            f"a fusion of {', '.join(fusion.systems)}: name two or three of {', '.join(sorted(lists))}"
        )
    if fusion.method == "percentile" and QUESTION_KNN in named:
        raise BadInput(
            f"percentiles of {QUESTION_KNN} are not estimated: leave it out, or choose another fusion"
        )
