"""Which encoder an index gets: one fitted to its corpus, the one that ships, a pretrained one, or none.

Laypeople say "virer" and "proprio" whatever the law is. A corpus that few questions were annotated for may
therefore have another's beside its own: the encoder is fitted to the articles and the questions of both, and
encodes the articles of its own alone. Nothing else learns from them: what experts cite in another law is no
evidence for this one. What it gives is in docs/results.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

from indexes.build import ensemble
from indexes.build.fit_settings import FitSpec, for_written, resolve_settings
from indexes.build.static_encoder import Fitter
from indexes.corpus.corpus import Corpus, human_or_synthetic, read, to_learn_from
from indexes.store.manifest import machine
from indexes.store.manifest import read as read_manifest
from indexes.store.paths import BUILTIN, corpus_folder, locate
from rag.corpus.licence import provenance
from rag.encoders.static import StaticEncoder
from rag.errors import BadInput
from rag.text import Analyser
from rag.types import Article, Encoder, Progress, Question


def read_lending_corpora(names: Iterable[str], language: str) -> tuple[Corpus, ...]:
    """Read the corpora whose questions are used too: imported ones, or "builtin".

    Raises:
        BadInput: there is no such corpus, it has no annotated questions, or it is in another language.
    """
    found = []
    for name in names:
        folder = locate(BUILTIN)[0] / "corpus" if name == BUILTIN else corpus_folder(name)
        if not folder.is_dir():
            raise BadInput(
                f"--lent {name}: no corpus is called so: give the name of one that was imported, or {BUILTIN}"
            )
        other = read(folder)
        if other.card.language != language:
            raise BadInput(
                f"--lent {name}: its language is {other.card.language!r}, that of the corpus {language!r}: "
                "an encoder learns the words of one language; give a corpus of the same"
            )
        if not to_learn_from(other.questions):
            raise BadInput(f"--lent {name}: it has no annotated questions to learn from; leave it out")
        found.append(other)
    return tuple(found)


def merged_articles(corpora: Sequence[Corpus]) -> list[Article]:
    """Return the articles of these corpora, under ids that are no other's."""
    return [replace(a, id=_renamed(n, a.id)) for n, corpus in enumerate(corpora) for a in corpus.articles]


def merged_questions(corpora: Sequence[Corpus]) -> list[Question]:
    """Return the questions of these corpora that may be learnt from, citing the ids of `merged_articles`."""
    return [
        replace(q, id=_renamed(n, q.id), article_ids=tuple(_renamed(n, id_) for id_ in q.article_ids))
        for n, corpus in enumerate(corpora)
        for q in to_learn_from(corpus.questions)
    ]


def _renamed(n: int, id_: str) -> str:
    return f"lent-{n}\N{INFORMATION SEPARATOR ONE}{id_}"  # a control character, which no id of a file holds


TRAINED = "manifest.json"  # beside the folder of a model that `python -m training.train` made
FIT_FROM = 3000  # articles; a smaller corpus says too little about a language's words


class EncoderChoice(NamedTuple):
    """An encoder, and what the manifest records of it."""

    encoder: Encoder
    entry: Mapping[str, Any]


def choose(
    wanted: str,
    corpus: Corpus,
    learnt: Sequence[Question],
    analyser: Analyser,
    fit: FitSpec,
    progress: Progress,
    corpora: Sequence[Corpus] = (),
) -> EncoderChoice | None:
    """Return the static encoder that was asked for: "auto", "fit", "borrow" or "none".

    Raises:
        BadInput: one was to be borrowed, and the one that ships is for another language; or questions
            were lent to one that is not fitted.
    """
    if corpora and wanted not in ("auto", "fit"):
        raise BadInput(f"--lent: only a fitted encoder learns from questions, not {wanted!r}: --encoder fit")
    if wanted == "none":
        return None
    asked_for = wanted == "fit" or corpora or (isinstance(fit, int) and fit > 1)
    if asked_for or (wanted == "auto" and len(corpus.articles) >= FIT_FROM):
        return EncoderChoice(*fit_encoder(corpus, learnt, analyser, fit, progress, corpora))
    return borrow(corpus, analyser, required=wanted == "borrow")


def pretrained(model: str, options: Mapping[str, Any]) -> EncoderChoice:
    """Load a sentence-transformers model.

    Raises:
        MissingExtra: sentence-transformers is not installed.
        BadInput: the model cannot be loaded.
    """
    from rag.encoders.transformer import TransformerEncoder

    given: dict[str, Any] = {"model": model, **options}
    made = TransformerEncoder(**given)
    if made.revision is not None:  # the commit on the hub: what is there later may be another model
        given["revision"] = made.revision
    learnt = trained_on(Path(model))
    entry = {"kind": "transformer", "name": made.name, "dim": made.dim, "sha256": made.sha256}
    return EncoderChoice(made, entry | {"options": given} | ({"learnt_from": learnt} if learnt else {}))


def trained_on(model: Path) -> list[Any]:
    """Return whose law a model was trained on here, as its result says; nothing of another model."""
    if not model.is_dir():
        return []
    try:
        result = json.loads((model.resolve().parent / TRAINED).read_text(encoding="utf-8"))
    except (OSError, ValueError):  # none, or of something else: nothing is known
        return []
    files = result.get("learnt_from") if isinstance(result, dict) else None
    return [each for each in files if isinstance(each, dict)] if isinstance(files, list) else []


def fit_encoder(
    corpus: Corpus,
    learnt: Sequence[Question],
    analyser: Analyser,
    how: FitSpec,
    progress: Progress,
    corpora: Sequence[Corpus] = (),
) -> tuple[StaticEncoder, Mapping[str, Any]]:
    """Fit a static encoder to a corpus and its annotated questions, and those of others of the language.

    Return it with what the manifest says of it.
    """
    questions = [*learnt, *merged_questions(corpora)]
    articles = [*corpus.articles, *merged_articles(corpora)]
    people, written = human_or_synthetic(questions)
    chosen = resolve_settings(how, len(people), len(articles))
    fitted = ensemble.fit(Fitter(articles, analyser, chosen), questions, progress=progress)
    name = f"static-{corpus.card.language}-{fitted.vectors.shape[1]}"
    entry = {
        "kind": "static",
        "name": name,
        "dim": fitted.vectors.shape[1],
        "terms": len(fitted.vocabulary),
        "fitted_to": {"corpus_sha256": corpus.sha256, "questions_sha256": corpus.questions_sha256},
        "settings": asdict(chosen),
        "views": list(ensemble.views(chosen, analyser)),
        # the licences go wherever the encoder goes
        "learnt_from": [provenance(each.card) for each in (corpus, *corpora)],
        "made_on": machine(),
    }
    if written:  # before those that people asked
        entry["settings_of_written"] = asdict(for_written(chosen, len(written)))
    if corpora:
        entry["lent"] = [
            {"name": each.card.name, "corpus_sha256": each.sha256, "questions_sha256": each.questions_sha256}
            for each in corpora
        ]
    return fitted.encoder(name, analyser), entry


def borrow(corpus: Corpus, analyser: Analyser, *, required: bool) -> EncoderChoice | None:
    """Take the encoder that ships, if it speaks the corpus's language in the same terms.

    Raises:
        BadInput: it does not, and it is required.
    """
    folder, cure = locate(BUILTIN)
    manifest = read_manifest(folder, cure)
    if manifest.encoder is not None and manifest.analyser["id"] == analyser.id:
        entry = {**manifest.encoder, "borrowed_from": manifest.version}
        return EncoderChoice(StaticEncoder.load(folder / "encoder", analyser), entry)
    if required:
        raise BadInput(
            f"no encoder to borrow for {corpus.card.language!r} analysed by {analyser.id}: the one that "
            f"ships is for {manifest.analyser['id']}; use --encoder fit or --encoder none"
        )
    return None
