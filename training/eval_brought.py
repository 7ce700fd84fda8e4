"""Systems that `training.eval` brings along: options of the command line, and what they make."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import get_args

from indexes import store
from rag.encoders.transformer import Pooling
from rag.errors import BadInput
from rag.types import Question
from training import prompts
from training.answers.cache import opened
from training.answers.run import GIVE_UP
from training.answers.writers import ModelSpec, chat
from training.extra import Extra, Extras
from training.names import MODEL, RERANKED
from training.rerank_llm import Asker, RerankSettings
from training.reranked import YES_NO, MakeReranker, by_model, reranked
from training.zero_shot import zero_shot

Say = Callable[[str], object]


def add_options(top: argparse.ArgumentParser) -> None:
    """Add the options of systems that are brought along."""
    group = top.add_argument_group("zero-shot systems (docs/zero-shot.md)")
    group.add_argument(
        "--vectors",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="measure vectors:NAME, means of word vectors: word2vec, fastText or GloVe, also .gz",
    )
    group.add_argument(
        "--encoder",
        nargs="+",
        default=[],
        metavar="MODEL",
        help="measure encoder:NAME, a pretrained model: a name of hub.toml, a hub id or a folder",
    )
    group.add_argument("--pooling", choices=get_args(Pooling), help="of --encoder, instead of its own")
    group.add_argument(
        "--remote-code", action="store_true", help="run the code that comes with a model of --encoder"
    )
    group.add_argument("--device", help="of models: cpu, cuda, … (the best there is)")
    trained = top.add_argument_group("trained models (docs/training.md)")
    trained.add_argument(
        "--trained",
        action="append",
        default=[],
        metavar="NAME=FOLDER",
        help="measure model:NAME, a retriever that python -m training.train made; may be repeated",
    )
    _add_reranking(top)


def _add_reranking(top: argparse.ArgumentParser) -> None:
    group = top.add_argument_group("language models that re-rank (docs/rerank-llm.md)")
    group.add_argument(
        "--rerank",
        nargs="+",
        default=[],
        metavar="HOW:SYSTEM",
        help=f"measure these: HOW of {', '.join(RERANKED)}, SYSTEM whose first articles are put in order",
    )
    group.add_argument("--model", metavar="MODEL", help="PROVIDER:NAME of LangChain that re-ranks")
    group.add_argument("--base-url", metavar="URL", help="its server")
    group.add_argument("--max-tokens", type=int, default=512, help="of a reply (512)")
    group.add_argument("--timeout", type=float, default=120.0, help="seconds of a reply (120)")
    group.add_argument("--rerank-depth", type=int, default=20, metavar="N", help="articles put in order (20)")
    group.add_argument("--rerank-window", type=int, default=10, metavar="N", help="of them in one list (10)")
    group.add_argument(
        "--prompt-tokens", type=int, default=8192, metavar="N", help="of a prompt; articles are cut (8192)"
    )
    group.add_argument(
        "--most-calls", type=int, metavar="N", help="to the server in all; the rest stays as it is"
    )
    group.add_argument("--replies", type=Path, metavar="FILE", help="what was replied (under PANDECT_HOME)")
    group.add_argument(
        "--give-up-after",
        type=int,
        default=GIVE_UP,
        metavar="N",
        help=f"failures in a row ({GIVE_UP}); 0: never",
    )
    group.add_argument(
        "--yes-no-model", metavar="MODEL", help="of yes-no: a folder of training.rerank_lora, or a hub id"
    )


@contextmanager
def brought(parsed: argparse.Namespace, questions: Sequence[Question], say: Say) -> Iterator[Extras]:
    """Give the systems that the options name, for as long as they are asked.

    Args:
        parsed: what was typed.
        questions: that will be asked.
        say: told what a person should know.

    Raises:
        BadInput: a file or a model that cannot be used, or options that do not go together.
        MissingExtra: packages of models are not installed.
    """
    more = dict(
        zero_shot(
            parsed.vectors,
            parsed.encoder,
            [q.text for q in questions],
            pooling=parsed.pooling,
            remote_code=parsed.remote_code,
            device=parsed.device,
            say=say,
        )
    )
    more |= _trained(parsed.trained, questions)
    with ExitStack() as stack:
        askers: list[Asker] = []
        rerankers: dict[str, MakeReranker] = {}

        def how(kind: str) -> MakeReranker:
            if kind not in rerankers:
                if kind == YES_NO:
                    rerankers[kind] = _yes_no(parsed)
                else:
                    askers.extend([] if askers else [_asker(parsed, stack)])
                    rerankers[kind] = by_model(askers[0], kind)
            return rerankers[kind]

        more |= reranked(parsed.rerank, parsed.rerank_depth, how)
        yield more
        for asker in askers:
            say(f"{asker.chat.name}: {asker.spent.told()}")


def _asker(parsed: argparse.Namespace, stack: ExitStack) -> Asker:
    if not parsed.model:
        raise BadInput("--rerank needs --model PROVIDER:NAME, such as --model ollama:qwen3")
    settings = RerankSettings(
        parsed.rerank_depth,
        parsed.rerank_window,
        parsed.prompt_tokens,
        parsed.most_calls,
        parsed.give_up_after,
    )
    spec = ModelSpec(parsed.model, parsed.base_url, 0.0, parsed.max_tokens, parsed.timeout)
    model = chat(spec)
    cache = stack.enter_context(
        opened(parsed.replies or store.home() / "cache" / "answers" / "replies.jsonl")
    )
    return Asker(model, cache, settings, prompts.rerank())


def _yes_no(parsed: argparse.Namespace) -> MakeReranker:
    from training.rerank_lora import load

    if not parsed.yes_no_model:
        raise BadInput(
            "--rerank yes-no:SYSTEM needs --yes-no-model: a folder of training.rerank_lora, or a hub id"
        )
    model = load(parsed.yes_no_model, device=parsed.device)
    return lambda bench: model.over({a.id: a for a in bench.corpus.articles})


def _trained(typed: Sequence[str], questions: Sequence[Question]) -> Extras:
    from training.neural.models import Models  # why here: most evaluations bring none

    models = Models.read(typed, questions)

    def of(name: str) -> Extra:
        return Extra(lambda bench, lesson, system: models.retriever(name, bench.corpus, lesson.learn))

    return {f"{MODEL}{name}": of(name) for name in models.names}
