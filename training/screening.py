"""`python -m training.screening`: which situations of danger and time limits are found, and what else is.

The cases (`--cases FOLDER`) are a file a class, written before its rules: situations, and near misses that
must not raise that class; half of each for development, half held out. Unseen ones came after all rules;
final ones, and long tales with a danger in them or with none, after the classifier's shape was chosen; then
blind ones; fresh ones when all else was chosen. The questions that ship were judged too, twice and apart.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from indexes.cli.terminal import guarded
from rag.corpus.card import CorpusCard
from rag.errors import BadInput, PandectError
from rag.screening import danger_classifier
from rag.screening.danger import CLASSES, LIMITS, classes, log_odds
from rag.screening.emergencies import Danger, Emergency, help_for, situations
from training.eval.report import commit
from training.references.scores import wilson

LAW = Path(__file__).parents[1] / "indexes" / "builtin"
FOLDER = Path(__file__).parents[1] / "tests" / "rag" / "screening" / "cases" / "danger"
# these were written after all rules, by other writers
MEASURED = ("unseen", "final", "long", "blind", "fresh")
QUESTION_HALVES = {"dev": "questions-dev", "test": "questions-test"}  # halves of the questions that ship
HALVES = ("dev", "test", *MEASURED, *QUESTION_HALVES.values())
EMERGENCIES = CLASSES[:8]  # all but time limits
ORDINARY = "ordinary"  # what is near no class: no emergency may be raised
GROUPS = {
    "violence and suicide": CLASSES[:5], "other emergencies": CLASSES[5:8], "time limits": LIMITS,
    "ordinary tales and questions": (ORDINARY,),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Case:
    """A situation of danger, or a near miss."""

    danger: str  # the class that it is a situation of, or close to; or `ORDINARY`
    language: str
    half: str  # of HALVES
    is_case: bool  # False: a near miss
    text: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """A case, and whether the class of its file was raised, or of `ORDINARY` any emergency."""

    danger: str
    language: str
    half: str
    is_case: bool
    raised: bool
    first: bool = False  # the number made for this danger is told before any other


def read_cases(folder: Path = FOLDER) -> Iterator[Case]:
    """Yield every case of a folder.

    Raises:
        BadInput: a class has no file there, or a line is not a case.
    """
    for danger in (*CLASSES, ORDINARY):
        path = folder / f"{danger}.jsonl"
        try:
            read = list(map(json.loads, path.read_text(encoding="utf-8").splitlines()))
            cases = [
                Case(danger, each["language"], each["half"], each["danger"] is not None, each["text"])
                for each in read
            ]
        except (OSError, ValueError, KeyError, TypeError) as error:
            wanted = '{"half": "dev", "language": "fr", "danger": null, "text": ...} a line'
            raise BadInput(f"{path}: {error!r}; expected {wanted}. Name the folder with --cases.") from error
        yield from cases


QUESTIONS = ("everyday", "test", "common")  # files of questions as citizens ask them
JUDGEMENTS = (
    "questions.tsv"  # of a folder: id, class of danger, "yes" or "maybe"; who is not there is in none
)


def question_cases(folder: Path = FOLDER, law: Path = LAW) -> Iterator[Case]:
    """Yield the questions that ship as cases of `ORDINARY`, by what was judged of them, if anything was.

    One that somebody is sure to be in danger in is a situation; what is judged "maybe" is left out.

    Raises:
        BadInput: a file of questions or of judgements is none.
    """
    path = folder / JUDGEMENTS
    if not path.exists():
        return
    try:
        rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line]
        told: dict[str, set[str]] = {}
        for id_, danger, sure in rows:
            if danger not in EMERGENCIES or sure not in ("yes", "maybe"):
                raise ValueError(f"{id_} {danger} {sure}")
            told.setdefault(id_, set()).add(sure)
        for name in QUESTIONS:
            for line in (law / f"questions_{name}.jsonl").read_text(encoding="utf-8").splitlines():
                question = json.loads(line)
                is_case = "yes" in told.get(question["id"], ())
                if is_case or question["id"] not in told:
                    half = QUESTION_HALVES[question.get("split", "test")]
                    yield Case(ORDINARY, "fr", half, is_case, question["question"])
    except (OSError, ValueError, KeyError) as error:
        raise BadInput(
            f"{path}, or questions of {law}: {error!r}; expected ID, CLASS and yes or maybe"
        ) from error


FRANCE = CorpusCard("law", "Law", "fr", "FR")  # whose numbers are told


def outcomes(folder: Path = FOLDER) -> Iterator[Outcome]:
    """Ask every case of a folder; see `read_cases`."""
    for case in (*read_cases(folder), *question_cases(folder)):
        found = classes(case.text)
        raised = any(found.get(name) for name in (EMERGENCIES if case.danger == ORDINARY else (case.danger,)))
        first = case.is_case and case.danger in EMERGENCIES and _tells_first(case)
        yield Outcome(case.danger, case.language, case.half, case.is_case, raised, first)


def _tells_first(case: Case) -> bool:
    """Tell whether the first number of a situation is the one that is told of its danger alone."""
    danger = Danger.VIOLENCE if case.danger == "threat" else Danger(case.danger)
    wanted, told = help_for([Emergency(danger, now=True)], FRANCE), help_for(situations(case.text), FRANCE)
    return bool(wanted and told) and wanted[0].phone == told[0].phone


@dataclass(frozen=True, slots=True)
class Counts:
    """Situations and near misses, and how many of each raised their class."""

    cases: int
    found: int
    near: int
    alarms: int
    first: int = 0  # situations whose number is told first; of emergencies alone

    def record(self) -> dict[str, object]:
        """Return the counts with the shares and their 95 % intervals."""
        recall, alarms = wilson(self.found, self.cases), wilson(self.alarms, self.near)
        return {
            "cases": self.cases, "found": self.found,
            "recall": [recall.value, recall.low, recall.high] if self.cases else None,
            "first number": self.first,
            "near": self.near, "alarms": self.alarms,
            "alarm rate": [alarms.value, alarms.low, alarms.high] if self.near else None,
        }  # fmt: skip


def counts(found: Iterable[Outcome]) -> Mapping[str, Counts]:
    """Return "half: group", "half: class" and "half: language" -> counts."""
    by_key: dict[str, list[Outcome]] = {}
    for each in found:
        groups = [group for group, members in GROUPS.items() if each.danger in members]
        for key in (*groups, each.danger, each.language):
            by_key.setdefault(f"{each.half}: {key}", []).append(each)
    return {
        key: Counts(
            sum(o.is_case for o in own), sum(o.is_case and o.raised for o in own),
            sum(not o.is_case for o in own), sum(not o.is_case and o.raised for o in own),
            sum(o.first for o in own),
        )
        for key, own in by_key.items()
    }  # fmt: skip


@guarded
def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table, write the record if asked to; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m training.screening", description=__doc__)
    parser.add_argument("--cases", type=Path, default=FOLDER, help="folder of the cases, a file a class")
    parser.add_argument("--half", choices=HALVES, help="print and write this one alone; default: all")
    parser.add_argument(
        "--classifier", type=Path, help="a file of training.danger; default: the one that ships"
    )
    parser.add_argument(
        "--raises", type=float, metavar="LOG_ODDS", help="from which a class is raised; default: the file's"
    )
    parser.add_argument("--output", type=Path, help="JSON of all counts with their intervals")
    parsed = parser.parse_args(arguments)
    try:
        if parsed.classifier is not None or parsed.raises is not None:
            danger_classifier.use(parsed.classifier or danger_classifier.FILE, parsed.raises)
            classes.cache_clear()
            log_odds.cache_clear()
        asked = [each for each in outcomes(parsed.cases) if parsed.half in (None, each.half)]
    except PandectError as error:
        sys.stderr.write(f"ERROR {error}\n")
        return 2
    found = counts(asked)
    for key, each in found.items():
        recall, alarms = wilson(each.found, each.cases), wilson(each.alarms, each.near)
        sys.stdout.write(
            f"{key:22} found {each.found:3} of {each.cases:3} ({recall.low:.1%} to {recall.high:.1%})"
            f"   first number {each.first:3}"
            f"   false alarms {each.alarms:3} of {each.near:3} ({alarms.low:.1%} to {alarms.high:.1%})\n"
        )
    if parsed.output is not None:
        typed = shlex.join(["python", "-m", "training.screening", *(arguments or sys.argv[1:])])
        record = {"command": typed, "commit": commit(), "counts": {k: c.record() for k, c in found.items()}}
        parsed.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
