"""The writer that the environment asks for; what is missing or mistyped is told before anybody asks."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

from rag.answer.generation.settings import read
from rag.answer.generation.writer import ModelWriter
from rag.answer.verification.gate import CitationGate
from rag.errors import MissingExtra

NEEDED = ("langchain", "phonenumbers", "stdnum")  # of the extra [llm]; imported when a question is to be sent


def model_writer(
    environ: Mapping[str, str], secrets: Mapping[str, object] | None = None
) -> ModelWriter | None:
    """Return the writer behind the gate; None where no model is named, and then none is ever asked.

    Args:
        environ: variables of the environment; they win.
        secrets: the page's, under the same names.

    Raises:
        BadInput: a setting that does not exist, or a value that it cannot have.
        MissingExtra: a model is named, and the packages of the extra [llm] are not there.
    """
    settings = read(environ, secrets)
    if settings is None:
        return None
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise MissingExtra(
            f'written answers need {", ".join(missing)}: run pip install "pandect[llm]", '
            "or unset PANDECT_MODEL"
        )
    return ModelWriter(settings, CitationGate())
