"""`python -m training.before`: what is decided before a model is asked, measured on written cases."""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import numpy as np

import indexes
from indexes.cli.terminal import guarded
from indexes.corpus.questions import read_questions
from rag.answer.extractive import Extractor
from rag.engine.engine import Engine
from rag.screening.decision import screen_question
from rag.screening.dialogue import JOINT, Conversation, clarify, leans, standalone
from rag.screening.emergencies import situations
from rag.screening.jurisdiction import other_country
from rag.screening.personal_data import PersonalDataKind, PersonalDataSpan, personal_data
from rag.text.highlight import sentences
from rag.types import Article, Question

Counts = dict[str, float]


def rows(path: Path) -> list[list[str]]:
    """Return the cells of a file of cases: tabs between cells, lines that begin with "#" are notes."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


_MARK = re.compile(r"\[\[(\w+)\|(.*?)\]\]")


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text and the personal data in it."""

    region: str
    text: str
    findings: frozenset[PersonalDataSpan]


def marked(path: Path) -> list[LabelledText]:
    """Read texts in which personal data stands as [[kind|text]]."""
    read = []
    for region, typed in rows(path):
        text, at, findings = "", 0, set()
        for mark in _MARK.finditer(typed):
            text += typed[at : mark.start()]
            findings.add(PersonalDataSpan(len(text), len(text) + len(mark[2]), PersonalDataKind(mark[1])))
            text, at = text + mark[2], mark.end()
        read.append(LabelledText(region, text + typed[at:], frozenset(findings)))
    return read


def urgent(path: Path) -> dict[str, Counts]:
    """Return round -> cases, and those of which every kind was found as present."""
    counts: dict[str, Counts] = defaultdict(lambda: {"cases": 0, "found": 0})
    for part, _, kinds, question in rows(path):
        found = {str(s.danger) for s in situations(question) if s.now}
        counts[part]["cases"] += 1
        counts[part]["found"] += set(kinds.split(",")) <= found
    return dict(counts)


def foreign(path: Path) -> Counts:
    """Return how many cases there are, of another country's law and not, and what was wrong."""
    read = [(want, other_country(question, law) or "-") for law, want, question in rows(path)]
    return {
        "of another law": sum(want != "-" for want, _ in read),
        "found": sum(want != "-" and got == want for want, got in read),
        "of none": sum(want == "-" for want, _ in read),
        "false alarms": sum(want == "-" and got != want for want, got in read),
    }


def personal(path: Path) -> Counts:
    """Return precision and recall of findings whose place and kind are both right."""
    read = [(case.findings, frozenset(personal_data(case.text, case.region))) for case in marked(path)]
    right = sum(len(want & got) for want, got in read)
    found, wanted = (sum(len(pair[side]) for pair in read) for side in (1, 0))
    return {"texts": len(read), "precision": right / found, "recall": right / wanted}


def off_topic(path: Path, engine: Engine) -> dict[str, Counts]:
    """Return language -> questions, those no model is asked, and those the confidence alone would stop."""
    counts: dict[str, Counts] = defaultdict(lambda: {"questions": 0, "stopped": 0, "by confidence": 0})
    for language, question in rows(path):
        result = engine.ask(question)
        count = counts[language]
        count["questions"] += 1
        count["stopped"] += not screen_question(question, result, engine.card, leaves=False).may_ask
        count["by confidence"] += result.doubtful or not result.shown
    return dict(counts)


def decisions(questions: Iterable[Question], engine: Engine) -> dict[str, Counter[str]]:
    """Return category ("answerable" for all with gold) -> what was decided, and what else was found."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for question in questions:
        result = engine.ask(question.text)
        made = screen_question(question.text, result, engine.card)
        count = counts["answerable" if question.article_ids else question.category or "no gold"]
        count["questions"] += 1
        count[str(made.reason or "may ask")] += 1
        count["urgent now"] += made.grave
        count["urgent named"] += bool(made.urgent) and not made.grave
        count["personal"] += bool(made.personal)
        count["topic elsewhere"] += bool(result.elsewhere)
        count["clarifying"] += clarify(question.text, result.shown, engine.card.language) is not None
        count["leans"] += leans(question.text, engine.analyser)
    return dict(counts)


def follow_ups(path: Path, engine: Engine) -> Counts:
    """Return recall@10, the share with a gold article among the first ten, by how the second is asked."""
    hits: Counter[str] = Counter()
    conversations = rows(path)
    for first, second, gold in conversations:
        made = standalone(Conversation((first,)), second, engine.analyser).text
        ways = {"alone": second, "joined": f"{first}{JOINT}{second}", "rule": made, "first only": first}
        for way, questions in ways.items():
            numbers = {shown.article.article_no for shown in engine.ask(questions).shown}
            hits[way] += not numbers.isdisjoint(gold.split(","))
    return {"conversations": len(conversations)} | {way: n / len(conversations) for way, n in hits.items()}


def extracts(
    questions: Sequence[Question], annotated: Iterable[Question], engine: Engine, half: int
) -> Counts:
    """Return how well a chosen sentence of the gold article is supported, on every second question.

    There is no gold of sentences. The stand-in: the annotated questions of the article, which were
    written from it and not from the test question; a sentence is supported by the share, weighted by
    idf, of their words (of those that stand in the article) that it has. It favours whatever sentence says
    what the article is about, so the first sentence is a strong baseline.

    Of the questions only those count whose first gold article has several sentences; `annotated` are those
    that the index carries; of the halves 0 and 1 weights were chosen on 0.
    """
    extractor = Extractor.of(engine)
    by_kind: dict[str, list[str]] = defaultdict(list)
    for question in annotated:
        for article_id in question.article_ids:
            by_kind[article_id].append(question.text)
    values: dict[str, list[float]] = defaultdict(list)
    for question in list(questions)[half::2]:
        article = engine.articles.get(question.article_ids[0]) if question.article_ids else None
        if article is None or len(sentences(article.text)) < 2:
            continue
        support = _support(article, by_kind[article.id], extractor)
        if support is None:
            continue
        [made] = extractor.extract(question.text, [article])
        chosen = [
            i
            for i, span in enumerate(sentences(article.text))
            if span not in made.brought and any(a <= span[0] < b for a, b in made.spans)
        ]
        values["chosen"].append(support[chosen[0]])
        values["first"].append(support[0])
        values["random"].append(statistics.mean(support))
        values["best"].append(max(support))
    ahead = np.array(values["chosen"]) - np.array(values["first"])
    drawn = np.random.default_rng(0).choice(ahead, (10_000, len(ahead))).mean(axis=1)
    low, high = np.percentile(drawn, [2.5, 97.5])
    means = {name: statistics.mean(of) for name, of in values.items()}
    return {"questions": len(ahead)} | means | {"ahead of first, from": float(low), "to": float(high)}


def _support(article: Article, questions: Sequence[str], extractor: Extractor) -> list[float] | None:
    analyser = extractor.analyser
    parts = [frozenset(analyser.terms(article.text[start:end])) for start, end in sentences(article.text)]
    law_terms = frozenset().union(*parts)
    weigh = extractor.idf
    shares = []
    for question in questions:
        terms = law_terms.intersection(analyser.terms(question))
        if terms:
            whole = sum(map(weigh, terms))
            shares.append([sum(map(weigh, terms & part)) / whole for part in parts])
    return [statistics.mean(of) for of in zip(*shares, strict=True)] if shares else None


def milliseconds(questions: Sequence[Question], engine: Engine) -> Mapping[str, float]:
    """Return medians of processor time a question for what is done around the answer."""
    taken: dict[str, list[float]] = defaultdict(list)
    extractor = Extractor.of(engine)
    for question in questions:
        result = engine.ask(question.text)
        articles = [shown.article for shown in result.shown]
        for name, run in (
            ("before", lambda q=question.text, r=result: screen_question(q, r, engine.card)),
            ("extract, new articles", lambda q=question.text, a=articles: extractor.extract(q, a)),
            ("extract, again", lambda q=question.text, a=articles: extractor.extract(q, a)),
            ("clarify", lambda q=question.text, r=result: clarify(q, r.shown, engine.card.language)),
        ):
            start = process_time()
            run()
            taken[name].append((process_time() - start) * 1000)
    return {name: statistics.median(of) for name, of in taken.items()}


@guarded
def main(arguments: Sequence[str] | None = None) -> int:
    """Print the numbers as JSON."""
    parser = argparse.ArgumentParser(prog="python -m training.before", description=__doc__)
    parser.add_argument("--cases", type=Path, required=True, help="folder of the written cases")
    cases: Path = parser.parse_args(arguments).cases
    engine = indexes.open("builtin")
    engine.warm()
    builtin, articles = Path(indexes.__file__).parent / "builtin", engine.articles.values()
    tests = read_questions(builtin / "questions_test.jsonl", articles)
    unanswerable = read_questions(builtin / "questions_unanswerable_dev.jsonl", articles)
    annotated = read_questions(builtin / "index" / "corpus" / "questions.jsonl", articles)
    answerable = [question for question in tests if question.article_ids]
    numbers = {
        "urgent": urgent(cases / "urgent.tsv"),
        "foreign": foreign(cases / "foreign.tsv"),
        "foreign, final": foreign(cases / "foreign_final.tsv"),
        "personal": personal(cases / "personal.tsv"),
        "personal, final": personal(cases / "personal_final.tsv"),
        "off topic": off_topic(cases / "not_law.tsv", engine),
        "off topic, final": off_topic(cases / "not_law_final.tsv", engine),
        "test questions": decisions(tests, engine),
        "unanswerable": decisions(unanswerable, engine),
        "follow-ups": follow_ups(cases / "follow_up.tsv", engine),
        "extracts, half 0": extracts(answerable, annotated, engine, 0),
        "extracts, half 1": extracts(answerable, annotated, engine, 1),
        "milliseconds": milliseconds(tests, engine),
    }
    print(json.dumps(numbers, indent=1, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
