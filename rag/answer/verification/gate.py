"""The gate: lets a sentence through only if code finds that the law which it quotes says it.

Support scored by a model, beside what code can decide: cosine of an encoder, or entailment.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rag.answer.types import AcceptedSentence, Fault, Passage, RejectedSentence, Statement
from rag.answer.verification.claim import Claim, parse_claim
from rag.answer.verification.entailment import coverage, disagreements
from rag.answer.verification.normalise import language_of
from rag.answer.verification.quantities import cited_articles
from rag.answer.verification.quotes import Places, Span, is_long_enough, sentences, touched_sentences
from rag.answer.verification.sanitise import marked
from rag.errors import BadInput, MissingExtra, install_hint
from rag.text.article_numbers import number_key
from rag.text.references import Reference
from rag.types import Article, Encoder

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder


SAME = 0.5  # cosine; a first guess: it depends on the encoder, so measure yours
ENTAILED = 0.5  # probability; more likely than not


class Support(Protocol):
    """Scores how far a premise supports a claim, and says from which score on that is enough."""

    @property
    def threshold(self) -> float:
        """The least score that supports."""
        ...

    def score(self, claim: str, premise: str) -> float:
        """Return how far the premise supports the claim; more is better."""
        ...


@dataclass(frozen=True, slots=True)
class EncoderSupport:
    """The cosine of two vectors: near in meaning, which a negation hardly changes."""

    encoder: Encoder
    threshold: float = SAME

    def score(self, claim: str, premise: str) -> float:
        """Return the cosine, -1 to 1; 0 where one of the texts has no vector."""
        [ours] = self.encoder.encode_questions([claim])
        [theirs] = self.encoder.encode_articles([Article("", "", "", premise)])
        return float(ours @ theirs)


class EntailmentSupport:
    """The probability that a premise entails a claim, by a cross-encoder for natural language inference."""

    def __init__(self, model: str | Path, threshold: float = ENTAILED, *, device: str | None = None) -> None:
        """Load the model.

        Args:
            model: a folder, or an id on the hub; its labels must hold one that begins with "entail".
            threshold: the least probability that supports, 0 to 1.
            device: "cpu", "cuda", …; None takes the best there is.

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
                f"entailment model {model} cannot be loaded ({error}): give a folder that holds a"
                f" model, or a "
                "hub id and a connection to the hub"
            ) from error
        labels = {str(name).lower(): int(at) for at, name in self._model.config.id2label.items()}
        places = [at for name, at in labels.items() if name.startswith("entail")]
        if len(places) != 1 or len(labels) < 2:
            raise BadInput(
                f"entailment model {model} has the labels {', '.join(labels)}: give a model for"
                f" natural language "
                'inference, with one label "entailment"'
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

    Every fault is found, so that what is counted is true. Safe to share between threads if the
    support is.

    Args:
        support: scores what code found nothing against; it can only remove more.
    """

    def __init__(self, support: Support | None = None) -> None:
        self._support = support

    def check(self, statement: Statement, articles: Sequence[Article]) -> AcceptedSentence | RejectedSentence:
        """Check one sentence against the articles that were shown.

        Args:
            statement: as the model wrote it.
            articles: those shown, with the text that is in force.
        """
        shown = {article.id: article for article in reversed(articles)}
        cited = tuple(dict.fromkeys(map(_bare, statement.article_ids)))
        known = [_source_article(shown[id_]) for id_ in cited if id_ in shown]
        faults = set(_citation_faults(statement, cited, shown))
        found: list[_MatchedQuote] = []
        for place in known:
            quoted = list(_quoted(statement, place, faults))
            if not quoted and Fault.ALTERED not in faults:
                faults.add(Fault.UNQUOTED)
            found += quoted
        text = " ".join(statement.text.split())
        if not text or marked(text, "\n".join(place.article.text for place in known)):
            faults.add(Fault.MARKUP)
        if known and len(text) <= LONGEST:
            faults |= _claim_faults(text, known, found)
        else:
            faults.add(Fault.UNSUPPORTED)
        if not faults and self._support is not None and not self._supported(text, found):
            faults.add(Fault.UNSUPPORTED)
        if faults:
            return RejectedSentence(statement, tuple(fault for fault in Fault if fault in faults))
        passages = tuple(dict.fromkeys(each.passage for each in found))
        return AcceptedSentence(text, cited, passages)

    def _supported(self, text: str, found: Sequence[_MatchedQuote]) -> bool:
        support = self._support
        premise = " ".join(dict.fromkeys(sentence for each in found for sentence in each.premises))
        return support is None or support.score(text, premise) >= support.threshold


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
            touched = touched_sentences(place.spans, start, end)
            whole = len(touched) == 1 and end - start >= 0.9 * (touched[0][1] - touched[0][0])
            if is_long_enough(quote.text) or whole:
                premises = tuple(text[a:b] for a, b in touched)
                made.append(_MatchedQuote(Passage(place.article.id, start, end), premises))
        if made:  # of several places the one whose sentence shares most words with the claim
            yield max(made, key=lambda each: len(claim & set(" ".join(each.premises).casefold().split())))


def _claim_faults(text: str, known: Sequence[_SourceArticle], found: Sequence[_MatchedQuote]) -> set[Fault]:
    language = known[0].language
    codes = tuple(dict.fromkeys(place.article.code for place in known))
    claim = parse_claim(text, codes, language)
    faults = set(_number_faults(text, known, codes, language))
    by_article = [
        _premises([each for each in found if each.passage.article_id == place.article.id], codes, language)
        for place in known
    ]
    premises = [premise for own in by_article for premise in own]
    if not premises:
        return faults | {Fault.UNSUPPORTED}
    faults |= set(disagreements(claim, premises))
    if len(known) > 1 and any(coverage(claim, own) < EACH for own in by_article):
        faults.add(Fault.UNSUPPORTED)
    return faults


def _premises(found: Sequence[_MatchedQuote], codes: tuple[str, ...], language: str) -> list[Claim]:
    texts = dict.fromkeys(sentence for each in found for sentence in each.premises)
    return [parse_claim(text, codes, language) for text in texts]


def _number_faults(
    text: str, known: Sequence[_SourceArticle], codes: tuple[str, ...], language: str
) -> Iterator[Fault]:
    """Yield a fault where an article is named that is none of the cited, nor named by one of them."""
    named = cited_articles(text, codes, language)
    if not named:
        return
    own = {(number_key(place.article.article_no), place.article.code) for place in known}
    in_articles = {
        (each.number, each.code, each.code_named)
        for place in known
        for each in _cited_articles(place.article.text, codes, language)
    }
    for each in named:
        cited = (each.code is None and each.code_named is None) or each.code is not None
        mine = cited and any(number == each.number and each.code in (None, code) for number, code in own)
        theirs = any(
            (number == each.number and (each.code, each.code_named) == (code, name))
            or (number == each.number and not each.code_named)
            for number, code, name in in_articles
        )
        if not (mine or theirs):
            yield Fault.NUMBER


@lru_cache(maxsize=512)
def _cited_articles(text: str, codes: tuple[str, ...], language: str) -> tuple[Reference, ...]:
    """Return the articles that an article's text names; read in windows, for only a start is looked at."""
    return tuple(
        each
        for start, end in sentences(text)
        for each in cited_articles(" ".join(text[start:end].split()), codes, language)
    )
