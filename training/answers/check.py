"""`python -m training.eval answers check`: what checks and a judge let through of sentences and answers.

The material, `material/sentences.jsonl` and `material/answers.jsonl`, was written over the law that ships by
a machine apart from the checks, with what a careful reader says of each line, and split in dev and test.
Labels were given twice: `honest` and `useful`, and independently `second`.

A *sentence* is shown if the hard checks find no fault ("hard checks alone": no judge can show more) and, with
a judge, if it says that the cited articles support it.

A *whole answer* is what a model returned (`raw`), streamed in random pieces through the chain of the page. A
model numbers sentences as it is shown them: where the writer had split an article otherwise than the page
does, numbers are translated first. Its outcome is decided by program, against the label:

- *empty*: no passage and no sentence is shown. Where the label says "none" (nothing answers), this is right.
- *useful*, where the label says so: every sentence of law that the answer chose is shown, with what it needs
  beside it (`rag.answer.passages`), and nothing of another article. Or all of what another answer to the same
  question with this label chose: so one labelled fragment or misleading is useful too if what came along with
  its passages makes up for it, and every article that it shows is one of this other answer's. But not where
  the answer itself chose a condition, an exception or a limit that is lost.
- *misleading*: a passage of an article that the answer did not choose is shown; or a chosen sentence, or one
  that it needs, sets a condition, an exception or a limit and is not shown, while another of its article is;
  or something is shown where nothing answers; or the label says so, and nothing made up for it.
- *fragment*: anything else.

Which sentences an answer chose is read here, not by the chain: numbers ("A2.1", "A2.1-A2.3", "1242.3"), and
sentences of the articles of which 85 % of the words stand in the answer side by side; where there are none,
articles that it names, and of these the sentences that useful answers to the question chose, else all. Of an
answer in which nothing of this can be read the useful answers to its question decide.

An answer in paraphrase is judged sentence by sentence and decided by the whole: *useful* if the label says so
and all its sentences are shown as verified; *misleading* if the label says so and any is, even where what was
left out is what misleads; *fragment* if only some are; *law alone* if passages of law are shown in its place;
*empty* if nothing is.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import random
import re
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from indexes.cli.progress import Bars
from indexes.corpus.corpus import read as read_corpus
from indexes.describing.significance import Interval
from indexes.store import paths
from indexes.store.atomic import replacing
from rag.answer.generation import prompt as prompts
from rag.answer.generation.client import Clients, Delta
from rag.answer.generation.prompt import Messages
from rag.answer.generation.rate_limit import RateLimits
from rag.answer.generation.session import AnswerResources, Endpoint, Job
from rag.answer.generation.settings import ModelSettings
from rag.answer.generation.stream import Cancel
from rag.answer.passages import units
from rag.answer.types import (
    LINES,
    Answer,
    ClaimPart,
    GapPart,
    LinePart,
    Part,
    PassagePart,
    Statement,
    Verdict,
)
from rag.answer.verification.decision import restricts
from rag.answer.verification.hard_checks import faults
from rag.answer.verification.judge import THRESHOLD, EntailmentJudge, Judge, Judgement, ModelJudge
from rag.errors import BadInput
from rag.types import Article, Progress, no_progress
from training.answers.chat import ChatFailedError
from training.answers.run import GIVE_UP, Cache, TooManyFailuresError, key, opened
from training.answers.writers import LangChainChat, ModelSpec, chat
from training.eval.report import head
from training.references.scores import wilson
from training.tables.markdown import table

MATERIAL = Path(__file__).parent / "material"
BEFORE = Path(__file__).parents[2] / "docs" / "results" / "answers-before.json"
HALVES = ("dev", "test")
LABELS = ("useful", "fragment", "misleading", "none")
FORMS = ("well-formed", "sloppy", "paraphrase")
USEFUL, FRAGMENT, MISLEADING, EMPTY, LAW = OUTCOMES = (
    "useful",
    "fragment",
    "misleading",
    "empty",
    "law alone",
)
KIND = "answers check"  # tells its result files from others
NOT_MEASURED = "not measured"
WINDOW, WHOLE = 200_000, 3_600.0  # tokens and seconds: nothing is trimmed, no judge is left out for time
PARTS = (LinePart, PassagePart, ClaimPart, GapPart)
COPIED = 0.85  # of a sentence's words that stand side by side in an answer that copied it
LEAST_WORDS = 4  # of a sentence that is looked for so
MOST_LIES = 0.05  # that a judge may show: bounds the threshold that is proposed


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an answer with the articles that it cites, honest or not."""

    id: str
    half: str
    lang: str
    kind: str
    honest: bool
    second: bool | None  # the other reader's label; None: there is none yet
    ten: tuple[str, ...]
    cited: tuple[str, ...]
    question: str
    text: str

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Sentence:
        """Read one line; what is not as it should be is a ValueError, KeyError or TypeError."""
        given = _fields(record, "id", "half", "lang", "kind", "question", "text") | _ids(
            record, "ten", "cited"
        )
        honest, second = record["honest"], record.get("second")
        if not isinstance(honest, bool) or not isinstance(second, bool | None):
            raise ValueError("honest and second are true or false")
        return cls(**given, honest=honest, second=second)

    @property
    def labels(self) -> tuple[object, object]:
        """What both readers say."""
        return self.honest, self.second


@dataclass(frozen=True, slots=True)
class WholeAnswer:
    """What a model returned to a question and ten articles."""

    id: str
    half: str
    lang: str
    question: str
    question_fr: str  # as it was searched by: answers to one question share it
    form: str
    useful: str
    second: str | None
    ten: tuple[str, ...]
    raw: str
    sentences: Mapping[str, tuple[str, ...]]  # of A1, A2 …, as its writer split them

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> WholeAnswer:
        """Read one line; see `Sentence.of`."""
        given = _fields(record, "id", "half", "lang", "question", "question_fr", "form", "useful", "raw")
        second = record.get("second")
        if given["form"] not in FORMS or given["useful"] not in LABELS or second not in (None, *LABELS):
            raise ValueError(f"form is one of {', '.join(FORMS)}, useful and second of {', '.join(LABELS)}")
        split = {label: tuple(map(str, texts)) for label, texts in record["sentences"].items()}
        if list(split) != [f"A{n}" for n in range(1, len(record["ten"]) + 1)]:
            raise ValueError("sentences are those of A1, A2 …, one label for each of the ten")
        return cls(**given, **_ids(record, "ten"), second=second, sentences=split)

    @property
    def labels(self) -> tuple[object, object]:
        """What both readers say."""
        return self.useful, self.second


_Line = TypeVar("_Line", Sentence, WholeAnswer)
Shown = tuple[Sequence[Part], Sequence[Part]]  # while it was written and not in the end; in the end
Chosen = Mapping[str, frozenset[int]]  # article id -> its units


# --- the material ---


def load(path: Path, kind: type[_Line], articles: Mapping[str, Article]) -> list[_Line]:
    """Read a file of the material, or the same packed with gzip (.gz) if that is there.

    Raises:
        BadInput: a file that cannot be read, a line of another form, or an article that the law has not.
    """
    try:
        if path.with_name(f"{path.name}.gz").is_file():
            path = path.with_name(f"{path.name}.gz")
        with (
            gzip.open(path, "rt", encoding="utf-8")
            if path.suffix == ".gz"
            else path.open(encoding="utf-8") as file
        ):
            lines = file.read().splitlines()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read ({error}). Give a folder of material in --material") from None
    made: list[_Line] = []
    for number, line in enumerate(filter(str.strip, lines), 1):
        try:
            found: _Line = kind.of(json.loads(line))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise BadInput(
                f"{path}:{number}: got {line[:60]!r} ({type(error).__name__}: {error}). Expected an "
                f"object with {', '.join(field.name for field in fields(kind))}"
            ) from None
        if unknown := {*found.ten, *getattr(found, "cited", ())} - articles.keys():
            raise BadInput(
                f"{path}:{number}: article {min(unknown)!r} is not in the law that ships: the material was "
                "written over another state of it; take both from one commit"
            )
        made.append(found)
    return made


def _fields(record: Mapping[str, Any], *names: str) -> dict[str, Any]:
    values = {name: record[name] for name in names}
    if odd := [name for name, value in values.items() if not isinstance(value, str)]:
        raise ValueError(f"{odd[0]} is no text")
    if values["half"] not in HALVES:
        raise ValueError(f"half is one of {', '.join(HALVES)}")
    return values


def _ids(record: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: tuple(map(str, record[name])) for name in names}


def kappa(pairs: Sequence[tuple[object, object]]) -> float:
    """Return Cohen's kappa of two readers' labels (Cohen 1960); nan where chance alone would agree."""
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    n = len(pairs)
    chance = sum(first[label] * second[label] for label in first) / n**2 if n else 1.0
    agreed = sum(a == b for a, b in pairs) / n if n else math.nan
    return (agreed - chance) / (1 - chance) if chance < 1 else math.nan


# --- what an answer chose, read apart from the chain ---

_NUMBERED = re.compile(
    r"(?<![\w.])A(?P<label>\d{1,2})[.:§](?P<first>\d{1,3})(?:\s*[-–—]\s*(?:A\d{1,2}[.:§])?(?P<last>\d{1,3}))?(?!\w)"
)
_LABEL = re.compile(r"(?<![\w.])A(\d{1,2})(?![\w.:§]\d|\w)")
_THOUGHTS = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


def numbered(answer: WholeAnswer, articles: Mapping[str, Article]) -> Iterator[tuple[int, int]]:
    """Yield article and sentence, from 0, of every number that exists."""
    raw = _THOUGHTS.sub(" ", answer.raw)
    for found in _NUMBERED.finditer(raw):
        label, first = int(found["label"]), int(found["first"])
        count = len(answer.sentences.get(f"A{label}", ()))
        for n in range(first, min(int(found["last"] or first), count) + 1):
            if 1 <= label <= len(answer.ten) and n >= 1:
                yield label - 1, n - 1
    for at, id_ in enumerate(answer.ten):
        own = re.escape(articles[id_].article_no)
        for found in re.finditer(rf"(?<![\w.-])(?:{own})\.(\d{{1,3}})(?![\w-])", raw):
            if 1 <= int(found[1]) <= len(answer.sentences.get(f"A{at + 1}", ())):
                yield at, int(found[1]) - 1


def copied(answer: WholeAnswer) -> Iterator[tuple[int, int]]:
    """Yield article and sentence, from 0, of law whose words stand side by side in an answer."""
    raw = _words(_THOUGHTS.sub(" ", answer.raw))
    for at in range(len(answer.ten)):
        for n, sentence in enumerate(answer.sentences.get(f"A{at + 1}", ())):
            own = _words(sentence)
            if len(own) < LEAST_WORDS:
                continue
            wanted = Counter(own)
            windows = (raw[i : i + len(own)] for i in range(max(len(raw) - len(own), 0) + 1))
            if any((wanted & Counter(window)).total() >= COPIED * len(own) for window in windows):
                yield at, n


def named(answer: WholeAnswer, articles: Mapping[str, Article]) -> Iterator[int]:
    """Yield the articles, from 0, that an answer names by label or number."""
    raw = _THOUGHTS.sub(" ", answer.raw)
    labels = {int(found) for found in _LABEL.findall(raw)}
    for at, id_ in enumerate(answer.ten):
        number = re.escape(articles[id_].article_no)
        if at + 1 in labels or re.search(rf"(?i)\bart(?:icle|icolo|ikel|\.)?\s*{number}(?![\w-])", raw):
            yield at


def places(text: str, sentences: Sequence[str]) -> list[tuple[int, int]]:
    """Return where sentences stand in an article, one after the other, whatever the blanks.

    Raises:
        BadInput: one does not stand there.
    """
    found, at = [], 0
    for sentence in sentences:
        match = re.compile(r"\s+".join(map(re.escape, sentence.split()))).search(text, at)
        if match is None:
            raise BadInput(
                f"{sentence[:60]!r} of the material is not in its article: the law has changed since"
            )
        found.append(match.span())
        at = match.end()
    return found


def _touched(article: Article, spans: Iterable[tuple[int, int]]) -> frozenset[int]:
    own, wanted = units(article.text, article.language).spans, list(spans)
    return frozenset(i for i, (a, b) in enumerate(own) if any(a < end and start < b for start, end in wanted))


def _units(
    answer: WholeAnswer, at: int, chosen: Iterable[int], articles: Mapping[str, Article]
) -> frozenset[int]:
    article = articles[answer.ten[at]]
    spans = places(article.text, answer.sentences[f"A{at + 1}"])
    return _touched(article, [spans[n] for n in chosen])


def choice(
    answer: WholeAnswer, articles: Mapping[str, Article], beside: Sequence[Chosen] = ()
) -> dict[str, frozenset[int]]:
    """Return the units of law that an answer chose, given those of useful answers to its question."""
    pairs = [*numbered(answer, articles), *copied(answer)]
    by_article: dict[int, list[int]] = {}
    for at, n in pairs:
        by_article.setdefault(at, []).append(n)
    if by_article:
        return {answer.ten[at]: _units(answer, at, ns, articles) for at, ns in by_article.items()}
    found = {}
    for at in named(answer, articles):
        id_ = answer.ten[at]
        others = frozenset[int]().union(*(other.get(id_, frozenset()) for other in beside))
        found[id_] = others or _units(answer, at, range(len(answer.sentences[f"A{at + 1}"])), articles)
    return found


def renumbered(answer: WholeAnswer, articles: Mapping[str, Article]) -> str:
    """Return what the model returned, with the numbers that the page's split of the articles gives."""

    def number(found: re.Match[str]) -> str:
        label, first = int(found["label"]), int(found["first"])
        last = int(found["last"] or first)
        split = answer.sentences.get(f"A{label}", ())
        if not 1 <= label <= len(answer.ten) or not 1 <= first <= last:
            return found[0]
        article = articles[answer.ten[label - 1]]
        own = units(article.text, article.language).spans
        if last > len(split):  # it names none; nor shall it here
            first_of, last_of = first + len(own), last + len(own)
            if first <= len(split):
                first_of = min(_units(answer, label - 1, [first - 1], articles), default=0) + 1
        else:
            meant = _units(answer, label - 1, range(first - 1, last), articles)
            first_of, last_of = min(meant) + 1, max(meant) + 1
        if (first_of, last_of) == (first, last):
            return found[0]
        mark = found[0][len(f"A{label}")]
        return f"A{label}{mark}{first_of}" + (f"-A{label}{mark}{last_of}" if last_of > first_of else "")

    return _NUMBERED.sub(number, answer.raw)


# --- outcomes ---


def shown_units(parts: Iterable[Part], articles: Mapping[str, Article]) -> dict[str, frozenset[int]]:
    """Return the units of law that the passages of an answer show."""
    found: dict[str, frozenset[int]] = {}
    for part in parts:
        if isinstance(part, PassagePart):
            article = articles[part.article_id]
            own = units(article.text, article.language).spans
            whole = {i for i, (a, b) in enumerate(own) if any(s <= a and b <= e for s, e in part.spans)}
            found[article.id] = found.get(article.id, frozenset()) | whole
    return found


def outcome(
    label: str, chosen: Chosen, shown: Chosen, beside: Sequence[Chosen], articles: Mapping[str, Article]
) -> str:
    """Return what became of an answer of law; see the module."""
    if not any(shown.values()):
        return EMPTY
    if label == "none":
        return MISLEADING
    lost = _lost(chosen, shown, articles)  # the answer's own: another's choice makes not up for it
    if not lost and any(
        other and set(shown) <= set(other) and _covered(other, shown, articles) for other in beside
    ):
        return USEFUL
    chosen = chosen or (beside[0] if beside else {})
    if not set(shown) <= set(chosen):
        return MISLEADING
    if label != USEFUL:
        return label
    if _covered(chosen, shown, articles):
        return USEFUL
    return MISLEADING if _lost(_needed(chosen, articles), shown, articles) else FRAGMENT


def _needed(chosen: Chosen, articles: Mapping[str, Article]) -> Chosen:
    return {
        id_: frozenset(units(articles[id_].text, articles[id_].language).closure(wanted))
        for id_, wanted in chosen.items()
    }


def _lost(wanted: Chosen, shown: Chosen, articles: Mapping[str, Article]) -> bool:
    """Tell whether a limit of these is not shown, while another unit of its article is."""
    for id_ in wanted.keys() & shown.keys():
        own = units(articles[id_].text, articles[id_].language).spans
        missing = wanted[id_] - shown[id_]
        if shown[id_] and any(restricts(articles[id_].text[slice(*own[i])]) for i in missing):
            return True
    return False


def _covered(chosen: Chosen, shown: Chosen, articles: Mapping[str, Article]) -> bool:
    return all(of <= shown.get(id_, frozenset()) for id_, of in _needed(chosen, articles).items())


def outcome_of_claims(label: str, parts: Sequence[Part]) -> str:
    """Return what became of an answer in a model's own words; see the module."""
    claims = [part for part in parts if isinstance(part, ClaimPart)]
    verified = sum(claim.verified for claim in claims)
    if label == MISLEADING and verified:
        return MISLEADING
    if claims:
        gaps = any(isinstance(part, GapPart) for part in parts)
        return USEFUL if verified == len(claims) and not gaps and label == USEFUL else FRAGMENT
    return LAW if any(isinstance(part, PassagePart) for part in parts) else EMPTY


def foreign_words(parts: Iterable[Part], ten: Mapping[str, Article]) -> tuple[int, int]:
    """Return how many words of a strict answer are neither the law's nor a listed line, and all of them."""
    foreign = every = 0
    for part in parts:
        if isinstance(part, PassagePart) and part.article_id in ten:
            text = ten[part.article_id].text
            for start, end in part.spans:
                words = len(text[start:end].split())
                sound = 0 <= start < end <= len(text)
                every, foreign = every + words, foreign + (0 if sound else max(words, 1))
        elif isinstance(part, LinePart) and part.key in LINES:
            every += 1
        elif not isinstance(part, GapPart):
            words = len(part.text.split()) if isinstance(part, ClaimPart) else 1
            every, foreign = every + words, foreign + words
    return foreign, every


# --- measuring ---


class _Accepting:
    """Supports whatever passed the hard checks: no judge can let more through."""

    name = "hard checks alone"
    local = True

    def judge(self, claim: str, articles: Sequence[Article]) -> Judgement:
        return Judgement(Verdict.SUPPORTED)


class _Asked:
    """Asks a judge's model once for each reply; a reply is kept as soon as it is there."""

    def __init__(self, model: LangChainChat, cache: Cache, give_up: int) -> None:
        self._model, self._cache, self._give_up = model, cache, give_up
        self._settings = dict(model.settings)
        self._in_a_row = self.failures = 0
        self._reason = ""
        self._lock = threading.Lock()  # claims of one answer are judged side by side

    def say(self, system: str, user: str) -> str:
        """Reply; raise ChatFailedError where it cannot."""
        name = key(what="verdict", model=self._model.name, settings=self._settings, prompt=[system, user])
        with self._lock:
            cached = self._cache.get(name)
        if cached is not None:
            return str(cached["text"])
        try:
            reply = self._model.say(user, system)
        except ChatFailedError as error:
            with self._lock:
                self._reason = str(error)
                self._in_a_row, self.failures = self._in_a_row + 1, self.failures + 1
            raise
        with self._lock:
            self._in_a_row = 0
            self._cache.put(name, {"text": reply.text, "usage": asdict(reply.usage)})
        return reply.text

    def go_on(self) -> None:
        """Raise TooManyFailuresError after so many failures in a row: a judge hides them."""
        if self._give_up and self._in_a_row >= self._give_up:
            raise TooManyFailuresError(
                f"{self._model.name}: {self._in_a_row} replies in a row failed ({self._reason}). What it "
                "replied before is kept: type the command again to go on"
            )


@dataclass(frozen=True, slots=True)
class Measured:
    """What a run found, by id."""

    sentences: Mapping[str, Mapping[str, bool]]  # column -> id -> whether it is shown
    outcomes: Mapping[str, Mapping[str, str]]  # column -> id -> outcome
    foreign: tuple[int, int]  # words of strict answers that are neither the law's nor listed, and all
    scores: Mapping[str, float | None]  # of an entailment model, of sentences without faults
    unknown: int  # claims that the judge could not tell


def measure(
    sentences: Sequence[Sentence],
    answers: Sequence[WholeAnswer],
    articles: Mapping[str, Article],
    judge: Judge | None,
    write: Callable[[WholeAnswer, str, Judge | None], Shown],
    go_on: Callable[[], None] = lambda: None,
    progress: Progress = no_progress,
) -> Measured:
    """Put every line of the material through checks, judge and chain.

    `write` returns what the chain shows of an answer that streamed this text, meanwhile and at last.
    """
    checks = _Accepting.name
    shown: dict[str, dict[str, bool]] = {name: {} for name in (checks, *([judge.name] if judge else []))}
    scores: dict[str, float | None] = {}
    unknown = 0
    for n, line in enumerate(sentences, 1):
        ten = {id_: articles[id_] for id_ in line.ten}
        clean = not faults(Statement(line.text, line.cited), ten, line.question)
        shown[checks][line.id] = clean
        if judge is not None:
            found = judge.judge(line.text, [articles[id_] for id_ in line.cited]) if clean else None
            go_on()
            shown[judge.name][line.id] = found is not None and found.verdict == Verdict.SUPPORTED
            if found is not None:
                scores[line.id] = found.score
                unknown += found.verdict == Verdict.UNKNOWN
        progress("sentences", n, len(sentences))
    foreign = every = 0
    outcomes: dict[str, dict[str, str]] = {name: {} for name in (STRICT, *shown)}
    own = _choices(answers, articles)
    for n, answer in enumerate(answers, 1):
        ten = {id_: articles[id_] for id_ in answer.ten}
        meanwhile, parts = write(answer, renumbered(answer, articles), None)
        more = foreign_words([*meanwhile, *parts], ten)
        foreign, every = foreign + more[0], every + more[1]
        if answer.form == "paraphrase":
            for each in (_Accepting(), *([judge] if judge is not None else [])):
                _, parts = write(answer, answer.raw, each)
                go_on()
                outcomes[each.name][answer.id] = outcome_of_claims(answer.useful, parts)
        else:
            beside = [
                own[b.id]
                for b in answers
                if b.id != answer.id
                and b.question_fr == answer.question_fr
                and b.useful == USEFUL
                and own[b.id]
            ]
            chosen = choice(answer, articles, beside)
            shown_now = shown_units(parts, articles)
            outcomes[STRICT][answer.id] = outcome(answer.useful, chosen, shown_now, beside, articles)
        progress("answers", n, len(answers))
    return Measured(shown, outcomes, (foreign, every), scores, unknown)


def _choices(answers: Sequence[WholeAnswer], articles: Mapping[str, Article]) -> dict[str, Chosen]:
    """Return what each answer chose by numbers or copies alone."""
    found: dict[str, Chosen] = {}
    for answer in answers:
        pairs = [] if answer.form == "paraphrase" else [*numbered(answer, articles), *copied(answer)]
        found[answer.id] = choice(answer, articles) if pairs else {}
    return found


def threshold(
    sentences: Sequence[Sentence], scores: Mapping[str, float | None]
) -> tuple[float, float, float] | None:
    """Return the lowest threshold that shows no more lies than allowed; None where there are no scores.

    With it come the shares of honest sentences and of lies that it shows.
    """
    known = [(line.honest, scores.get(line.id)) for line in sentences]
    honest, lies = ([score or 0.0 for is_, score in known if is_ is side] for side in (True, False))
    candidates = sorted({score for _, score in known if score is not None})
    if not candidates or not honest or not lies:
        return None
    for at in candidates:
        share = sum(score >= at for score in lies) / len(lies)
        if share <= MOST_LIES:
            return at, sum(score >= at for score in honest) / len(honest), share
    return 1.0, 0.0, 0.0


# --- what is told ---

GATE, STRICT, JUDGE = "the old gate", "strict quoting", "a judge"


def sentence_rows(
    sentences: Sequence[Sentence], columns: Mapping[str, Mapping[str, bool]]
) -> dict[str, dict[str, Interval]]:
    """Return the share of sentences that are shown, by row and column."""
    rows: dict[str, list[Sentence]] = {}
    for line in sentences:
        side = "honest" if line.honest else "lies"
        names = [f"all {side}", f"{side}: {line.lang}", f"{side}: {line.kind}"]
        if line.honest == line.second:
            names.append(f"all {side}, both readers agree")
        for name in names:
            rows.setdefault(name, []).append(line)
    order = sorted(rows, key=lambda name: ("honest" not in name, not name.startswith("all"), name))
    return {
        f"{name} ({len(rows[name])})": {
            column: _share([shown[line.id] for line in rows[name] if line.id in shown])
            for column, shown in columns.items()
        }
        for name in order
    }


def answer_rows(
    answers: Sequence[WholeAnswer], columns: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, Interval]]:
    """Return the share of whole answers with each outcome, by row: column, form and label."""
    rows: dict[str, list[str]] = {}
    for column, outcomes in columns.items():
        for form, label in product(FORMS, LABELS):
            for answer in answers:
                if answer.id in outcomes and (answer.form, answer.useful) == (form, label):
                    name = f"{column}: {form}, labelled {label}"
                    rows.setdefault(name, []).append(outcomes[answer.id])
                    if answer.second == label:
                        rows.setdefault(f"{name} by both", []).append(outcomes[answer.id])
    return {
        f"{name} ({len(found)})": {each: _share([one == each for one in found]) for each in OUTCOMES}
        for name, found in rows.items()
    }


def _share(values: Sequence[bool]) -> Interval:
    return wilson(sum(values), len(values))


def _json(rows: Mapping[str, Mapping[str, Interval]]) -> dict[str, Any]:
    return {
        name: {c: None if math.isnan(i.value) else asdict(i) for c, i in row.items()}
        for name, row in rows.items()
    }


def sentence_table(entry: Mapping[str, Any], *, short: bool = False) -> str:
    """Return the table of sentences of a result file; a short one has neither kinds nor languages."""
    return _table("sentences", entry["sentences"], lambda name: not short or ":" not in name)


def answer_table(entry: Mapping[str, Any], *, short: bool = False) -> str:
    """Return the table of whole answers of a result file; a short one has the rows with targets."""

    def kept(name: str) -> bool:
        return not short or (("labelled useful (" in name or "paraphrase" in name) and "by both" not in name)

    return _table("whole answers", entry["answers"], kept)


def _table(first: str, rows: Mapping[str, Mapping[str, Any]], kept: Callable[[str], bool]) -> str:
    columns = list(dict.fromkeys(column for row in rows.values() for column in row))
    lines = [(name, *(_cell(row[c]) for c in columns)) for name, row in rows.items() if kept(name)]
    return table((first, *columns), lines)


def _cell(share: Mapping[str, float] | None) -> str:
    if share is None:
        return NOT_MEASURED
    return f"{100 * share['value']:.0f} ({100 * share['low']:.0f}–{100 * share['high']:.0f})"


def agreement(lines: Sequence[Sentence] | Sequence[WholeAnswer]) -> dict[str, Any]:
    """Return how far two readers agree on the lines that both labelled, and the ids in dispute."""
    pairs = [line.labels for line in lines if line.labels[1] is not None]
    disputed = [line.id for line in lines if line.labels[1] not in (None, line.labels[0])]
    if not pairs:
        return {"twice": 0, "share": None, "kappa": None, "disputed": []}
    of_chance = kappa(pairs)
    share, number = 1 - len(disputed) / len(pairs), None if math.isnan(of_chance) else of_chance
    return {"twice": len(pairs), "share": share, "kappa": number, "disputed": disputed}


def _agreement(what: str, of: Mapping[str, Any]) -> str:
    if not of["twice"]:
        return f"{what}: labelled once; how far two readers agree is {NOT_MEASURED}"
    beyond = "" if of["kappa"] is None else f" (Cohen's kappa {of['kappa']:.2f})"
    said = f"{what}: two readers agree on {100 * of['share']:.0f} % of {of['twice']}{beyond}"
    return said + (f"; in dispute: {' '.join(of['disputed'])}" if of["disputed"] else "")


def before(path: Path) -> tuple[Mapping[str, bool], Mapping[str, str]]:
    """Return what the old gate showed, by id: of sentences, and outcomes of answers in paraphrase.

    Nothing where the file is not there, as in an installed package.

    Raises:
        BadInput: it holds something else.
    """
    if not path.exists():
        return {}, {}
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        sentences = {str(id_): bool(shown) for id_, shown in record["sentences"].items()}
        answers = {str(id_): str(found) for id_, found in record["answers"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(
            f"{path}: not the numbers of the old gate ({type(error).__name__}: {error}). Expected an object "
            "with sentences and answers by id; leave --before out for the file that ships"
        ) from None
    return sentences, answers


# --- the command ---

EPILOG = """\
examples
  without a judge, which is how the page works unless a host sets one:
    python -m training.eval answers check --half test
  a second call of a language model; key in PANDECT_JUDGE_KEY, without --judge-url in its maker's variable:
    python -m training.eval answers check --half test --judge openai:qwen3 --judge-url http://127.0.0.1:8000/v1
  an entailment model of a folder or a hub; on the dev half a threshold is proposed:
    python -m training.eval answers check --half dev --judge nli:FOLDER
    python -m training.eval answers check --half test --judge nli:FOLDER --threshold 0.7

A judge's reply is kept as soon as it is there: a run that was killed goes on where it was.
"""


def parser() -> argparse.ArgumentParser:
    """Return the command line's grammar."""
    top = argparse.ArgumentParser(
        prog="python -m training.eval answers check",
        description=__doc__.partition("\n")[2] if __doc__ else None,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = top.add_argument
    add("--half", choices=HALVES, default="dev", help="of the material (dev); tune nothing on the other")
    add("--judge", default="none", metavar="JUDGE", help="none, nli:MODEL or PROVIDER:MODEL (none)")
    add("--judge-url", metavar="URL", help="the server of PROVIDER:MODEL")
    add("--threshold", type=float, default=THRESHOLD, help=f"of an entailment model ({THRESHOLD})")
    add("--timeout", type=float, default=120.0, help="seconds of a judge's reply (120)")
    add("--material", type=Path, default=MATERIAL, metavar="DIR", help="sentences.jsonl and answers.jsonl")
    add("--before", type=Path, default=BEFORE, metavar="FILE", help="what the old gate showed")
    add("--seed", type=int, default=42, help="of the pieces in which answers stream (42)")
    add("--replies", type=Path, metavar="FILE", help="what the judge replied (under PANDECT_HOME)")
    failures = f"failures of the judge in a row ({GIVE_UP}); 0: never"
    add("--give-up-after", type=int, default=GIVE_UP, metavar="N", help=failures)
    add("--output", type=Path, metavar="FILE", help="a new file for all numbers, of JSON")
    return top


def main(arguments: Sequence[str]) -> int:
    """Measure, print the tables, write the file."""
    parsed = parser().parse_args(arguments)
    evaluate(parsed, ["python", "-m", "training.eval", "answers", "check", *arguments])
    return 0


def evaluate(parsed: argparse.Namespace, command: Sequence[str]) -> None:
    """Run the measurement that the arguments describe."""
    if parsed.output is not None and parsed.output.exists():
        raise BadInput(f"{parsed.output} is there already: remove it or give another --output")
    gate = before(parsed.before)
    folder, _ = paths.locate(paths.BUILTIN)
    corpus = read_corpus(folder / "corpus")
    articles = {article.id: article for article in corpus.articles}
    sentences = [
        x for x in load(parsed.material / "sentences.jsonl", Sentence, articles) if x.half == parsed.half
    ]
    answers = [
        x for x in load(parsed.material / "answers.jsonl", WholeAnswer, articles) if x.half == parsed.half
    ]
    progress = Bars()
    with opened(parsed.replies or paths.home() / "cache" / "answers" / "replies.jsonl") as cache:
        judge, asked = _judge(parsed, cache)
        found = measure(
            sentences,
            answers,
            articles,
            judge,
            partial(written, articles, parsed.seed),
            (lambda: None) if asked is None else asked.go_on,
            progress,
        )
    progress.close()
    columns: dict[str, Mapping[str, bool]] = {GATE: gate[0], **found.sentences}
    if judge is None:
        columns[JUDGE] = {}
    outcomes = {GATE: gate[1], **found.outcomes}
    foreign, every = found.foreign
    told = {"sentences": agreement(sentences), "answers": agreement(answers)}
    entry = {
        "kind": KIND,
        **head(corpus, command=command, questions=0, unanswerable=0, seed=parsed.seed),
        "half": parsed.half,
        "questions": len({x.question for x in answers}),
        "judge": None if judge is None else {"name": judge.name, "unknown": found.unknown},
        "sentences": _json(sentence_rows(sentences, columns)),
        "answers": _json(answer_rows(answers, outcomes)),
        "foreign_words": {"foreign": foreign, "all": every},
        "agreement": told,
        "shown": found.sentences,
        "outcomes": found.outcomes,
    }
    print(f"{corpus.card.title or corpus.card.name}, {parsed.half} half: percent, with 95 % intervals\n")
    print(f"{sentence_table(entry)}\n\n{answer_table(entry)}\n")
    if judge is None:
        print(f"sentences and answers in paraphrase with a judge: {NOT_MEASURED}; give one in --judge")
    else:
        failed = f", {asked.failures} replies failed" if asked is not None else ""
        print(f"claims that {judge.name} could not tell: {found.unknown}{failed}")
    print(f"words of strict quoting that are neither the law's nor a listed line: {foreign} of {every:,}")
    for what, of in told.items():
        print(_agreement(what, of))
    if (proposed := threshold(sentences, found.scores)) is not None:
        at, honest, lies = proposed
        print(
            f"--threshold {at:.3f} would show {100 * honest:.0f} % of honest and {100 * lies:.0f} % of lies"
        )
    if parsed.output is not None:
        with replacing(parsed.output) as part:
            text = json.dumps(entry, ensure_ascii=False, indent=1, allow_nan=False)
            part.write_text(text + "\n", encoding="utf-8")
        print(f"written: {parsed.output}")


def _judge(parsed: argparse.Namespace, cache: Cache) -> tuple[Judge | None, _Asked | None]:
    """Return the judge that was named, and what asks its model."""
    kind, colon, name = parsed.judge.partition(":")
    if parsed.judge == "none":
        return None, None
    if not (kind and colon and name):
        raise BadInput(f"--judge: got {parsed.judge!r}; expected none, nli:MODEL or PROVIDER:MODEL")
    if kind == "nli":
        judge = EntailmentJudge(name, parsed.threshold)
        judge.load()
        return judge, None
    spec = ModelSpec(parsed.judge, parsed.judge_url, timeout=parsed.timeout, key="PANDECT_JUDGE_KEY")
    asked = _Asked(chat(spec), cache, parsed.give_up_after)
    return ModelJudge(asked.say, parsed.judge), asked


def written(
    articles: Mapping[str, Article], seed: int, answer: WholeAnswer, text: str, judge: Judge | None
) -> Shown:
    """Return what the chain of the page shows of an answer whose text streams in pieces."""
    pieces = _pieces(text, seed)
    settings = ModelSettings("openai:scripted", window=WINDOW, whole=WHOLE, per_session=None, per_host=None)
    means = AnswerResources(
        Endpoint(settings, _Scripted(settings, pieces)),
        judge,
        RateLimits(None, None),
        partial(prompts.load, reply="quotes" if judge is None else "claims"),
    )
    ten = [articles[id_] for id_ in answer.ten]
    events = list(Job(means, answer.question, ten, answer.lang, Cancel()).events())
    final = [part for event in events if isinstance(event, Answer) for part in event.parts]
    return [event for event in events if isinstance(event, PARTS) and event not in final], final


class _Scripted(Clients):
    """Clients of a model that returns a text in these pieces, whatever it is asked."""

    schema = False

    def __init__(self, settings: ModelSettings, pieces: Sequence[str]) -> None:
        super().__init__(settings, "prose")
        self._pieces = pieces

    def get(self, plain: bool) -> _Scripted:  # type: ignore[override]  # what is asked of a client is here
        """Return itself: nothing is sent."""
        return self

    async def stream(self, messages: Messages) -> AsyncIterator[Delta]:
        """Yield the pieces."""
        for piece in self._pieces:
            yield Delta(piece, token=True)


def _pieces(text: str, seed: int) -> list[str]:
    drawn, found = random.Random(f"{seed} {text}"), []  # noqa: S311 - cuts a stream
    while text:
        size = drawn.randint(1, 12)
        found.append(text[:size])
        text = text[size:]
    return found
