"""Where an answer stands in the articles on the page: links to their cards, and the passages themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag.answer.types import Passage
from rag.corpus.card import CorpusCard
from rag.engine.result import Shown
from rag.ui.components.cite import title
from rag.ui.html import Html, join, tag
from rag.ui.i18n import Words


@dataclass(frozen=True, slots=True)
class Cited:
    """The articles on the page, by id."""

    shown: Mapping[str, Shown]
    card: CorpusCard
    t: Words

    @classmethod
    def of(cls, shown: Sequence[Shown], card: CorpusCard, t: Words) -> Cited:
        """Take the articles as they are shown."""
        return cls({each.article.id: each for each in shown}, card, t)

    @property
    def summary(self) -> bool:
        """Whether the texts are summaries, which are never quoted as law."""
        return self.card.text_kind == "summary"

    def name(self, article_id: str) -> str:
        """Return what an article is called here; with its code where there are several."""
        article = self.shown[article_id].article
        called = title(article, self.t, self.card)
        several = len({each.article.code for each in self.shown.values()}) > 1
        return self.t.aside(called, article.code) if several else called

    def link(self, article_id: str) -> Html:
        """Return a link to the article's card."""
        return tag("a", self.name(article_id), href=f"#pd-{self.shown[article_id].rank}")

    def links(self, article_ids: Sequence[str]) -> Html:
        """Return links to the cards of those that are shown."""
        made = [self.link(each) for each in article_ids if each in self.shown]
        return join(*[part for link in made for part in (self.t.how.comma, link)][1:])

    def passage(self, passage: Passage) -> Html:
        """Return a passage as it stands in its article, with where that is; nothing of one not shown."""
        if passage.article_id not in self.shown:
            return Html()
        article = self.shown[passage.article_id].article
        text = article.text[passage.start : passage.end]
        return tag("p", self.link(article.id), " ", self.told(text, article.language))

    def told(self, text: str, language: str | None = None) -> Html:
        """Return words of an article: in quotation marks where they are the law's own, else labelled."""
        spoken = language or self.card.language  # a screen reader reads the law in its own language
        if self.summary:
            return join(self.label(), " ", tag("span", text, class_="pd-told", lang=spoken))
        return tag("q", text, class_="pd-told", lang=spoken)

    def label(self) -> Html:
        """Return the label of words that are not the law's; nothing where they are."""
        t = self.t
        return tag("span", t("summary"), class_="pd-badge") if self.summary else Html()
