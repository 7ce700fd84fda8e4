"""The command that runs, or ran last: how far it is, what it said, and what can be done about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from rag.errors import PandectError
from rag.library import Command, JobState, OperatorLibrary
from rag.ui.html import folded, tag
from rag.ui.i18n import N_, Interface
from rag.ui.layout import CONTENT

LOOK = 2.0  # seconds
FORM = "bring-law-in"  # the part of the page where an import is asked for

COMMANDS = {
    Command.PREVIEW: N_("Reading of {name}"),
    Command.IMPORT: N_("Import of {name}"),
    Command.BUILD: N_("Build of {name}"),
    Command.CHECK: N_("Check of {name}"),
    Command.AUDIT: N_("Audit of {name}"),
    Command.GAIN: N_("Gain of {name} by what people said"),
    Command.ROLL_BACK: N_("Change of version of {name}"),
    Command.REMOVE: N_("Removal of {name}"),
}
STATES = {
    JobState.RUNNING: N_("It runs. You may leave the page, and come back."),
    JobState.DONE: N_("Done."),
    JobState.FAILED: N_("It failed. The last lines say why; what was there before still serves."),
    JobState.STOPPED: N_("It was stopped. What was there before still serves."),
}
_ERROR = "law_error"  # in the session: what could not be begun, and why


def attempt(do: Callable[..., None], *given: object) -> None:
    """Do something for a button; the page says what is wrong, and shows what has begun."""
    try:
        do(*given)
    except (PandectError, OSError) as error:
        st.session_state[_ERROR] = do.__name__, str(error)
    else:
        st.session_state.pop(_ERROR, None)


def button(label: str, key: str, do: Callable[..., None], *given: object, **more: Any) -> None:  # noqa: ANN401
    """Draw a button that does something; `more` is what Streamlit's takes too."""
    # why no callback: it would be given what stood in the boxes when the button was drawn
    if st.button(label, key=f"law-{key}", **more):
        do(*given)
        st.rerun()


def draw_beside_form(library: OperatorLibrary, t: Interface) -> None:
    """Draw why what the form asked for cannot be begun, or the way to what has begun at the top."""
    _draw_error(t, of_form=True)
    if (job := library.job()) is not None:
        way = tag("a", t(COMMANDS[job.command], name=job.name), href=f"#{CONTENT}")
        st.html(tag("p", way, class_="pd-hint"))


def _draw_error(t: Interface, *, of_form: bool) -> None:
    command, error = st.session_state.get(_ERROR, ("", ""))
    if error and (command == Command.PREVIEW) is of_form:
        del st.session_state[_ERROR]
        said = tag("h2", t("That cannot be done")), tag("p", error, lang="en")
        st.html(tag("div", *said, class_="pd-box", role="alert"))


def draw(library: OperatorLibrary, t: Interface) -> bool:
    """Draw what runs, or ran last; return whether something runs."""
    _draw_error(t, of_form=False)
    job = library.job()
    if job is None:
        return False
    running = job.state is JobState.RUNNING
    with st.container(key="law-job"):
        st.fragment(_draw, run_every=LOOK if running else None)(library, t, running)
    return running


def _draw(library: OperatorLibrary, t: Interface, running: bool) -> None:
    job = library.job()
    if job is None:
        return
    if running is not (job.state is JobState.RUNNING):
        st.rerun()  # all of the page: what is installed is another
    previewed = job.command is Command.PREVIEW and job.state is JobState.DONE
    state, way = t(STATES[job.state]), ""
    if previewed:
        state = t("This is what would be kept, with its first articles. Nothing is written yet.")
    elif job.command is Command.PREVIEW and job.state is JobState.FAILED:
        state = t(
            "It cannot be read so; the last lines say why. Columns that have other names are chosen here:"
        )
        way = tag("a", t("Bring law in"), href=f"#{FORM}")
    title = t(COMMANDS[job.command], name=job.name)
    st.html(tag("div", tag("h2", title), tag("p", state, " ", way), class_="pd-box", role="status"))
    if running:
        st.progress(job.share or 0.0, text=job.step or None)
        button(t("Stop"), "stop", attempt, library.stop)
    log = tag("pre", job.log, lang="en", tabindex="0")
    read = previewed or job.state is JobState.FAILED or (job.command is Command.GAIN and not running)
    st.html(folded(t("What the program says"), log, class_="pd-whole", open="" if read else None))
    if previewed:
        button(t("Import and build"), "install", attempt, library.install, job.number, type="primary")
