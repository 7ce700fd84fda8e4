"""What stands at the head of a result: the articles that a question names by their numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rag.engine.result import KnownItem, Shown, Why
from rag.retrieval.versions import of_day
from rag.types import Article, Filter


class Pins:
    """Shows the articles that a question names, and those that took over an old number's content."""

    def __init__(self, articles: Mapping[str, Article]) -> None:
        """Take a corpus by its ids."""
        self._articles = articles
        self._by_number: dict[tuple[str, str], list[Article]] = {}
        for article in articles.values():
            self._by_number.setdefault((article.code, article.article_no), []).append(article)

    def __call__(self, known: Sequence[KnownItem], where: Filter | None) -> list[Shown]:
        """Return the articles named by number, then those that took over an old number's content.

        Who asks for the "ancien article" means the content of then: its heirs come first. An article
        that is named is shown whether it is in force on the filter's day or not, for it was asked for;
        whoever shows it says so.
        """
        bearing: dict[str, Why] = {}
        heirs: dict[str, Why] = {}
        for item in known:
            bearing |= {article_id: Why(known=True) for article_id in item.found}
            for move in item.moved:
                for number in move.new:
                    heirs |= {a.id: Why(moved_from=move.old) for a in self._heirs(move.code, number, where)}
        named = None if where is None else replace(where, in_force_on=None)
        bearing = {i: w for i, w in bearing.items() if named is None or named.admits(self._articles[i])}
        former = bool(known) and all(item.former for item in known)
        first, then = (heirs, bearing) if former else (bearing, heirs)
        whys = {**first, **{i: why for i, why in then.items() if i not in first}}
        return [Shown(n, self._articles[i], 0.0, why) for n, (i, why) in enumerate(whys.items(), start=1)]

    def _heirs(self, code: str, number: str, where: Filter | None) -> Sequence[Article]:
        bearing = of_day(self._by_number.get((code, number), []), where.in_force_on if where else None)
        return [article for article in bearing if where is None or where.admits(article)]
