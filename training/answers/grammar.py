"""The command line of `python -m training.eval answers`."""

from __future__ import annotations

import argparse
from pathlib import Path

from training.answers.contexts import FILL, GOLD, MADE, PART
from training.answers.run import GIVE_UP
from training.answers.writers import EXTRACTIVE, ModelSpec

EPILOG = """\
examples
  without any model, on the test questions that ship:
    python -m training.eval answers --part test
  a model behind an OpenAI-compatible server:
    python -m training.eval answers --model openai:qwen3 --base-url http://127.0.0.1:8000/v1 --limit 100
  one of Anthropic's, its key in ANTHROPIC_API_KEY, with prices for a million tokens:
    python -m training.eval answers --model anthropic:claude-haiku-4-5 --price-in 1 --price-out 5
  an examination in JEC-QA's format, and charges in CAIL 2018's, beside STARD's published table:
    python -m training.eval answers --model ollama:qwen3 --corpus stard --multiple-choice jecqa.jsonl
    python -m training.eval answers --model ollama:qwen3 --corpus stard --charges cail.jsonl

contexts
  SYSTEM      the first k articles that a system finds: bm25, dense, hybrid … (python -m training.eval --help)
  gold        the gold articles among the best others
  part-gold   the same, some gold articles taken out: here refusing is right
  none        no articles

A reply is kept in --replies as soon as it is there: a run that was killed goes on where it was.
Keys come from the environment, by the provider's variable (OPENAI_API_KEY, ANTHROPIC_API_KEY), for a server
that was named from PANDECT_MODEL_KEY and PANDECT_JUDGE_KEY; they are written nowhere.
docs/measuring-answers.md says what is measured, and how.
"""


def parser() -> argparse.ArgumentParser:
    """Return the command line's grammar."""
    top = argparse.ArgumentParser(
        prog="python -m training.eval answers",
        description="Measure written answers: citations, refusals, faithfulness, overlap, accuracy, cost.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _law(top)
    _models(top)
    tasks = top.add_mutually_exclusive_group()
    tasks.add_argument("--multiple-choice", type=Path, metavar="FILE", help="instead: JEC-QA's format")
    tasks.add_argument("--charges", type=Path, metavar="FILE", help="instead: CAIL 2018's format")
    top.add_argument(
        "--contexts",
        nargs="+",
        metavar="CONTEXT",
        help=f"{' '.join(MADE)}, or systems (hybrid {GOLD} {PART}; of tasks: none bm25 dense hybrid)",
    )
    top.add_argument("--k", type=int, default=10, help="articles in a context at most (10)")
    top.add_argument(
        "--fill", default=FILL, metavar="SYSTEM", help=f"what ranks the contexts with gold articles ({FILL})"
    )
    top.add_argument("--limit", type=int, metavar="N", help="only N of the questions, drawn by --seed")
    top.add_argument("--judge", metavar="MODEL", help="PROVIDER:NAME that judges whether passages support")
    top.add_argument("--judge-base-url", metavar="URL", help="its server")
    top.add_argument("--no-overlap", action="store_true", help="leave out METEOR, ROUGE and BERTScore")
    top.add_argument("--bertscore-model", metavar="MODEL", help="an encoder: a folder or an id on the hub")
    top.add_argument("--bertscore-layer", type=int, default=-1, help="whose vectors are compared (the last)")
    top.add_argument("--bertscore-idf", action="store_true", help="weigh rare tokens more")
    top.add_argument("--price-in", type=float, metavar="P", help="of a million tokens read, in any currency")
    top.add_argument("--price-out", type=float, metavar="P", help="of a million tokens written")
    top.add_argument("--replies", type=Path, metavar="FILE", help="what was replied (under PANDECT_HOME)")
    top.add_argument(
        "--give-up-after",
        type=int,
        default=GIVE_UP,
        metavar="N",
        help=f"failures in a row ({GIVE_UP}); 0: never",
    )
    top.add_argument(
        "--output", type=Path, help="a new folder for metrics.json, metrics.csv, questions.jsonl"
    )
    return top


def _law(top: argparse.ArgumentParser) -> None:
    """Add what `training.eval.questions.prepare` looks at."""
    top.add_argument("--corpus", type=Path, help="a corpus folder or its articles' file (the one that ships)")
    top.add_argument("--language", metavar="XX", help="of a corpus without card.json")
    top.add_argument("--questions", type=Path, help="questions with gold articles (those of the corpus)")
    top.add_argument("--part", metavar="SPLIT", help="of the questions those that bear this split")
    top.add_argument("--annotated", type=Path, help="other questions for the systems to learn from")
    top.add_argument("--folds", type=int, help="systems learn from the other folds")
    top.add_argument("--only-fold", metavar="I", help="ask the questions of this fold alone")
    top.add_argument("--seed", type=int, default=42, help="of folds, samples and bootstrap (42)")
    top.add_argument("--cache", type=Path, help="where indexes built on the fly are kept")
    top.set_defaults(splits=None, typing_errors=None, no_accents=False, tune=False, lent=(), fits=1)


def _models(top: argparse.ArgumentParser) -> None:
    top.add_argument(
        "--model",
        nargs="+",
        default=[EXTRACTIVE],
        metavar="MODEL",
        help=f"PROVIDER:NAME of LangChain, or {EXTRACTIVE}, which needs no model ({EXTRACTIVE})",
    )
    top.add_argument("--base-url", metavar="URL", help="the server of the models")
    top.add_argument("--temperature", type=float, default=0.0, help="of the models (0)")
    top.add_argument("--max-tokens", type=int, default=1024, help="of a reply (1024)")
    top.add_argument(
        "--baseline", action="store_true", help="write with STARD's simple prompt, not with ours"
    )
    top.add_argument("--timeout", type=float, default=120.0, help="seconds of a reply (120)")


def specs(parsed: argparse.Namespace) -> list[ModelSpec]:
    """Return the models that were named."""
    chosen = (parsed.base_url, parsed.temperature, parsed.max_tokens, parsed.timeout, parsed.baseline)
    return [ModelSpec(name, *chosen) for name in dict.fromkeys(parsed.model)]


def judge_spec(parsed: argparse.Namespace) -> ModelSpec | None:
    """Return the judge that was named, if one was; it says one word, always the same."""
    if parsed.judge is None:
        return None
    return ModelSpec(
        parsed.judge, parsed.judge_base_url, 0.0, parsed.max_tokens, parsed.timeout, key="PANDECT_JUDGE_KEY"
    )
