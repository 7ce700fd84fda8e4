"""The gate: lets a sentence through only if code finds that the law which it quotes says it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rag.answer.types import AcceptedSentence, Fault, Passage, RejectedSentence, Statement
from rag.answer.verification.claim import parse_claim
from rag.answer.verification.entailment import coverage, disagreements
from rag.answer.verification.quantities import cited_articles
from rag.answer.verification.quotes import Places, Span, is_long_enough, sentences
from rag.answer.verification.sanitise import marked
from rag.errors import BadInput, MissingExtra, install_hint
from rag.text.article_numbers import number_key
from rag.text.language import language_of
from rag.text.references import Reference
from rag.types import Article, Encoder

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder


class Support(Protocol):
    """A model, asked beside what code can decide: scores how far a premise supports a claim."""

    @property
    def threshold(self) -> float:
        """The least score that supports."""

    def score(self, claim: str, premise: str) -> float:
        """Return how far the premise supports the claim; more is better."""


@dataclass(frozen=True, slots=True)
class EncoderSupport:
    """The cosine of two vectors: near in meaning, which a negation hardly changes."""

    encoder: Encoder
    threshold: float = 0.5  # a first guess: it depends on the encoder, so measure yours

    def score(self, claim: str, premise: str) -> float:
        """Return the cosine, -1 to 1; 0 where one of the texts has no vector."""
        [ours] = self.encoder.encode_questions([claim])
        [theirs] = self.encoder.encode_articles([Article("", "", "", premise)])
        return float(ours @ theirs)


class EntailmentSupport:
    """The probability that a premise entails a claim, by a cross-encoder for natural language inference."""

    def __init__(self, model: str | Path, threshold: float = 0.5, *, device: str | None = None) -> None:
        """Load a folder or an id on the hub; one of its labels must begin with "entail".

        The threshold is the least probability that supports; without a device the best there is is taken.

        Raises:
            MissingExtra: sentence-transformers is not installed.
            BadInput: the model cannot be loaded, or has no label for entailment.
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
        self._place, self.threshold = places[0], threshold

    def score(self, claim: str, premise: str) -> float:
        """Return the probability of entailment, 0 to 1."""
        from torch.nn import Softmax

        [scores] = self._model.predict(
            [(premise, claim)], activation_fn=Softmax(dim=-1), show_progress_bar=False, convert_to_numpy=True
        )
        return float(scores[self._place])


RULES = 4  # raise it when the gate decides otherwise: what a measurement kept of before is then asked anew
EACH = 0.25  # share of a sentence's terms that each cited article must give, so that none is cited for show
LONGEST = 2_000  # characters of a sentence; a longer one is none
MOST_QUOTES = 20  # of a sentence; more are no sentence's support
MOST_PLACES = 20  # of one quote in one article that are looked at


@dataclass(frozen=True, slots=True)
class _SourceArticle:
    """An article, normalised for quote matching."""

    article: Article
    places: Places
    spans: tuple[Span, ...]
    language: str


@dataclass(frozen=True, slots=True)
class _MatchedQuote:
    """A quote found in its article, with the sentences that it stands in."""

    passage: Passage
    premises: tuple[str, ...]


class CitationGate:
    """Checks one sentence at a time, by code alone; a support model, if given, is asked last.

    Every fault is found, so that what is counted is true. The support scores what code found nothing
    against: it can only remove more. Safe to share between threads if the support is.
    """

    def __init__(self, support: Support | None = None) -> None:
        self._support = support

    def check(self, statement: Statement, articles: Sequence[Article]) -> AcceptedSentence | RejectedSentence:
        """Check one sentence as the model wrote it against the articles shown, with their text in force."""
        shown = {article.id: article for article in reversed(articles)}
        cited = tuple(dict.fromkeys(map(_bare, statement.article_ids)))
        known = [_source_article(shown[id_]) for id_ in cited if id_ in shown]
        faults = set(_citation_faults(statement, cited, shown))
        by_article: list[list[_MatchedQuote]] = []
        for place in known:
            by_article.append(list(_quoted(statement, place, faults)))
            if not by_article[-1] and Fault.ALTERED not in faults:
                faults.add(Fault.UNQUOTED)
        found = list(chain.from_iterable(by_article))
        text = " ".join(statement.text.split())
        if not text or marked(text, "\n".join(place.article.text for place in known)):
            faults.add(Fault.MARKUP)
        if known and len(text) <= LONGEST:
            faults |= _claim_faults(text, known, by_article)
        else:
            faults.add(Fault.UNSUPPORTED)
        if not faults and (support := self._support) is not None:
            premise = " ".join(dict.fromkeys(sentence for each in found for sentence in each.premises))
            supported = support.score(text, premise) >= support.threshold  # a NaN supports nothing
            if not supported:
                faults.add(Fault.UNSUPPORTED)
        if faults:
            return RejectedSentence(statement, tuple(fault for fault in Fault if fault in faults))
        return AcceptedSentence(text, cited, tuple(dict.fromkeys(each.passage for each in found)))


def _bare(article_id: str) -> str:
    """Return an id without blanks and one pair of square brackets; nothing else is forgiven."""
    bare = article_id.strip()
    return bare[1:-1].strip() if bare[:1] == "[" and bare[-1:] == "]" else bare


@lru_cache(maxsize=512)
def _source_article(article: Article) -> _SourceArticle:
    text = article.text
    return _SourceArticle(article, Places(text), tuple(sentences(text)), language_of(text, article.language))


def _citation_faults(
    statement: Statement, cited: Sequence[str], shown: dict[str, Article]
) -> Iterator[Fault]:
    if not cited:
        yield Fault.UNCITED
    quoted = {_bare(quote.article_id) for quote in statement.quotes}
    if any(id_ not in shown for id_ in (*cited, *quoted)):
        yield Fault.NOT_SHOWN
    if any(id_ in shown and id_ not in cited for id_ in quoted):
        yield Fault.UNCITED
    if len(statement.quotes) > MOST_QUOTES:
        yield Fault.UNSUPPORTED


def _quoted(statement: Statement, place: _SourceArticle, faults: set[Fault]) -> Iterator[_MatchedQuote]:
    """Yield the quotes of one article that stand in it; note those that do not."""
    claim = frozenset(statement.text.casefold().split())
    for quote in statement.quotes[:MOST_QUOTES]:
        if _bare(quote.article_id) != place.article.id:
            continue
        text = place.article.text
        hits = place.places.find(quote.text)[:MOST_PLACES]
        if not hits:
            faults.add(Fault.ALTERED)
            continue
        made = []
        for start, end in hits:
            touched = [span for span in place.spans if span[0] < end and start < span[1]]
            whole = len(touched) == 1 and end - start >= 0.9 * (touched[0][1] - touched[0][0])
            if is_long_enough(quote.text) or whole:
                premises = tuple(text[a:b] for a, b in touched)
                made.append(_MatchedQuote(Passage(place.article.id, start, end), premises))
        if made:  # of several places the one whose sentence shares most words with the claim
            yield max(made, key=lambda each: len(claim & set(" ".join(each.premises).casefold().split())))


def _claim_faults(
    text: str, known: Sequence[_SourceArticle], quoted: Sequence[Sequence[_MatchedQuote]]
) -> set[Fault]:
    language = known[0].language
    codes = tuple(dict.fromkeys(place.article.code for place in known))
    claim = parse_claim(text, codes, language)
    faults = {Fault.NUMBER} if _names_other_articles(text, known, codes, language) else set()
    texts = (dict.fromkeys(chain.from_iterable(each.premises for each in own)) for own in quoted)
    by_article = [[parse_claim(each, codes, language) for each in own] for own in texts]
    premises = list(chain.from_iterable(by_article))
    if not premises:
        return faults | {Fault.UNSUPPORTED}
    faults |= set(disagreements(claim, premises))
    if len(known) > 1 and any(coverage(claim, own) < EACH for own in by_article):
        faults.add(Fault.UNSUPPORTED)
    return faults


def _names_other_articles(
    text: str, known: Sequence[_SourceArticle], codes: tuple[str, ...], language: str
) -> bool:
    """Tell whether an article is named that is none of the cited, nor named by one of them."""
    named = cited_articles(text, codes, language)
    if not named:
        return False
    own = {(number_key(place.article.article_no), place.article.code) for place in known}
    in_articles = {
        (each.number, each.code, each.code_named)
        for place in known
        for each in _cited_articles(place.article.text, codes, language)
    }
    for each in named:
        of_cited = each.code is not None or each.code_named is None
        mine = of_cited and any(number == each.number and each.code in (None, code) for number, code in own)
        theirs = any(
            number == each.number and (not each.code_named or (each.code, each.code_named) == (code, name))
            for number, code, name in in_articles
        )
        if not (mine or theirs):
            return True
    return False


@lru_cache(maxsize=512)
def _cited_articles(text: str, codes: tuple[str, ...], language: str) -> tuple[Reference, ...]:
    """Return the articles that an article's text names; read in windows, for only a start is looked at."""
    return tuple(
        each
        for start, end in sentences(text)
        for each in cited_articles(" ".join(text[start:end].split()), codes, language)
    )
