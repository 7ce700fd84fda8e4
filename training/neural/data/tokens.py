"""Questions and articles as the token ids that an encoder reads."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from rag.types import Article
from training.neural.recipe.settings import Text
from training.neural.systems.backbone import sound

if TYPE_CHECKING:
    from torch import Tensor

Ids = list[int]


def article_text(article: Article, text: Text) -> str:
    """Return what an encoder reads of an article: the fields, the law's text cut as the recipe has it."""
    whole = article.text
    if text.article_cut and text.article_cut_unit == "words":
        whole = " ".join(islice(whole.split(), text.article_cut))
    elif text.article_cut:
        whole = whole[: text.article_cut]
    of = {"code": article.code, "headings": " ".join(article.headings), "text": whole}
    return text.article_prompt + " ".join(of[name] for name in text.fields if of[name])


class Tokens:
    """Cuts texts into token ids; the articles of one corpus once, for they come again in every epoch."""

    def __init__(self, tokenizer: Any, text: Text) -> None:  # noqa: ANN401 - of transformers
        self.tokenizer, self.text = tokenizer, text
        self._known: dict[str, list[Ids]] = {}  # by id

    def question(self, question: str) -> Ids:
        """Return the ids of a question, with the special ones, cut at the recipe's length."""
        return self._truncated(self.text.question_prompt + question, self.text.question_tokens)

    def article(self, article: Article) -> list[Ids]:
        """Return the ids of an article's chunks, each with the special ones; one where it is not cut."""
        if article.id not in self._known:
            self._known[article.id] = self._chunks(article_text(article, self.text))
        return self._known[article.id]

    def pair(self, question: str, article: Article) -> tuple[Ids, Ids]:
        """Return the ids of question and article read together, and which of the two each belongs to.

        The question is cut at its own length, the article at what is left.
        """
        question_ids = self._body(self.text.question_prompt + question, self.text.question_tokens)
        begin, end = self.tokenizer("")["input_ids"]
        between = [end] * (int(self.tokenizer.num_special_tokens_to_add(pair=True)) - 2)  # RoBERTa has two
        room = self.text.article_tokens - len(question_ids) - len(between) - 2
        article_ids = self._body(article_text(article, self.text), max(room, 0))
        ids = [begin, *question_ids, *between, *article_ids, end]
        first = len(question_ids) + 2  # with [CLS] and the first that ends it
        return ids, [0] * first + [1] * (len(ids) - first)

    def _chunks(self, text: str) -> list[Ids]:
        if not self.text.chunk_tokens:
            return [self._truncated(text, self.text.article_tokens)]
        special = int(self.tokenizer.num_special_tokens_to_add())
        found = self.tokenizer(
            sound(text),
            truncation=True,
            max_length=self.text.chunk_tokens + special,
            stride=self.text.chunk_overlap,
            return_overflowing_tokens=True,
        )
        return [list(ids) for ids in found["input_ids"][: self.text.chunks or None]]

    def _truncated(self, text: str, tokens: int) -> Ids:
        return list(self.tokenizer(sound(text), truncation=True, max_length=tokens)["input_ids"])

    def _body(self, text: str, tokens: int) -> Ids:
        found = self.tokenizer(sound(text), add_special_tokens=False, truncation=False, verbose=False)
        return list(found["input_ids"][:tokens])

    def padded(
        self, rows: Sequence[Ids], device: object, kinds: Sequence[Ids] | None = None
    ) -> dict[str, Tensor]:
        """Return rows of token ids as one batch on a device, as long as the longest of them.

        Where a pair is read, its kinds are 0 for the first text's ids, 1 for the second's.
        """
        import torch

        length = max(map(len, rows), default=0)

        def filled(part: Sequence[Ids], rest: int) -> Tensor:
            cells = [[*row, *[rest] * (length - len(row))] for row in part]
            return torch.tensor(cells, dtype=torch.long, device=device).reshape(len(rows), length)

        batch = {"input_ids": filled(rows, self.tokenizer.pad_token_id or 0)}
        batch["attention_mask"] = filled([[1] * len(row) for row in rows], 0)
        if kinds is not None and "token_type_ids" in self.tokenizer.model_input_names:
            batch["token_type_ids"] = filled(kinds, 0)
        return batch
