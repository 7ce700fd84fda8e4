"""What a model writes, what checks and a judge make of it, and what a page may show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, TypeAlias

from rag.types import Article


class Fault(StrEnum):
    """Why the hard checks stopped a sentence."""

    UNCITED = "uncited"  # names no article
    NOT_SHOWN = "not shown"  # cites an article that is not among those shown
    ALTERED = "altered"  # a quote that does not stand in the article
    NUMBER = "number"  # an article number, amount, date, share or time limit that no cited article has
    ABSOLUTE = "absolute"  # makes a rule more absolute than the law does: all, always, never, only
    AUTHORITY = "authority"  # names a court, an office or a profession that the law does not name
    MARKUP = "markup"  # links, images, HTML, control or look-alike characters


@dataclass(frozen=True, slots=True)
class Quote:
    """Words that are said to stand in an article, as the model gave them."""

    article_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence of an answer, and what is said to support it; nothing of it has been checked."""

    text: str
    article_ids: tuple[str, ...] = ()
    quotes: tuple[Quote, ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """The model says that the articles do not suffice."""


LINES = (
    "situation",
    "rule",
    "but",
    "condition",
    "deadline",
    "first",
    "also",
    "otherwise",
)  # see data/lines.toml


@dataclass(frozen=True, slots=True)
class ConnectingLine:
    """A line of the fixed list that a model puts between passages, by its key."""

    key: str  # of LINES


@dataclass(frozen=True, slots=True)
class Choice:
    """Sentences of an article that a model chose, by the numbers of `rag.answer.passages`.

    Where it named an article and no sentence, `near` is what it wrote beside the name: the sentences that are
    most like it are meant.
    """

    article_id: str
    first: int | None  # from 0
    last: int | None
    near: str = ""


ChoicePiece: TypeAlias = Choice | ConnectingLine | Refusal
Piece: TypeAlias = Statement | Refusal  # in the order that a model writes them


@dataclass(frozen=True, slots=True)
class Passage:
    """Where a quote stands: `article.text[start:end]`, which is what is shown, and not the model's copy."""

    article_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class LinePart:
    """A connecting line of a strict answer, shown in the reader's language."""

    key: str  # of LINES


@dataclass(frozen=True, slots=True)
class PassagePart:
    """A passage of a strict answer, sliced from the article's own text."""

    article_id: str
    spans: tuple[tuple[int, int], ...]  # start and end; what lies between two is left out, and marked
    brought: tuple[tuple[int, int], ...] = ()  # sentences among them that came along, to be understood


class Verdict(StrEnum):
    """What a judge says of a claim."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    ABSENT = "absent"  # the articles do not say it
    UNKNOWN = "unknown"  # nobody judged it: a dead judge, or one that could not be read


VERDICTS = (Verdict.SUPPORTED, Verdict.CONTRADICTED, Verdict.ABSENT)  # that a judge may give


@dataclass(frozen=True, slots=True)
class ClaimPart:
    """A sentence of a model's own that passed the hard checks, and what the judge said of it."""

    text: str
    article_ids: tuple[str, ...]
    passages: tuple[Passage, ...]  # the law's sentences that carry it; none where it is not verified
    verified: bool  # whether the judge said that the articles support it; else it is marked


@dataclass(frozen=True, slots=True)
class GapPart:
    """One or more sentences of the model were left out here."""

    contradicted: bool = False  # a judge said that the articles say the contrary; else nothing is said of why


Part: TypeAlias = LinePart | PassagePart | ClaimPart | GapPart  # what a page shows of an answer, in order


@dataclass(frozen=True, slots=True)
class RejectedSentence:
    """A sentence that was stopped. Its text is for measuring: it is never rendered, nor logged."""

    statement: Statement
    faults: tuple[Fault, ...]  # of hard checks
    verdict: Verdict | None = None  # of the judge, where it was asked


@dataclass(frozen=True, slots=True)
class Usage:
    """What one answer took, its judge included."""

    seconds: float = 0.0
    input_tokens: int | None = None  # None: the model did not say
    output_tokens: int | None = None


class Ending(StrEnum):
    """How writing ended."""

    WRITTEN = "written"  # something is shown
    UNVERIFIED = "unverified"  # not verified as a whole: passages of law are shown in its place
    REFUSED = "refused"  # the model said that the articles do not suffice
    EMPTY = "empty"  # everything was removed, or nothing could be read
    FAILED = "failed"  # the server was dead, slow, broken or refused the key
    LIMITED = "limited"  # a rate limit, ours or the server's
    STOPPED = "stopped"  # the person cancelled


@dataclass(frozen=True, slots=True)
class Trimmed:
    """An article of which the model was shown only some sentences, to stay within its window."""

    article_id: str
    kept: int  # characters
    of: int


@dataclass(frozen=True, slots=True)
class WritingStarted:
    """The first token arrived; shown before any sentence is complete."""


@dataclass(frozen=True, slots=True)
class ClaimsRead:
    """Claims that were read and checked so far; none is shown before the whole has been decided."""

    count: int


@dataclass(frozen=True, slots=True)
class Answer:
    """A finished answer."""

    ending: Ending
    parts: tuple[Part, ...] = ()
    removed: tuple[RejectedSentence, ...] = ()
    unreadable: int = 0  # pieces that could not be read: counted, never shown
    withheld: int = 0  # passages that lead away from the law: they stay on their cards
    trimmed: tuple[Trimmed, ...] = ()
    left_out: tuple[str, ...] = ()  # ids of shown articles that the model did not see at all
    model: str = ""
    judge: str = ""  # its name; empty: strict quoting, where nothing needs a judge
    prompt_version: str = ""
    usage: Usage = field(default_factory=Usage)
    reason: str = ""  # why it failed, for a person to act on: no key, question or model text in it
    wait: int | None = None  # seconds after which another try makes sense, where that is known


# As they come; the last is always an Answer, which has every part that came before, and others where it was
# decided by the whole.
Event: TypeAlias = WritingStarted | ClaimsRead | Part | Answer


class Writer(Protocol):
    """Writes an answer from articles, by a language model or without one."""

    @property
    def name(self) -> str:
        """What the page calls it: the model, never an address or a key."""

    def write(self, question: str, articles: Sequence[Article], language: str) -> Iterator[Event]:
        """Yield what may be shown, as soon as it may be; closing the iterator cancels the call.

        Args:
            question: as the person agreed to send it.
            articles: those shown, best first.
            language: of the question, ISO 639-1.
        """
