"""Our systems inside others' harnesses, and others' runs inside ours.

`MTEBSearch` and `MTEBEncoder` have the methods of MTEB 2's `SearchProtocol` and `EncoderProtocol` (of mteb
2.26); `trec_runs` ranks by files in TREC's format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from indexes.corpus.corpus import Corpus
from indexes.formats.trec import read_run
from rag.corpus.card import CorpusCard
from rag.errors import BadInput, MissingExtra
from rag.types import EMPTY, Article, Encoder, Filter, Floats, Question, Ranking, Retriever, Run
from training.eval.context import BenchLike, FoldContext, System
from training.eval.report import joined
from training.eval.workbench import Bench

MTEB = "mteb>=2.26,<3"  # whose protocols these classes follow
RUN = "run:"


class TrecRun:
    """A retriever that answers each of some questions as a run says, by the words of the question."""

    def __init__(self, bench: BenchLike, run: Run, ids: Mapping[str, str]) -> None:
        """Take a run and text of each question -> its id.

        Raises:
            BadInput: the run ranks an article that the corpus does not have.
        """
        self._ids, self._mask = ids, bench.mask
        spelt = {joined(id_): id_ for id_ in bench.order.ids}  # a run has no blanks
        if strange := next((i for ranking in run.values() for i in ranking.ids if i not in spelt), None):
            raise BadInput(f"the run ranks {strange}, which {bench.corpus.card.name} does not have")
        self._run = {
            question: Ranking.of((spelt[id_], -float(n)) for n, id_ in enumerate(ranking.ids)).within(
                bench.order
            )
            for question, ranking in run.items()
        }

    def search(self, questions: Sequence[str], k: int, where: Filter | None = None) -> list[Ranking]:
        """Return the first k articles of each question that the filter admits."""
        keep = self._mask(where)
        found = []
        for question in questions:
            ranking = self._run.get(self._ids.get(question, ""), EMPTY)
            if keep is not None and len(ranking):
                at = keep[ranking.positions]
                ranking = Ranking(ranking.order, ranking.positions[at], ranking.scores[at])
            found.append(ranking[:k])
        return found


def trec_runs(
    named: Iterable[str], questions: Sequence[Question]
) -> Iterator[tuple[str, Callable[[BenchLike, FoldContext, System], Retriever]]]:
    """Yield the name of each NAME=FILE, as "run:NAME", and what makes its retriever.

    Raises:
        BadInput: it has another shape, the file is no run, or has none of the questions.
    """
    ids: dict[str, str] = {}
    for question in questions:
        ids.setdefault(question.text, joined(question.id))
    for text in named:
        name, _, file = text.partition("=")
        if not name or not file:
            raise BadInput(f"--run {text}: expected NAME=FILE, such as --run theirs=bm25.trec")
        run = read_run(Path(file))
        if not run.keys() & set(ids.values()):
            raise BadInput(f"{file} has none of the {len(ids)} questions that are asked")
        yield f"{RUN}{name}", partial(_retriever, run, ids)


def _retriever(run: Run, ids: Mapping[str, str], bench: BenchLike, *_: object) -> Retriever:
    return TrecRun(bench, run, ids)


class MTEBSearch:
    """One of our systems as MTEB's `SearchProtocol` has it: it indexes a corpus, and searches it.

    `mteb.evaluate(MTEBSearch("hybrid", "fr"), tasks)` runs it; what learns from questions has none there.
    """

    def __init__(self, system: str = "hybrid", language: str = "fr") -> None:
        """Take a name that `training.eval --systems` knows, and the language of the corpora."""
        self.system, self.language = system, language
        self._retriever: Retriever | None = None

    def index(self, corpus: Iterable[Mapping[str, Any]], **_: object) -> None:
        """Take documents {"id", "text" and, where there is one, "title"}; options of encoders are not used.

        Raises:
            BadInput: the system needs questions to learn from, or an id comes twice.
        """
        articles = tuple(
            Article(
                str(d["id"]),
                "",
                "",
                d.get("text") or d.get("body") or "",
                tuple(filter(None, [d.get("title")])),
            )
            for d in corpus
        )
        bench = Bench(Corpus(CorpusCard("mteb", "mteb", self.language), articles, ()))
        self._retriever = bench.systems([self.system], ())[self.system]

    def search(
        self,
        queries: Iterable[Mapping[str, Any]],
        *,
        top_k: int,
        top_ranked: Mapping[str, Sequence[str]] | None = None,
        **_: object,
    ) -> dict[str, dict[str, float]]:
        """Return query id -> document id -> score; each is minus its rank: our order is final.

        With `top_ranked` only these documents of a query are ranked.

        Raises:
            BadInput: nothing was indexed.
        """
        if self._retriever is None:
            raise BadInput("nothing to search: call index(corpus) first")
        asked = [(str(query["id"]), str(query["text"])) for query in queries]
        depth = top_k if top_ranked is None else 10**9
        found = {}
        for (id_, _text), ranking in zip(
            asked, self._retriever.search([t for _, t in asked], depth), strict=True
        ):
            kept = ranking.ids
            if top_ranked is not None:
                wanted = set(top_ranked.get(id_, ()))
                kept = [article for article in kept if article in wanted]
            found[id_] = {article: -float(n) for n, article in enumerate(kept[:top_k], 1)}
        return found

    @property
    def mteb_model_meta(self) -> Any:  # noqa: ANN401 - of mteb
        """What MTEB files its results under."""
        return _meta(f"pandect/{self.system.replace(':', '-')}", self.language, None, "dot")


class MTEBEncoder:
    """One of our encoders as MTEB's `EncoderProtocol` has it; it takes lists of sentences too."""

    def __init__(self, encoder: Encoder, language: str = "fr") -> None:
        """Take an encoder whose vectors have length 1, such as `StaticEncoder.load` returns."""
        self.encoder, self.language = encoder, language

    def encode(self, inputs: Iterable[Any], *, prompt_type: object = None, **_: object) -> Floats:
        """Return (n_texts, dim) float32 of texts, or of batches {"text": [..]}; documents as articles."""
        texts: list[str] = []
        for each in inputs:
            texts += [each] if isinstance(each, str) else each["text"]
        if getattr(prompt_type, "value", prompt_type) in ("document", "passage"):
            return self.encoder.encode_articles(
                [Article(str(n), "", "", text) for n, text in enumerate(texts)]
            )
        return self.encoder.encode_questions(texts)

    def similarity(self, embeddings1: Floats, embeddings2: Floats) -> Floats:
        """Return the cosine of each of n with each of m vectors, (n, m)."""
        return np.atleast_2d(embeddings1) @ np.atleast_2d(embeddings2).T

    def similarity_pairwise(self, embeddings1: Floats, embeddings2: Floats) -> Floats:
        """Return the cosine of each vector with the one beside it, (n,)."""
        return np.asarray((np.atleast_2d(embeddings1) * np.atleast_2d(embeddings2)).sum(axis=1))

    @property
    def mteb_model_meta(self) -> Any:  # noqa: ANN401 - of mteb
        """What MTEB files its results under."""
        return _meta(f"pandect/{self.encoder.name}", self.language, self.encoder.dim, "cosine")


def _meta(name: str, language: str, dim: int | None, similarity: str) -> Any:  # noqa: ANN401 - of mteb
    try:
        from mteb.models import ModelMeta
    except ImportError as error:
        raise MissingExtra(f'MTEB\'s own description of a model needs it: pip install "{MTEB}"') from error
    return ModelMeta(
        loader=None, name=name, revision=None, release_date=None, languages=None, n_parameters=None,
        memory_usage_mb=None, max_tokens=None, embed_dim=dim, license="apache-2.0", open_weights=True,
        public_training_code=None, public_training_data=None, framework=[], similarity_fn_name=similarity,
        use_instructions=False, training_datasets=None,
    )  # fmt: skip
