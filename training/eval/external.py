"""Systems that `training.eval` brings along: options of the command line, and what they make.

Systems of an evaluation that put the first articles of another one in order: HOW:SYSTEM.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from indexes.store import paths
from rag.encoders.transformer import Pooling
from rag.errors import BadInput
from rag.retrieval.rerank import Reranked
from rag.types import Question, Reranker, Retriever
from training.answers.run import GIVE_UP, opened
from training.answers.writers import ModelSpec, chat
from training.eval.external_system import Extra, Extras, System
from training.eval.pretrained import zero_shot
from training.eval.system_names import ENCODER, MODEL, RERANKED, parse_rerank
from training.llm_reranking import Asker, LLMReranker, RerankSettings
from training.synthetic import prompts

if TYPE_CHECKING:
    from training.eval.context import BenchLike, FoldContext
    from training.eval.pretrained import PairModel
    from training.neural.systems.trained import Models


YES_NO = "yes-no"


@dataclass(frozen=True, slots=True)
class RerankMethod:
    """One reranking method: a factory given what may be learnt, and its depth."""

    make: Callable[[BenchLike, FoldContext], Reranker]
    depth: int  # articles of the system below


def reranked(names: Sequence[str], how: Callable[[str], RerankMethod]) -> Extras:
    """Return the systems of these names.

    Args:
        names: HOW:SYSTEM, such as "listwise:bm25"; SYSTEM is any name of `training.eval.system_names`.
        how: gives the way of a HOW.

    Raises:
        BadInput: a name of another form, or a HOW that cannot be used.
    """
    made = {}
    for name in names:
        parts = parse_rerank(name)
        if parts is None:
            raise BadInput(
                f"--rerank {name}: expected HOW:SYSTEM with HOW of {', '.join(RERANKED)}, {MODEL}NAME of "
                f"--trained or {ENCODER}NAME of --encoder, such as listwise:bm25"
            )
        kind, first = parts
        made[name] = Extra(partial(_make, first, how(kind)), over=(first,))
    return made


def _make(first: str, way: RerankMethod, bench: BenchLike, context: FoldContext, system: System) -> Retriever:
    return Reranked(system(first), way.make(bench, context), way.depth)


def chat_method(asker: Asker, kind: str) -> RerankMethod:
    """Return the reranking method of a chat model: pointwise or listwise."""

    def make(bench: BenchLike, context: FoldContext) -> Reranker:
        articles = {a.id: a for a in bench.corpus.articles}
        return LLMReranker(
            "listwise" if kind == "listwise" else "pointwise", asker, articles, bench.analyser()
        )

    return RerankMethod(make, asker.settings.depth)


Say = Callable[[str], object]


def add_options(top: argparse.ArgumentParser) -> None:
    """Add the options of systems that are brought along."""
    group = top.add_argument_group("zero-shot systems (docs/measure.md)")
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
    trained = top.add_argument_group("trained models (docs/train.md)")
    trained.add_argument(
        "--trained",
        action="append",
        default=[],
        metavar="NAME=FOLDER",
        help="measure model:NAME, a retriever that python -m training.train made; may be repeated",
    )
    _add_reranking(top)


def _add_reranking(top: argparse.ArgumentParser) -> None:
    group = top.add_argument_group("models that re-rank (docs/measure.md)")
    group.add_argument(
        "--rerank",
        nargs="+",
        default=[],
        metavar="HOW:SYSTEM",
        help=f"measure these: HOW of {', '.join(RERANKED)}, {MODEL}NAME of --trained or {ENCODER}NAME of "
        "--encoder; SYSTEM whose first articles are put in order",
    )
    group.add_argument("--model", metavar="MODEL", help="PROVIDER:NAME of LangChain that re-ranks")
    group.add_argument("--base-url", metavar="URL", help="its server")
    group.add_argument("--max-tokens", type=int, default=512, help="of a reply (512)")
    group.add_argument("--timeout", type=float, default=120.0, help="seconds of a reply (120)")
    group.add_argument(
        "--rerank-depth",
        type=int,
        metavar="N",
        help=f"articles put in order ({RerankSettings().depth}; of a trained model what its recipe says)",
    )
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
        "--yes-no-model",
        metavar="MODEL",
        help="of yes-no: a folder that training.train wrote, a name of hub.toml, a hub id or a folder",
    )


@contextmanager
def external_systems(parsed: argparse.Namespace, questions: Sequence[Question], say: Say) -> Iterator[Extras]:
    """Yield the systems that the options name, for as long as they are open.

    Args:
        parsed: what was typed.
        questions: that will be asked.
        say: told what a person should know.

    Raises:
        BadInput: a file or a model that cannot be used, or options that do not go together.
        MissingExtra: packages of models are not installed.
    """
    depth: int | None = parsed.rerank_depth
    if depth is not None and depth < 1:
        raise BadInput(f"--rerank-depth {depth}: give 1 or more")
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
    pairs = _pairs(parsed) if parsed.encoder else {}
    if both := sorted(set(pairs) & set(more)):
        raise BadInput(f"{both[0]} was given twice, or two folders bear this name: rename one")
    more |= {name: _reranking_bm25(model, depth) for name, model in pairs.items()}
    trained = _models(parsed.trained, questions, parsed.device)
    more |= {f"{MODEL}{name}": _of_model(trained, name) for name in trained.names}
    with ExitStack() as stack:
        askers: list[Asker] = []
        ways: dict[str, RerankMethod] = {}

        def how(kind: str) -> RerankMethod:
            if kind not in ways:
                if kind == YES_NO:
                    ways[kind] = _yes_no(parsed, questions)
                elif kind.startswith(MODEL):
                    ways[kind] = _by_trained(trained, kind.removeprefix(MODEL), depth)
                elif kind.startswith(ENCODER):
                    ways[kind] = _by_published(pairs, kind, depth)
                else:
                    askers.extend([] if askers else [_asker(parsed, stack)])
                    ways[kind] = chat_method(askers[0], kind)
            return ways[kind]

        more |= reranked(parsed.rerank, how)
        yield more
        for asker in askers:
            say(f"{asker.chat.name}: {asker.spent.summary()}")


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
    spec = ModelSpec(parsed.model, parsed.base_url, 0.0, parsed.max_tokens, parsed.timeout)
    model = chat(spec)
    cache = stack.enter_context(
        opened(parsed.replies or paths.home() / "cache" / "answers" / "replies.jsonl")
    )
    return Asker(model, cache, settings, prompts.rerank())


def _yes_no(parsed: argparse.Namespace, questions: Sequence[Question]) -> RerankMethod:
    from training.neural.systems.cross_encoder import PairReader  # why here: most evaluations bring none
    from training.neural.systems.trained import holds_result
    from training.neural.systems.yes_no import YesNo

    if not parsed.yes_no_model:
        raise BadInput(
            "--rerank yes-no:SYSTEM needs --yes-no-model: a folder that python -m training.train wrote, or a "
            "hub id"
        )
    if holds_result(Path(parsed.yes_no_model)):
        tuned = _models([f"{YES_NO}={parsed.yes_no_model}"], questions, parsed.device)
        return _by_trained(tuned, YES_NO, parsed.rerank_depth)
    model = YesNo.untuned(parsed.yes_no_model, parsed.device)
    depth = parsed.rerank_depth or RerankSettings().depth
    return RerankMethod(lambda bench, context: PairReader(model, bench.corpus.articles), depth)


def _pairs(parsed: argparse.Namespace) -> dict[str, PairModel]:
    from training.eval.pretrained import pair_models  # why here: most evaluations bring none

    return pair_models(parsed.encoder, remote_code=parsed.remote_code, device=parsed.device)


def _reranking_bm25(model: PairModel, depth: int | None) -> Extra:
    return Extra(
        lambda bench, context, system: Reranked(system("bm25"), model.reader(bench), depth or model.depth),
        over=("bm25",),
    )


def _by_published(pairs: Mapping[str, PairModel], name: str, depth: int | None) -> RerankMethod:
    if name not in pairs:
        raise BadInput(
            f"--rerank {name}:SYSTEM needs --encoder with a model that reads question and article together, "
            f"such as monobert-legal-french; given are {', '.join(pairs) or 'none'}"
        )
    model = pairs[name]
    return RerankMethod(lambda bench, context: model.reader(bench), depth or model.depth)


def _models(typed: Sequence[str], questions: Sequence[Question], device: str | None) -> Models:
    from training.neural.systems.trained import Models  # why here: most evaluations bring none

    return Models.read(typed, questions, device)


def _of_model(models: Models, name: str) -> Extra:
    return Extra(lambda bench, context, system: models.retriever(name, bench.corpus, context.learn))


def _by_trained(models: Models, name: str, depth: int | None) -> RerankMethod:
    """Return the way of a trained model; in each fold the one that has not seen what is asked."""
    own = models.depth(name)  # or what is lacking is told now
    return RerankMethod(lambda bench, context: models.reader(name, bench.corpus, context.learn), depth or own)
