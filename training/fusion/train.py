"""Fit a learned fusion to an index: examples inside folds, a check on held-back ones, a new version."""

from __future__ import annotations

import argparse
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from indexes.build import ensemble
from indexes.build.fit_settings import FitSettings
from indexes.build.learned_fusion import has_learned_fusion
from indexes.build.score_distributions import load, load_fusion
from indexes.builtin_corpus import TREES, full_text
from indexes.corpus.articles import read_articles
from indexes.corpus.corpus import read, to_learn_from
from indexes.describing.significance import paired_bootstrap
from indexes.store import paths
from indexes.store.open_index import damaged_if_unreadable
from indexes.update.reuse import Start
from indexes.update.update import refine
from rag.errors import BadInput, StaleIndex
from rag.fusion.settings import FusionSettings
from rag.ltr.ranker import Ranker
from rag.ltr.reranker import KEYWORD, MEANING
from rag.retrieval.bm25 import BM25Settings
from rag.text.analysers import analyser
from rag.types import Progress, Question
from training.eval.context import BenchSettings
from training.eval.workbench import Bench
from training.fusion.learned import Example, LearnedSettings, examples, fit, out_of_fold_rankings

# settings of an encoder that is older than they are: one fit, of all terms
_DEFAULTS: Mapping[str, Any] = {"fits": 1, "units": "both"}
LISTS = (KEYWORD, MEANING)
DECIDING = ("R@10", "MRR@10")  # their mean must be larger


def run(parsed: argparse.Namespace, progress: Progress) -> Iterator[str]:
    """Fit, check and switch in; yield what is to be told of it.

    Raises:
        BadInput: the index cannot have a learned fusion, or has too few questions.
        MissingExtra: LightGBM is not installed.
        StaleIndex: the encoder was fitted by another version.
    """
    name = parsed.name
    how = LearnedSettings(
        rounds=parsed.rounds,
        fits=parsed.fits,
        networks=parsed.networks,
        leave_out=("prior",) if parsed.no_priors else (),
        seed=parsed.seed,
    )
    if name == paths.BUILTIN and parsed.law is not None and not parsed.remove:
        yield from _of_what_ships(parsed, how, progress)
        return
    if name == paths.BUILTIN or parsed.law is not None:
        raise BadInput(
            f"{paths.BUILTIN} is only read: give the name of an index of your own ({paths.command('list')}). "
            f"Who has the official text fits what ships: python -m training.train fusion {paths.BUILTIN} "
            "--law LAW"
        )
    start = Start.of(name)
    if parsed.remove:
        if not has_learned_fusion(start.folder):
            raise BadInput(f"{name} has no learned fusion to remove")
        refine(name, start, None)
        yield f"{name}: its learned fusion is gone; lists are fused as before"
        return
    bench, learnt, settings = _prepared(start, progress)
    # the fusion that the index has beside a learned one, of the lists that both look at
    with damaged_if_unreadable(start.folder, start.cure):
        fusion = load_fusion(start.folder) or FusionSettings()
        distributions = load(start.folder) if fusion.method == "percentile" else {}
    former = fusion.among(LISTS)
    if fusion.systems and set(former.systems) != set(LISTS):  # one of the two is not fused there
        former = FusionSettings()
    fuse = former.fuse(LISTS, distributions)
    found = list(examples(bench, learnt, settings, fuse=fuse, most=parsed.asked))
    corpus = start.manifest.corpus
    of = {"corpus_sha256": corpus["sha256"], "questions_sha256": corpus["questions_sha256"]}
    ranker = yield from _fitted(parsed, found, how, former.method, of)
    if ranker is not None:
        yield f"switched in: {refine(name, start, ranker)}"
        yield f"next: {paths.page(name)}"


def _of_what_ships(parsed: argparse.Namespace, how: LearnedSettings, progress: Progress) -> Iterator[str]:
    """Fit the learned fusion of the index that ships; as its encoder, folds read the official text."""
    corpus = read(paths.builtin() / "corpus")
    full = full_text(corpus, read_articles(parsed.law))
    bench = Bench(corpus, paths.home() / "cache" / "eval", fitted_to=[full], progress=progress)
    found = list(examples(bench, to_learn_from(corpus.questions), BenchSettings(), most=parsed.asked))
    of = {"corpus_sha256": corpus.sha256, "questions_sha256": corpus.questions_sha256}
    ranker = yield from _fitted(parsed, found, how, FusionSettings().method, of)
    if ranker is not None:
        file = paths.builtin().parent / TREES
        file.write_text(ranker.to_json(), encoding="utf-8")
        yield f"written: {file}"
        yield f"next: {paths.command('make-builtin')} {parsed.law}"


def _fitted(
    parsed: argparse.Namespace,
    found: Sequence[Example],
    how: LearnedSettings,
    former: str,
    of: Mapping[str, str],
) -> Generator[str, None, Ranker | None]:
    """Yield how questions of other folds are ranked; return what all give, None if it shall not be used.

    It is held against the fusion of the former name; the file says of which corpus and questions it is.
    """
    values, plain = out_of_fold_rankings(found, how)
    yield f"{parsed.name}: {len(found):,} annotated questions, each ranked by what was fitted to other folds"
    about: dict[str, Any] = {}
    gain = 0.0
    for measure, mine in values.items():
        difference, _ = paired_bootstrap(mine - plain[measure], how.seed)
        about[measure] = {"learned": float(mine.mean()), former: float(plain[measure].mean())}
        gain += difference.value if measure in DECIDING else 0.0
        yield (
            f"  {measure:7} learned {100 * mine.mean():5.1f}, {former} "
            f"{100 * plain[measure].mean():5.1f}: {100 * difference.value:+.1f} "
            f"[{100 * difference.low:+.1f}, {100 * difference.high:+.1f}]"
        )
    if gain <= 0 and not parsed.always:
        yield f"not better: {parsed.name} stays as it is (--always uses it all the same)"
        return None
    return fit(found, how, {**of, "held_back": about})


def _prepared(start: Start, progress: Progress) -> tuple[Bench, list[Question], BenchSettings]:
    encoder = start.manifest.encoder
    if encoder is None or encoder["kind"] != "static" or "borrowed_from" in encoder:
        has = "no encoder" if encoder is None else f"the encoder {encoder['name']}"
        raise BadInput(
            f"{start.manifest.name} has {has}, which was not fitted to it: what it makes of a question that "
            f"it has not seen cannot be known. Build with a fitted one: {start.cure} --encoder fit"
        )
    settings = {**_DEFAULTS, **encoder["settings"]}
    other = StaleIndex(
        f"{start.manifest.name} has an encoder that another version of Pandect fitted, in another way "
        f"than this one would: run {start.cure}"
    )
    if settings.keys() != {each.name for each in fields(FitSettings)}:
        raise other
    with damaged_if_unreadable(start.folder, start.cure):
        corpus = read(start.folder / "corpus")
        fitted, bm25 = FitSettings(**settings), BM25Settings(**start.manifest.bm25)
    options = start.manifest.analyser["options"]  # words must be cut here as they are there
    looked_at = ensemble.views(fitted, analyser(**options))
    if tuple(encoder.get("views", ["both"] * fitted.fits)) != looked_at:
        raise other
    cache = paths.home() / "cache" / "eval"
    bench = Bench(corpus, cache, fit=fitted, analyser_options=options, progress=progress)
    return bench, to_learn_from(corpus.questions), BenchSettings(bm25=bm25)
