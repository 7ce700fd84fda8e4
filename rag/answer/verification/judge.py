"""Whether articles support a claim in their meaning: by an entailment model, or by a second language model.

Overlap of words is the wrong quantity: a paraphrase lowers it, a lie does not. A judge reads the claim and
the whole of the cited articles, and may accept as well as reject. What it cannot tell is `UNKNOWN`, and is
shown as not verified.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rag.answer.types import Passage
from rag.answer.verification.quotes import Places, sentences
from rag.errors import BadInput, MissingExtra, install_hint
from rag.types import Article

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

WINDOW = 3  # sentences in a row that are read together, beside the whole article
LONGEST = 8_000  # characters of a reply that are read
THRESHOLD = 0.5  # of an entailment model that nobody calibrated: see `training.eval answers check`


class Verdict(StrEnum):
    """What a judge says of a claim."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    ABSENT = "absent"  # the articles do not say it
    UNKNOWN = "unknown"  # nobody judged it: no judge, a dead one, or one that could not be read


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

    def judge(self, claim: str, articles: Sequence[Article]) -> Judgement:
        """Judge one claim; whatever fails is `Verdict.UNKNOWN`, and nothing is raised."""


class EntailmentJudge:
    """A cross-encoder for natural language inference, multilingual if claims and law differ in language.

    A claim is supported if the best window of the law, or the whole article, entails it with a probability of
    the threshold or more; contradicted if one contradicts it so.
    """

    def __init__(self, model: str | Path, threshold: float = THRESHOLD, *, device: str | None = None) -> None:
        """Load a folder or an id on the hub; one of its labels must begin with "entail".

        Raises:
            MissingExtra: sentence-transformers is not installed.
            BadInput: it cannot be loaded or has no label for entailment, or the threshold is out of range.
        """
        if not 0 <= threshold <= 1:
            raise BadInput(f"threshold {threshold} of entailment: give a probability, 0 to 1")
        try:
            from sentence_transformers import CrossEncoder
        except ImportError as error:
            raise MissingExtra(
                f"entailment model {model} needs sentence-transformers: run {install_hint('models')}"
            ) from error
        try:
            self._model: CrossEncoder = CrossEncoder(str(model), device=device)
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
        self._threshold, self.name = threshold, str(model)

    def judge(self, claim: str, articles: Sequence[Article]) -> Judgement:
        """Judge a claim by its best window; see the class."""
        from torch.nn import Softmax

        places = [Passage(a.id, *span) for a in articles for span in windows(a.text)]
        if not places:
            return Judgement(Verdict.ABSENT)
        texts = {article.id: article.text for article in articles}
        pairs = [(texts[place.article_id][place.start : place.end], claim) for place in places]
        scores = self._model.predict(
            pairs, activation_fn=Softmax(dim=-1), show_progress_bar=False, convert_to_numpy=True
        )
        entails = scores[:, self._entails]
        best = int(entails.argmax())
        if entails[best] >= self._threshold:
            return Judgement(Verdict.SUPPORTED, places[best], float(entails[best]))
        if self._denies is not None and scores[:, self._denies].max() >= self._threshold:
            at = int(scores[:, self._denies].argmax())
            return Judgement(Verdict.CONTRADICTED, places[at], float(entails[best]))
        return Judgement(Verdict.ABSENT, score=float(entails[best]))


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

    It answers with one JSON object: a verdict, and the words that decide, copied. A verdict of support
    without words that stand in a cited article is no support.
    """

    def __init__(self, say: Callable[[str, str], str], name: str) -> None:
        """Take what asks a model, given a system and a user message, and its name.

        What it raises counts as no judgement.
        """
        self._say, self.name = say, name

    def judge(self, claim: str, articles: Sequence[Article]) -> Judgement:
        """Judge a claim; a dead, slow or unreadable model judges nothing."""
        try:
            reply = self._say(_instructions(), _material(claim, articles))
        except Exception:  # noqa: BLE001 - every client has errors of its own, and they may quote the claim
            return NOT_JUDGED
        return read(reply, articles)


@cache
def _instructions() -> str:
    return (files("rag.answer") / "prompts" / "judge.txt").read_text(encoding="utf-8").strip()


def _material(claim: str, articles: Sequence[Article]) -> str:
    """Return claim and articles as JSON: what stands in them cannot end its string."""
    law = [{"code": a.code, "article": a.article_no, "text": a.text} for a in articles]
    return json.dumps({"claim": claim, "articles": law}, ensure_ascii=False, indent=1)


_OBJECT = re.compile(r"\{[^{}]*\}", re.DOTALL)


def read(reply: str, articles: Sequence[Article]) -> Judgement:
    """Read a reply; the last object in it with a verdict counts."""
    for found in reversed(_OBJECT.findall(reply[:LONGEST])):
        try:
            record = json.loads(found)
        except ValueError:
            continue
        verdict, words = record.get("verdict"), record.get("words")
        if verdict not in (Verdict.SUPPORTED, Verdict.CONTRADICTED, Verdict.ABSENT):
            continue
        passage = find(words, articles) if isinstance(words, str) else None
        if verdict == Verdict.SUPPORTED and passage is None:
            return NOT_JUDGED
        return Judgement(Verdict(verdict), passage)
    return NOT_JUDGED


def find(words: str, articles: Sequence[Article]) -> Passage | None:
    """Return where words stand in the first article that has them; None where none has."""
    for article in articles:
        if places := Places(article.text).find(words):
            return Passage(article.id, *places[0])
    return None
