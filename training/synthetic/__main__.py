"""`python -m training.synthetic`: questions that a language model writes for the articles of a corpus.

What is asked, and what of the replies is taken, is in `training.synthetic.questions`. Replies are on the disk
before the next article is sent, so a run that was killed goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import logging
import shlex
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from indexes.cli.progress import Bars
from indexes.cli.terminal import guarded
from indexes.corpus.corpus import to_learn_from
from indexes.corpus.questions import question_record, read_questions
from indexes.formats.jsonl import dump, write_lines
from indexes.sources import registry
from indexes.store import paths
from indexes.store.atomic import replacing
from rag.errors import BadInput
from rag.text.analysers import analyser
from rag.types import named
from training.answers.chat import replies
from training.answers.run import GIVE_UP, opened
from training.answers.writers import ModelSpec, chat
from training.synthetic import prompts
from training.synthetic.questions import WAYS, accept_replies, estimate, plans


@guarded
def main(arguments: Sequence[str] | None = None) -> int:
    """Estimate, or write the questions and the file."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    typed = list(sys.argv[1:] if arguments is None else arguments)
    if typed[:1] == ["cloze"]:
        from training.synthetic.cloze import main as cloze

        return cloze(typed[1:])
    _run(parser().parse_args(typed), typed)
    return 0


def _run(parsed: argparse.Namespace, typed: Sequence[str]) -> None:
    if not parsed.estimate and parsed.output is None:
        raise BadInput("give --output FILE for the questions, or --estimate to see what they will cost")
    if parsed.output is not None and parsed.output.exists():
        raise BadInput(f"{parsed.output} is there already: remove it or give another --output")
    corpus = registry.law(parsed.corpus, language=parsed.language)
    known = list(corpus.questions)
    if parsed.examples is not None:
        known += read_questions(parsed.examples, corpus.articles)
    known = to_learn_from(known)  # those to be measured on are never shown, nor told by what is left out
    language = corpus.card.language
    chosen = list(corpus.articles)
    if parsed.limit is not None and parsed.limit < len(chosen):
        if parsed.limit < 1:
            raise BadInput(f"--limit {parsed.limit}: give 1 or more articles")
        drawn = np.random.default_rng(parsed.seed).permutation(len(chosen))[: parsed.limit]
        chosen = [chosen[i] for i in sorted(drawn.tolist())]
    plans_ = plans(chosen, language, way=parsed.way, count=parsed.count, seed=parsed.seed, known=known)
    spec = ModelSpec(parsed.model, parsed.base_url, parsed.temperature, parsed.max_tokens, parsed.timeout)
    writer = chat(spec)
    replies_file = parsed.replies or paths.home() / "cache" / "answers" / "synthetic.jsonl"
    with opened(replies_file) as cache, closing(Bars()) as bars:
        expected = estimate(writer, plans_, cache, parsed.count)
        cost = expected.cost(parsed.price_in, parsed.price_out)
        money = "" if cost is None else f", {cost:,.2f} in the currency of the prices"
        print(
            f"{expected.articles:,} articles, {expected.cached:,} of them replied to before; the rest: at "
            f"most {expected.read:,} tokens read, about {expected.written:,} written{money}"
        )
        if parsed.estimate:
            return
        progress, texts = named(bars, "writing questions"), [plan.prompt for plan in plans_]
        answers = replies(writer, texts, cache, progress=progress, give_up=parsed.give_up_after)
    written = accept_replies(answers, plans_, analyser(language), count=parsed.count, known=known)
    try:
        parsed.output.parent.mkdir(parents=True, exist_ok=True)
        with replacing(parsed.output) as part:
            write_lines(part, (dump(question_record(question)) for question in written.questions))
    except OSError as error:
        raise BadInput(
            f"{parsed.output}: cannot be written ({error.strerror}). Give another --output."
        ) from None
    about = {
        "kind": "synthetic questions",
        "command": shlex.join(["python", "-m", "training.synthetic", *typed]),
        "model": parsed.model,
        "temperature": parsed.temperature,
        "prompts": prompts.synthetic().id,
        "way": parsed.way,
        "corpus_sha256": corpus.sha256,
        "articles": len(plans_),
        "questions": len(written.questions),
        "left_out": dict(written.left_out),
        "failed": written.failed,
    }
    parsed.output.with_name(parsed.output.name + ".about.json").write_text(
        json.dumps(about, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    )
    left = ", ".join(f"{n} {reason}" for reason, n in written.left_out.most_common()) or "none"
    print(f"{len(written.questions):,} questions of {len(plans_):,} articles; left out: {left}")
    if written.failed:
        print(f"{written.failed} replies failed: type the command again for those articles")
    print(f"written: {parsed.output}")


EPILOG = """\
examples
  what one question an article would cost, at prices of a million tokens:
    python -m training.synthetic --corpus law --model ollama:qwen3 --price-in 0.4 --price-out 1.6 --estimate
  write them; what was written before is not paid for again:
    python -m training.synthetic --corpus law --model ollama:qwen3 --output law/synthetic.jsonl
  measure what they are worth, on questions that real people asked:
    python -m training.eval --corpus law --questions law/questions_dev.jsonl --annotated law/synthetic.jsonl
  sentences of the law in the place of questions, which no model writes (it has a --help of its own):
    python -m training.synthetic cloze --corpus law --output law/cloze.jsonl
  the published ones of BSARD and JuriFindIT are imported, not written:
    python -m indexes import BSARD --name bsard --option splits=train,test,synthetic
"""


def parser() -> argparse.ArgumentParser:
    """Return the command line's grammar."""
    top = argparse.ArgumentParser(
        prog="python -m training.synthetic",
        description="Have a language model write questions for the articles of a corpus.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--corpus", type=Path, required=True, help="a corpus folder or its articles' file")
    top.add_argument("--language", metavar="XX", help="of a corpus without card.json")
    top.add_argument("--model", required=True, help="PROVIDER:NAME of LangChain")
    top.add_argument("--base-url", metavar="URL", help="its server")
    top.add_argument("--way", default=WAYS[0], help=f"{' or '.join(WAYS)} ({WAYS[0]})")
    top.add_argument("--count", type=int, default=1, help="questions an article (1)")
    top.add_argument("--limit", type=int, metavar="N", help="for only N of the articles, drawn by --seed")
    top.add_argument("--examples", type=Path, help="annotated questions beside those of the corpus, to show")
    top.add_argument("--estimate", action="store_true", help="say what it would take, and ask nobody")
    top.add_argument("--price-in", type=float, metavar="P", help="of a million tokens read, in any currency")
    top.add_argument("--price-out", type=float, metavar="P", help="of a million tokens written")
    top.add_argument("--temperature", type=float, default=0.7, help="of the model (0.7: 0 repeats itself)")
    top.add_argument("--max-tokens", type=int, default=1024, help="of a reply (1024)")
    top.add_argument("--timeout", type=float, default=120.0, help="seconds of a reply (120)")
    top.add_argument("--replies", type=Path, metavar="FILE", help="what was replied (under PANDECT_HOME)")
    failures = f"failures in a row ({GIVE_UP}); 0: never"
    top.add_argument("--give-up-after", type=int, default=GIVE_UP, metavar="N", help=failures)
    top.add_argument("--seed", type=int, default=42, help="of what is drawn (42)")
    new = "a new file of questions, .jsonl or .jsonl.gz"
    top.add_argument("--output", type=Path, metavar="FILE", help=new)
    return top


if __name__ == "__main__":
    sys.exit(main())
