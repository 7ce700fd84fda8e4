"""What the page's environment and secrets name: a language model, a place for what people say."""

from __future__ import annotations

import os
import threading

import streamlit as st

from rag.answer.generation.setup import model_writer
from rag.errors import PandectError
from rag.feedback import Feedback, of_environment
from rag.ui.protocols import Model


@st.cache_resource(show_spinner=False)
def model() -> tuple[Model | None, str]:
    """Return the model, or what is wrong with its settings; (None, "") where none is named."""
    secrets = st.secrets.to_dict() if st.secrets.load_if_toml_exists() else {}
    try:
        writer = model_writer(os.environ, secrets)
    except PandectError as error:  # its message holds no key
        return None, str(error)
    if writer is not None:
        threading.Thread(target=writer.warm, name="warm model", daemon=True).start()
    return writer, ""


def feedback() -> Feedback | None:
    """Return where the host has feedback kept; None where it does not.

    Raises:
        BadInput: a setting of it cannot be used.
    """
    return of_environment(os.environ)
