"""Open an index: its files held against its manifest, then put together as a `rag.Engine`."""

from __future__ import annotations

import logging
import os
import threading
import warnings
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from tokenize import TokenError
from typing import Any, NamedTuple

from indexes.build import legislative_graph, query_expansion
from indexes.build.learned_fusion import load as read_learned
from indexes.build.score_distributions import load as read_distributions
from indexes.build.score_distributions import load_fusion as read_fusion
from indexes.corpus.card import FILE as CARD
from indexes.corpus.card import read_card
from indexes.corpus.corpus import questions_file, to_learn_from
from indexes.corpus.corpus import read as read_corpus
from indexes.corpus.questions import read_cited
from indexes.qdrant.address import is_address, parse_address
from indexes.qdrant.collection import StoreCandidates
from indexes.qdrant.engines import VectorStore
from indexes.store import article_store
from indexes.store.manifest import FILE, Manifest, encoder_fingerprint, libraries, read, verify
from indexes.store.model_trust import require_trust
from indexes.store.paths import CONFIDENCE, builtin, command, locate, version_file
from indexes.update import term_counts
from rag.corpus.articles import Articles
from rag.corpus.card import CorpusCard
from rag.corpus.out_of_scope import LawClassifier, Topics
from rag.corpus.structure import Sections
from rag.encoders.static import StaticEncoder
from rag.engine.confidence import Confidence
from rag.engine.engine import EncoderTraining, Engine, IndexInfo
from rag.engine.explain import Explainer
from rag.engine.notices import Notices
from rag.engine.searcher import Searcher
from rag.errors import BadInput, DamagedIndex, StaleIndex
from rag.fusion.settings import LAW_ONLY_WEIGHT, FusionSettings
from rag.graph.graph import Graph
from rag.ltr.reranker import KEYWORD, MEANING
from rag.retrieval.base import Mask
from rag.retrieval.bm25 import BM25
from rag.retrieval.dense import Dense, Int8Vectors
from rag.retrieval.question_knn import QUESTION_KNN, QuestionKNN
from rag.retrieval.vector_store import Candidates, StoredBM25, StoredDense
from rag.storage import read_whole
from rag.text import Analyser
from rag.text.analysers import analyser
from rag.text.spelling import document_frequencies, tolerant
from rag.types import ArticleOrder, Encoder, Question

GOVERNING_LAW = "governing_law.npz"  # beside an index: which law governs a question
NO_LAW = "mMARCO"  # begins the source of the one collection that models are trained on and that is no law
SWITCHES = 3  # of versions while one is being opened; more of them are no accident
# Reading a .npy file parses its head as Python, which fails now and then where two threads do so at once,
# before CPython 3.11.8 and 3.12.2 (github.com/python/cpython/issues/106905).
_ONE_AT_A_TIME = threading.RLock()
HASH_AT_OPENING = 512 * 2**20  # bytes; of a larger index sizes are compared, and hashes while it serves
READ_WHOLE = 128 * 2**20  # bytes; a larger index is mapped, and nobody may cut its files short in place
_log = logging.getLogger(__name__)


def open_index(name_or_path: str | Path | None = None) -> Engine:
    """Open an index, by its name under PANDECT_HOME, "builtin", its folder, or its address in a vector store.

    None takes PANDECT_INDEX, else what an operator chose, else the builtin one.

    Raises:
        MissingIndex, BadInput: there is none, or what came is neither a name nor a path.
        DamagedIndex: its files are not those that its manifest lists.
        StaleIndex: it was built for another format, corpus or analyser.
        StoreUnavailable, MissingExtra: the store cannot be asked.
    """
    folder, cure = locate(name_or_path)
    address = name_or_path if name_or_path is not None else os.environ.get("PANDECT_INDEX")
    store = parse_address(str(address))[0] if is_address(address) else None
    for _ in range(SWITCHES):
        try:
            return _open(folder, cure, store)
        except DamagedIndex:  # or it was outdated and deleted while it was being read
            former, (folder, cure) = folder, locate(name_or_path)
            if folder == former:
                raise
    return _open(folder, cure, store)


def _open(folder: Path, cure: str, store: VectorStore | None) -> Engine:
    with _ONE_AT_A_TIME:
        manifest = read(folder, cure)
        size = sum(f["bytes"] for f in manifest.files.values())
        verify(folder, manifest, cure, contents=size <= HASH_AT_OPENING)
        with read_whole(whole=size <= READ_WHOLE):
            engine = assemble(folder, manifest, cure, store)
    if size > HASH_AT_OPENING:
        arguments = weakref.ref(engine), folder, manifest, cure
        threading.Thread(target=_verify_behind, args=arguments, name=VERIFYING, daemon=True).start()
    return engine


VERIFYING = "verify index"  # the name of that thread


def _verify_behind(engine: weakref.ref[Engine], folder: Path, manifest: Manifest, cure: str) -> None:
    """Compare the hashes of an index that serves; one that is not what was built answers no more."""
    try:
        verify(folder, manifest, cure)
    except (DamagedIndex, OSError) as error:
        if not (folder / FILE).is_file():  # outdated and deleted: what is open is whole
            return
        _log.error("%s", error)
        if (found := engine()) is not None:
            found.fault = str(error)


def open_graph(name_or_path: str | Path | None = None) -> Graph:
    """Open the legislative graph of an index, memory-mapped; it is named as for `open_index`.

    Content node n is the n-th article of its corpus. For an index of an earlier release it is made.

    Raises:
        MissingIndex, BadInput: there is none, or what came is neither a name nor a path.
        DamagedIndex: its files are not those that its manifest lists.
    """
    folder, cure = locate(name_or_path)
    with _ONE_AT_A_TIME:
        verify(folder, read(folder, cure), cure, below=(legislative_graph.FOLDER,))
        with damaged_if_unreadable(folder, cure):
            return legislative_graph.load(folder) or legislative_graph.build(read_corpus(folder / "corpus"))


def assemble(folder: Path, manifest: Manifest, cure: str, store: VectorStore | None = None) -> Engine:
    """Put the engine together from a verified folder; `cure` is the command that builds it, for the errors.

    With a store, that proposes what is scored.

    Raises:
        DamagedIndex: a file cannot be read after all.
        StaleIndex: it was built for another corpus or analyser.
    """
    with damaged_if_unreadable(folder, cure):
        law = _read_law(folder, manifest, cure)
    articles = law.articles
    if law.sha256 != manifest.corpus["sha256"]:
        raise StaleIndex(
            f"{manifest.name} was built from corpus {manifest.corpus['sha256'][:8]}…, "
            f"this one is {law.sha256[:8]}…: run {cure}"
        )
    analyser = index_analyser(manifest, cure)
    here = libraries(manifest)
    other = [f"{n} {v} (here {here[n]})" for n, v in manifest.libraries.items() if here.get(n, v) != v]
    if other:
        warnings.warn(
            f"index {manifest.name} was built with {', '.join(other)}; it should serve all the same",
            stacklevel=4,  # whoever called open_index
        )
    with damaged_if_unreadable(folder, cure):
        order, mask = articles.order, Mask(articles)
    meaning = _meaning(folder, manifest, analyser, order, mask, cure)
    candidates = StoreCandidates.of(store, manifest, order, cure) if store is not None else None
    with damaged_if_unreadable(folder, cure):
        return _put_together(folder, manifest, law, analyser, meaning, candidates)


def _put_together(
    folder: Path,
    manifest: Manifest,
    law: _Law,
    analyser: Analyser,
    meaning: Dense | None,
    candidates: Candidates | None,
) -> Engine:
    card, articles = law.card, law.articles
    order = articles.order
    mask = meaning.mask if meaning is not None else Mask(articles)
    sections = cache(partial(Sections.of, articles, order))  # made when first looked at
    learnt = to_learn_from(law.questions)
    # people's own words say more than what stands before an article
    before = None if learnt else lambda: sections().numbers
    keyword = BM25.load(folder / "bm25", order, mask, analyser, manifest.bm25["weights"], before)
    if candidates is not None:
        keyword = StoredBM25(keyword, candidates, manifest.bm25["variant"])
        meaning = StoredDense(meaning, candidates) if meaning is not None else None
    distributions, fusion = read_distributions(folder), read_fusion(folder)
    asking = _of_questions(analyser, card, keyword, meaning)
    keyword.analyser = asking
    if meaning is not None and isinstance(meaning.encoder, StaticEncoder):
        meaning.encoder = replace(meaning.encoder, analyser=asking)
    rows = term_counts.rows(folder / term_counts.FOLDER, order, keyword.index.vocab_dict)
    expanded = query_expansion.load(folder, keyword)
    graph = legislative_graph.load(folder)
    learned = read_learned(folder, keyword, meaning, articles, learnt, expanded)
    if fusion is None:
        lent = len((manifest.encoder or {}).get("learnt_from", ())) > 1  # of other corpora beside this one
        static = meaning is not None and isinstance(meaning.encoder, StaticEncoder)
        untaught = static and len(learnt) < query_expansion.LEAST and not lent
        fusion = FusionSettings(weights={KEYWORD: 1.0, MEANING: LAW_ONLY_WEIGHT} if untaught else {})
    question_knn: QuestionKNN | None = None
    if QUESTION_KNN in fusion.systems:
        encoder = meaning.encoder if meaning is not None else None
        question_knn = QuestionKNN(learnt, order, mask, asking, encoder, sections=sections().numbers)
        if meaning is not None:
            question_knn.vector = meaning.vector
    searcher = Searcher(
        keyword, meaning, fusion, distributions or {}, learned, question_knn, expanded, sections
    )
    governing = folder.parent / GOVERNING_LAW
    classifier = None
    if folder == builtin() and governing.is_file():
        classifier = LawClassifier.load(governing)
        if classifier.encoder != encoder_fingerprint(manifest):
            cure = "python -m training.governing_law --output FOLDER"
            _log.warning("%s was fitted with another encoder and is not used: run %s", governing, cure)
            classifier = None
    vector = meaning.vector if meaning is not None else None  # so that a question is encoded once
    vectors = meaning.encoder.encode_questions if meaning is not None else None
    notices = Notices(Topics(card, articles.codes.counts, asking, classifier, vector, vectors), asking)
    confidence = _confidence(folder)  # `Notices` checks what it is for
    info = IndexInfo(
        name=manifest.name,
        title=card.title,
        version=manifest.version,
        articles=len(articles),
        questions=manifest.corpus["learnt"],
        encoder=manifest.encoder["name"] if manifest.encoder else None,
        corpus_sha256=law.sha256,
        built=manifest.built,
        encoder_knows=encoder_training(manifest.encoder),
    )
    nearest = searcher.nearest_questions
    return Engine(
        card=card,
        info=info,
        articles=articles,
        searcher=searcher,
        explainer=Explainer(articles, learnt, asking, keyword, meaning, rows, nearest),
        notices=notices.calibrated(confidence, searcher, law.sha256, learnt),
        graph=graph,
    )


def _confidence(folder: Path) -> Confidence | None:
    """Return the doubt that was fitted to this very version; of no other, nor of the index that ships."""
    path = version_file(folder, CONFIDENCE)
    try:
        return Confidence.from_json(path.read_text(encoding="utf-8")) if path.is_file() else None
    except BadInput as error:
        if folder == builtin():
            raise
        _log.warning("%s is not used (%s): run %s", path, error, command(f"audit {folder.parent.name}"))
        return None


class _Law(NamedTuple):
    card: CorpusCard
    articles: Articles
    questions: Sequence[Question]
    sha256: str


def _read_law(folder: Path, manifest: Manifest, cure: str) -> _Law:
    """Open the corpus of an index; its articles are read when they are shown, or now if it has no columns."""
    place = folder / "corpus"
    if not article_store.is_stored(folder):
        corpus = read_corpus(place)
        return _Law(corpus.card, Articles.of(corpus.articles), corpus.questions, corpus.sha256)
    path = questions_file(place)
    questions = [cited.question for cited in read_cited(path)] if path is not None else []
    # the file is written in canonical form, and was held against the manifest
    sha256 = str(manifest.files[article_store.FILE]["sha256"])
    return _Law(
        read_card(place / CARD), article_store.StoredArticles(folder, cure, sha256), questions, sha256
    )


def _of_questions(analyser: Analyser, card: CorpusCard, keyword: BM25, meaning: Dense | None) -> Analyser:
    """Return the analyser of questions, which reads typing errors as words that it knows.

    It knows those of the law, of others that the encoder was fitted to, and of topics that others govern.
    """
    if analyser.language == "zh":  # nothing is mended
        return analyser
    encoder = meaning.encoder if meaning is not None else None
    vocabulary = encoder.vocabulary if isinstance(encoder, StaticEncoder) else {}
    return tolerant(analyser, document_frequencies(keyword.documents(), vocabulary, card, analyser))


def encoder_training(encoder: Mapping[str, Any] | None) -> EncoderTraining:
    """Return what an encoder knows of law, by what the manifest says of it and not by its name."""
    if encoder is None:
        return "unknown"
    if encoder["kind"] == "static":  # fitted to corpora and to nothing else
        return "fitted"
    sources = (str(each.get("source")) for each in encoder.get("learnt_from", ()))
    return "trained" if any(not source.startswith(NO_LAW) for source in sources) else "unknown"


def index_analyser(manifest: Manifest, cure: str) -> Analyser:
    """Return the analyser that an index was made with; StaleIndex says that this version has another one."""
    try:
        found = analyser(**manifest.analyser["options"])
    except (BadInput, TypeError) as error:  # an option that this version does not know
        raise StaleIndex(
            f"{manifest.name} was analysed with {manifest.analyser['options']} ({error}): run {cure}"
        ) from error
    if found.id != (built_with := manifest.analyser["id"]):
        raise StaleIndex(
            f"{manifest.name} was analysed by {built_with}, here it would be {found.id}: run {cure}"
        )
    return found


def _meaning(
    folder: Path, manifest: Manifest, analyser: Analyser, order: ArticleOrder, mask: Mask, cure: str
) -> Dense | None:
    if manifest.encoder is None:
        return None
    encoder: Encoder
    if manifest.encoder["kind"] == "static":
        with damaged_if_unreadable(folder, cure):
            encoder = StaticEncoder.load(folder / "encoder", analyser)
    else:
        require_trust(str(manifest.encoder["options"].get("model")), folder)
        from rag.encoders.transformer import TransformerEncoder

        encoder = TransformerEncoder(**manifest.encoder["options"])
    with damaged_if_unreadable(folder, cure):
        index, int8 = Dense.load_index(folder / "vectors.faiss"), Int8Vectors.load(folder)
        return Dense(encoder, index, order, mask, int8)


# what comes of reading flipped bits; of numpy's, the heads are Python, which is cut into tokens
_BROKEN = (
    BadInput, OSError, EOFError, ValueError, LookupError, ArithmeticError, TypeError, AttributeError,
    AssertionError, SyntaxError, TokenError, MemoryError, RuntimeError,
)  # fmt: skip


@contextmanager
def damaged_if_unreadable(folder: Path, cure: str) -> Iterator[None]:
    """Say what to type when a file is broken although its size is right."""
    try:
        yield
    except _BROKEN as error:
        raise DamagedIndex(f"{folder} cannot be read ({error}): run {cure}") from error
