"""What programs are told of a search: one conversion, for the REST interface, its client and LangChain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date
from typing import Any, Literal, TypeAlias
from urllib.parse import quote

from rag.corpus.card import Contact, CorpusCard, Elsewhere
from rag.corpus.contents import Mention, Need
from rag.corpus.facts import Amount, TimeLimit
from rag.engine.engine import Engine
from rag.engine.receipt import Receipt, receipt
from rag.engine.result import MAX_CHARS, Explanation, Level, Mode, Result, Status, shorten
from rag.graph.references.reference import Role
from rag.screening.decision import Decision, DecisionReason, screen_question, steps_in_time
from rag.screening.dialogue import clarify
from rag.screening.emergencies import help_for
from rag.screening.language import question_language
from rag.screening.lay_terms import asked_in_terms
from rag.types import Article, Filter, KnownItem, Shown

NEAR = 30  # siblings on either side, and references of either way: as many as the page shows
_PEOPLE_OF_LIMIT = 2
NoticeKind: TypeAlias = Literal[
    "answer unlikely", "cut", "danger", "empty", "help", "language", "no text", "not law", "nothing found",
    "number", "other country", "other law", "part missing", "question back", "read as", "time limit",
]  # fmt: skip
Part: TypeAlias = Callable[[str], AbstractContextManager[object]]  # what measures a part of the work


@dataclass(frozen=True, slots=True)
class Person:
    """Whom to call or to visit."""

    name: str
    phone: str | None = None
    url: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """What must be known before the articles are read; `text` is English, but for what the corpus says."""

    kind: NoticeKind
    text: str
    grave: bool = False  # somebody seems to be in danger: this is said first, and nothing beside it
    people: tuple[Person, ...] = ()
    article_ids: tuple[str, ...] = ()
    url: str | None = None
    choices: tuple[str, ...] = ()  # to put in front of the question, each with a blank after it


@dataclass(frozen=True, slots=True)
class ArticleText:
    """An article, and where it can be read."""

    id: str
    href: str  # where this interface has it; the id is percent-encoded
    code: str
    article_no: str
    headings: tuple[str, ...]
    text: str
    text_kind: Literal["official", "summary", "none"]  # none: nobody has summarised it, the text is empty
    language: str
    url: str | None  # its own official address
    official_page: str | None  # the same, or else the page of its code
    valid_from: date | None
    valid_to: date | None
    law_date: date | None  # the day up to which its code was consolidated
    licence: str
    source: str


@dataclass(frozen=True, slots=True)
class FoundArticle(ArticleText):
    """An article of a result, with the reason why it is there."""

    rank: int  # from 1
    score: float
    reason: tuple[str, ...]  # stems of the question that stand in it, sorted
    asked: tuple[str, ...]  # annotated questions like this one that cite it
    named: bool  # the question names it by its number


@dataclass(frozen=True, slots=True)
class Found:
    """The articles that an index shows for a question; read the notices first."""

    status: Status
    notices: tuple[Notice, ...]
    articles: tuple[FoundArticle, ...]
    confidence: float | None  # calibrated probability that one of the first ten answers; None: not known
    doubtful: bool  # it is below its threshold
    level: Level | None
    answer_set: int | None  # an answer is very probably among so many of the first; None: not told
    may_answer: bool  # whether an answer may be written from these articles
    refusal: DecisionReason | None  # why not
    topic: tuple[str, ...]  # questions to choose from, where a few words name a matter
    steps: tuple[str, ...]  # what can be done where the first article applies
    method: Mode  # how it was searched
    day: date | None  # whose law was asked for
    index: str  # name and version of the index
    receipt: Receipt | None = None  # where it is asked for: `python -m indexes verify` checks it


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Another article, and what it is to one."""

    id: str
    href: str
    code: str
    article_no: str
    role: Role | Need | None = None  # what a reference is for, where the text says so
    start: int | None = None  # characters of the naming article's text; None: not known
    end: int | None = None


@dataclass(frozen=True, slots=True)
class ArticlePage:
    """An article with what stands around it in the law."""

    article: ArticleText
    previous: Neighbour | None
    next: Neighbour | None
    siblings: tuple[Neighbour, ...]  # under the same heading, in order, itself left out
    refers_to: tuple[Neighbour, ...]  # the first 30, in the order of its text
    refers_to_total: int
    referred_by: tuple[Neighbour, ...]  # the 30 that stand nearest
    referred_by_total: int
    read_with: tuple[Neighbour, ...]  # definitions, exceptions, the rule it departs from
    time_limits: tuple[TimeLimit, ...]
    amounts: tuple[Amount, ...]
    note: str
    questions: tuple[str, ...]  # annotated questions that cite it


@dataclass(frozen=True, slots=True)
class CodeTopic:
    """A code or act that is searched."""

    code: str
    articles: int
    law_date: date | None
    url: str | None
    themes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OtherLaw:
    """A topic that another law governs, which is not searched."""

    id: str
    title: Mapping[str, str]  # language -> name
    law: str
    url: str | None
    deadline: Mapping[str, str] = field(default_factory=dict)  # language -> the time limit that matters most
    contact: Person | None = None
    article_url: str | None = None  # of the first article that `law` names


@dataclass(frozen=True, slots=True)
class Topics:
    """What law is searched, what can be filtered by, and what is not here."""

    name: str
    version: str
    title: str
    language: str
    jurisdiction: str
    licence: str
    source: str
    text_kind: Literal["official", "summary"]
    articles: int
    first_law_date: date | None
    last_law_date: date | None
    codes: tuple[CodeTopic, ...]
    law_types: Mapping[str, int]  # to filter by -> articles
    regions: Mapping[str, int]
    methods: tuple[Mode, ...]
    examples: tuple[str, ...]
    other_laws: tuple[OtherLaw, ...]


@dataclass(frozen=True, slots=True)
class Why:
    """Everything that put the article of one rank where it is; the shares add up to the scores."""

    rank: int
    article: ArticleText
    score: float
    bm25: float
    fused: float | None
    explanation: Explanation


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it was searched, and what was found and decided."""

    question: str
    cut: bool  # it was longer than what is read
    result: Result
    decision: Decision
    k: int  # articles at most


def ask(
    engine: Engine,
    question: str,
    *,
    k: int = 10,
    where: Filter | None = None,
    method: Mode = "hybrid",
    leaves: bool = False,
    part: Part = nullcontext,
) -> Asked:
    """Search as the page does: the first 2,000 characters, screened.

    `leaves`: the question could be sent to a model, so personal data is looked for.

    Raises:
        DamagedIndex: see `Engine.ask`.
        MissingExtra: `leaves`, and what looks for personal data is not installed.
    """
    read, cut = shorten(question)
    with part("search"):
        result = engine.ask(read, k=k, where=where, mode=method)
    with part("screening"):
        decision = screen_question(read, result, engine.card, leaves=leaves)
    return Asked(read, cut, result, decision, k)


def found(asked: Asked, engine: Engine, language: str = "en", *, proof: bool = False) -> Found:
    """Return what was found; `proof` adds a receipt unless a part was missing.

    `language` is of what the corpus says in several.
    """
    result, decision, card = asked.result, asked.decision, engine.card
    return Found(
        result.status,
        tuple(_notices(asked, engine, language)),
        tuple(_found_article(shown, card) for shown in result.shown),
        result.confidence, result.doubtful, result.level, result.answer_set,
        decision.may_ask, decision.reason,
        tuple(case.question for case in result.topic),
        tuple(_steps(asked, card, language)),
        result.mode, result.in_force_on, f"{engine.info.name} {engine.info.version}",
        receipt(result, engine.info, asked.k) if proof and not result.missing else None,
    )  # fmt: skip


def article_page(engine: Engine, article_id: str) -> ArticlePage | None:
    """Return an article with what stands around it; None where no article bears the id."""
    law, card = engine.law, engine.card
    article = law.articles.get(article_id)
    if article is None:
        return None
    siblings = law.siblings(article_id)
    at = next((n for n, each in enumerate(siblings) if each.id == article_id), 0)
    near = [*siblings[max(0, at - NEAR) : at], *siblings[at + 1 : at + NEAR + 1]]
    before, after = law.previous(article_id), law.after(article_id)
    to, by = law.refers_to(article_id), law.referred_by(article_id)
    facts = engine.facts.get(article_id)
    return ArticlePage(
        ArticleText(*_text(article, card)),
        _neighbour(before) if before is not None else None,
        _neighbour(after) if after is not None else None,
        tuple(map(_neighbour, near)),
        tuple(map(_mentioned, to[:NEAR])), len(to),
        tuple(map(_mentioned, by.nearest(NEAR))), len(by),
        tuple(_mentioned(mention, need) for need, mention in law.read_with(article_id)[:NEAR]),
        facts.shown.time_limits if facts else (), facts.shown.amounts if facts else (),
        facts.note if facts else "", law.citing_questions(article_id),
    )  # fmt: skip


def topics(engine: Engine) -> Topics:
    """Return what law an index holds, and what it does not."""
    card, info, facets = engine.card, engine.info, engine.facets()
    days = card.law_dates()
    codes = []
    for code, count in facets.codes.items():
        law = card.laws.get(code)
        codes.append(
            CodeTopic(code, count, card.dated(code), law.url if law else None, law.themes if law else ())
        )
    return Topics(
        info.name, info.version, card.title, card.language, card.jurisdiction, card.licence, card.source,
        card.text_kind, info.articles, days[0] if days else None, days[-1] if days else None,
        tuple(codes), facets.law_types, facets.regions, engine.modes, card.examples,
        tuple(map(_other_law, card.elsewhere)),
    )  # fmt: skip


def _other_law(topic: Elsewhere) -> OtherLaw:
    contact = _person(topic.contact, "") if topic.contact is not None else None
    return OtherLaw(topic.id, topic.title, topic.law, topic.url, topic.deadline, contact, topic.article_url)


def why(asked: Asked, engine: Engine, rank: int) -> Why | None:
    """Return why the article of a rank, from 1, is there; None where the result has no such rank."""
    if not 1 <= rank <= len(asked.result.shown):
        return None
    shown = asked.result.shown[rank - 1]
    explained = engine.explain(asked.result)[rank - 1]
    text = ArticleText(*_text(shown.article, engine.card))
    return Why(rank, text, shown.score, explained.bm25, explained.fused, explained)


def href(article_id: str) -> str:
    """Return the address of an article in the interface; an id of dots alone is no step of a path."""
    step = quote(article_id, safe="")
    return f"/v1/articles/{step if step.strip('.') else step.replace('.', '%2E')}"


def plain(value: object) -> Any:  # noqa: ANN401 - of JSON's types
    """Return a value, which may be one of the classes above, in the types of JSON."""
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if isinstance(value, str) else value  # an enumeration's own text


def _text(article: Article, card: CorpusCard) -> tuple[Any, ...]:
    """Return the values of `ArticleText`, in order."""
    return (
        article.id, href(article.id), article.code, article.article_no, article.headings, article.text,
        card.text_kind if article.text else "none", article.language or card.language, article.url,
        card.official_page(article.code, article.url)[0], article.valid_from, article.valid_to,
        card.dated(article.code), card.licence, card.source,
    )  # fmt: skip


def _found_article(shown: Shown, card: CorpusCard) -> FoundArticle:
    why, text = shown.why, _text(shown.article, card)
    reason = tuple(sorted(why.terms))
    return FoundArticle(*text, shown.rank, shown.score, reason, why.asked, why.known)  # type: ignore[call-arg]


def _neighbour(article: Article, role: Role | Need | None = None) -> Neighbour:
    return Neighbour(article.id, href(article.id), article.code, article.article_no, role)


def _mentioned(mention: Mention, need: Need | None = None) -> Neighbour:
    other, known = mention.article, mention.start >= 0
    place = (mention.start, mention.end) if known else (None, None)
    return Neighbour(
        other.id, href(other.id), other.code, other.article_no, need or mention.role or None, *place
    )


def _notices(asked: Asked, engine: Engine, language: str) -> Iterator[Notice]:
    """Yield what the page says beside the articles, in its order; under an alarm it says nothing else.

    That an answer is unlikely is said here even where the page says it by its heading.
    """
    result, decision = asked.result, asked.decision
    if decision.reason is DecisionReason.EMPTY:
        yield Notice("empty", "The question was empty.")
        return
    if decision.grave:
        text = "Somebody seems to be in danger. Say first who can help, before anything about law."
        yield Notice("danger", text, True, _people(decision.contacts, language))
    elif decision.contacts:
        yield Notice(
            "help",
            "If this is happening to somebody, these help.",
            False,
            _people(decision.contacts, language),
        )
    if result.missing:
        text = f"{', '.join(result.missing)} of the law did not answer: articles are missing. Ask again soon."
        yield Notice("part missing", text)
    if not decision.grave:
        yield from _beside(asked, engine, language)
    # words of the law find other articles than those of another language do
    untold = result.topic or decision.grave or asked_in_terms(asked.question, engine.card.language)
    if result.doubtful and not untold:
        yield Notice("answer unlikely", "Probably none of these articles answers the question.")
    if asked.cut:
        yield Notice("cut", f"The question is long: only its first {MAX_CHARS:,} characters were searched.")
    if unread := tuple(shown.article.id for shown in result.shown if not shown.article.text):
        text = f"No text is here of {', '.join(unread)}: read the official page before citing them."
        yield Notice("no text", text, article_ids=unread)


def _beside(asked: Asked, engine: Engine, language: str) -> Iterator[Notice]:
    """Yield what is said where nobody is in danger."""
    question, result, card = asked.question, asked.result, engine.card
    yield from _screened(asked, engine, language)
    for item in result.known:
        yield from _number(item)
    if question_language(question, card.language) == card.language:
        for word in result.mended:
            yield Notice("read as", f"{word.typed!r} was read as {word.read!r}.")
    if not result.shown:
        filtered = result.where is not None and result.where != Filter()
        yield Notice("nothing found", f"No article was found{' with these filters' if filtered else ''}.")
    elif asked.decision.may_ask and not result.topic:
        back = clarify(question, result.shown, card.language)
        if back is not None:
            yield Notice("question back", back.ask, choices=tuple(option.says for option in back.options))


def _screened(asked: Asked, engine: Engine, language: str) -> Iterator[Notice]:
    """Yield time limits, and that another language, country or law was meant."""
    decision, card = asked.decision, engine.card
    if decision.limits and decision.reason is not DecisionReason.OTHER_COUNTRY:
        steps = steps_in_time(decision, card)
        texts = [_in(step.text, language) for step in steps]
        text = " ".join(("A time limit may be running: ask for help today, and keep the letter.", *texts))
        people = _people(help_for(decision.limits, card)[:_PEOPLE_OF_LIMIT], language)
        ids = (id_ for step in steps for id_ in step.articles if id_ in engine.law.articles)
        yield Notice("time limit", text, False, people, tuple(dict.fromkeys(ids)))
    asked_in = question_language(asked.question, card.language)
    if asked_in != card.language:
        text = f"The question seems to be in {asked_in!r}, and the law is in {card.language!r}: ask in that."
        yield Notice("language", text)
    if decision.reason is DecisionReason.OTHER_COUNTRY:
        text = f"The question seems to be about the law of another country ({decision.country}), not loaded."
        yield Notice("other country", text)
    elif decision.reason is DecisionReason.NOT_LAW:
        yield Notice("not law", "This does not seem to be a question of law.")
    else:
        for topic in asked.result.elsewhere:
            title, explained = _in(topic.title, language) or topic.id, _in(topic.explain, language)
            see = f" See {' and '.join(filter(None, (topic.url, topic.article_url)))}" if topic.url else ""
            limit = f" {deadline}" if (deadline := _in(topic.deadline, language)) else ""
            text = f"Another law governs {title}: {topic.law}. {explained}{limit}{see}".rstrip()
            people = _people([topic.contact] if topic.contact is not None else (), language)
            yield Notice("other law", text, False, people, url=topic.url)


def _number(item: KnownItem) -> Iterator[Notice]:
    """Yield what became of an article number that a question names."""
    if not item.found:
        yield Notice(
            "number", f"No article of this law bears the number that was asked for: {item.reference}."
        )
    for row in item.moved:
        former = "bore that number before" if item.found else "stood there"  # else something else does now
        text = f"{row.code} {row.old}: what {former} now stands in {', '.join(row.new)}."
        yield Notice("number", text)
    if item.code is None and len(item.found) > 1:
        yield Notice("number", f"Several codes have an article {item.article_no}.", article_ids=item.found)


def _steps(asked: Asked, card: CorpusCard, language: str) -> Iterator[str]:
    """Yield what can be done where the first article applies, as the page tells it."""
    result, decision = asked.result, asked.decision
    screened = decision.reason in (DecisionReason.OTHER_COUNTRY, DecisionReason.NOT_LAW)
    if screened or decision.grave or result.doubtful or result.elsewhere or result.topic or not result.shown:
        return
    for step in card.steps_after(result.shown[0].article.id)[:3]:
        yield _in(step.text, language) + (f" {step.url}" if step.url else "")


def _people(contacts: Iterable[Contact], language: str) -> tuple[Person, ...]:
    return tuple(_person(contact, language) for contact in contacts)


def _person(contact: Contact, language: str) -> Person:
    return Person(contact.name, contact.phone, contact.url, contact.noted(language)[0] or contact.note)


def _in(texts: Mapping[str, str], language: str) -> str:
    return next((texts[code] for code in (language, "en", *texts) if texts.get(code)), "")
