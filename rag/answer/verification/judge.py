"""Whether articles support a claim in their meaning: by an entailment model, or by a second language model.

Overlap of words is the wrong quantity: a paraphrase lowers it, a lie does not. A judge reads the claim and
the whole of the cited articles, and may accept as well as reject. What it cannot tell is `UNKNOWN`, and is
shown as not verified.
"""

from __future__ import annotations

import json
import re
import threading
import time
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rag.answer.passages import units
from rag.answer.types import VERDICTS, Passage, Verdict
from rag.answer.verification.quotes import is_long_enough, places
from rag.answer.verification.sanitise import without_thoughts
from rag.encoders.transformer import resolve_commit
from rag.errors import BadInput, MissingExtra, install_hint
from rag.text.highlight import sentences
from rag.types import Article

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

PAUSE = 60.0  # seconds after which a model that could not be loaded is tried again: not with every claim
WINDOW = 3  # sentences in a row that are read together, beside the whole article
LONGEST = 8_000  # characters of a reply that are read
THRESHOLD = 0.5  # of an entailment model that nobody calibrated: see `training.eval answers check`


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, and the words of the law that decide, where the judge named some that stand there."""

    verdict: Verdict
    passage: Passage | None = None
    score: float | None = None  # of an entailment model: the probability


NOT_JUDGED = Judgement(Verdict.UNKNOWN)


class Judge(Protocol):
    """Reads a claim against the whole articles that it cites."""

    @property
    def name(self) -> str:
        """What *About* calls it."""

    @property
    def local(self) -> bool:
        """Whether it runs on this machine for certain."""

    def judge(self, claim: str, articles: Sequence[Article]) -> Judgement:
        """Judge one claim; from any thread. Whoever asks takes whatever is raised for `NOT_JUDGED`."""


class EntailmentJudge:
    """A cross-encoder for natural language inference, multilingual if claims and law differ in language.

    A claim is supported if the best window of the law, or the whole article, entails it with a probability of
    the threshold or more; contradicted if one contradicts it so. Safe to share between threads.
    """

    local = True

    def __init__(self, model: str | Path, threshold: float = THRESHOLD, *, device: str | None = None) -> None:
        """Take a folder or an id on the hub; it is loaded with the first claim, or by `load`.

        Raises:
            BadInput: the threshold is out of range.
        """
        if not 0 <= threshold <= 1:
            raise BadInput(f"threshold {threshold} of entailment: give a probability, 0 to 1")
        self._model, self._threshold, self._device = str(model), threshold, device
        self._lock = threading.Lock()
        self._loaded: _Entailment | None = None
        self._failed: Exception | None = None
        self._again = 0.0  # on the clock: before that, loading is not tried once more

    @property
    def name(self) -> str:
        """The folder's name, or the id on the hub, once it is loaded with its commit."""
        if Path(self._model).is_dir():
            return Path(self._model).name
        commit = self._loaded.revision if self._loaded is not None else None
        return f"{self._model}@{commit[:12]}" if commit else self._model

    def load(self) -> None:
        """Load the model; seconds.

        Raises:
            MissingExtra: sentence-transformers is not installed.
            BadInput: it cannot be loaded, or has no label for entailment.
        """
        self._ready()

    def _ready(self) -> _Entailment:
        with self._lock:
            if self._failed is not None and time.monotonic() < self._again:
                raise self._failed.with_traceback(None)  # whose frames would hold the claim
            if self._loaded is None:
                try:
                    self._loaded = _Entailment(self._model, self._device)
                except Exception as error:
                    self._failed, self._again = error, time.monotonic() + PAUSE
                    raise
            return self._loaded

    def judge(self, claim: str, articles: Sequence[Article]) -> Judgement:
        """Judge a claim by its best window; see the class.

        Raises:
            MissingExtra, BadInput: as `load`.
        """
        model = self._ready()
        read_in = [Passage(a.id, *span) for a in articles for span in windows(a.text)]
        if not read_in:
            return Judgement(Verdict.ABSENT)
        texts = {article.id: article.text for article in articles}
        pairs = [(texts[place.article_id][place.start : place.end], claim) for place in read_in]
        with self._lock:
            entails, denies = model.scores(pairs)
        best = max(range(len(read_in)), key=entails.__getitem__)
        if entails[best] >= self._threshold:
            return Judgement(Verdict.SUPPORTED, read_in[best], entails[best])
        if denies and max(denies) >= self._threshold:
            at = max(range(len(read_in)), key=denies.__getitem__)
            return Judgement(Verdict.CONTRADICTED, read_in[at], entails[best])
        return Judgement(Verdict.ABSENT, score=entails[best])


class _Entailment:
    """A model that is loaded, and where its labels stand."""

    def __init__(self, model: str, device: str | None) -> None:
        try:
            from sentence_transformers import CrossEncoder
        except ImportError as error:
            raise MissingExtra(
                f"entailment model {model} needs sentence-transformers: run {install_hint('models')}"
            ) from error
        try:
            self.revision = resolve_commit(model)  # the commit on the hub; None: a folder
            self._model: CrossEncoder = CrossEncoder(model, device=device, revision=self.revision)
        except (OSError, ValueError) as error:
            raise BadInput(
                f"entailment model {model} cannot be loaded ({error}): give a folder that holds a model, or "
                "a hub id and a connection to the hub"
            ) from error
        labels = {str(name).lower(): int(at) for at, name in self._model.config.id2label.items()}
        places = [at for name, at in labels.items() if name.startswith("entail")]
        if len(places) != 1 or len(labels) < 2:
            raise BadInput(
                f"entailment model {model} has the labels {', '.join(labels)}: give a model for natural "
                'language inference, with one label "entailment"'
            )
        self._entails = places[0]
        self._denies = next((at for name, at in labels.items() if name.startswith("contradict")), None)

    def scores(self, pairs: Sequence[tuple[str, str]]) -> tuple[list[float], list[float]]:
        """Return the probabilities of entailment and of contradiction; none of what it has no label for."""
        from torch.nn import Softmax

        found = self._model.predict(
            list(pairs), activation_fn=Softmax(dim=-1), show_progress_bar=False, convert_to_numpy=True
        )
        denies = [] if self._denies is None else found[:, self._denies].tolist()
        return found[:, self._entails].tolist(), denies


def windows(text: str) -> list[tuple[int, int]]:
    """Return the spans that are read: up to `WINDOW` sentences in a row, and the whole text; each once."""
    spans = sentences(text)
    found = [
        (spans[first][0], spans[last][1])
        for first in range(len(spans))
        for last in range(first, min(first + WINDOW, len(spans)))
    ]
    return list(dict.fromkeys([*found, *([(spans[0][0], spans[-1][1])] if spans else [])]))


class ModelJudge:
    """A second call of a language model, which reads the claim and the whole articles.

    It answers with one JSON object: a verdict, and the words that decide, copied. A verdict
    whose words stand in no cited article is none.
    """

    def __init__(self, say: Callable[[str, str], str], name: str, *, local: bool = False) -> None:
        """Take what asks a model, given a system and a user message, and its name.

        What it raises counts as no judgement.
        """
        self._say, self.name, self.local = say, name, local

    def judge(self, claim: str, articles: Sequence[Article]) -> Judgement:
        """Judge a claim; a dead, slow or unreadable model judges nothing."""
        try:
            reply = self._say(_instructions(), _material(claim, articles))
        except Exception:  # noqa: BLE001 - every client has errors of its own, and they may quote the claim
            return NOT_JUDGED
        return read(reply, articles)


@cache
def _instructions() -> str:
    source = (files("rag.answer") / "prompts" / "judge.toml").read_text(encoding="utf-8")
    return str(tomllib.loads(source)["instructions"]).strip()


def _material(claim: str, articles: Sequence[Article]) -> str:
    """Return claim and articles as JSON: what stands in them cannot end its string."""
    law = [{"code": a.code, "article": a.article_no, "text": a.text} for a in articles]
    return json.dumps({"claim": claim, "articles": law}, ensure_ascii=False, indent=1)


_OBJECT = re.compile(r"\{[^{}]*\}", re.DOTALL)


def read(reply: str, articles: Sequence[Article]) -> Judgement:
    """Read a reply, without its thoughts; its last object counts, or none: those before may be drafts."""
    objects = _OBJECT.findall(without_thoughts(reply)) if len(reply) <= LONGEST else []
    try:
        record = json.loads(objects[-1]) if objects else {}
    except ValueError:
        return NOT_JUDGED
    verdict, words = record.get("verdict"), record.get("words")
    if verdict not in VERDICTS:
        return NOT_JUDGED
    passage = find(words, articles) if isinstance(words, str) else None
    if verdict != Verdict.ABSENT and passage is None:
        return NOT_JUDGED
    return Judgement(Verdict(verdict), passage)


def find(words: str, articles: Sequence[Article]) -> Passage | None:
    """Return where words stand in the first article that has them; None where none has, or for too few."""
    for article in articles:
        for start, end in places(article.text).find(words)[:1]:
            whole = (start, end) in units(article.text, article.language).spans
            if whole or is_long_enough(words):
                return Passage(article.id, start, end)
    return None
