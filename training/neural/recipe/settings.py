"""What a recipe says: frozen dataclasses, one a table of its TOML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, TypeVar

from training.neural.recipe.toml import ValueRange, number

Pooling: TypeAlias = Literal["cls", "mean", "max"]
Similarity: TypeAlias = Literal["cosine", "dot"]
_Kind = TypeVar("_Kind")
POSITIONS = (8, 8192)  # tokens of the longest text that an encoder from scratch may read


@dataclass(frozen=True, slots=True)
class Scratch:
    """A small encoder of BERT's shape, with random weights and a tokenizer trained on the corpus."""

    layers: int = number(1, 48, 2)
    width: int = number(8, 4096, 128)
    heads: int = number(1, 64, 4)
    feedforward: int = number(8, 16384, 512)
    vocabulary: int = number(100, 200_000, 8000)
    positions: int = number(*POSITIONS, 512)  # tokens of the longest text
    dropout: float = number(0, 0.9, 0.1)  # Devlin et al. 2019


@dataclass(frozen=True, slots=True)
class ArticleTransformer:
    """A second transformer, over the vectors of an article's chunks (DSR; Louis et al. 2023)."""

    layers: int = number(1, 48, 2)
    heads: int = number(0, 64, 0)  # 0: as many as the encoder has
    feedforward: int = number(0, 16384, 0)  # 0: as wide as the encoder's
    dropout: float = number(0, 0.9, 0.1)
    pooling: Literal["mean", "max"] = "max"  # how the vectors that it gives become one


@dataclass(frozen=True, slots=True)
class GraphSettings:
    """A network over the legislative graph, whose nodes start from the encoder's vectors (GIR, G-DSR)."""

    architecture: Literal["graphconv", "sage", "gat", "gatv2", "hgt"] = "gat"
    # references between articles: left out, with the weights of structural edges, or with their own
    references: Literal["none", "merged", "relation"] = "merged"
    layers: int = number(1, 8, 1)
    hidden: int = number(4, 16_384, 192)
    heads: int = number(1, 64, 1)
    dropout: float = number(0, 0.9, 0.15)
    neighbours: int = number(
        0, 100_000, 0
    )  # of a kind that a node sees while it is trained; 0: all, in one batch


@dataclass(frozen=True, slots=True)
class BackboneSettings:
    """Which encoder is trained, and how its token vectors become one."""

    backbone: str | None = None  # a hub id or a folder; None with [model.scratch]
    revision: str | None = None  # of the hub: a commit, a tag or a branch; a result records the commit
    scratch: Scratch | None = None
    towers: int = number(1, 2, 1)  # 2: questions and articles have encoders of their own
    pooling: Pooling = "cls"
    articles: ArticleTransformer | None = None  # None: an article is the mean of its chunks
    graph: GraphSettings | None = None  # of the system "graph" alone
    remote_code: bool = False  # run the code that the hub's model brings: only if you trust it


@dataclass(frozen=True, slots=True)
class Text:
    """How questions and articles become tokens."""

    question_tokens: int = number(4, 32_768, 128)  # with the special ones
    article_tokens: int = number(4, 32_768, 512)  # of an article in one piece, with the special ones
    chunk_tokens: int = number(0, 32_768, 0)  # of a chunk, without the special ones; 0: articles in one piece
    chunk_overlap: int = number(0, 32_768, 0)
    chunks: int = number(0, 1024, 0)  # of an article that are read, the first ones; 0: all
    article_cut: int = number(0, 10_000_000, 0)  # what is left of an article's text; 0: all
    article_cut_unit: Literal["characters", "words"] = "characters"
    fields: tuple[Literal["code", "headings", "text"], ...] = ("code", "headings", "text")
    question_prompt: str = ""
    article_prompt: str = ""

    @property
    def longest(self) -> int:
        """Tokens of the longest text where question and article are read apart, with the special ones."""
        article = self.chunk_tokens + 2 if self.chunk_tokens else self.article_tokens
        return max(self.question_tokens, article)


@dataclass(frozen=True, slots=True)
class Training:
    """How long and how fast."""

    batch: int = number(1, 1_000_000)  # questions, over all processes
    steps: int = number(0, 100_000_000, 0)  # 0: as many as the epochs have
    epochs: float = number(0, 100_000, 0.0)
    learning_rate: float = number(0, 10, 2e-5)
    schedule: Literal["linear", "constant", "cosine"] = "linear"
    optimiser: Literal["adamw", "sgd"] = "adamw"
    momentum: float = number(0, 1, 0.0)  # of SGD
    warmup_steps: int = number(0, 10_000_000, 0)
    warmup_share: float = number(0, 1, 0.0)  # of all steps, added to the former
    beta1: float = number(0, 1, 0.9)
    beta2: float = number(0, 1, 0.999)
    weight_decay: float = number(0, 1, 0.01)
    clip: float = number(0, 1_000_000, 1.0)  # the largest norm of the gradient; 0: any
    mini_batch: int = number(0, 1_000_000, 0)  # texts encoded at once, by gradient caching; 0: all
    precision: Literal["auto", "float32", "bfloat16"] = "auto"  # auto: bfloat16 where the GPU has it
    examples: Literal["pairs", "questions"] = "pairs"  # an epoch has every gold pair, or a question once
    synthetic: int | None = number(0, 1000, None)  # synthetic questions an article, at most; None: all


@dataclass(frozen=True, slots=True)
class Stage:
    """From which part of the training on negatives come from where, by share."""

    begins: float = number(0, 1, 0.0)
    mix: Mapping[str, float] = field(
        default_factory=lambda: MappingProxyType({"random": 1.0}), metadata={"limits": ValueRange(0, 1)}
    )


@dataclass(frozen=True, slots=True)
class Negatives:
    """Articles that do not answer a question, to tell apart from those that do."""

    in_batch: bool = True  # the articles of the other questions
    per_question: int = number(0, 10_000, 0)  # drawn from the stages
    shared: bool = True  # those drawn for a question count for the others of the batch too
    depth: int = number(1, 100_000, 100)  # how far down a ranking they are drawn from
    skip: int = number(0, 100_000, 0)  # first places left out: they may answer, unlabelled
    model: str | None = None  # the result folder that "model" ranks with
    stages: tuple[Stage, ...] = (Stage(),)


@dataclass(frozen=True, slots=True)
class EvaluationSettings:
    """When training is looked at, and by what it is judged."""

    measure: str = "R@100"  # on the dev questions: early stopping and the choice of the best
    every: int = number(0, 100_000_000, 0)  # steps; 0: once an epoch
    patience: int = number(0, 100_000, 0)  # evaluations without a better value before it stops; 0: never
    dev: float = number(0, 0.9, 0.1)  # share of the questions to learn from, where none are marked dev
    candidates: int = number(0, 100_000_000, 0)  # articles that dev questions are asked over; 0: all
    keep: Literal["best", "last"] = "best"


@dataclass(frozen=True, slots=True)
class Contrastive:
    """Softmax over a question's articles (NT-Xent; van den Oord et al. 2018)."""

    similarity: Similarity = "cosine"
    temperature: float = number(1e-4, 1000, 0.05)


@dataclass(frozen=True, slots=True)
class Sparse:
    """The same over sparse vectors, and what keeps them sparse (SPLADE-max; Formal et al. 2021)."""

    similarity: Similarity = "dot"
    temperature: float = number(1e-4, 1000, 1.0)
    flops_questions: float = number(0, 1000, 3e-4)
    flops_articles: float = number(0, 1000, 1e-4)
    flops_warmup: float = number(0, 1, 0.33)  # share of the steps over which both grow, as their square
    active: int = number(0, 1_000_000, 0)  # terms of an article that the index keeps; 0: all


@dataclass(frozen=True, slots=True)
class LateInteraction:
    """Two softmaxes over MaxSim (ColBERT; Khattab & Zaharia 2020, Santhanam et al. 2022)."""

    similarity: Literal["cosine"] = "cosine"  # of tokens
    temperature: float = number(1e-4, 1000, 1.0)
    dim: int = number(1, 4096, 128)  # numbers a token
    attend: bool = False  # whether a question's words see the [MASK]s that it is filled up with
    candidates: int = number(0, 100_000_000, 0)  # articles that tokens propose; 0: all are compared


@dataclass(frozen=True, slots=True)
class Pairwise:
    """Binary cross-entropy of question and article read together (monoBERT; Nogueira & Cho 2019)."""

    rerank: int = number(1, 100_000, 100)  # candidates of BM25 that it orders anew


@dataclass(frozen=True, slots=True)
class LowRank(Pairwise):
    """The same of a causal model that says yes or no, through low-rank matrices (LoRA; Hu et al. 2022)."""

    r: int = number(1, 4096, 16)  # rank of the matrices
    alpha: float = number(1e-3, 100_000, 32.0)  # they count alpha / r
    dropout: float = number(0, 0.9, 0.05)  # of what they read
    targets: tuple[str, ...] = ("q_proj", "k_proj", "v_proj", "o_proj")  # layers that get some


@dataclass(frozen=True, slots=True)
class LabelSettings:
    """One output an article, learnt from questions alone (STARD's LSI; Su et al. 2024)."""

    function: Literal["softmax", "bce"] = "softmax"


Loss: TypeAlias = Contrastive | Sparse | LateInteraction | Pairwise | LabelSettings
LOSSES: Mapping[str, type[Loss]] = {  # by system
    "biencoder": Contrastive,
    "splade": Sparse,
    "colbert": LateInteraction,
    "cross-encoder": Pairwise,
    "yes-no": LowRank,
    "lsi": LabelSettings,
    "graph": Contrastive,
}
PAIRS = ("cross-encoder", "yes-no")  # systems that read question and article together


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that is decided before a system is trained."""

    name: str
    system: str  # a key of LOSSES
    model: BackboneSettings
    text: Text
    training: Training
    loss: Loss
    negatives: Negatives = field(default_factory=Negatives)
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)
    about: str = ""
    paper: str = ""  # whose hyper-parameters these are
    needs: Literal["questions"] | None = None  # to learn from: others than the corpus's own must be brought
    source: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)  # the tables as read

    def loss_of(self, kind: type[_Kind]) -> _Kind:
        """Return the settings of the loss, which the system has of this kind."""
        if not isinstance(self.loss, kind):
            raise TypeError(f"{self.name} is a {self.system}")
        return self.loss
