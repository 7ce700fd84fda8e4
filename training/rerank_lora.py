"""A causal language model that says yes or no of a question and an article, tuned by LoRA.

    s(q, a) = logit(yes) - logit(no)  at the last token of the prompt;   p = sigmoid(s)
    L = -mean of [ y log p + (1 - y) log(1 - p) ]  over a gold article and n others a question

as Qwen3-Reranker scores (Zhang et al. 2025). Only low-rank matrices beside the attention's weights learn (Hu
et al. 2022): W' = W + (alpha / r) B A, a few megabytes where the model has billions of numbers. The highest
published result on STARD re-ranks with such a model of 4 billion. The prompt is ours
(training/prompt_files/rerank.toml), said in the model's own chat template where it has one.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from indexes import sources
from indexes.corpus import read_questions, to_learn_from
from indexes.folder import appearing
from indexes.progress import Bars
from rag.encoders.transformer import sound
from rag.errors import BadInput, MissingExtra, PandectError
from rag.types import Article, Hit, Question, Ranking
from training import prompts
from training.prompts import shown

if TYPE_CHECKING:
    import torch

ENTRY = "yes_no.json"
YES, NO = "yes", "no"
_AT_ONCE = 16  # pairs that are scored together
_LEAST = 16  # tokens of a question and of an article, below which a window is refused
_MARK = "\u241f"  # stands where the article will: what is around it stays whole


@dataclass(frozen=True, slots=True)
class LoRASettings:
    """A recipe. The published one is not known in all its parts; these are usual values."""

    model: str = "Qwen/Qwen3-Reranker-0.6B"
    r: int = 16
    alpha: int = 32
    dropout: float = 0.05
    targets: tuple[str, ...] = ("q_proj", "k_proj", "v_proj", "o_proj")
    negatives: int = 7  # a gold article
    depth: int = 50  # of BM25's ranking, among which negatives are drawn
    window: int = 1024  # tokens of a prompt; a longer article is cut
    steps: int = 500
    batch: int = 2  # questions a step, each with a gold article and its negatives
    rate: float = 1e-4
    seed: int = 42

    def __post_init__(self) -> None:
        """Refuse what cannot be trained."""
        if (
            min(self.r, self.alpha, self.negatives, self.depth, self.steps, self.batch) < 1
            or self.window < 16
        ):
            raise BadInput(
                "lora: r, alpha, negatives, depth, steps, batch must be 1 or more, window 16 or more"
            )


@dataclass(frozen=True, slots=True)
class Example:
    """A question, an article that answers it, and some that do not."""

    question: str
    gold: Article
    others: tuple[Article, ...]


class YesNo:
    """Scores pairs of a question and an article; re-ranks."""

    def __init__(self, model: Any, tokenizer: Any, settings: LoRASettings) -> None:  # noqa: ANN401 - transformers
        """Take a causal model and its tokenizer."""
        self.model, self.tokenizer, self.settings = model, tokenizer, settings
        self.yes, self.no = (self._token(word) for word in (YES, NO))
        if self.yes == self.no:
            raise BadInput(f"the tokenizer of {settings.model} begins {YES!r} and {NO!r} with the same token")
        self._articles: Mapping[str, Article] = {}
        around = len(self._tokens(self._around("", _MARK)))
        self._longest = (settings.window - around) // 2  # tokens of a question: the rest is the article's
        if self._longest < _LEAST:
            raise BadInput(
                f"a window of {settings.window} tokens: the prompt takes {around}; give "
                f"{around + 2 * _LEAST} or more, so that a question and an article fit"
            )

    def _tokens(self, text: str) -> list[int]:
        return list(self.tokenizer(sound(text), add_special_tokens=False)["input_ids"])

    def _token(self, word: str) -> int:
        return int(self.tokenizer(word, add_special_tokens=False)["input_ids"][0])

    def over(self, articles: Mapping[str, Article]) -> YesNo:
        """Return this model as a reranker of these articles."""
        made = YesNo(self.model, self.tokenizer, self.settings)
        made._articles = articles
        return made

    def rerank(self, questions: Sequence[str], rankings: Sequence[Ranking], k: int) -> list[Ranking]:
        """Return one reordered ranking of at most k hits a question; all hits given are looked at."""
        done: list[Ranking] = []
        for question, ranking in zip(questions, rankings, strict=True):
            scores = self.scores([(question, self._articles[hit.article_id]) for hit in ranking])
            order = sorted(range(len(ranking)), key=lambda n, of=scores: -of[n])  # type: ignore[misc]
            done.append(tuple(Hit(ranking[n].article_id, scores[n]) for n in order)[: max(k, 0)])
        return done

    def scores(self, pairs: Sequence[tuple[str, Article]]) -> list[float]:
        """Return logit(yes) - logit(no) of each pair."""
        import torch

        found: list[float] = []
        self.model.eval()
        with torch.inference_mode():
            for begin in range(0, len(pairs), _AT_ONCE):
                found += self.logits(pairs[begin : begin + _AT_ONCE]).float().cpu().tolist()
        return [round(score, 5) for score in found]

    def logits(self, pairs: Sequence[tuple[str, Article]]) -> torch.Tensor:
        """Return logit(yes) - logit(no), (n_pairs,), with gradients."""
        import torch

        rows = [self._prompt(question, article) for question, article in pairs]
        longest = max(map(len, rows))
        pad = self.tokenizer.pad_token_id or 0
        # on the left, so that the last place of every row is the one where the model answers
        ids = torch.tensor([[pad] * (longest - len(row)) + row for row in rows])
        mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])
        device = next(self.model.parameters()).device
        places = (mask.cumsum(dim=1) - 1).clamp(min=0)
        out = self.model(
            input_ids=ids.to(device),
            attention_mask=mask.to(device),
            position_ids=places.to(device),
            logits_to_keep=1,
        )
        last = out.logits[:, -1]
        difference: torch.Tensor = last[:, self.yes] - last[:, self.no]
        return difference

    def _prompt(self, question: str, article: Article) -> list[int]:
        """Return the tokens of a prompt; the ends of question and article are cut where they are too long."""
        asked = self._tokens(question)
        if len(asked) > self._longest:
            question = self.tokenizer.decode(asked[: self._longest])
        head, _, tail = self._around(question, _MARK).partition(_MARK)
        before, body, after = (self._tokens(part) for part in (head, shown(article), tail))
        room = self.settings.window - len(before) - len(after)
        return [*before, *body[: max(room, 0)], *after]

    def _around(self, question: str, mark: str) -> str:
        told = prompts.rerank()
        system = told.fill("yes_no_system")
        user = told.fill("yes_no_user", question=question.replace(mark, " "), article=mark)
        if getattr(self.tokenizer, "chat_template", None):
            messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
            try:
                made = self.tokenizer.apply_chat_template(
                    messages, tokenize=False, add_generation_prompt=True, enable_thinking=False
                )
            except Exception as error:  # templates raise errors of Jinja's and their own
                raise BadInput(f"the model's chat template cannot be filled in: {error}") from error
            if mark in made:  # a template of a reranker's own roles leaves it out
                return str(made)
        return f"{system}\n\n{user}\n\nAnswer: "


def load(model: str | Path, *, device: str | None = None, window: int | None = None) -> YesNo:
    """Load a causal model from the hub or a folder, or an adapter of `save` with the model beneath it.

    Raises:
        MissingExtra: transformers or peft are not installed.
        BadInput: it cannot be loaded.
    """
    torch, transformers, peft = _libraries()
    settings = LoRASettings(model=str(model))
    folder = Path(model)
    try:
        if (folder / ENTRY).is_file():
            entry = json.loads((folder / ENTRY).read_text(encoding="utf-8"))
            settings = LoRASettings(**entry["settings"] | {"targets": tuple(entry["settings"]["targets"])})
        base = transformers.AutoModelForCausalLM.from_pretrained(settings.model)
        tokenizer = transformers.AutoTokenizer.from_pretrained(settings.model)
        if (folder / ENTRY).is_file():
            with _quiet():
                base = peft.PeftModel.from_pretrained(base, folder)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"the causal model {model} cannot be loaded ({error}): give a folder of training.rerank_lora, "
            "one that holds a model, or a hub id and a connection to the hub"
        ) from error
    where = device or ("cuda" if torch.cuda.is_available() else "cpu")
    settings = settings if window is None else replace(settings, window=window)
    return YesNo(base.to(where).eval(), tokenizer, settings)


def save(model: YesNo, folder: Path, entry: Mapping[str, Any]) -> None:
    """Write the adapter alone into a new folder, whole or not at all; the model beneath stays where it is."""
    with appearing(folder) as part:
        model.model.save_pretrained(part)
        whole = {"kind": "yes-no", "settings": asdict(model.settings), **entry}
        (part / ENTRY).write_text(json.dumps(whole, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def examples(
    articles: Sequence[Article],
    questions: Sequence[Question],
    rankings: Sequence[Ranking],
    settings: LoRASettings,
) -> list[Example]:
    """Return for every question its gold articles, each with others that a search wrongly found.

    Args:
        articles: of the corpus; drawn from where a ranking has too few.
        questions: with gold articles.
        rankings: one a question, of a first search.
        settings: how many, and the seed.
    """
    by_id = {a.id: a for a in articles}
    rng = np.random.default_rng(settings.seed)
    made = []
    for question, ranking in zip(questions, rankings, strict=True):
        gold = set(question.article_ids)
        wrong = [hit.article_id for hit in ranking[: settings.depth] if hit.article_id not in gold]
        rest = [a.id for a in articles if a.id not in gold and a.id not in set(wrong)]
        for gold_id in (i for i in question.article_ids if i in by_id):
            drawn = list(rng.permutation(wrong)[: settings.negatives])
            lack = min(settings.negatives - len(drawn), len(rest))
            drawn += list(rng.choice(rest, lack, replace=False)) if lack else []
            made.append(Example(question.text, by_id[gold_id], tuple(by_id[str(i)] for i in drawn)))
    return made


def fit(
    found: Sequence[Example],
    settings: LoRASettings,
    *,
    device: str | None = None,
    progress: Bars | None = None,
) -> tuple[YesNo, list[float]]:
    """Tune a model.

    Returns:
        The model with its adapter, and the loss of each step.

    Raises:
        BadInput: nothing to learn from, or a model that cannot be loaded or has no such layers.
        MissingExtra: transformers or peft are not installed.
    """
    torch, _, peft = _libraries()
    if not found:
        raise BadInput("lora: no question to learn from cites an article of this corpus")
    plain = load(settings.model, device=device)
    losses = []
    with torch.random.fork_rng():
        torch.manual_seed(settings.seed)
        config = peft.LoraConfig(
            r=settings.r,
            lora_alpha=settings.alpha,
            lora_dropout=settings.dropout,
            target_modules=list(settings.targets),
            task_type="CAUSAL_LM",
        )
        try:
            with _quiet():
                adapted = peft.get_peft_model(plain.model, config)
        except ValueError as error:
            raise BadInput(f"lora: {settings.model} has no layers {', '.join(settings.targets)}") from error
        model = YesNo(adapted, plain.tokenizer, settings)
        learning = [p for p in adapted.parameters() if p.requires_grad]
        optimiser = torch.optim.AdamW(learning, lr=settings.rate)
        rng = np.random.default_rng(settings.seed)
        adapted.train()
        order: list[int] = []
        for step in range(settings.steps):
            while len(order) < settings.batch:
                order += rng.permutation(len(found)).tolist()
            part, order = order[: settings.batch], order[settings.batch :]
            pairs = [(found[i].question, a) for i in part for a in (found[i].gold, *found[i].others)]
            right = [float(a is found[i].gold) for i in part for a in (found[i].gold, *found[i].others)]
            scores = model.logits(pairs)
            targets = torch.tensor(right, device=scores.device)
            loss = torch.nn.functional.binary_cross_entropy_with_logits(scores.float(), targets)
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(learning, 1.0)
            optimiser.step()
            losses.append(float(loss.detach()))
            if progress is not None:
                progress("tuning", step + 1, settings.steps)
    adapted.eval()
    return model, losses


@contextmanager
def _quiet() -> Iterator[None]:
    """Pass over what peft 0.21 makes transformers 5.23 warn of: an attribute's old name."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*is_gradient_checkpointing.*", category=FutureWarning)
        yield


def _libraries() -> tuple[Any, Any, Any]:
    try:
        import peft
        import torch
        import transformers
    except ImportError as error:
        raise MissingExtra(
            f"a language model that says yes or no needs {error.name}: run pip install 'pandect[train]'"
        ) from error
    return torch, transformers, peft


def main(arguments: Sequence[str] | None = None) -> int:
    """Tune a model on a corpus and its questions, and write the adapter."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    typed = list(sys.argv[1:] if arguments is None else arguments)
    parsed = parser().parse_args(typed)
    progress = Bars()
    try:
        _run(parsed, typed, progress)
    except PandectError as error:
        progress.close()
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _run(parsed: argparse.Namespace, typed: Sequence[str], progress: Bars) -> None:
    from training.bench import Bench

    if parsed.output.exists():
        raise BadInput(f"{parsed.output} is there already: remove it or give another --output")
    corpus, _ = sources.load(sources.detect(parsed.corpus), parsed.corpus, language=parsed.language)
    asked = (
        corpus.questions if parsed.questions is None else read_questions(parsed.questions, corpus.articles)
    )
    learn = [q for q in to_learn_from(asked) if q.article_ids]
    names = ("model", "steps", "batch", "rate", "negatives", "window", "r", "seed")
    settings = LoRASettings(**{n: getattr(parsed, n) for n in names if getattr(parsed, n) is not None})
    bench = Bench(corpus, tell=progress)
    first = bench.systems(["bm25"], ())["bm25"]
    rankings = first.search([q.text for q in learn], settings.depth)
    found = examples(corpus.articles, learn, rankings, settings)
    model, losses = fit(found, settings, device=parsed.device, progress=progress)
    progress.close()
    entry = {
        "command": " ".join(["python", "-m", "training.rerank_lora", *typed]),
        "corpus_sha256": corpus.sha256,
        "questions": len(learn),
        "prompts": prompts.rerank().id,
        "loss": {"first": losses[0], "last": losses[-1]},
    }
    save(model, parsed.output, entry)
    tenth = math.ceil(len(losses) / 10)
    means = [float(np.mean(part)) for part in (losses[:tenth], losses[-tenth:])]
    print(f"{len(found)} examples of {len(learn)} questions; loss {means[0]:.3f} -> {means[1]:.3f}")
    print(f"written: {parsed.output}")


def parser() -> argparse.ArgumentParser:
    """Return the command line's grammar."""
    top = argparse.ArgumentParser(
        prog="python -m training.rerank_lora",
        description="Tune a causal language model to say yes or no of a question and an article (LoRA).",
    )
    top.add_argument("--corpus", type=Path, required=True, help="a corpus folder or its articles' file")
    top.add_argument("--language", metavar="XX", help="of a corpus without card.json")
    top.add_argument("--questions", type=Path, help="to learn from (those of the corpus)")
    top.add_argument("--model", help=f"a hub id or a folder ({LoRASettings().model})")
    top.add_argument("--output", type=Path, required=True, help="a new folder for the adapter")
    for name in ("steps", "batch", "negatives", "window", "r", "seed"):
        top.add_argument(f"--{name}", type=int, help=f"({getattr(LoRASettings(), name)})")
    top.add_argument("--rate", type=float, help=f"of learning ({LoRASettings().rate})")
    top.add_argument("--device", help="cpu, cuda, … (the best there is)")
    return top


if __name__ == "__main__":
    sys.exit(main())
