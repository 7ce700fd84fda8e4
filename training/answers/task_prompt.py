"""The articles as the prompts of examination and charge tasks show them.

As in STARD's experiment (Su et al. 2024): the best articles, numbered, then the advice to prefer them
although the right one may be missing. The wording is ours.
"""

from __future__ import annotations

from collections.abc import Sequence

from rag.types import Article

LONGEST = 1500  # characters of an article; ten of them stay within a window of some 16,000 tokens
_HEAD = "下面是可能与问题有关的法律条文：\n"
_ADVICE = "\n请优先依据以上条文作答；其中不一定包含所需的条文，如果没有，请依据你掌握的法律知识作答。\n\n"


def numbered(articles: Sequence[Article]) -> str:
    """Return the numbered articles with the advice; nothing where there are none."""
    if not articles:
        return ""
    lines = [f"{n}. 《{a.code}》{a.article_no}：{_flat(a.text)[:LONGEST]}" for n, a in enumerate(articles, 1)]
    return _HEAD + "\n".join(lines) + _ADVICE


def _flat(text: str) -> str:
    return " ".join(text.split())
