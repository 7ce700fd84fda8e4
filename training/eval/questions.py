"""What an evaluation asks, of which corpus, and what the systems may learn from: as the arguments say."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path

from indexes.build import query_expansion
from indexes.build.encoder_choice import read_lending_corpora
from indexes.build.learned_fusion import read_ranker
from indexes.build.score_distributions import load_fusion
from indexes.builtin_corpus import TEST, read_test_questions
from indexes.cli.progress import Bars
from indexes.corpus.corpus import Corpus, human_or_synthetic, read, to_learn_from
from indexes.corpus.folds import pick
from indexes.corpus.questions import attach, read_cited, read_questions
from indexes.shipped_questions import shipped
from indexes.sources import registry
from indexes.store import paths
from indexes.update import term_counts
from rag.encoders.static import StaticEncoder
from rag.errors import BadInput
from rag.retrieval.dense import Dense
from rag.retrieval.term_counts import LAW_FIELDS
from rag.text.analysers import analyser
from rag.text.long_questions import repeat_asked
from rag.types import Article, ArticleOrder, Filter, Question, in_force
from training.eval.context import FittedParts
from training.eval.workbench import Bench
from training.fusion.inner_folds import FoldOf
from training.splits.file import evaluated_folds, read_split
from training.typing_errors import with_errors, without_accents


def add_question_options(top: argparse.ArgumentParser) -> None:
    """Add the options that say which questions are asked of which corpus, and what may be learnt from."""
    add = top.add_argument
    add("--corpus", type=Path, help="a corpus folder or its articles' file (the one that ships)")
    add("--language", metavar="XX", help="of a corpus without card.json: fr, nl, en, de, it or zh")
    add("--questions", type=Path, help="questions with gold articles (those of the corpus)")
    add("--part", metavar="SPLIT", help="of the questions those that bear this split, such as dev or test")
    add(
        "--annotated",
        type=Path,
        help="other questions to learn from, builtin for those that ship; --questions stay unseen",
    )
    add(
        "--beside",
        type=Path,
        metavar="FILE",
        help="questions that every fold learns from beside its own, such as those that a machine wrote; "
        "builtin for those that ship",
    )
    add(
        "--lent",
        action="append",
        default=[],
        metavar="CORPUS",
        help="have the encoder learn the articles and questions of this corpus of the same language too: the "
        "name of an imported one, or builtin; may be repeated",
    )
    number = partial(add, type=int, metavar="N")
    number(
        "--fits",
        default=1,
        help="fit the encoder N times, the fits side by side in one, as python -m indexes build --fits N "
        "does (1)",
    )
    parts = top.add_mutually_exclusive_group()
    parts.add_argument("--folds", type=int, help="cross-validate: learn from the other folds")
    of_file = "the folds of a file that training.splits wrote, instead"
    parts.add_argument("--splits", type=Path, metavar="FILE", help=of_file)
    add(
        "--only-fold",
        metavar="I",
        help="ask the questions of this fold alone: its number from 0, or its name in the file of --splits",
    )
    add("--seed", type=int, default=42, help="of folds and bootstrap (42)")
    number(
        "--typing-errors",
        help="put a typing error into one word of N of the questions asked (8 is usual), drawn by --seed",
    )
    add("--repeat-asked", action="store_true", help="read long questions as the page does: what asks, twice")
    add("--no-accents", action="store_true", help="ask the questions without their accents")
    add("--cache", type=Path, help="where indexes built on the fly are kept (under PANDECT_HOME)")


def prepare(parsed: argparse.Namespace, progress: Bars) -> tuple[Bench, list[Question], list[Question]]:
    """Read corpus, questions to ask and questions to learn from."""
    if parsed.corpus is not None:
        corpus = registry.law(parsed.corpus, language=parsed.language)
        fitted_to = [corpus, *read_lending_corpora(parsed.lent, corpus.card.language)]
        cache = parsed.cache or paths.home() / "cache" / "eval"
        bench = Bench(corpus, cache, fitted_to=fitted_to, fit=parsed.fits, progress=progress)
        questions = _typed(parsed, corpus.questions, corpus)
        return bench, questions, [] if parsed.annotated is None else _learnt(parsed.annotated, corpus)
    anew = f"add --corpus {paths.builtin() / 'corpus'} to fit one anew"
    if parsed.fits != 1:
        raise BadInput(f"--fits {parsed.fits}: the encoder that ships is fitted already: {anew}")
    if parsed.annotated is not None or folded(parsed):
        raise BadInput(
            "the encoder that ships has learnt from its questions already, so --annotated, --folds and "
            f"--splits would measure what it has seen: {anew}"
        )
    folder, cure = paths.locate(paths.BUILTIN)
    corpus = read(folder / "corpus")
    ready = fitted_parts(folder, corpus)
    bench = Bench(corpus, ready=ready, progress=progress)
    questions = _typed(parsed, read_test_questions(folder), corpus)
    if not questions:
        raise BadInput(f"{folder / TEST} holds no questions: run {cure}")
    return bench, questions, to_learn_from(corpus.questions)


def fitted_parts(folder: Path, corpus: Corpus) -> FittedParts:
    """Return what an index that ships holds for a bench: nothing of it is fitted or counted anew.

    Of articles that nobody has summarised the weights of their words ship, and no text to count.
    """
    encoder = StaticEncoder.load(folder / "encoder", analyser(corpus.card.language))
    order = ArticleOrder.of([article.id for article in corpus.articles])
    counted = term_counts.load(folder / term_counts.FOLDER, order)
    law = replace(counted, fields={name: counted.fields[name] for name in LAW_FIELDS})
    pairs, vectors = query_expansion.read_pairs(folder), Dense.load_index(folder / "vectors.faiss")
    return FittedParts(encoder, read_ranker(folder), load_fusion(folder), pairs, law, vectors)


def _typed(parsed: argparse.Namespace, own: Sequence[Question], corpus: Corpus) -> list[Question]:
    """Return the questions as they are asked: with typing errors, without accents, or long ones as read."""
    questions = list(own if parsed.questions is None else read_questions(parsed.questions, corpus.articles))
    if parsed.repeat_asked:
        questions = [replace(question, text=repeat_asked(question.text)) for question in questions]
    if not parsed.typing_errors and not parsed.no_accents:
        return questions
    if folded(parsed) and parsed.annotated is None:
        raise BadInput(
            "with --folds the questions asked are learnt from too, errors and all: add --annotated PATH, "
            "or leave --typing-errors and --no-accents out"
        )
    if parsed.no_accents:
        questions = without_accents(questions)
    if parsed.typing_errors:
        questions = with_errors(questions, corpus.card.language, parsed.seed, parsed.typing_errors)
    return questions


def questions_of_split(questions: list[Question], part: str | None) -> list[Question]:
    """Return the questions that bear a split; all of them for None."""
    if part is None:
        return questions
    part_questions = [q for q in questions if q.split == part]
    if not part_questions:
        available = ", ".join(sorted({q.split for q in questions if q.split})) or "none bears one"
        raise BadInput(f"--part {part}: no question bears this split; there are: {available}")
    return part_questions


def annotated_file(named: Path | None) -> Path | None:
    """Return the file of questions to learn from that an argument names, if it does."""
    return paths.builtin() / "corpus" / "questions.jsonl" if str(named) == paths.BUILTIN else named


def add_training_questions(plan: Plan, file: Path | None, corpus: Corpus) -> Plan:
    """Return the plan with the questions of `--beside` added to each fold's training questions.

    What is there already, word for word, is not learnt twice.

    Raises:
        BadInput: none of them cites an article of the corpus, or there is nothing that they are beside.
    """
    if file is None:
        return plan
    more = _learnt(file, corpus)
    if any(not learn for _, learn, _ in plan):
        raise BadInput(f"--beside {file}: beside nothing: add --folds, --splits or --annotated")
    found = []
    for held, learn, tune in plan:
        known_texts = {q.text for q in learn}
        found.append((held, [*learn, *(q for q in more if q.text not in known_texts)], tune))
    return found


def _learnt(file: Path, corpus: Corpus) -> list[Question]:
    learn = to_learn_from(cited(file, corpus.articles))
    if not learn:
        raise BadInput(f"{file}: none of its questions cites an article of {corpus.card.name}")
    return learn


def cited(file: Path, articles: Sequence[Article]) -> list[Question]:
    """Return the questions of a file that cite one of these articles; of those that ship for `builtin`."""
    read = shipped() if str(file) == paths.BUILTIN else read_cited(file)
    known = {a.id for a in articles}
    by_id = [c.question for c in read if known.intersection(c.question.article_ids)]
    return [*attach([c for c in read if not c.question.article_ids], articles), *by_id]


Part = tuple[list[Question], list[Question], list[Question]]  # to ask, to learn from, to tune on
Plan = list[Part]


def planned(parsed: argparse.Namespace, questions: list[Question], annotated: list[Question]) -> Plan:
    """Return, part by part: the questions to ask, to learn from, and to tune on.

    What a machine wrote is asked of nobody, unless people asked none: every fold learns from it.
    """
    people, written = human_or_synthetic(questions)
    if not folded(parsed):
        if parsed.tune:
            raise BadInput(
                "--tune needs --folds or --splits: it chooses on other folds, never on the questions asked"
            )
        if parsed.only_fold is not None:
            raise BadInput("--only-fold needs --folds or --splits: give the folds too")
        return [(people, annotated, [])]
    human_ids = {q.id for q in people}
    of = people if parsed.splits is None else questions  # a file of splits is of all of them
    plan = []
    for fold in evaluated_folds(of, parsed.splits, parsed.folds, parsed.seed, parsed.only_fold):
        held, others = ([q for q in pick(of, part) if q.id in human_ids] for part in (fold.held, fold.learn))
        gold = to_learn_from(others)
        if held:
            plan.append((held, annotated or [*gold, *to_learn_from(written)], gold))
    return plan


def grouped(parsed: argparse.Namespace) -> FoldOf | None:
    """Return the fold of each question where no group of them straddles two; None for any other folds.

    What is chosen inside such folds is chosen on the same ones: a group is not told apart there either.
    """
    if parsed.splits is None or (split := read_split(parsed.splits)).kind != "grouped":
        return None
    return {id_: name for name, ids in split.folds.items() for id_ in ids}


def folded(parsed: argparse.Namespace) -> bool:
    """Tell whether the questions are asked fold by fold."""
    return parsed.folds is not None or parsed.splits is not None


def leaks(plan: Plan) -> int:
    """Return how many questions are asked in the very words that are learnt from."""
    both = 0
    for held, learn, _ in plan:
        seen = {" ".join(q.text.casefold().split()) for q in learn}
        both += sum(" ".join(q.text.casefold().split()) in seen for q in held)
    return both


def filter_on(corpus: Corpus, day: date | None) -> Filter | None:
    """Return the filter that leaves the law in force on a day; None without a day.

    Raises:
        BadInput: no article of the corpus says from when to when it is in force.
    """
    if day is None:
        return None
    if not any(article.valid_from or article.valid_to for article in corpus.articles):
        raise BadInput(
            f"no article of {corpus.card.name} has valid_from or valid_to: leave --in-force-on away, or "
            "import a corpus with dates"
        )
    return Filter(in_force_on=day)


def describe_day(corpus: Corpus, questions: Sequence[Question], day: date) -> str:
    """Return the line that says what was searched, and of how many questions some gold article was not."""
    held = {article.id for article in corpus.articles if in_force(article, day)}
    lost = sum(not held.issuperset(question.article_ids) for question in questions)
    text = f"law in force on {day.isoformat()}: {len(held):,} of {len(corpus.articles):,} articles"
    return f"{text}; {lost} questions have gold articles that are not among them" if lost else text


def learnt_from(
    parsed: argparse.Namespace, annotated: Sequence[Question], adjacent: Path | None = None
) -> str | None:
    """Return which questions the systems learnt from, as a result file says it; None for none."""
    if parsed.annotated is None and not annotated and not folded(parsed):
        return None
    own = "the annotated questions that ship" if annotated else "the other folds"
    source = str(parsed.annotated or own)
    return source if adjacent is None else f"{source}, and {adjacent}"


def learnt_files(parsed: argparse.Namespace) -> list[Path | None]:
    """Return the files of questions that are asked or learnt from, None for what was not named."""
    return [parsed.questions, annotated_file(parsed.annotated), annotated_file(parsed.beside)]
