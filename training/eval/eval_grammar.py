"""The command line of `python -m training.eval`."""

from __future__ import annotations

import argparse
from datetime import date
from pathlib import Path

from training.eval.external import add_options
from training.eval.metrics import DEFAULT
from training.eval.system_names import SYSTEMS

EPILOG = """\
examples
  what ships, on the test questions that nothing was fitted to (under a minute):
    python -m training.eval
  a benchmark of your own, five folds: what learns sees four fifths, the last fifth is asked:
    python -m training.eval --corpus law/articles.jsonl.gz --questions law/questions.jsonl --folds 5
  folds that keep nearly the same questions together (python -m training.splits writes the file):
    python -m training.eval --corpus law --splits grouped.splits.jsonl
  real questions, learning from others that were written for the same law:
    python -m training.eval --corpus law --questions law/questions_dev.jsonl --annotated written.jsonl
  with word vectors and a pretrained encoder, neither learnt here (docs/zero-shot.md):
    python -m training.eval --corpus law --vectors cc.fr.300.bin --encoder multilingual-e5-base
  written answers, with a model or without one (it has a --help of its own):
    python -m training.eval answers --help

files
  articles.jsonl(.gz)   {"id", "code", "article_no", "headings": [..], "text"} a line
  questions.jsonl       {"id", "question", "article_ids": [..]} a line, or "code" and "article_no"
  --output DIR          metrics.json (fractions), metrics.csv, one TREC run a system

systems
  bm25            text, headings and code of each article
  bm25+questions  the same, each article carrying the questions to learn from that cite it
  tfidf, ql       the papers' other lexical baselines
  dense           the static encoder fitted to the law, and to the questions to learn from
  hybrid          reciprocal rank fusion of the best BM25 and the encoder; of the index that ships, the fusion
                  that its page answers with
  tuned           their fusion with weights of 0.05 steps and a scale chosen inside folds of the questions
                  to learn from, each asked of systems that learnt from the others. Where an encoder is
                  given (the index that ships) there are no such questions: it has learnt from all
  learned         boosted trees (LambdaMART) and small networks over what all systems say of the first 1,000
                  candidates, fitted inside folds in the same way; from 100 questions to learn from on
and when named
  dense-law       the encoder fitted to the law alone
  nearest         the articles that the most similar questions to learn from cite, and those around them
  learned-without:GROUP,..  without features of these groups: words meaning questions place both prior general
                  bridge; learned-without:networks is the trees alone
  model:NAME      a retriever that training.train made, of --trained NAME=FOLDER; with folds, the one of
                  FOLDER that has learnt from none of the questions asked
  HOW:SYSTEM      of --rerank: the first articles of SYSTEM in another order, such as
                  model:NAME:rrf:bm25,dense by a trained cross-encoder
  METHOD          another fusion of the hybrid's two: rrf borda min-max z-score percentile comb-sum comb-mnz
  vectors:NAME    means of the word vectors of --vectors; encoder:NAME a pretrained model of --encoder
  METHOD:A,B,..   a fusion of these systems, such as rrf:bm25,dense-law or tuned:bm25,ql,dense

A system is compared with the best single one by each measure, a fusion that names its parts with the
best of them: paired bootstrap and t-test, Holm's correction over all comparisons of the run.
"""


def parser() -> argparse.ArgumentParser:
    """Return the command line's grammar."""
    top = argparse.ArgumentParser(
        prog="python -m training.eval",
        description="Measure retrieval systems: recall, MRR, nDCG and more, with 95 % confidence intervals.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--corpus", type=Path, help="a corpus folder or its articles' file (the one that ships)")
    top.add_argument(
        "--language", metavar="XX", help="of a corpus without card.json: fr, nl, en, de, it or zh"
    )
    top.add_argument("--questions", type=Path, help="questions with gold articles (those of the corpus)")
    top.add_argument(
        "--part", metavar="SPLIT", help="of the questions those that bear this split, such as dev or test"
    )
    top.add_argument(
        "--annotated",
        type=Path,
        help="other questions to learn from, builtin for those that ship; --questions stay unseen",
    )
    top.add_argument(
        "--beside",
        type=Path,
        metavar="FILE",
        help="questions that every fold learns from beside its own, such as those that a machine wrote; "
        "builtin for those that ship",
    )
    top.add_argument(
        "--lent",
        action="append",
        default=[],
        metavar="CORPUS",
        help="have the encoder learn the articles and questions of this corpus of the same language too: the "
        "name of an imported one, or builtin; may be repeated",
    )
    top.add_argument(
        "--fits",
        type=int,
        default=1,
        metavar="N",
        help="fit the encoder N times, the fits side by side in one, as python -m indexes build --fits N "
        "does (1)",
    )
    top.add_argument(
        "--systems", nargs="+", metavar="SYSTEM", help=f"of: {' '.join(SYSTEMS)} (all that can run)"
    )
    top.add_argument(
        "--measures", nargs="+", default=list(DEFAULT), metavar="MEASURE", help=" ".join(DEFAULT)
    )
    parts = top.add_mutually_exclusive_group()
    parts.add_argument("--folds", type=int, help="cross-validate: learn from the other folds")
    parts.add_argument(
        "--splits", type=Path, metavar="FILE", help="the folds of a file that training.splits wrote, instead"
    )
    top.add_argument(
        "--only-fold",
        metavar="I",
        help="ask the questions of this fold alone: its number from 0, or its name in the file of --splits",
    )
    top.add_argument(
        "--jobs",
        type=int,
        default=1,
        metavar="N",
        help="ask so many folds side by side, in processes of their own: the times told of a question are "
        "then longer than alone (1); OMP_NUM_THREADS=1 before the command keeps them out of each other's way",
    )
    top.add_argument("--seed", type=int, default=42, help="of folds and bootstrap (42)")
    top.add_argument(
        "--tune", action="store_true", help="choose k1, b, field weights, stop words inside folds"
    )
    top.add_argument(
        "--curves", action="store_true", help="in --output: what every weight of a pair would give, drawn"
    )
    top.add_argument(
        "--in-force-on",
        type=date.fromisoformat,
        metavar="YYYY-MM-DD",
        help="search only the law in force on this day, where articles say from when to when they are",
    )
    top.add_argument(
        "--typing-errors",
        type=int,
        metavar="N",
        help="put a typing error into one word of N of the questions asked (8 is usual), drawn by --seed",
    )
    top.add_argument("--no-accents", action="store_true", help="ask the questions without their accents")
    top.add_argument("--output", type=Path, help="a new folder for metrics.json, metrics.csv and TREC runs")
    top.add_argument(
        "--cache", type=Path, help="where indexes built on the fly are kept (under PANDECT_HOME)"
    )
    add_options(top)
    return top
