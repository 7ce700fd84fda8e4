"""Tags of questions put in front of them: what data sets know of the asker, and the question does not say.

One switch, `--option tags=true`, in every format whose questions have such columns; `tags=COLUMN,COLUMN`
takes those columns alone. The columns themselves stay among the extra ones, so nothing is lost.
"""

from __future__ import annotations

from collections.abc import Sequence

from indexes.formats.jsonl import Record
from rag.errors import BadInput

NO_TAGS = "false"
_SENTENCE_END = (".", "!", "?", ":", "…", "。", "！", "？")


def chosen_tags(typed: str | bool, usual: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that go in front of the questions, the outermost first.

    "true" stands for the usual ones, "false" for none; else the names of known columns, with commas.

    Raises:
        BadInput: one of the names is unknown.
    """
    text = str(typed).strip().casefold()
    if text in ("true", NO_TAGS):
        return tuple(usual) if text == "true" else ()
    wanted = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in known]
    if unknown or not wanted:
        named = ", ".join(unknown) or repr(typed)
        raise BadInput(f"no tags {named}. Give true, false, or some of: {', '.join(known)}.")
    return tuple(dict.fromkeys(wanted))


def tagged(record: Record, columns: Sequence[str]) -> object:
    """Return the question of a record with its tags in front, each ended like a sentence.

    A list of tags is put together with commas. What is no text is left for the check of all questions.
    """
    question = record.get("question")
    if not isinstance(question, str) or not question.strip():
        return question
    texts = [text for column in columns if (text := _text(record.get(column)))]
    return " ".join([*(t if t.endswith(_SENTENCE_END) else f"{t}." for t in texts), question])


def _text(value: object) -> str:
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, list | tuple):
        return ", ".join(filter(None, map(_text, value)))
    return ""
