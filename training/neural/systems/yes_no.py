"""A causal language model that says yes or no of a question and an article, tuned by LoRA.

    s(q, a) = logit(yes) - logit(no)  at the last token of the prompt;   p = sigmoid(s)
    L = -mean( log p of the gold pairs, log(1 - p) of the drawn ones )
    W' = W + (alpha / r) B A          only B and A learn (Hu et al. 2022)

as Qwen3-Reranker scores (Zhang et al. 2025). It is a cross-encoder whose number is that of two words:
batches, loss and re-ranking are the same. The low-rank matrices stand beside the attention's weights, a few
megabytes where the model has billions of numbers; they alone are kept, the model beneath stays where it is.
The prompt is ours (training/synthetic/prompt_files/rerank.toml), said in the model's own chat template
where it has one. The highest published result on STARD re-ranks with such a model of 4 billion.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag.encoders import model_recipes
from rag.errors import BadInput, MissingExtra, install_hint
from rag.types import Article
from training.neural.data.tokens import article_text
from training.neural.recipe.recipe import read_recipe
from training.neural.recipe.settings import LowRank, Recipe
from training.neural.systems.backbone import check_length, pinned, quiet, sound
from training.neural.systems.cross_encoder import CrossEncoder, Pair
from training.synthetic import prompts

if TYPE_CHECKING:
    from torch import Tensor


def load_causal(source: str, recipe: Recipe) -> tuple[Any, Any]:
    """Return a causal model and its tokenizer; BadInput where it cannot be loaded or reads too few tokens."""
    import transformers

    given: dict[str, Any] = {"revision": recipe.model.revision} if recipe.model.revision else {}
    given |= {"trust_remote_code": True} if recipe.model.remote_code else {}
    try:
        with quiet():
            model = transformers.AutoModelForCausalLM.from_pretrained(source, **given)
            tokenizer = transformers.AutoTokenizer.from_pretrained(source, **given)
    except (OSError, ValueError, KeyError, TypeError, ImportError) as error:
        reason = " ".join(str(error).split())[:300]
        raise BadInput(
            f"the causal model {source} cannot be loaded ({reason}): give a folder that holds one, or a hub "
            "id and a connection to the hub (HF_ENDPOINT names another one)"
        ) from error
    check_length(model, source, recipe.text.article_tokens)
    return model, tokenizer


@contextmanager
def silent() -> Iterator[None]:
    """Pass over what peft 0.21 makes transformers 5.23 warn of: an attribute's old name."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*is_gradient_checkpointing.*", category=FutureWarning)
        yield


def libraries() -> Any:  # noqa: ANN401 - a module
    """Return peft; MissingExtra where it, torch or transformers is not installed."""
    try:
        import peft
        import torch  # noqa: F401
        import transformers  # noqa: F401
    except ImportError as error:
        raise MissingExtra(
            f"a language model that says yes or no needs {error.name}: run {install_hint('train')}"
        ) from error
    return peft


YES, NO = "yes", "no"
RECIPE = "stard-reranker-lora"  # whose lengths a model is asked by that was not tuned here
BASE = "base"  # beside an adapter: the model beneath, where it was made from scratch and is nowhere else
_LEAST = 16  # tokens of an article, below which a window is refused
_MARK = "\u241f"  # stands where the article will: what is around it stays whole


class YesNo(CrossEncoder):
    """A causal model with an adapter, kept as peft keeps one; without an adapter where it was not tuned."""

    head = "text-generation"

    def __init__(self, recipe: Recipe, module: Any, tokenizer: Any) -> None:  # noqa: ANN401 - of peft, transformers
        """Take a causal model; BadInput where both answers begin alike or no article fits the window."""
        self.recipe, self.module, self.tokenizer = recipe, module, tokenizer
        self.yes, self.no = (self._tokens(word)[0] for word in (YES, NO))
        if self.yes == self.no:
            raise BadInput(
                f"the tokenizer of {recipe.model.backbone} begins {YES!r} and {NO!r} with the same token"
            )
        text = recipe.text
        around = len(self._tokens(self._around("")))
        if text.article_tokens < (needed := around + text.question_tokens + _LEAST):
            raise BadInput(
                f"[text] article_tokens = {text.article_tokens}: the prompt takes {around}, a question "
                f"{text.question_tokens}; give {needed} or more, or lower question_tokens"
            )

    @classmethod
    def build(cls, recipe: Recipe, source: str) -> YesNo:
        """Put new low-rank matrices on a causal model; before any training they change nothing.

        Raises MissingExtra without peft, and BadInput where it cannot be loaded or has no such layers.
        """
        peft = libraries()
        loss = recipe.loss_of(LowRank)
        if (Path(source) / "adapter_config.json").is_file():
            raise BadInput(f"{source} is an adapter: give the model beneath it (--set model.backbone=...)")
        plain, tokenizer = load_causal(source, recipe)
        config = peft.LoraConfig(
            r=loss.r, lora_alpha=loss.alpha, lora_dropout=loss.dropout, target_modules=list(loss.targets),
            task_type="CAUSAL_LM",
        )  # fmt: skip
        try:
            with silent():
                module = peft.get_peft_model(plain, config)
        except ValueError as error:
            raise BadInput(f"{source} has no layers {', '.join(loss.targets)}: set loss.targets") from error
        return cls(recipe, module, tokenizer)

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> YesNo:
        """Read what `save` wrote, and the model beneath it from where it is.

        Raises MissingExtra without peft, and BadInput where the model beneath cannot be loaded.
        """
        peft = libraries()
        own = folder / BASE
        plain, tokenizer = load_causal(str(own if own.is_dir() else recipe.model.backbone), recipe)
        with silent():
            return cls(recipe, peft.PeftModel.from_pretrained(plain, folder), tokenizer)

    @classmethod
    def untuned(cls, name: str, device: str | None = None) -> YesNo:
        """Return a model with its published weights, asked by our prompt and not by its authors' own.

        It goes by its name of hub.toml, a hub id or a folder. A prompt has at most the tokens of its window
        in hub.toml; where it stands there not, those of the recipe that tunes one, as a question always has.
        Raises MissingExtra without transformers, and BadInput where it cannot be loaded.
        """
        libraries()
        known = next((r for r in model_recipes.recipes().values() if name in (r.name, r.model)), None)
        source = known.model if known is not None else name
        window = [] if known is None else [f"text.article_tokens={known.window}"]  # of the whole prompt
        recipe = pinned(read_recipe(RECIPE, [f"model.backbone={json.dumps(source)}", *window]))
        system = cls(recipe, *load_causal(source, recipe))
        system.to(device)
        return system

    @staticmethod
    def spelt() -> Iterable[str]:
        """Return the prompt and the answers."""
        return (*prompts.rerank().texts.values(), f"{YES} {NO}")

    def save(self, folder: Path) -> None:
        """Write the adapter alone; the model beneath too where it was made from scratch."""
        with quiet():
            if self.recipe.model.scratch is not None:
                base = self.module.get_base_model()
                plain = {  # as they are called without an adapter
                    name.replace(".base_layer", ""): value
                    for name, value in base.state_dict().items()
                    if "lora_" not in name
                }
                type(base)(base.config).save_pretrained(folder / BASE, state_dict=plain)
                self.tokenizer.save_pretrained(folder / BASE)
            # the size of the vocabulary is not changed: nothing to ask the hub about
            self.module.save_pretrained(folder, save_embedding_layers=False)
        (folder / "README.md").unlink(missing_ok=True)  # peft's card: ours says more

    def length(self, question: str, article: Article) -> int:
        """Return how many tokens a prompt has."""
        return len(self.prompt(question, article))

    def encode(self, part: str, items: Sequence[Pair]) -> Tensor:
        """Return logit(yes) - logit(no), (n_items,)."""
        import torch

        rows = [self.prompt(question, article) for question, article in items]
        longest = max(map(len, rows))
        pad = self.tokenizer.pad_token_id or 0
        # on the left, so that the last place of every row is the one where the model answers
        ids = torch.tensor([[pad] * (longest - len(row)) + row for row in rows])
        mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])
        device = next(self.module.parameters()).device
        places = (mask.cumsum(dim=1) - 1).clamp(min=0)
        read = {
            "input_ids": ids.to(device),
            "attention_mask": mask.to(device),
            "position_ids": places.to(device),
        }
        last = self.module(**read, logits_to_keep=1).logits[:, -1]
        return last[:, self.yes] - last[:, self.no]

    def prompt(self, question: str, article: Article) -> list[int]:
        """Return the tokens of a prompt; the ends of question and article are cut where they are too long."""
        text = self.recipe.text
        question = text.question_prompt + question
        if len(question_ids := self._tokens(question)) > text.question_tokens:
            question = self.tokenizer.decode(question_ids[: text.question_tokens])
        head, _, tail = self._around(question).partition(_MARK)
        head_ids, body, after = (self._tokens(part) for part in (head, article_text(article, text), tail))
        room = text.article_tokens - len(head_ids) - len(after)
        return [*head_ids, *body[: max(room, 0)], *after]

    def _tokens(self, text: str) -> list[int]:
        return list(self.tokenizer(sound(text), add_special_tokens=False, verbose=False)["input_ids"])

    def _around(self, question: str) -> str:
        """Return the prompt with a mark in the place of the article."""
        prompt = prompts.rerank()
        system = prompt.fill("yes_no_system")
        user = prompt.fill("yes_no_user", question=question.replace(_MARK, " "), article=_MARK)
        if getattr(self.tokenizer, "chat_template", None):
            messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
            try:
                made = self.tokenizer.apply_chat_template(
                    messages, tokenize=False, add_generation_prompt=True, enable_thinking=False
                )
            except Exception as error:  # templates raise errors of Jinja's and their own
                raise BadInput(f"the model's chat template cannot be filled in: {error}") from error
            if _MARK in made:  # a template of a reranker's own roles leaves it out
                return str(made)
        return f"{system}\n\n{user}\n\nAnswer: "
