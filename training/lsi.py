"""One label an article: a classifier over all articles of a corpus (STARD's LSI baseline, Su et al. 2024).

    h = the last hidden state of the first token of q;   z = W h + b, one number an article
    softmax:  L = -1/|G| * sum of log softmax(z)_a over the gold articles a of q
    bce:      L = -mean over all articles of [ y_a log sigmoid(z_a) + (1 - y_a) log(1 - sigmoid(z_a)) ]

An article is found by its number z alone, so one that no question to learn from cites stays where chance put
it: that is why it trails every other system, and why it is measured. STARD does not say which of the two
losses it took; the softmax is the default here.

The encoder is a pretrained one (`model`), or a small one configured here with a vocabulary of its own, learnt
from the corpus. Training is deterministic for a seed, on one machine and number of threads.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from indexes.folder import appearing
from rag.encoders.transformer import sound
from rag.errors import BadInput, MissingExtra
from rag.retrieval.scored import Mask, ScoredRetriever
from rag.types import Article, ArticleOrder, Floats, Question

if TYPE_CHECKING:
    import torch

Loss = Literal["softmax", "bce"]
Tell = Callable[[str, int, int], object]


@dataclass(frozen=True, slots=True)
class LSISettings:
    """A recipe: the encoder, and how it learns. The sizes are those of a small encoder without `model`."""

    model: str = ""  # a hub id or a folder; empty: one configured here
    layers: int = 2
    hidden: int = 128
    heads: int = 2
    vocabulary: int = 8000
    window: int = 128  # tokens of a question
    loss: Loss = "softmax"
    epochs: int = 40
    batch: int = 32
    rate: float = 1e-3  # 2e-5 is usual for a pretrained encoder
    weight_decay: float = 0.01
    warm_up: float = 0.1  # of the steps
    seed: int = 42

    def __post_init__(self) -> None:
        """Refuse what cannot be trained."""
        if self.loss not in get_args(Loss):
            raise BadInput(f"lsi: loss {self.loss!r}; expected {', '.join(get_args(Loss))}")
        if min(self.layers, self.hidden, self.heads, self.vocabulary, self.epochs, self.batch) < 1:
            raise BadInput("lsi: layers, hidden, heads, vocabulary, epochs and batch must be 1 or more")
        if self.hidden % self.heads or self.window < 8:
            raise BadInput(
                f"lsi: hidden {self.hidden} must divide by heads {self.heads}, window be 8 or more"
            )


def read_settings(path: Path) -> LSISettings:
    """Read a recipe of TOML with the names of `LSISettings`.

    Raises:
        BadInput: it cannot be read, or has a key or value that there is not.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"{path}: cannot be read as TOML ({error})") from None
    return _settings(table, str(path))


def _settings(table: dict[str, Any], place: str) -> LSISettings:
    known = {field.name: type(field.default) for field in fields(LSISettings)}
    if unknown := sorted(set(table) - set(known)):
        raise BadInput(f"{place}: no key {unknown[0]!r}; expected {', '.join(known)}")
    for key, value in table.items():
        fits = type(value) is known[key] or (known[key] is float and type(value) is int)
        if not fits:
            raise BadInput(f"{place}: {key} = {value!r}; expected {known[key].__name__}")
    return LSISettings(**table)


@dataclass(frozen=True)
class LSI:
    """A fitted classifier: encoder, tokenizer, one row of weights an article."""

    ids: tuple[str, ...]  # of the articles, in the order of the rows
    settings: LSISettings
    encoder: Any  # a transformers model
    tokenizer: Any
    head: torch.nn.Linear
    losses: tuple[float, ...] = ()  # the mean of each epoch

    def scores(self, question: str) -> Floats:
        """Return z, (n_articles,) float32."""
        import torch

        with torch.inference_mode():
            return np.asarray(self._logits([question])[0].float().cpu().numpy(), dtype=np.float32)

    def _logits(self, texts: Sequence[str]) -> torch.Tensor:
        batch = self.tokenizer(
            [sound(text) for text in texts],
            padding=True,
            truncation=True,
            max_length=self.settings.window,
            return_tensors="pt",
        ).to(self.head.weight.device)
        states = self.encoder(**batch).last_hidden_state
        logits: torch.Tensor = self.head(states[:, 0])
        return logits

    def over(self, order: ArticleOrder, mask: Mask) -> Classifier:
        """Return the retriever of a corpus with these articles.

        Raises:
            BadInput: its articles are others.
        """
        if order.ids != self.ids:
            raise BadInput(
                f"this classifier has labels for {len(self.ids)} articles, the corpus has {len(order.ids)} "
                "or others: fit it anew"
            )
        return Classifier(self, order, mask)

    def save(self, folder: Path) -> None:
        """Write encoder, tokenizer, weights and labels into a new folder, whole or not at all."""
        from safetensors.torch import save_file

        with appearing(folder) as part:
            self.encoder.save_pretrained(part / "encoder")
            self.tokenizer.save_pretrained(part / "encoder")
            tensors = {name: t.detach().cpu().contiguous() for name, t in self.head.state_dict().items()}
            save_file(tensors, part / "labels.safetensors")
            entry = {"kind": "lsi", "settings": asdict(self.settings), "ids": list(self.ids)}
            (part / "lsi.json").write_text(json.dumps(entry, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, *, device: str | None = None) -> LSI:
        """Open what `save` wrote.

        Raises:
            BadInput: it did not.
            MissingExtra: torch or transformers are not installed.
        """
        torch, transformers = _libraries()
        from safetensors.torch import load_file

        try:
            entry = json.loads((folder / "lsi.json").read_text(encoding="utf-8"))
            tensors = load_file(folder / "labels.safetensors")
            encoder = transformers.AutoModel.from_pretrained(folder / "encoder")
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "encoder")
            settings, ids = _settings(entry["settings"], str(folder)), tuple(entry["ids"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BadInput(f"{folder}: no classifier that was saved here ({error})") from None
        head = torch.nn.Linear(tensors["weight"].shape[1], len(ids))
        head.load_state_dict(tensors)
        where = device or _best(torch)
        return cls(ids, settings, encoder.to(where).eval(), tokenizer, head.to(where).eval())


class Classifier(ScoredRetriever):
    """Ranks all articles by the classifier's numbers; a blank question has no ranking."""

    def __init__(self, lsi: LSI, order: ArticleOrder, mask: Mask) -> None:
        """Rank with this classifier, whose row i is the article at position i of `order`."""
        super().__init__(order, mask)
        self.lsi = lsi

    def scores(self, question: str) -> Floats:
        """Return (n_articles,) float32; -inf throughout for a blank question."""
        if not question.strip():
            return np.full(len(self.order.ids), -np.inf, dtype=np.float32)
        return self.lsi.scores(question)


def fit(
    articles: Sequence[Article],
    questions: Sequence[Question],
    settings: LSISettings,
    tell: Tell = lambda what, done, total: None,
    *,
    device: str | None = None,
) -> LSI:
    """Fit a classifier.

    Args:
        articles: all that there are labels for.
        questions: to learn from; those without gold articles are passed over.
        settings: the recipe.
        tell: called as the work goes on.
        device: None takes the best there is.

    Raises:
        BadInput: no question cites an article, or the encoder cannot be loaded.
        MissingExtra: torch or transformers are not installed.
    """
    torch, _ = _libraries()
    position = {article.id: i for i, article in enumerate(articles)}
    gold = [(q.text, sorted({position[i] for i in q.article_ids if i in position})) for q in questions]
    gold = [(text, labels) for text, labels in gold if labels]
    if not gold:
        raise BadInput("lsi: no question to learn from cites an article of this corpus")
    where = device or _best(torch)
    with _seeded(torch, settings.seed):
        encoder, tokenizer = _encoder(settings, [*(a.text for a in articles), *(text for text, _ in gold)])
        head = torch.nn.Linear(encoder.config.hidden_size, len(articles))
        model = LSI(tuple(position), settings, encoder.to(where), tokenizer, head.to(where))
        losses = _train(model, gold, tell)
    encoder.eval()
    return LSI(model.ids, settings, encoder, tokenizer, head.eval(), tuple(losses))


def _train(model: LSI, gold: Sequence[tuple[str, list[int]]], tell: Tell) -> list[float]:
    import torch

    chosen, total = model.settings, math.ceil(len(gold) / model.settings.batch) * model.settings.epochs
    parameters = [*model.encoder.parameters(), *model.head.parameters()]
    optimiser = torch.optim.AdamW(parameters, lr=chosen.rate, weight_decay=chosen.weight_decay)
    warm = max(1, round(total * chosen.warm_up))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min((step + 1) / warm, max(0.0, (total - step) / max(1, total - warm)))
    )
    rng = np.random.default_rng(chosen.seed)
    model.encoder.train()
    losses, done = [], 0
    for _ in range(chosen.epochs):
        order, sums = rng.permutation(len(gold)), []
        for begin in range(0, len(gold), chosen.batch):
            part = [gold[i] for i in order[begin : begin + chosen.batch]]
            loss = _loss(model, part)
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimiser.step()
            schedule.step()
            sums.append(float(loss.detach()) * len(part))
            done += 1
            tell("fitting the classifier", done, total)
        losses.append(sum(sums) / len(gold))
    return losses


def _loss(model: LSI, part: Sequence[tuple[str, list[int]]]) -> torch.Tensor:
    import torch

    logits = model._logits([text for text, _ in part])
    targets = torch.zeros_like(logits)
    for row, (_, labels) in enumerate(part):
        targets[row, labels] = 1.0
    if model.settings.loss == "bce":
        return torch.nn.functional.binary_cross_entropy_with_logits(logits, targets)
    return torch.nn.functional.cross_entropy(logits, targets / targets.sum(dim=1, keepdim=True))


def _encoder(settings: LSISettings, texts: Sequence[str]) -> tuple[Any, Any]:
    """Return the pretrained encoder and tokenizer of a recipe, or small new ones."""
    _, transformers = _libraries()
    if settings.model:
        try:
            return (
                transformers.AutoModel.from_pretrained(settings.model),
                transformers.AutoTokenizer.from_pretrained(settings.model),
            )
        except (OSError, ValueError) as error:
            raise BadInput(
                f"lsi: the encoder {settings.model} cannot be loaded ({error}): give a folder that holds "
                "one, a hub id and a connection to the hub, or leave `model` out for a small one"
            ) from None
    tokenizer = small_tokenizer(texts, settings.vocabulary, settings.window)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=settings.hidden,
        num_hidden_layers=settings.layers,
        num_attention_heads=settings.heads,
        intermediate_size=4 * settings.hidden,
        max_position_embeddings=settings.window,
    )
    return transformers.BertModel(config, add_pooling_layer=False), tokenizer


def small_tokenizer(texts: Sequence[str], vocabulary: int, window: int) -> Any:  # noqa: ANN401 - transformers
    """Return a tokenizer learnt from texts; each Chinese character stands for itself.

    Byte-pair encoding, for what it learns is the same every time: that of WordPiece is not (tokenizers 0.23).
    """
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    made = Tokenizer(models.BPE(unk_token="[UNK]"))  # noqa: S106 - a token, no password
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.BpeTrainer(vocab_size=vocabulary, special_tokens=special, show_progress=False)
    made.train_from_iterator(map(sound, texts), trainer)
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token"), special, strict=True))
    return PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=window, **names)


def _libraries() -> tuple[Any, Any]:
    try:
        import torch
        import transformers
    except ImportError as error:
        raise MissingExtra(f"the classifier needs {error.name}: run pip install 'pandect[models]'") from error
    return torch, transformers


def _best(torch: Any) -> str:  # noqa: ANN401 - the module
    return "cuda" if torch.cuda.is_available() else "cpu"


@contextmanager
def _seeded(torch: Any, seed: int) -> Iterator[None]:  # noqa: ANN401 - the module
    """Draw from this seed, and leave the generators of everybody else as they were."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield
