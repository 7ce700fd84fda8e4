"""What stands around every page: the script, the name, the language, the notice, what is loaded, help."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

import streamlit as st

from rag.corpus.card import Contact, CorpusCard
from rag.corpus.licence import Grant, licence_of
from rag.errors import loggers_under
from rag.ui.html import Html, bullets, folded, join, link, rows, site, tag, telephone
from rag.ui.i18n import LANGUAGES, N_, Interface, choose, quotes_css, words

if TYPE_CHECKING:  # the page is on the screen before it is loaded
    from rag.engine.engine import Engine, IndexInfo


def mark(text: str) -> str:
    """Return a mark of what was asked, by which the script knows it in its box; it tells nothing of it.

    FNV-1a (Fowler, Noll, Vo), 32 bits, over UTF-16 units, which are what a browser counts text in.
    """
    value = 0x811C9DC5
    for unit in memoryview(text.encode("utf-16", errors="surrogatepass")[2:]).cast("H"):
        value = ((value ^ unit) * 0x01000193) & 0xFFFFFFFF
    return f"{value:x}"


_ICON = (  # why inline: Streamlit fetches emoji and icon names from the network
    '<svg viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#1d5161"/>'
    '<path d="M10 26V6h7a6 6 0 0 1 0 12h-7" fill="none" stroke="#fbfaf7" stroke-width="3.2"/></svg>'
)

_PROMISE = N_(
    "Describe your situation as you would to a friend: Pandect finds the articles of law that deal with it, "
    "and says why."
)
MACHINE = N_("A program ranks the articles. It can be wrong, and the law may have changed since.")
_PEOPLE = N_("An article is a start. For your own case, these can help:")
_BOTH = N_("shared words and meaning ({encoder})")
_BUILT = N_("{name}, version {version}, built on {day}")
_LIMITS = {
    Grant.NON_COMMERCIAL: N_("This collection may not be used commercially: {licence}"),
    Grant.NO_DERIVATIVES: N_("This collection may be passed on unchanged only: {licence}"),
    Grant.NONE: N_("No licence is known to allow the use of this whole collection: {licence}"),
}
# The server and its libraries. At level "debug" some of their versions write what the browser sends (whole
# messages or frames of the socket), and the browser sends the question.
CHATTY = ("streamlit", "uvicorn", "websockets", "wsproto", "starlette", "tornado", "asyncio")
CONTENT = "pd-content"
HELP = "pd-help"  # where those who can help stand; nothing where the corpus names none
# What Streamlit lacks or says in English only; the script in the browser puts these in (`rag.ui.layout`).
_SPOKEN = {
    "pages": N_("Pages"),
    "file": N_("Choose a file"),
    "offline": N_(
        "No connection. What you see and what you wrote stay here; the page tries again by itself."
    ),
    "Open": N_("Show the choices"),
    "Selected values": N_("Chosen"),
    "Remove": N_("Take out"),
    "Clear all": N_("Take all out"),
    "day": N_("day"),
    "month": N_("month"),
    "year": N_("year"),
    "Choose date": N_("Choose a day"),
    "Clear date": N_("Take the day out"),
}


def set_up() -> None:
    """Prepare the page: title, quiet logs; before anything else is drawn."""
    st.set_page_config(page_title="Pandect", page_icon=_ICON, layout="centered")
    keep_questions_out_of_logs()


def keep_questions_out_of_logs() -> None:
    """Raise every logger that sees what the browser sends to "info" at least."""
    # at every run of the page, which is before a module that was loaded since sees a question
    for logger in loggers_under(CHATTY):
        if logger.getEffectiveLevel() < logging.INFO:
            logger.setLevel(logging.INFO)


def interface(corpus: str | None = None) -> Interface:
    """Return the words to speak: the address's language, else the browser's, else the corpus's."""
    return words(choose(st.query_params.get("lang"), st.context.locale, corpus))


def masthead(t: Interface) -> None:
    """Draw the name, the promise and the choice of language; load the style and the script."""
    style, spoken = _loaded_first(t)
    st.html(style)
    st.html(spoken, unsafe_allow_javascript=True)
    with st.container(key="masthead"):
        motto = tag("p", t("Ask the law in your own words."), class_="pd-motto")
        promise = tag("p", t(_PROMISE), class_="pd-promise")
        skip = tag("a", t("Go to the content"), href=f"#{CONTENT}", class_="pd-skip")
        st.html(tag("header", skip, tag("h1", "Pandect"), motto, promise, class_="pd-masthead"))
        codes = list(LANGUAGES)
        with st.popover(t("Language: {language}", language=LANGUAGES[t.language]), key="languages"):
            st.radio(
                t("Language of the page"),
                codes,
                index=codes.index(t.language),
                format_func=lambda code: LANGUAGES[code],
                key="interface",
                on_change=_remember_language,
                label_visibility="collapsed",
            )


@lru_cache(maxsize=len(LANGUAGES))
def _loaded_first(t: Interface) -> tuple[Html, Html]:
    """Return the style and the script, with the words that it speaks; both are ours, and read once."""
    css = files("rag.ui").joinpath("style.css").read_text(encoding="utf-8") + quotes_css()
    lines = files("rag.ui").joinpath("script.js").read_text(encoding="utf-8").splitlines()
    source = "\n".join(line for line in lines if not line.startswith("//"))  # its notes are for readers here
    spoken = json.dumps({name: t(message) for name, message in _SPOKEN.items()})
    spoken = spoken.replace("<", "\\u003c")  # nothing in it can end the script
    source = source.replace("LANGUAGE", t.how.tag).replace("SPOKEN", spoken)
    return Html(f"<style>{css}</style>"), Html(f"<script>{source}\n</script>")


def _remember_language() -> None:
    st.query_params["lang"] = st.session_state["interface"]


def content(page: str = "") -> None:
    """Draw the place that "Go to the content" leads to; after what stands on every page, before the page."""
    st.html(tag("div", id=CONTENT, tabindex="-1", data_page=page))


def notice(t: Interface) -> None:
    """Draw what must be known before reading on."""
    first = tag("strong", t("Legal information, not legal advice."))
    st.html(tag("p", first, t.how.space, t(MACHINE), class_="pd-notice", role="note"))


def footer(engine: Engine, t: Interface) -> None:
    """Draw who can help and what is loaded; call it when the page knows what is asked."""
    *first, last = _below(engine.card, engine.info, t)
    for part in first:
        st.html(part)
    question: str | None = st.session_state.get("asked")  # for the script, which keeps it for a reload
    question_html = tag("span", hidden="", data_question=mark(question)) if question else ""
    st.html(join(last, question_html))  # one element: every element costs


AT_ONCE = 2  # contacts that stand open; under an alarm those of that danger stand above everything


@lru_cache(maxsize=4 * len(LANGUAGES))  # of the indexes that are open, and of those just closed
def _below(card: CorpusCard, info: IndexInfo, t: Interface) -> tuple[Html, ...]:
    head = tag("h2", t("What this page searches"))
    facts = rows(_loaded(card, info, t))
    # what a licence does not allow is never folded away
    inside = (head, facts) if terms(card, t) else (folded(head, facts, class_="pd-more"),)
    loaded = tag("footer", *inside, class_="pd-loaded")
    if not card.contacts:
        return (loaded,)
    people = [contact_html(contact, t) for contact in card.contacts]
    contacts = bullets(people[:AT_ONCE], lang=card.language)  # as the card is written
    if rest := people[AT_ONCE:]:
        label = t.n("and one more", "and {count} more", len(rest))
        contacts = join(contacts, folded(label, bullets(rest, lang=card.language), class_="pd-more"))
    lines = tag("h2", t("Talk to a person")), tag("p", t(_PEOPLE)), contacts
    return tag("section", *lines, class_="pd-help", id=HELP), loaded


def contact_html(contact: Contact, t: Interface, name: str = "", *, number_first: bool = False) -> Html:
    """Return who can help; the name in an element, such as "strong", where one is given."""
    label = link(contact.url, contact.name)
    label = tag(name, label) if name else label
    if contact.phone:
        number = telephone(contact.phone)
        label = join(number, " ", label) if number_first else join(label, " · ", number)
    dot = tag("span", " · ", class_="pd-dotted")  # a narrow screen begins a line with the note instead
    said, language = contact.noted(t.language)
    note = tag("span", dot, said, class_="pd-note", lang=language or None) if said else ""
    return join(label, note)


def _loaded(card: CorpusCard, info: IndexInfo, t: Interface) -> Iterator[tuple[str, str]]:
    """Yield what is known of the corpus and the index, each with its name."""
    opening, after = t.how.brackets
    count = t.n("one article", "{count} articles", info.articles)
    yield t("Law"), join(tag("span", card.title, lang=card.language), opening, count, after)
    days = card.law_dates()
    if len(days) == 1:
        yield t("Law as of"), t.day(days[0])
    elif days:
        yield t("Dates of the texts"), t.span(days)
    if card.text_kind == "summary":
        yield t("Texts"), t("unofficial summaries in plain words; each links to the official text")
    if card.source:
        yield t("Source"), source_line(card)
    if card.licence.strip():
        yield t("Licence"), link(card.licence_url, card.licence)
    limits = terms(card, t)
    if limits:
        yield t("Terms of use"), tag("strong", limits)
    if card.official_site:
        yield t("Official site"), site(card.official_site)
    yield t("Ranked by"), t(_BOTH, encoder=info.encoder) if info.encoder else t("shared words")
    yield t("Index"), t(_BUILT, name=info.name, version=info.version, day=t.iso_day(info.built))
    if card.note:
        yield t("Note"), tag("span", card.note, lang=card.language)


def terms(card: CorpusCard, t: Interface) -> str:
    """Return in plain words what a licence that restricts does not allow; nothing of a free one."""
    licence = licence_of(card)
    if not licence.text.strip() and licence.restricted:
        return t("The publisher states no licence")
    return t(_LIMITS[licence.grant], licence=licence.text) if licence.grant in _LIMITS else ""


def source_line(card: CorpusCard) -> str:
    """Return the attribution that the licence asks for, without a leading "Source:" of its own."""
    head, colon, rest = card.source.partition(":")
    return rest.strip() if colon and head.strip().lower() == "source" else card.source
