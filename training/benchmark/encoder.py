"""What a static encoder costs: to fit it to law and its questions, to keep it, and to encode a question."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from indexes.build.encoder_choice import fit_encoder
from indexes.builtin_corpus import read_test_questions
from indexes.corpus.corpus import to_learn_from
from indexes.sources import registry
from indexes.store.manifest import read as read_manifest
from indexes.store.paths import BUILTIN, locate
from rag.encoders.static import StaticEncoder
from rag.errors import BadInput
from rag.text.analysers import analyser
from training.benchmark.timing import ReportFigure, mebibytes, milliseconds

QUESTIONS = 500


def shipped(say: ReportFigure) -> None:
    """Measure the encoder that ships, as an index opens it: its size, and each test question."""
    folder, cure = locate(BUILTIN)
    language_analyser = analyser(**read_manifest(folder, cure).analyser["options"])
    encoder = StaticEncoder.load(folder / "encoder", language_analyser)
    _report_size(encoder, folder / "encoder", say)
    time_questions(encoder, [q.text for q in read_test_questions(folder)], say)


def fitting(path: Path, say: ReportFigure) -> None:
    """Fit an encoder to law and its annotated questions, as a build does, and measure what comes of it.

    Without questions it is fitted to the law alone, and beginnings of articles are encoded in their place.

    Raises:
        BadInput: the law cannot be read, or holds no text to encode.
    """
    corpus = registry.law(path)
    learn = to_learn_from(corpus.questions)
    say("articles", len(corpus.articles), "")
    say("questions learnt from", len(learn), "")
    language_analyser = analyser(corpus.card.language)
    start = time.perf_counter()
    encoder, _ = fit_encoder(corpus, learn, language_analyser, 1, lambda what, done, total: None)
    say("encoder fitted, the law cut to terms included", time.perf_counter() - start, "s")
    with tempfile.TemporaryDirectory() as scratch:
        encoder.save(Path(scratch) / "encoder")
        _report_size(encoder, Path(scratch) / "encoder", say)
    time_questions(encoder, [q.text for q in corpus.questions] or [a.text[:60] for a in corpus.articles], say)


def time_questions(encoder: StaticEncoder, questions: Sequence[str], say: ReportFigure) -> None:
    """Encode the first 501 questions one at a time, as they are asked; the first one warms up.

    Cutting a question to terms is part of what is timed.

    Raises:
        BadInput: there are fewer than two.
    """
    if len(questions) < 2:
        raise BadInput(f"{len(questions)} texts to encode: give law that has two articles or two questions")
    took = milliseconds(lambda question: encoder.encode_questions([question]), questions[: QUESTIONS + 1])[1:]
    say(f"a question encoded, median of {len(took)}", float(np.median(took)), "ms")
    say("    95th percentile", float(np.quantile(took, 0.95)), "ms")


def _report_size(encoder: StaticEncoder, folder: Path, say: ReportFigure) -> None:
    say("terms that the encoder knows", len(encoder.vocabulary), "")
    say("encoder on disk", mebibytes(folder), "MiB")
