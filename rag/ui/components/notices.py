"""What is said above the cards or instead of them: whom to call first, what to try, what cannot be opened."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache

import streamlit as st

from rag.corpus.card import Contact, CorpusCard, Elsewhere, Step
from rag.engine.result import MAX_CHARS, Result
from rag.errors import BadSetting, DamagedIndex, MissingIndex, PandectError, StaleIndex, without_paths
from rag.screening.decision import Decision, DecisionReason, steps_in_time
from rag.screening.emergencies import Danger, call_line, help_for, limit_line
from rag.screening.language import asked_language, question_language
from rag.screening.lay_terms import FRENCH, asked_in_terms, french_terms
from rag.text import Analyser
from rag.text.language import language_of
from rag.text.patterns import data
from rag.types import Article
from rag.ui.components.entries import is_code, link_to, title
from rag.ui.components.explanation import matched_words
from rag.ui.components.question_form import LANGUAGE_NAMES, ask, other_language, remove_filters, theme_names
from rag.ui.html import Html, bullets, folded, join, link, plain_label, rows, site, tag, telephone
from rag.ui.i18n import LANGUAGES, N_, Interface, words
from rag.ui.layout import HELP, contact_html

_log = logging.getLogger(__name__)
_CUT = N_(
    "Your question is long ({count} characters): only the first {limit} were used. "
    "Keep the facts that matter, and ask again."
)
_FAILED = N_("The search stopped on an error. Your question was not recorded. Try again, or in other words.")
_TOO_MANY = N_("Too many searches came from your connection. Try again in {seconds}.")
_FILTERED = N_("With the filters that you chose, no article is left. Remove them, or choose others.")
_TIPS = (
    N_("Say what happened and what you would like to obtain, in everyday words."),
    N_("Check the spelling of the words that matter."),
    N_("Leave out the details that are yours alone: names, dates, amounts."),
)
_MISSING = N_(
    "A part of the law does not answer just now: articles may be missing here. Ask again in a minute."
)
_SCOPE = N_("Only this law is searched here: {title}. Another one may hold the answer.")
_ONLY = N_("Only this law is searched here: {title}. What is shown below may not help.")
_SEVERAL = N_("Searched here are {count} laws and codes: {themes}.")
_OTHER_LAW = N_(
    "Look for the official site of that country's law, or for a page like this one that holds it."
)
_DOUBT = N_("Probably no article of {title} answers this.")
_DOUBT_ALL = N_("Probably no article loaded here answers this.")
_DOUBT_CODE = N_("Probably no article of the {title} answers this.")
_LETTER = N_("This is general information; the letter or decision that you got tells your own time limit.")
_MACHINE_WROTE = N_("A machine wrote these questions; people asked none of them.")
_ASKED_IN = N_("Your question is in {asked}; the law here is in {law}.")
_ASK_IN = N_("Ask in {language}: {terms}")
# told by `screening_notice`, and not once more as a doubt
SCREENED_REASONS = (DecisionReason.OTHER_COUNTRY, DecisionReason.NOT_LAW)


def in_question_language(question: str, t: Interface) -> Interface:
    """Return the words of the question's language, the page's own where it is not told from that."""
    asked = question_language(question, t.language)
    return words(asked) if asked in LANGUAGES and asked != t.language else t


def foreign_language(question: str, law: str, page: str) -> str:
    """Return the language of a question that is not in the law's; "" where it is, or none is told.

    `page` is the page's language, in which one word is likely to be.
    """
    asked = asked_language(question, law, page) if law in LANGUAGE_NAMES else law
    return "" if asked == law else asked


def draw_language(question: str, law: str, t: Interface) -> None:
    """Say that a question is not in the language of the law, and offer what it says in words of that law."""
    asked = foreign_language(question, law, t.language)
    if not asked:
        return
    said = words(asked) if asked in LANGUAGES else t
    lang = said.how.tag
    names = {"asked": said(LANGUAGE_NAMES[asked]), "law": said(LANGUAGE_NAMES[law])}
    message, label = said(_ASKED_IN, **names), said(_ASK_IN, language=names["law"], terms="{terms}")
    spoken = data("rag.screening", "sentences")
    if law == FRENCH and asked in spoken["asked"]:
        message, label, lang = spoken["asked"][asked], spoken["ask"][asked], asked
    with st.container(key="lay-terms"):
        way = "rtl" if lang in _RIGHT_TO_LEFT else None
        st.html(tag("p", message, class_="pd-notice pd-asked-in", role="status", lang=lang, dir=way))
        if terms := french_terms(question, page=t.language) if law == FRENCH else ():
            shown = plain_label(label.replace("{terms}", said.listed(terms)))
            st.button(shown, key="ask-terms", on_click=ask, args=(", ".join(terms),))


def question_origin(card: CorpusCard, t: Interface) -> str:
    """Return that a machine wrote the questions of a corpus, where it did; "" of people's."""
    return t(_MACHINE_WROTE) if card.question_origin == "machine" else ""


def _box(t: Interface, title: str, *body: str, kind: str = "") -> None:
    """Draw a notice; its language is stated, for it may be the question's and not the page's."""
    # role=status: a screen reader says it when it appears, without taking the keyboard away
    inside = tag("h2", title), *body
    st.html(tag("div", *inside, class_=f"pd-box {kind}".strip(), role="status", lang=t.how.tag))


def empty(t: Interface) -> None:
    """Say that nothing was asked."""
    _box(t, t("Write your question first"), tag("p", t("A sentence or two about what happened is enough.")))


def truncation_notice(length: int, t: Interface) -> None:
    """Show that only the first part of a long question was used."""
    message = t(_CUT, count=t.number(length), limit=t.number(MAX_CHARS))
    st.html(tag("p", message, class_="pd-hint", role="status"))


def mended(question: str, result: Result, analyser: Analyser, t: Interface) -> None:
    """Say which words were read as others, as the articles shown write them.

    Not of a question in another language: its words are no misspelt ones.
    """
    if not result.mended or language_of(question, likely=analyser.language) != analyser.language:
        return
    read = []
    for word in result.mended:
        term = frozenset({word.term})
        written = (found for shown in result.shown for found in matched_words(shown.article, term, analyser))
        read.append(t("“{word}” (you wrote “{typed}”)", word=next(written, word.read), typed=word.typed))
    message = t("Read as: {words}.", words=t.listed(read))
    st.html(tag("p", message, class_="pd-hint pd-read-as", role="status", lang=t.how.tag))


def failed(t: Interface) -> None:
    """Say that the search broke, without the details, which may quote the question."""
    _box(t, t("Something went wrong"), tag("p", t(_FAILED)))


def missing(t: Interface) -> None:
    """Say that a part of the law was not searched."""
    st.html(tag("p", t(_MISSING), class_="pd-notice pd-missing", role="alert", lang=t.how.tag))


def too_many(seconds: int, t: Interface) -> None:
    """Say that this address has searched too often, and how long to wait."""
    message = t(_TOO_MANY, seconds=t.n("one second", "{count} seconds", seconds))
    _box(t, t("Please wait a moment"), tag("p", message))


def _people(card: CorpusCard, t: Interface) -> Html | str:
    """Return the way to those who can help, which is long on a phone; nothing where the corpus names none."""
    return tag("a", t("Talk to a person"), href=f"#{HELP}") if card.contacts else ""


def nothing(question: str, card: CorpusCard, t: Interface) -> None:
    """Say that no article was found, and what to try; nothing where it can be asked in words of the law."""
    if asked_in_terms(question, card.language, t.language):
        return
    foreign = foreign_language(question, card.language, t.language)  # said above: its spelling may be right
    other = "" if foreign else other_language(card.language, t)
    spoken = tag("p", tag("strong", other)) if other else ""
    tips = _tips(*map(t, _TIPS[::2] if foreign else _TIPS), _people(card, t))
    scope = tag("p", _scope(card, _SCOPE, t))
    _box(t, t("I found no article that answers this"), spoken, tips, scope)


def _scope(card: CorpusCard, message: str, t: Interface) -> str:
    """Return what is searched: a message with the title of the law, or the themes of many laws."""
    if themes := card.by_theme(card.laws):
        return t(_SEVERAL, count=t.number(len(card.laws)), themes=theme_names(themes, t))
    return t(message, title=card.title)


def _tips(*tips: str) -> Html:
    return bullets(filter(None, tips))


def filtered_out(t: Interface) -> None:
    """Say that the filters left nothing, and offer to remove them."""
    _box(t, t("No article with these filters"), tag("p", t(_FILTERED)))
    st.button(t("Remove the filters"), key="unfilter", on_click=remove_filters)


def elsewhere(topics: tuple[Elsewhere, ...], card: CorpusCard, t: Interface) -> None:
    """Say which law governs this instead, in one box even where two may: the second is folded."""
    if not topics:
        return
    body: list[str] = []
    for number, topic in enumerate(topics):
        name = in_language(topic.title, t.language)
        governing = tag("p", _law_html(topic), class_="pd-governing", lang=card.language)
        facts: list[tuple[str, Html]] = []
        if topic.deadline:
            facts.append((t("Time limit"), in_language(topic.deadline, t.language)))
        if topic.contact is not None:
            helper = tag("span", contact_html(topic.contact, t), lang=card.language)
            facts.append((t("Who helps"), helper))
        caution = tag("p", t(_LETTER), class_="pd-hint") if topic.deadline else ""
        told = join(governing, tag("p", in_language(topic.explain, t.language)), rows(facts), caution)
        head = tag("h3", name, class_="pd-small")
        body.append(folded(name, told, class_="pd-more") if number else join(head, told))
    if people := _people(card, t):
        body.append(tag("p", people))
    _box(t, t("This seems to belong to another law, which is not loaded here"), *body, kind="pd-elsewhere")


_FIRST_NUMBER = re.compile(r"(.*?) (\(articles? )([^ ,)]+)(.*)")


def _law_html(topic: Elsewhere) -> Html:
    """Return the law with a link to it, and another to the first article that its name tells."""
    found = _FIRST_NUMBER.fullmatch(topic.law) if topic.article_url else None
    if found is None:
        return tag("strong", link(topic.url, topic.law))
    name, before, number, rest = found.groups()
    return join(tag("strong", link(topic.url, name)), " ", before, link(topic.article_url, number), rest)


MAX_STEPS = 3  # what comes later depends on what came of these


def draw_steps(result: Result, decision: Decision, card: CorpusCard, t: Interface) -> None:
    """Draw what a person can do where the first article applies; nothing where it is not likely to answer.

    What the notice of a time limit says already is not said twice.
    """
    screened = decision.reason in SCREENED_REASONS
    if screened or result.doubtful or result.elsewhere or result.topic or not result.shown:
        return
    told = _steps_of({limit.danger for limit in decision.limits}, card)
    after = card.steps_after(result.shown[0].article.id)
    steps = [step for step in after if step not in told][:MAX_STEPS]
    if not steps:
        return
    lines = [  # the first stands open: what comes later depends on what came of it
        join(in_language(step.text, t.language), " ", site(step.url))
        if step.url
        else in_language(step.text, t.language)
        for step in steps
    ]
    first, rest = bullets(lines[:1]), ""
    if later := lines[1:]:
        rest = folded(t("And after that"), bullets(later), class_="pd-more")
    head = tag("h2", t("What you can do"))
    st.html(tag("section", head, first, rest, class_="pd-box pd-steps", lang=t.how.tag))


def in_language(texts: Mapping[str, str], language: str) -> Html:
    """Return the text in the interface's language, else in English, else in any, and say in which it is."""
    code = next((code for code in (language, "en", *texts) if texts.get(code)), language)
    return tag("span", texts.get(code, ""), lang=None if code == language else code)


def screening_notice(decision: Decision, card: CorpusCard, t: Interface) -> None:
    """Show that a question seems to be about another country's law, or about no law."""
    if decision.reason is DecisionReason.OTHER_COUNTRY:
        tips = _tips(t(_OTHER_LAW))
        title = t("Your question seems to be about the law of another country")
    elif decision.reason is DecisionReason.NOT_LAW:
        tips = _tips(t(_TIPS[0]))
        title = t("This does not seem to be a question of law")
    else:
        return
    # the themes of many laws would be more than all else that is said
    scope = "" if card.by_theme(card.laws) else tag("p", _scope(card, _ONLY, t))
    _box(t, title, scope, tips, kind="pd-doubt")


def doubtful(question: str, card: CorpusCard, law: str, t: Interface) -> None:
    """Say that probably nothing of what is shown below answers, and what to try.

    `law` is what the corpus is called in a sentence; "" where it holds many laws. A question in another
    language than the law's is told so (`draw_language`), and not to mind its spelling; where it can be asked
    in words of the law nothing is denied, for its own words tell little of what those find.
    """
    if asked_in_terms(question, card.language, t.language):
        return
    foreign = foreign_language(question, card.language, t.language)
    message = t(_DOUBT_CODE if is_code(law) else _DOUBT, title=law) if law else t(_DOUBT_ALL)
    tips = _tips(*map(t, _TIPS[:2]), _people(card, t))
    more = "" if foreign else folded(t("What to try"), tips, class_="pd-more")
    _box(t, message, more, kind="pd-doubt")


# The command stands in the error's text ("…: run python -m indexes build belgium to …"); prose ends it.
_COMMAND = re.compile(
    r"(?:python3? -m [\w.]+|pip install|git checkout)(?: +(?!(?:to|or|and|then|for|if)\b)[\w./\\:=@+~'\"-]+)*"
)
_LIST = "python -m indexes list"  # what to type when the error names no command


def draw_failure(error: PandectError, t: Interface) -> None:
    """Draw the reason calmly, the command to type, and a way to try again."""
    match error:
        case MissingIndex():
            title = t("No law is loaded here yet")
            reason = t("The page looked for an index of articles and found none.")
        case DamagedIndex():
            title = t("The index is damaged")
            reason = t("Its files are not those that were built, so nothing is searched with it.")
        case StaleIndex():
            title = t("The index is out of date")
            reason = t("It was built for another state of the law or of this program.")
        case BadSetting():
            title = t("A setting of this page is wrong")
            reason = t("Nothing is searched until whoever runs this page has put it right.")
        case _:
            title = t("The index cannot be opened")
            reason = t("The page found it, and could not read it.")
    _log_once(str(error))
    message = without_paths(str(error))
    typing = not isinstance(error, BadSetting)  # no command puts a setting right
    explained = tag("p", t.sentences(reason, *([t("Whoever runs this page can type:")] if typing else [])))
    st.html(tag("div", tag("h2", title), explained, class_="pd-box", role="status"))
    if typing:
        st.code(command(message), language=None)
    st.html(folded(t("What the program says"), tag("pre", message, lang="en"), class_="pd-whole"))
    st.button(t("Try again"), key="again")


@lru_cache(maxsize=16)
def _log_once(message: str) -> None:
    """Log why the law cannot be opened, once and not at each view: the page leaves the paths out."""
    _log.error("%s", message)


def command(message: str) -> str:
    """Return the command that an error's text tells to type."""
    found = _COMMAND.search(message)
    return found[0].rstrip(".: ") if found else _LIST


_NAMED = N_("If you are in this situation, these can help")
_KEEP = N_("Ask for help today, and keep the letter with its envelope.")
_WITH_LIMITS = frozenset({Danger.POLICE, Danger.HOUSING})  # dangers that come with a decision to contest
_PEOPLE_OF_LIMIT = 2  # a third would push the answer out of sight
_RIGHT_TO_LEFT = ("ar", "fa")


def draw_emergency(
    decision: Decision, t: Interface, card: CorpusCard, articles: Mapping[str, Article]
) -> None:
    """Draw the help box; nothing where the question speaks of no urgent situation.

    Below the numbers stands what can be done at once in that situation, with the article that it rests on. It
    speaks the language of the question where the page has it; else the page's, but for whom to call.
    """
    if not decision.urgent or not (decision.grave or decision.contacts):
        return
    t, spoken = _in_language_of(decision, t)
    paragraphs: list[Html] = []
    if decision.contacts:
        if decision.grave and (line := call_line(decision.language, decision.contacts[0].phone)):
            paragraphs.append(_in_own_language(line, decision.language))
        paragraphs += _people_html(decision.contacts, card, t)
    else:
        paragraphs.append(tag("p", t("Call the emergency number of the place where you are.")))
    found = {situation.danger for situation in decision.urgent if situation.now}
    limits = {limit.danger for limit in decision.limits} if found and found <= _WITH_LIMITS else set()
    paragraphs += _steps_html(_steps_of(found | limits, card), t, card, articles, links=1)
    heading = t("If this is happening to you, get help first") if decision.grave else t(_NAMED)
    kind, role = ("pd-urgent", "alert") if decision.grave else ("pd-people", "status")
    st.html(tag("div", tag("h2", heading), *paragraphs, class_=f"pd-box {kind}", role=role, lang=spoken))


def _people_html(contacts: Sequence[Contact], card: CorpusCard, t: Interface) -> Iterator[Html]:
    """Yield whom to call: first who is made for this danger, then the bare numbers, the others folded."""
    first, *others = contacts
    yield tag("p", contact_html(first, t, name="strong", number_first=True), lang=card.language)
    short = [each for each in others if each.phone and not each.noted(t.language)[0]]
    if short:
        numbers = (tag("li", contact_html(each, t, number_first=True)) for each in short)
        yield tag("ul", *numbers, lang=card.language, class_="pd-numbers", role="list")
    if rest := [contact_html(each, t) for each in others if each not in short]:
        label = t.n("and one more", "and {count} more", len(rest))
        yield folded(label, bullets(rest, lang=card.language), class_="pd-more")


def speaks(decision: Decision) -> bool:
    """Tell whether a notice says whom to call or what to do in time, beside which little else is said."""
    named = bool(decision.contacts) and any(each.danger is not Danger.HARASSMENT for each in decision.urgent)
    return decision.grave or named or _tells_limit(decision)


def _tells_limit(decision: Decision) -> bool:
    another = decision.reason is DecisionReason.OTHER_COUNTRY
    return bool(decision.limits) and not (decision.grave or another)


def draw_limits(decision: Decision, t: Interface, card: CorpusCard, articles: Mapping[str, Article]) -> None:
    """Draw which time limit may be running, with its articles and who helps; nothing under an alarm.

    Nor where another country's law is asked for. The sentences are those of the corpus' own law, and say so;
    a corpus without any tells only to be quick.
    """
    if not _tells_limit(decision):
        return
    t, spoken = _in_language_of(decision, t)
    steps = steps_in_time(decision, card)
    first, *later = _steps_html(steps, t, card, articles, links=2) or [Html()]
    body = [first, tag("p", t(_KEEP))]
    if line := limit_line(decision.language):
        body.insert(0, _in_own_language(line, decision.language))
    people = help_for(decision.limits, card)[:_PEOPLE_OF_LIMIT]
    if people and people[0].phone:
        called = tag("strong", people[0].name)
        body.append(tag("p", telephone(people[0].phone), " ", called, lang=card.language))
    if people:
        later.append(bullets((contact_html(each, t) for each in people), lang=card.language))
    if later:
        body.append(folded(t("Who helps, and what else can be done"), *later, class_="pd-more"))
    heading = tag("h2", t("A time limit may be running"))
    st.html(tag("div", heading, *body, class_="pd-box pd-running", role="status", lang=spoken))


def _in_own_language(line: str, language: str | None) -> Html:
    """Return a sentence in the language of a question that the page has no words for."""
    way = "rtl" if language in _RIGHT_TO_LEFT else None
    return tag("p", tag("strong", line), lang=language, dir=way)


def _in_language_of(decision: Decision, t: Interface) -> tuple[Interface, str | None]:
    """Return the interface in the question's language, and its tag where that is not the page's."""
    if decision.language not in LANGUAGES or decision.language == t.language:
        return t, None
    spoken = words(decision.language)
    return spoken, spoken.how.tag


def _steps_of(dangers: AbstractSet[str], card: CorpusCard) -> tuple[Step, ...]:
    return tuple(step for step in card.steps if not dangers.isdisjoint(step.dangers))


def _steps_html(
    steps: Iterable[Step], t: Interface, card: CorpusCard, articles: Mapping[str, Article], *, links: int
) -> list[Html]:
    """Return a paragraph a step, with so many of its articles at most, and the official service."""
    made = []
    for step in steps:
        named = [articles[id_] for id_ in step.articles if id_ in articles][:links]
        cited = [join(" ", link_to(article, title(article, t, card))) for article in named]
        if links > 1 and step.url:
            cited.append(join(" ", site(step.url)))
        made.append(tag("p", in_language(step.text, t.language), *cited))
    return made
