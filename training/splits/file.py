"""The one file of splits: which questions are held back together, for whatever trains or measures.

JSON Lines. The first line is the header:

    {"format": 1, "kind": "folds", "k": 5, "seed": 42, "questions": 1235, "questions_sha256": "...",
     "corpus": "stard", "corpus_sha256": "...", "grouping": {...}}

and each other line is one part: {"fold": "0", "questions": ["17", "23", ...]}. Kinds:

- folds: k folds with a seed, as `indexes.corpus.folds.folds` makes them;
- grouped: k folds that no group straddles; "grouping" says what the groups are;
- fixed: the parts that a data set was published with; a fold has the name of its part (train, test,
  validation, synthetic, ...). BSARD's hard negatives stand in its line: "negatives": {question: [articles]}.

In the first two kinds each fold is held back once and the others are learnt from. In the last, parts
named test, dev or validation are held back and the others are learnt from.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

from indexes.corpus.corpus import HELD_OUT
from indexes.corpus.folds import Fold, folds
from indexes.corpus.questions import question_record
from indexes.formats.jsonl import Record, dump, write_lines
from indexes.store.atomic import replacing
from rag.errors import BadInput
from rag.types import Question

FORMAT = 1
Kind = Literal["folds", "grouped", "fixed"]
KINDS: tuple[Kind, ...] = get_args(Kind)
REMAKE_HINT = "Make the file anew with python -m training.splits, or give the questions that it was made of"


@dataclass(frozen=True, slots=True)
class QuestionSplit:
    """Questions in parts, and what they were when the parts were made."""

    kind: Kind
    folds: Mapping[str, tuple[str, ...]]  # name -> ids of questions, each in one fold alone
    questions_sha256: str  # see `identity`
    corpus: str = ""  # its name
    corpus_sha256: str = ""
    seed: int | None = None
    grouping: Mapping[str, object] = field(default_factory=dict)  # of JSON's types
    negatives: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # question -> articles


def identity(questions: Iterable[Question]) -> str:
    """Return the SHA-256 of questions in canonical JSON Lines: `Corpus.questions_sha256` of the same ones."""
    digest = hashlib.sha256()
    for question in questions:
        digest.update(dump(question_record(question)))
    return digest.hexdigest()


def write_split(path: Path, split: QuestionSplit) -> None:
    """Write the file, whole or not at all; the same split gives the same bytes."""
    header = {
        "format": FORMAT,
        "kind": split.kind,
        "k": len(split.folds),
        "seed": split.seed,
        "questions": sum(map(len, split.folds.values())),
        "questions_sha256": split.questions_sha256,
        "corpus": split.corpus,
        "corpus_sha256": split.corpus_sha256,
        "grouping": dict(split.grouping) or None,
    }
    lines = [dump({key: value for key, value in header.items() if value is not None})]
    for name, ids in split.folds.items():
        hard = {id_: split.negatives[id_] for id_ in ids if split.negatives.get(id_)}
        lines.append(dump({"fold": name, "questions": ids, **({"negatives": hard} if hard else {})}))
    try:
        with replacing(path) as part:
            write_lines(part, lines)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written ({error.strerror}). Give another --output.") from None


def read_split(path: Path) -> QuestionSplit:
    """Read a file that `write_split` wrote; BadInput: it is no such file, or a question is in two folds."""
    found = _lines(path)
    header = found[0] if found else {}
    kind = next((kind for kind in KINDS if kind == header.get("kind")), None)
    if header.get("format") != FORMAT or kind is None:
        raise BadInput(
            f"{path}: not a file of splits of format {FORMAT} (its first line has "
            f"{', '.join(header) or 'nothing'}). Write one with python -m training.splits."
        )
    parts: dict[str, tuple[str, ...]] = {}
    negatives: dict[str, tuple[str, ...]] = {}
    for number, record in enumerate(found[1:], 2):
        name, ids = record.get("fold"), _ids(record.get("questions"))
        if not isinstance(name, str) or ids is None or name in parts:
            raise BadInput(
                f"{path}:{number}: a fold of another name with its questions was expected. {REMAKE_HINT}."
            )
        parts[name] = ids
        listed = record.get("negatives", {})
        for key, value in listed.items() if isinstance(listed, dict) else [("", None)]:
            articles = _ids(value)
            if articles is None:
                problem = "negatives are an object of lists of article ids"
                raise BadInput(f"{path}:{number}: {problem}. {REMAKE_HINT}.")
            negatives[key] = articles
    twice = [id_ for id_, n in Counter(id_ for ids in parts.values() for id_ in ids).items() if n > 1]
    if twice or len(parts) != header.get("k"):
        problem = f"question {twice[0]!r} is there twice" if twice else f"{len(parts)} of its folds are there"
        raise BadInput(f"{path}: {problem}. {REMAKE_HINT}.")
    seed, grouping = header.get("seed"), header.get("grouping")
    return QuestionSplit(
        kind,
        MappingProxyType(parts),
        str(header.get("questions_sha256", "")),
        str(header.get("corpus", "")),
        str(header.get("corpus_sha256", "")),
        seed if isinstance(seed, int) else None,
        grouping if isinstance(grouping, Mapping) else {},
        negatives,
    )


def _lines(path: Path) -> list[Record]:
    try:
        found = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror}). {REMAKE_HINT}.") from None
    except (ValueError, RecursionError) as error:  # ValueError: not JSON, not UTF-8
        raise BadInput(f"{path}: not JSON Lines ({error}). {REMAKE_HINT}.") from None
    if not all(isinstance(record, dict) for record in found):
        raise BadInput(f"{path}: a JSON object was expected on each line. {REMAKE_HINT}.")
    return found


def _ids(value: object) -> tuple[str, ...] | None:
    return tuple(value) if isinstance(value, list) and all(isinstance(v, str) for v in value) else None


def evaluated_folds(
    questions: Sequence[Question], splits: Path | None, k: int, seed: int, only: str | None = None
) -> list[Fold]:
    """Return the folds that are evaluated in turn; without a file of splits, k plain folds with the seed.

    Of a fixed split only one part is asked: its test part. Of the others all are, unless `only` names one.

    Raises:
        BadInput: the folds cannot be made, the file is unfit or was made of other questions, or there
            is no such fold to ask.
    """
    if splits is None:
        parts = {str(i): fold for i, fold in enumerate(folds(len(questions), k, seed))}
        problem = f"--only-fold {only}: there are folds 0 to {len(parts) - 1}"
    else:
        split = read_split(splits)
        parts = fold_parts(split, questions, splits)
        only = "test" if only is None and split.kind == "fixed" else only
        available = ", ".join(parts) or "none: nothing in it is held back"
        problem = f"{splits}: no fold {only} to ask. Give --only-fold one of: {available}."
    if only is not None and only not in parts:
        raise BadInput(problem)
    return list(parts.values()) if only is None else [parts[only]]


def fold_parts(split: QuestionSplit, questions: Sequence[Question], where: Path | str) -> dict[str, Fold]:
    """Return, by the name of a fold that is held back, the positions held and those to learn from.

    Folds come in the order of the file; of a fixed split only the parts that nothing may learn from
    are held back.

    Raises:
        BadInput: these are not the questions, in their order, that the split was made of.
    """
    position = {question.id: i for i, question in enumerate(questions)}
    listed = {id_ for ids in split.folds.values() for id_ in ids}
    missing = sorted(listed - position.keys())
    if missing:
        some = ", ".join(repr(id_) for id_ in missing[:3]) + (", ..." if len(missing) > 3 else "")
        raise BadInput(
            f"{where} names {len(missing)} questions that are not among the {len(position)} given ({some}). "
            f"{REMAKE_HINT}."
        )
    found = identity(questions)
    if found != split.questions_sha256:
        more = len(position) - len(listed)
        what = f"{more} more questions came" if more else "their texts, gold articles or order differ"
        raise BadInput(
            f"{where} was made of other questions (sha256 {split.questions_sha256[:12]}…, these are "
            f"{found[:12]}…: {what}). {REMAKE_HINT}."
        )
    fixed = split.kind == "fixed"
    learnt = {name for name in split.folds if not fixed or name not in HELD_OUT}
    made = {}
    for name, ids in split.folds.items():
        if not fixed or name in HELD_OUT:
            others = (position[id_] for other in learnt - {name} for id_ in split.folds[other])
            made[name] = Fold(tuple(sorted(position[id_] for id_ in ids)), tuple(sorted(others)))
    return made


def about(splits: Path | None) -> dict[str, object]:
    """Return what a result file says of the file it was measured with; nothing where there was none."""
    if splits is None:
        return {}
    split = read_split(splits)
    found = {"kind": split.kind, "k": len(split.folds), "seed": split.seed, "grouping": dict(split.grouping)}
    digest = hashlib.sha256(splits.read_bytes()).hexdigest()
    return {"splits": {**{key: value for key, value in found.items() if value is not None}, "sha256": digest}}
