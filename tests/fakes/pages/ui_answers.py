"""Models that write what they are told over the fake engine's articles, and a quoter; no network."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rag.answer.extractive import Extract
from rag.answer.generation.errors import FailureReason
from rag.answer.generation.session import Draft
from rag.answer.generation.stream import Cancel, Cancelled
from rag.answer.types import (
    Answer,
    ClaimPart,
    ClaimsRead,
    Ending,
    Event,
    Fault,
    GapPart,
    LinePart,
    Part,
    Passage,
    PassagePart,
    RejectedSentence,
    Statement,
    Trimmed,
    WritingStarted,
)
from rag.types import Article
from rag.ui.background import SHOWN
from rag.ui.search import Answers
from tests.fakes.pages.ui_engine import CARD, ENGINES, FakeEngine

ARREST = "Mon voisin me frappe et menace de me tuer à cause de l'arbre"
PERSONAL = "Mon voisin Jean Dupont, 06 12 34 56 78, a planté un arbre contre ma clôture"
FOLLOW_UP = "et si il refuse ?"
SPLIT = "Qui paie les réparations du logement en location ?"
SIDES = (
    Article(
        "a",
        "Code civil",
        "1",
        "Le bailleur rend le dépôt. Le bailleur paie les réparations du logement loué.",
    ),
    Article(
        "b",
        "Code civil",
        "2",
        "Le locataire entretient le logement loué. Le locataire fait les petites réparations.",
    ),
)
EVIL = "<img src=x onerror=alert(21)> [x](javascript:alert(22)) $$x$$"

# strict quoting: passages of law (an end of a list, what came along) and lines between them
CUT = PassagePart("672", ((0, 79),))
DISTANCE = PassagePart("671", ((0, 173),), ((122, 173),))
RULE, BUT = LinePart("rule"), LinePart("but")
DEAD_TREE = PassagePart("672", ((0, 79), (525, 577)), ((0, 79),))  # lines lie between them
GOOD: tuple[Part, ...] = (RULE, CUT, BUT, DISTANCE, DEAD_TREE)
WRITTEN = Answer(Ending.WRITTEN, GOOD)
# with a judge: sentences of the model's own
MAY_CUT = ClaimPart(
    "Vous pouvez exiger que votre voisin arrache cet arbre.",
    ("672",),
    (Passage("672", 0, 79),),
    verified=True,
)
TWO_METRES = ClaimPart(
    "Un grand arbre doit se trouver à deux mètres de votre terrain.",
    ("671", "672"),
    (Passage("671", 0, 121), Passage("672", 0, 79)),
    verified=True,
)
UNSURE = ClaimPart("Le juge décide en quelques semaines.", ("672",), (), verified=False)
CLAIMS: tuple[Part, ...] = (MAY_CUT, TWO_METRES, GapPart(), UNSURE, GapPart(contradicted=True))
LIE = RejectedSentence(Statement("Le voisin doit payer mille euros.", ("672",)), (Fault.NUMBER,))
JUDGED = Answer(Ending.WRITTEN, CLAIMS, removed=(LIE, LIE), judge="Juge 1")
UNVERIFIED = Answer(Ending.UNVERIFIED, (CUT, DISTANCE), removed=(LIE, LIE), judge="Juge 1")


@dataclass(frozen=True)
class Sent:
    """What a model was asked."""

    session: Hashable
    as_of: str | None
    question: str
    articles: tuple[str, ...]
    language: str


@dataclass
class FakeModel:
    """Gives out its events; remembers what it was asked, and whether the request was ended."""

    events: Sequence[Event] = (WritingStarted(), *GOOD, WRITTEN)
    name: str = "Scribe 1"
    local: bool = False
    articles: int | None = 5
    judge: str = ""
    judge_local: bool = True
    withholds: bool = False
    sent: list[Sent] = field(default_factory=list)
    addresses: list[str | None] = field(default_factory=list)  # from which it was asked
    waits: int | None = None  # holds its breath before that event, until `go` is set or it is cancelled
    go: threading.Event = field(default_factory=threading.Event)
    closed: threading.Event = field(default_factory=threading.Event)
    breaks: bool = False  # raises in place of its last event

    def for_session(
        self, session: Hashable, say: Callable[..., str], as_of: str | None, address: str | None = None
    ) -> FakeWriter:
        self.addresses.append(address)
        return FakeWriter(self, session, as_of)


@dataclass(frozen=True)
class FakeWriter:
    model: FakeModel
    session: Hashable
    as_of: str | None

    def write(self, question: str, articles: Sequence[Article], language: str) -> Draft:
        cancel = Cancel()
        sent = Sent(self.session, self.as_of, question, tuple(a.id for a in articles), language)
        return Draft(self._events(sent, cancel), cancel)

    def _events(self, sent: Sent, cancel: Cancel) -> Iterator[Event]:
        model = self.model
        model.sent.append(sent)  # with the first event that is wanted, as a real one
        passed: list[Part] = []
        try:
            for number, event in enumerate(model.events):
                while number == model.waits and not model.go.is_set():
                    cancel.sleep(0.01)
                if model.breaks and number == len(model.events) - 1:
                    raise KeyError(sent.question)
                yield event
                passed += [event] if isinstance(event, SHOWN) else []
        except Cancelled:
            model.closed.set()
            yield Answer(Ending.STOPPED, tuple(passed))


@dataclass
class FakeQuoter:
    """Takes the first forty characters of an article, in which it knows two words."""

    score: float = 1.0
    long: bool = False
    asked: list[str] = field(default_factory=list)

    def extract(
        self, question: str, articles: Iterable[Article], law_words: Mapping[str, float] | None = None
    ) -> tuple[Extract, ...]:
        self.asked.append(question)
        return tuple(
            Extract(
                a.id,
                ((0, min(40, len(a.text))),),
                ((20, 40),) if a.id == "672" else (),
                ((3, 8),),
                ((9, 13),),
                self.score,
                long=self.long or a.id == "673",
            )
            for a in articles
        )


def ending(ending: Ending, reason: FailureReason | None = None, **more: object) -> FakeModel:
    """A model whose answer ends so, with nothing to be seen."""
    answer = replace(Answer(ending, reason="" if reason is None else str(reason)), **more)  # type: ignore[arg-type]
    return FakeModel((answer,))


TRIMMED = replace(
    WRITTEN,
    unreadable=1,
    withheld=2,
    trimmed=(Trimmed("672", 100, 600),),
    left_out=("673",),
    reason=str(FailureReason.CUT),
)
HOSTILE = ClaimPart(
    EVIL,
    ('"><img src=x onerror=alert(1)>',),
    (Passage('"><img src=x onerror=alert(1)>', 0, 90),),
    verified=True,
)
HOSTILE_LAW = PassagePart('"><img src=x onerror=alert(1)>', ((0, 90),))


def judged(answer: Answer = JUDGED, **more: object) -> FakeModel:
    """A model whose sentences a judge reads."""
    read = (ClaimsRead(1), ClaimsRead(2))
    return FakeModel((WritingStarted(), *read, answer), judge="Juge 1", **more)  # type: ignore[arg-type]


OFFICIAL = replace(CARD, text_kind="official")

# name in the address (`?answers=written`) -> what the page has to answer with
ANSWERS: Mapping[str, Answers] = {
    "quoted": Answers(FakeQuoter()),
    "written": Answers(FakeQuoter(), FakeModel()),
    "local": Answers(FakeQuoter(), FakeModel(local=True)),
    "judged": Answers(FakeQuoter(), judged()),
    "withheld": Answers(FakeQuoter(), judged(withholds=True, judge_local=False)),
    "judging": Answers(FakeQuoter(), judged(waits=3)),
    "unverified": Answers(FakeQuoter(), judged(UNVERIFIED)),
    "unjudged": Answers(FakeQuoter(), judged(replace(UNVERIFIED, reason=str(FailureReason.JUDGE)))),
    "trimmed": Answers(FakeQuoter(), FakeModel((WritingStarted(), *GOOD, TRIMMED))),
    "waiting": Answers(FakeQuoter(), FakeModel(waits=0)),
    "half": Answers(FakeQuoter(), FakeModel(waits=3)),
    "refused": Answers(FakeQuoter(), ending(Ending.REFUSED)),
    "removed": Answers(FakeQuoter(), ending(Ending.EMPTY, removed=(LIE, LIE, LIE), judge="Juge 1")),
    "unreadable": Answers(FakeQuoter(), ending(Ending.EMPTY, FailureReason.UNREADABLE, unreadable=4)),
    "dead": Answers(FakeQuoter(), ending(Ending.FAILED, FailureReason.DEAD)),
    "broken": Answers(
        FakeQuoter(),
        FakeModel((WritingStarted(), CUT, Answer(Ending.FAILED, (CUT,), reason=str(FailureReason.BROKEN)))),
    ),
    "limited": Answers(FakeQuoter(), ending(Ending.LIMITED, FailureReason.BUSY, wait=42)),
    "problem": Answers(FakeQuoter(), None, "PANDECT_MODEL_FORMAT: got 'x'; expected auto, lines or schema"),
    "hostile": Answers(
        FakeQuoter(),
        FakeModel(
            (WritingStarted(), HOSTILE_LAW, Answer(Ending.WRITTEN, (HOSTILE, HOSTILE_LAW))),
            name=EVIL,
            judge=EVIL,
        ),
    ),
}
ANSWER_ENGINES: Mapping[str, FakeEngine] = {
    **ENGINES,
    "official": FakeEngine(card=OFFICIAL),
    "sides": FakeEngine(articles=SIDES),
}
