"""Build an index from a corpus: BM25, an encoder, the articles' vectors, a manifest last."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from indexes import store
from indexes.corpus import Corpus, to_learn_from
from indexes.corpus import write as write_corpus
from indexes.fit import FitSettings, Fitter
from indexes.manifest import Manifest, stamp
from rag.encoders.static import StaticEncoder
from rag.errors import BadInput
from rag.retrieval.bm25 import BM25, BM25Settings
from rag.retrieval.dense import Dense, Kind, build_vectors
from rag.retrieval.fields import count
from rag.retrieval.scored import Mask
from rag.text import Analyser
from rag.text.analysers import analyser
from rag.types import Encoder, Question

Report = Callable[[str, int, int], object]  # what is being done, how many of it are done, how many in all

FIT_FROM = 3000  # articles; a smaller corpus says too little about a language's words


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """What a person may choose about an index."""

    encoder: str = "auto"  # auto | fit | borrow | none | a model's path or hub id
    bm25: BM25Settings = field(default_factory=BM25Settings)
    fit: FitSettings = field(default_factory=FitSettings)
    vectors: Kind = "flat"
    analyser: Mapping[str, Any] = field(default_factory=dict)  # options past the language
    model: Mapping[str, Any] = field(default_factory=dict)  # prompts and pooling of a pretrained model


def build(
    corpus: Corpus, name: str, settings: BuildSettings | None = None, report: Report | None = None
) -> Path:
    """Build the index of a corpus and switch it in; the former one serves until then.

    Args:
        corpus: the law and its annotated questions.
        name: of the index, under PANDECT_HOME.
        settings: what to build.
        report: called as the work goes on.

    Returns:
        The new version's folder.

    Raises:
        BadInput: a setting cannot be used, or another build of this index is running.
    """
    version = f"{store.stamp_now()}-{corpus.sha256[:8]}"
    with store.new_version(name, version) as folder:
        build_into(folder, corpus, name, version, settings, report)
    return store.index_folder(name) / version


def build_into(
    folder: Path,
    corpus: Corpus,
    name: str,
    version: str,
    settings: BuildSettings | None = None,
    report: Report | None = None,
    encoder: tuple[StaticEncoder, Mapping[str, Any]] | None = None,
) -> Manifest:
    """Write an index into an empty folder; the manifest is its last file.

    Args:
        folder: where; it need not be under PANDECT_HOME.
        corpus: the law and its annotated questions.
        name: of the index.
        version: of this build.
        settings: what to build.
        report: called as the work goes on.
        encoder: a fitted encoder and the manifest's entry for it, instead of the settings' choice.
    """
    chosen = settings or BuildSettings()
    tell = report or (lambda what, done, total: None)
    options = {"language": corpus.card.language, **chosen.analyser}
    try:
        cut = analyser(**options)
    except TypeError as error:  # an option of another version, or misspelt
        raise BadInput(f"analyser options {options}: {error}: give stop_words, chinese or stem") from error
    learnt = to_learn_from(corpus.questions)
    write_corpus(corpus, folder / "corpus", extras=False)  # they stay where retrieval never looks
    total = len(corpus.articles)
    counts = count(corpus.articles, cut, lambda done: tell("analysing articles", done, total))
    counts = counts.with_questions(learnt, cut.terms)
    mask = Mask(corpus.articles)
    BM25.build(counts, chosen.bm25, mask, cut).save(folder / "bm25")
    made, entry = encoder or _encoder(corpus, learnt, cut, chosen, tell)
    if made is not None:
        vectors = made.encode_articles(corpus.articles)
        tell("encoding articles", total, total)
        Dense(made, build_vectors(vectors, chosen.vectors), counts.order, mask).save(folder / "vectors.faiss")
        if isinstance(made, StaticEncoder):
            made.save(folder / "encoder")
    manifest = Manifest(
        name=name,
        version=version,
        built=datetime.now(UTC).isoformat(timespec="seconds"),
        corpus={
            "sha256": corpus.sha256,
            "articles": total,
            "questions": len(corpus.questions),
            "questions_sha256": corpus.questions_sha256,
            "learnt": len(learnt),
        },
        analyser={"id": cut.id, "options": options},
        bm25=asdict(chosen.bm25),
        encoder=entry,
    )
    return stamp(manifest, folder)


def _encoder(
    corpus: Corpus, learnt: Sequence[Question], cut: Analyser, settings: BuildSettings, tell: Report
) -> tuple[Encoder | None, Mapping[str, Any] | None]:
    wanted = settings.encoder
    if wanted == "none":
        return None, None
    if wanted == "fit" or (wanted == "auto" and len(corpus.articles) >= FIT_FROM):
        return fit_encoder(corpus, learnt, cut, settings.fit, tell)
    if wanted in ("auto", "borrow"):
        return _borrow(corpus, cut, required=wanted == "borrow")
    from rag.encoders.transformer import TransformerEncoder

    options = {"model": wanted, **settings.model}
    model = TransformerEncoder(**options)
    entry = {
        "kind": "transformer",
        "name": model.name,
        "dim": model.dim,
        "sha256": model.sha256,
        "options": options,
    }
    return model, entry


def fit_encoder(
    corpus: Corpus, learnt: Sequence[Question], cut: Analyser, settings: FitSettings, tell: Report
) -> tuple[StaticEncoder, Mapping[str, Any]]:
    """Fit a static encoder to a corpus and its annotated questions.

    Returns:
        The encoder, and what the manifest says of it.
    """
    fitter = Fitter(corpus.articles, cut, settings)
    fitted = fitter.fit_corpus(lambda done, total, loss: tell("fitting the encoder to the law", done, total))
    if learnt:
        fitted = fitter.fit_questions(
            fitted, learnt, lambda done, total, loss: tell("fitting the encoder to questions", done, total)
        )
    name = f"static-{corpus.card.language}-{settings.dim}"
    entry = {
        "kind": "static",
        "name": name,
        "dim": settings.dim,
        "terms": len(fitted.vocabulary),
        "fitted_to": {"corpus_sha256": corpus.sha256, "questions_sha256": corpus.questions_sha256},
        "settings": asdict(settings),
    }
    return fitted.encoder(name, cut), entry


def _borrow(
    corpus: Corpus, cut: Analyser, *, required: bool
) -> tuple[Encoder | None, Mapping[str, Any] | None]:
    """Take the encoder that ships, if it speaks the corpus's language in the same terms."""
    from indexes.manifest import read

    folder, again = store.locate(store.BUILTIN)
    manifest = read(folder, again)
    if manifest.encoder is not None and manifest.analyser["id"] == cut.id:
        entry = {**manifest.encoder, "borrowed_from": manifest.version}
        return StaticEncoder.load(folder / "encoder", cut), entry
    if required:
        raise BadInput(
            f"no encoder to borrow for {corpus.card.language!r} analysed by {cut.id}: the one that ships is "
            f"for {manifest.analyser['id']}; use --encoder fit or --encoder none"
        )
    return None, None
