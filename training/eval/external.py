"""Systems that `training.eval` brings along: options of the command line, and what they make."""

from __future__ import annotations

import argparse
import json
from collections.abc import Container, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any, get_args

from indexes.store import paths
from rag.encoders.transformer import Pooling
from rag.errors import BadInput
from rag.retrieval.rerank import Reranked
from rag.types import Question, Reranker
from training.answers.run import GIVE_UP, opened
from training.answers.writers import ModelSpec, chat
from training.eval.context import BenchLike, Extra, Extras, FoldContext, RerankMethod
from training.eval.harness import trec_runs
from training.eval.pretrained import Say, zero_shot
from training.eval.system_names import ENCODER, MODEL, RERANKED, parse_rerank
from training.llm_reranking import Asker, LLMReranker, RerankSettings
from training.neural.result import holds_result
from training.neural.systems.cross_encoder import PairReader
from training.neural.systems.trained import Models
from training.neural.systems.yes_no import YesNo
from training.synthetic import prompts

YES_NO = "yes-no"


def add_options(top: argparse.ArgumentParser) -> None:
    """Add the options of systems that are brought along."""
    add = top.add_argument_group("zero-shot systems (docs/measure.md)").add_argument
    add(
        "--vectors",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="measure vectors:NAME, means of word vectors: word2vec, fastText or GloVe, also .gz",
    )
    add(
        "--encoder",
        nargs="+",
        default=[],
        metavar="MODEL",
        help="measure encoder:NAME, a pretrained model: a name of hub.toml, a hub id or a folder",
    )
    add("--pooling", choices=get_args(Pooling), help="of --encoder, instead of its own")
    add("--remote-code", action="store_true", help="run the code that comes with a model of --encoder")
    add("--device", help="of models: cpu, cuda, … (the best there is)")
    top.add_argument_group("trained models (docs/train.md)").add_argument(
        "--trained",
        action="append",
        default=[],
        metavar="NAME=FOLDER",
        help="measure model:NAME, a retriever that python -m training.train made; may be repeated",
    )
    top.add_argument_group("other systems' runs").add_argument(
        "--run",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="measure run:NAME, a run in TREC's format by whatever system; may be repeated",
    )
    add = top.add_argument_group("models that re-rank (docs/measure.md)").add_argument
    add(
        "--rerank",
        nargs="+",
        default=[],
        metavar="HOW:SYSTEM",
        help=f"measure these: HOW of {', '.join(RERANKED)}, {MODEL}NAME of --trained or {ENCODER}NAME of "
        "--encoder; SYSTEM whose first articles are put in order",
    )
    add("--model", metavar="MODEL", help="PROVIDER:NAME of LangChain that re-ranks")
    add("--base-url", metavar="URL", help="its server")
    add("--max-tokens", type=int, default=512, help="of a reply (512)")
    add("--timeout", type=float, default=120.0, help="seconds of a reply (120)")
    number = partial(add, type=int, metavar="N")
    depth = f"articles put in order ({RerankSettings().depth}; of a trained model what its recipe says)"
    number("--rerank-depth", help=depth)
    number("--rerank-window", default=10, help="of them in one list (10)")
    number("--prompt-tokens", default=8192, help="of a prompt; articles are cut (8192)")
    number("--most-calls", help="to the server in all; the rest stays as it is")
    add("--replies", type=Path, metavar="FILE", help="what was replied (under PANDECT_HOME)")
    number("--give-up-after", default=GIVE_UP, help=f"failures in a row ({GIVE_UP}); 0: never")
    add(
        "--yes-no-model",
        metavar="MODEL",
        help="of yes-no: a folder that training.train wrote, a name of hub.toml, a hub id or a folder",
    )


@contextmanager
def external_systems(parsed: argparse.Namespace, questions: Sequence[Question], say: Say) -> Iterator[Extras]:
    """Yield the systems that the options name, for as long as they are open.

    Raises:
        BadInput: a file or a model that cannot be used, or options that do not go together.
        MissingExtra: packages of models are not installed.
    """
    depth: int | None = parsed.rerank_depth
    if depth is not None and depth < 1:
        raise BadInput(f"--rerank-depth {depth}: give 1 or more")
    more, pairs = zero_shot(parsed, [q.text for q in questions], say)
    more |= {name: _reranked("bm25", method) for name, method in pairs.items()}
    more |= {name: Extra(make) for name, make in trec_runs(parsed.run, questions)}
    trained = Models.read(parsed.trained, questions, parsed.device)
    more |= {f"{MODEL}{name}": _of_model(trained, name) for name in trained.names}
    yes_no = cache(partial(_yes_no, parsed, questions))
    asker: Asker | None = None
    with ExitStack() as stack:
        for name in parsed.rerank:
            parts = parse_rerank(name)
            if parts is None:
                raise BadInput(
                    f"--rerank {name}: expected HOW:SYSTEM with HOW of {', '.join(RERANKED)}, {MODEL}NAME of "
                    f"--trained or {ENCODER}NAME of --encoder, such as listwise:bm25"
                )
            how, first = parts
            if how == YES_NO:
                method = yes_no()
            elif how.startswith(MODEL):
                method = _by_trained(trained, how.removeprefix(MODEL), depth)
            elif how in pairs:
                method = pairs[how]
            elif how.startswith(ENCODER):
                raise BadInput(
                    f"--rerank {how}:SYSTEM needs --encoder with a model that reads question and article "
                    f"together, such as monobert-legal-french; given are {', '.join(pairs) or 'none'}"
                )
            else:
                asker = asker or _asker(parsed, stack)
                method = RerankMethod(partial(_chat_reranker, asker, how), asker.settings.depth)
            more[name] = _reranked(first, method)
        yield more
        if asker is not None:
            say(f"{asker.chat.name}: {asker.spent.summary()}")


def hub_models(more: Extras, names: Container[str]) -> dict[str, Any]:
    """Return what a result file says of the hub's models that these systems read by: their commit."""
    found = {name: of.model for name, of in more.items() if of.model and name in names}
    return {"models": found} if found else {}


def _reranked(first: str, by: RerankMethod) -> Extra:
    return Extra(
        lambda bench, context, system: Reranked(system(first), by.make(bench, context), by.depth),
        (first,),
        by.model,
    )


def _of_model(models: Models, name: str) -> Extra:
    made_of = tuple(json.dumps(trained.manifest, sort_keys=True) for trained in models.found[name])
    return Extra(
        lambda bench, context, system: models.retriever(name, bench.corpus, context.learn), made_of=made_of
    )


def _by_trained(models: Models, name: str, depth: int | None) -> RerankMethod:
    """Return the way of a trained model; in each fold the one that has not seen what is asked."""
    own = models.depth(name)  # or what is lacking is told now
    return RerankMethod(lambda bench, context: models.reader(name, bench.corpus, context.learn), depth or own)


def _yes_no(parsed: argparse.Namespace, questions: Sequence[Question]) -> RerankMethod:
    if not parsed.yes_no_model:
        raise BadInput(
            "--rerank yes-no:SYSTEM needs --yes-no-model: a folder that python -m training.train wrote, or a "
            "hub id"
        )
    if holds_result(Path(parsed.yes_no_model)):
        tuned = Models.read([f"{YES_NO}={parsed.yes_no_model}"], questions, parsed.device)
        return _by_trained(tuned, YES_NO, parsed.rerank_depth)
    model = YesNo.untuned(parsed.yes_no_model, parsed.device)
    depth = parsed.rerank_depth or RerankSettings().depth
    of = model.recipe.model
    named = f"{of.backbone}@{of.revision}" if of.revision else None
    return RerankMethod(lambda bench, context: PairReader(model, bench.corpus.articles), depth, named)


def _asker(parsed: argparse.Namespace, stack: ExitStack) -> Asker:
    if not parsed.model:
        raise BadInput("--rerank needs --model PROVIDER:NAME, such as --model ollama:qwen3")
    settings = RerankSettings(
        parsed.rerank_depth or RerankSettings().depth,
        parsed.rerank_window,
        parsed.prompt_tokens,
        parsed.most_calls,
        parsed.give_up_after,
    )
    model = chat(ModelSpec(parsed.model, parsed.base_url, 0.0, parsed.max_tokens, parsed.timeout))
    replies = parsed.replies or paths.home() / "cache" / "answers" / "replies.jsonl"
    return Asker(model, stack.enter_context(opened(replies)), settings, prompts.rerank())


def _chat_reranker(asker: Asker, how: str, bench: BenchLike, context: FoldContext) -> Reranker:
    articles = {a.id: a for a in bench.corpus.articles}
    return LLMReranker("listwise" if how == "listwise" else "pointwise", asker, articles, bench.analyser())
