"""The card of a model: what it learnt from, under which licence, how, how well, and what it is not for.

Sections as in model cards (Mitchell et al. 2019); the licence of the data comes first, because it goes on
with the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from indexes.corpus.corpus import Corpus, read
from indexes.shipped_questions import LANGUAGES, written, written_card
from indexes.store import paths
from indexes.store.manifest import Manifest
from rag.corpus.licence import Licence, classify, provenance, strictest
from rag.errors import BadInput
from training.tables.__main__ import SHORT
from training.tables.__main__ import markdown as measures_table
from training.tables.markdown import table


@dataclass(frozen=True, slots=True)
class TrainingSource:
    """A corpus or a set of questions that a model learnt from."""

    name: str
    licence: Licence
    attribution: str = ""

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> TrainingSource:
        """Make it of what `rag.corpus.licence.provenance` returned, perhaps in an older version."""
        text, url = str(record.get("licence") or ""), record.get("licence_url")
        licence = Licence(text, classify(text, url), url)
        return cls(str(record.get("name") or "?"), licence, str(record.get("source") or ""))


@dataclass(frozen=True)
class ModelCard:
    """What is told of a model; empty parts are said to be unknown."""

    name: str
    about: str  # what it is, in a sentence or two
    sources: tuple[TrainingSource, ...]
    intended: str
    misuse: tuple[str, ...]
    limits: tuple[str, ...]
    data: Mapping[str, object]  # hashes and counts of what it learnt from
    recipe: Mapping[str, object]
    command: str
    hardware: str | None = None
    libraries: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)  # path -> SHA-256
    metrics: Mapping[str, Any] | None = None  # what metrics.json holds
    use: str = ""  # lines of Python

    @property
    def licence(self) -> Licence | None:
        """The strictest licence among the sources, which the model inherits; None without sources."""
        return strictest([source.licence for source in self.sources])

    @property
    def restricted(self) -> tuple[TrainingSource, ...]:
        """The sources that are non-commercial, unchangeable, or without a grant."""
        return tuple(source for source in self.sources if source.licence.restricted)


def markdown(card: ModelCard) -> str:
    """Return the card as Markdown."""
    parts = [f"# {_plain(card.name)}", _plain(card.about)]
    parts += ["## Licence inherited from the data", *_licence(card), "## Intended use", card.intended]
    for title, lines in (("Misuse", card.misuse), ("Limits", card.limits)):
        parts += [f"## {title}", "\n".join(f"- {line}" for line in lines) or "Not stated."]
    parts += ["## Data", _facts(card.data), "## Recipe", _facts(card.recipe)]
    parts += ["Made by", f"```\n{card.command}\n```", f"on: {card.hardware or 'not recorded'}."]
    if card.libraries:
        parts.append("With " + ", ".join(f"{name} {v}" for name, v in card.libraries.items()) + ".")
    parts.append("## Metrics")
    if (entry := card.metrics) is None:
        by = "`python -m training.eval --output FOLDER` measures, `--metrics FOLDER/metrics.json` takes it in"
        parts.append(f"Not measured for this card: {by}.")
    else:
        of = f"{entry['corpus']['name']} (sha256 {entry['corpus']['sha256'][:12]}…)"
        by = f"percent with 95 % intervals, by `{entry['command']}`"
        parts += [f"{entry['questions']} questions over {of}, {by}.", measures_table(entry, SHORT)]
    if card.use:
        parts += ["## Use", f"```python\n{card.use}\n```"]
    if card.files:
        parts += ["## Files", _facts({name: f"`{sha256}`" for name, sha256 in card.files.items()})]
    return "\n\n".join(parts) + "\n"


def _licence(card: ModelCard) -> list[str]:
    strict = card.licence
    if strict is None:
        return ["What it learnt from is not recorded, so no use of it is known to be allowed."]
    rows = []
    for source in card.sources:
        named, url = _plain(source.licence.named), source.licence.url
        cells = (source.name, f"{named} {url}" if url else named, source.attribution or "–")
        rows.append([_plain(cell) for cell in cells])
    learnt = table(["learnt from", "licence", "to be named"], rows)
    return [f"**{_plain(strict.named)}**. {strict.plain}", learnt]


def _facts(facts: Mapping[str, object]) -> str:
    rows = []
    for name, value in facts.items():
        cell = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
        rows.append([_plain(name), _plain("not recorded" if value is None or value == "" else cell)])
    return table(["what", "value"], rows)


def _plain(text: str) -> str:
    """Return a text on one line that makes no markup, for names come from corpora."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


_USE = """\
from pathlib import Path
from rag.encoders.static import StaticEncoder
from rag.text.analysers import analyser

encoder = StaticEncoder.load(Path("FOLDER"), analyser({options}))
vectors = encoder.encode_questions(["…"])  # (1, {dim}) float32"""
_LIMITS = (
    "It knows the words of the law and the questions it learnt from; a text of other words has no vector.",
    "A vector is a sum over words: their order, negation and numbers count for nothing.",
    "It learnt the habits of those who asked and labelled; what nobody asked about is found less well.",
    "Nobody has examined it for bias.",
)
_MISUSE = (
    "Taking a high similarity for legal advice, or for proof that an article applies.",
    "Deciding about people by it.",
    "Using it against the licence of what it learnt from, named above.",
)


def learnt_from(folder: Path, manifest: Manifest, corpus: Corpus) -> tuple[TrainingSource, ...]:
    """Return what the encoder of an index over this corpus learnt from, each once.

    What the index recorded counts. An index from before licences were recorded is taken at its corpus's
    card if the encoder was fitted to that corpus; else what it learnt from is unknown, and so is the licence.
    """
    entry = manifest.encoder or {}
    ours = read(paths.builtin() / "corpus")
    own = "borrowed_from" not in entry and folder.resolve() != paths.builtin().resolve()
    fitted_to = (entry.get("fitted_to") or {}).get("corpus_sha256")
    if entry.get("learnt_from"):
        found = [TrainingSource.of(record) for record in entry["learnt_from"]]
    elif not own:
        found = [TrainingSource.of(provenance(ours.card))]
    elif fitted_to == manifest.corpus["sha256"]:
        found = [TrainingSource.of(provenance(corpus.card))]
    else:
        found = [TrainingSource.of({"name": f"corpus {str(fitted_to)[:8]}…, not recorded"})]
    if own:
        others = ((written_card(of), [each.question for each in written(of)]) for of in LANGUAGES)
        ships = ((ours.card, ours.questions), *others)
        known = {(question.id, question.text) for question in corpus.questions}
        for whose, questions in ships:
            if not known.isdisjoint((question.id, question.text) for question in questions):
                found.append(TrainingSource.of({**provenance(whose), "name": "the questions that ship"}))
    return tuple(found)


def model_card(folder: Path, manifest: Manifest, metrics: Mapping[str, Any] | None = None) -> ModelCard:
    """Make the card of the encoder of an index, with what a metrics.json over the same corpus holds.

    Raises:
        BadInput: it has no encoder that was fitted, or the metrics are of another corpus.
    """
    entry = manifest.encoder
    if entry is None or entry["kind"] != "static":
        has = "no encoder" if entry is None else f"the pretrained model {entry['name']}"
        raise BadInput(
            f"{manifest.name} has {has}: nothing was fitted that could be exported. Build it with one: "
            f"{paths.rebuild(manifest.name)} --encoder fit"
        )
    sha256 = manifest.corpus["sha256"]
    if metrics is not None and metrics["corpus"]["sha256"] != sha256:
        raise BadInput(
            f"--metrics: measured on corpus {metrics['corpus']['sha256'][:8]}…, {manifest.name} is built "
            f"from {sha256[:8]}…. Measure this one: python -m training.eval --corpus {folder / 'corpus'}"
        )
    corpus = read(folder / "corpus")
    fitted_to = entry.get("fitted_to") or {}
    if manifest.name == paths.BUILTIN or "borrowed_from" in entry:
        command = "python -m indexes make-builtin LAW"
    else:
        fits = entry["settings"].get("fits", 1)
        command = f"python -m indexes build {manifest.name} --encoder fit" + (f" --fits {fits}" * (fits > 1))
    options = ", ".join(f"{key}={value!r}" for key, value in manifest.analyser["options"].items())
    return ModelCard(
        name=entry["name"],
        about=f"A static encoder for {corpus.card.language}: a text's vector is the sum of its terms' "
        f"vectors, {entry['dim']} numbers each. Taken from the index {manifest.name}, version "
        f"{manifest.version}.",
        sources=learnt_from(folder, manifest, corpus),
        intended="Ranking statutory articles for questions in everyday words, beside keywords.",
        misuse=_MISUSE,
        limits=_LIMITS,
        data={
            "corpus, sha256": fitted_to.get("corpus_sha256"),
            "questions, sha256": fitted_to.get("questions_sha256"),
            "index, articles": manifest.corpus["articles"],
            "index, questions learnt from": manifest.corpus["learnt"],
            "law as of": corpus.card.law_date,
            "borrowed from": entry.get("borrowed_from", "no other index"),
        },
        recipe={
            "terms": entry.get("terms"),
            "analyser": manifest.analyser["id"],
            **entry.get("settings", {}),
            **({"views": " ".join(entry["views"])} if len(entry.get("views", ())) > 1 else {}),
        },
        command=command,
        hardware=entry.get("made_on"),
        libraries=manifest.libraries,
        files={
            name.removeprefix("encoder/"): file["sha256"]
            for name, file in manifest.files.items()
            if name.startswith("encoder/")
        },
        metrics=metrics,
        use=_USE.format(dim=entry["dim"], options=options),
    )
