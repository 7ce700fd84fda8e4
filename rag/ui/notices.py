"""What is said above the cards, or instead of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import streamlit as st

from rag.card import CorpusCard, Elsewhere, Moved
from rag.result import KnownItem, Result
from rag.ui.form import MAX_CHARS, remove_filters
from rag.ui.i18n import N_, Words
from rag.ui.markup import link, rows, tag, web_address

_EMPTY = N_("A sentence or two about what happened is enough.")
_CUT = N_(
    "Your question is long ({count} characters): only the first {limit} were used. "
    "Keep the facts that matter, and ask again."
)
_FAILED = N_("The search stopped on an error. Your question was not recorded. Try again, or in other words.")
_FILTERED = N_("With the filters that you chose, no article is left. Remove them, or choose others.")
_TIPS = (
    N_("Say what happened and what you would like to obtain, in everyday words."),
    N_("Check the spelling of the words that matter."),
    N_("Leave out the details that are yours alone: names, dates, amounts."),
)
_SCOPE = N_("Only this law is searched here: {title}. Another one may hold the answer.")


def _box(title: str, *body: str, kind: str = "") -> None:
    # role=status: a screen reader says it when it appears, without taking the keyboard away
    st.html(tag("aside", tag("h2", title), *body, class_=f"pd-box {kind}".strip(), role="status"))


def empty(t: Words) -> None:
    """Say that nothing was asked."""
    _box(t("Write your question first"), tag("p", t(_EMPTY)))


def cut(length: int, t: Words) -> None:
    """Say that only the head of a long question was used."""
    said = t(_CUT, count=t.number(length), limit=t.number(MAX_CHARS))
    st.html(tag("p", said, class_="pd-hint", role="status"))


def failed(t: Words) -> None:
    """Say that the search broke, without the details, which may quote the question."""
    _box(t("Something went wrong"), tag("p", t(_FAILED)))


def nothing(card: CorpusCard, t: Words) -> None:
    """Say that no article was found, and what to try."""
    tips = tag("ul", *(tag("li", t(tip)) for tip in _TIPS))
    _box(t("I found no article that answers this"), tips, tag("p", t(_SCOPE, title=card.title)))


def filtered_out(t: Words) -> None:
    """Say that the filters left nothing, and offer to remove them."""
    _box(t("No article with these filters"), tag("p", t(_FILTERED)))
    st.button(t("Remove the filters"), key="unfilter", on_click=remove_filters)


def elsewhere(topics: tuple[Elsewhere, ...], t: Words) -> None:
    """Say that another law, not loaded here, governs this."""
    for topic in topics:
        where: list[tuple[str, str]] = [(t("The law to look at"), tag("strong", topic.law))]
        if web_address(topic.url):
            where.append((t("Where to find it"), link(topic.url, topic.url or "")))
        _box(
            t("This seems to belong to another law, which is not loaded here"),
            tag("p", tag("strong", in_language(topic.title, t.language))),
            tag("p", in_language(topic.explain, t.language)),
            rows(where),
            kind="pd-elsewhere",
        )


def in_language(texts: Mapping[str, str], language: str) -> str:
    """Return the text in the interface's language, else in English, else in any."""
    return next((texts[code] for code in (language, "en", *texts) if texts.get(code)), "")


def known(result: Result, t: Words) -> None:
    """Say what became of the articles that the question names by number."""
    headings = {shown.article.id: shown.article.headings for shown in result.shown}
    lines = [tag("p", line) for item in result.known for line in _fate(item, headings, t)]
    if lines:
        st.html(tag("aside", *lines, class_="pd-box", role="status"))


def _fate(item: KnownItem, headings: Mapping[str, tuple[str, ...]], t: Words) -> Iterator[str]:
    name = item.article_no if item.code is None else f"{item.article_no} ({item.code})"
    if item.moved:
        now = next((headings[i][-1] for i in item.found if headings.get(i)), None)
        for move in item.moved:
            yield " ".join(_moved(move, bool(item.found), now, t))
    elif not item.found:
        yield t("There is no article {name} here.", name=name)
    elif item.code is None and len(item.found) > 1:
        yield t("Several codes have an article {name}: you see each of them.", name=name)


def _moved(move: Moved, found: bool, now: str | None, t: Words) -> Iterator[str]:
    old = f"{move.old} ({move.code})"
    if found and now:
        yield t("Article {old} now bears on something else: “{heading}”.", old=old, heading=now)
    elif found:
        yield t("Article {old} now bears on something else.", old=old)
    else:
        yield t("Article {old} no longer exists.", old=old)
    yield t.n(
        "What it used to say has moved to article {new}.",
        "What it used to say has moved to articles {new}.",
        len(move.new),
        new=", ".join(move.new),
    )
    if move.about:
        yield t("It was known for this: {about}.", about=move.about.rstrip("."))
    if move.since:
        yield t("The numbers changed on {day}.", day=t.iso_day(move.since))
