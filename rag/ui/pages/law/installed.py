"""The law that is installed: what each is, which version is in use, and what may be done with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import streamlit as st

from rag.library import AuditFinding, AuditKind, Command, InstalledLaw, InstalledVersion, OperatorLibrary
from rag.ui.components.explanation import percent
from rag.ui.html import Html, folded, rows, tag
from rag.ui.i18n import N_, Interface
from rag.ui.pages.law.jobs import attempt, button

MB = 1e6
_EXPECTED = frozenset({AuditKind.EXPECTED, AuditKind.EXPECTED_RECALL})
_SHARES = frozenset({AuditKind.UNREAD, AuditKind.FOREIGN, AuditKind.STRANGERS})  # and no articles to name
_REMOVING = "law_removing"  # in the session: the name that was asked for once


def draw(library: OperatorLibrary, laws: Sequence[InstalledLaw], t: Interface, *, running: bool) -> None:
    """Draw all of it; while a job runs, nothing else can be begun."""
    st.html(tag("h3", t("What is installed"), class_="pd-law-part"))
    opened = library.opened()
    for law in laws:
        with st.container(border=True, key=f"law-of-{law.name}"):
            st.html(_card(law, t, opened=law.name == opened))
            with st.container(horizontal=True):
                _actions(library, law, t, running=running)
            if st.session_state.get(_REMOVING) == law.name:
                _ask_again(library, law, t, opened=law.name == opened, running=running)


def _card(law: InstalledLaw, t: Interface, *, opened: bool) -> Html:
    mark = tag("span", t("This page opens it"), class_="pd-badge") if opened else ""
    title = tag("h4", law.title or law.name, " ", mark)
    problem = tag("p", law.problem, class_="pd-notice", lang="en") if law.problem else ""
    unbuilt = "" if law.built else tag("p", t("It was imported and is not built: no page can open it yet."))
    folds = _audit(law.audit, t), _versions(law.versions, t)
    return tag("div", title, unbuilt, problem, rows(_facts(law, t)), *folds, class_="pd-law")


def _facts(law: InstalledLaw, t: Interface) -> Iterator[tuple[str, str]]:
    yield t("Short name"), law.name
    if law.law_dates:
        yield t("Law as of"), t.span(law.law_dates)
    if law.licence:
        yield t("Licence"), law.licence
    if law.built and not law.problem:
        yield t("Articles"), t.number(law.articles)
        yield t("Questions"), t.number(law.questions)
        yield (
            t("Ranked by"),
            t("shared words and meaning ({encoder})", encoder=law.encoder)
            if law.encoder
            else t("shared words"),
        )
        yield t("Learned fusion"), t("yes") if law.learned else t("no")
    yield t("Size on disk"), t("{number} MB", number=t.decimal(law.size / MB, 1))


def _versions(versions: Sequence[InstalledVersion], t: Interface) -> Html | str:
    if not versions:
        return ""
    lines = []
    for each in versions:
        count = (
            t("It cannot be read")
            if each.articles is None
            else t.n("one article", "{count} articles", each.articles)
        )
        use = tag("strong", t("in use")) if each.in_use else ""
        lines.append(
            tag(
                "tr",
                tag("th", tag("code", each.name), scope="row"),
                tag("td", count),
                tag("td", each.changes, lang="en"),  # as the program says it
                tag("td", use),
            )
        )
    return _table(t.n("One version", "{count} versions", len(versions)), lines)


def _table(label: str, lines: Sequence[Html]) -> Html:
    table = tag("table", tag("tbody", *lines))
    scrolled = tag("div", table, class_="pd-table", tabindex="0", role="region", aria_label=label)
    return folded(label, scrolled, class_="pd-more")


AUDITED: Mapping[AuditKind, str] = {
    AuditKind.TEXTLESS: N_("Articles without text"),
    AuditKind.TERMLESS: N_("Articles whose text cannot be searched"),
    AuditKind.HEADLESS: N_("Articles without a heading"),
    AuditKind.SHORT: N_("Very short articles"),
    AuditKind.LONG: N_("Very long articles"),
    AuditKind.TWINS: N_("Texts that several articles have"),
    AuditKind.UNREAD: N_("Letters in words that are not searched"),
    AuditKind.FOREIGN: N_("Texts in another language"),
    AuditKind.STRANGERS: N_("Questions without a word of what answers them"),
    AuditKind.EXPECTED: N_("Questions that are expected to find an answer among ten articles"),
    AuditKind.EXPECTED_RECALL: N_("Answering articles that are expected among the first ten"),
}
DOUBTED: Mapping[AuditKind, str] = {
    AuditKind.DOUBT: N_("It is said. Held-back questions: {count}; calibration error: {share}"),
    AuditKind.DOUBT_POOR: N_("It is never said. Held-back questions: {count}; calibration error: {share}"),
    AuditKind.DOUBT_UNTESTED: N_("It is never said. Held-back questions: {count}, too few to test it"),
    AuditKind.DOUBT_UNFIT: N_("It is never said: there is no encoder, or nothing to fit it to"),
}


def _audit(findings: Sequence[AuditFinding], t: Interface) -> Html | str:
    if not findings:
        return ""
    grave = sum(each.grave for each in findings)
    found = t.n("one thing to look at", "{count} things to look at", grave) if grave else t("nothing grave")
    return _table(t.with_note(t("What an audit found"), found), [_finding(each, t) for each in findings])


def _finding(found: AuditFinding, t: Interface) -> Html:
    share = percent(found.share, 1.0, t)
    title = t(AUDITED.get(found.kind, N_("“Probably no article answers”")))
    if found.kind in DOUBTED:
        value = t(DOUBTED[found.kind], count=t.number(found.count), share=share)
    elif found.kind in _EXPECTED:
        low, high = max(0.0, found.share - found.error), min(1.0, found.share + found.error)
        value = t("{first} to {last}", first=percent(low, 1.0, t), last=percent(high, 1.0, t))
    elif found.kind in _SHARES:
        value = share
    else:
        value = t.listed((t.number(found.count), share))
    if found.examples and found.kind not in _SHARES:
        value = t.with_note(value, t.listed(found.examples))
    mark = tag("strong", " ", t("look at it")) if found.grave else ""
    return tag("tr", tag("th", title, scope="row"), tag("td", value, mark))


def _actions(library: OperatorLibrary, law: InstalledLaw, t: Interface, *, running: bool) -> None:
    def begin(label: str, command: Command, version: str = "") -> None:
        given = library.begin, command, law.name, version
        button(label, f"{command}-of-{law.name}", attempt, *given, disabled=running)

    if law.built:
        if library.may_open() and law.name != library.opened() and not law.problem:
            button(
                t("Open it for everybody"),
                f"open-{law.name}",
                attempt,
                library.open,
                law.name,
                disabled=running,
            )
        begin(t("Check it"), Command.CHECK)
    if law.shipped:
        return
    if law.built and not law.problem:
        begin(t("Audit it"), Command.AUDIT)
    begin(t("Build it"), Command.BUILD)
    others = [each.name for each in law.versions if not each.in_use and each.articles is not None]
    if others:
        with st.popover(t("Another version")):
            label, key = t("Another version"), f"law-version-of-{law.name}"
            version = st.radio(label, others, label_visibility="collapsed", key=key)
            begin(t("Bring it into use"), Command.ROLL_BACK, version or "")
    if library.may_open() and law.name == library.opened():
        st.html(tag("p", t("To remove it, open another law first."), class_="pd-hint"))
    else:
        button(t("Remove it"), f"removing-of-{law.name}", _removing, law.name, disabled=running)


def _removing(name: str | None) -> None:
    st.session_state[_REMOVING] = name


def _remove(library: OperatorLibrary, name: str) -> None:
    _removing(None)
    attempt(library.begin, Command.REMOVE, name)


def _ask_again(
    library: OperatorLibrary, law: InstalledLaw, t: Interface, *, opened: bool, running: bool
) -> None:
    said = t("The law {name} and all its versions will be gone. Nothing brings them back.", name=law.name)
    serving = t("This page goes on with it until the server is started again.") if opened else ""
    st.html(tag("p", t.sentences(said, serving), class_="pd-notice", role="alert"))
    with st.container(horizontal=True):
        button(
            t("Remove {name} for good", name=law.name), "remove", _remove, library, law.name, disabled=running
        )
        button(t("Keep it"), "keep", _removing, None)
