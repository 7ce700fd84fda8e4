"""How an article is called on the pages (`rag.corpus.citation` cites it), and how it stands in lists."""

from __future__ import annotations

from collections.abc import Mapping

from rag.corpus.card import CorpusCard
from rag.corpus.citation import is_bare, signed
from rag.corpus.contents import Mention, Need
from rag.text.highlight import sentence_around
from rag.types import Article
from rag.ui.html import Html, tag
from rag.ui.i18n import N_, Interface
from rag.ui.navigation import BROWSE, address, go, listed


def title(article: Article, t: Interface, card: CorpusCard) -> str:
    """Return what heads the article: "Article 671", or the number alone when it says what it is: "§ 573c"."""
    number = signed(article, card)
    return t("Article {number}", number=number) if is_bare(number) else number


def missing_number(article_no: str, code: str | None, card: CorpusCard) -> str:
    """Return a number that no article at hand bears, as the law calls it: "671", "§ 573c"."""
    return signed(Article("", code or "", article_no, ""), card)


def is_code(law: str) -> bool:
    """Tell whether a sentence can say "of the Code …"; no article fits the names of all other laws."""
    return law.startswith("Code ")


EXCERPT = 110  # characters of an article in a list


def heading(text: str, view: str, lang: str | None = None) -> Html:
    """Return a view's heading; the keyboard goes on from here when a link led to it (`rag.ui.layout`).

    `view` tells this view from the one before.
    """
    return tag("h2", text, lang=lang, tabindex="-1", data_arrive=view)


def entry(link: Html, note: str, lang: str) -> Html:
    """Return an entry of a list: a link in the law's language, and a note in the interface's."""
    return tag("li", tag("span", link, lang=lang), " ", tag("span", note, class_="pd-count"), " ")


def article_entry(
    article: Article, t: Interface, card: CorpusCard, *, code: bool = False, more: Html | str = ""
) -> Html:
    """Return an article as an entry of a list, with its `code` if wanted; `more` stands beside the link."""
    start = " ".join(article.text[: 2 * EXCERPT].split())
    shortened = start if len(start) <= EXCERPT else start[:EXCERPT].rsplit(" ", 1)[0] + " …"
    law = article.language or card.language
    # the title is in the interface's language ("Article 5"), the text in the law's
    of = tag("span", article.code, class_="pd-count", lang=law) if code else ""
    excerpt = tag("span", shortened, class_="pd-excerpt", lang=law)
    return tag("li", link_to(article, title(article, t, card)), " ", of, " ", more, " ", excerpt)


def mention_entry(
    mention: Mention, t: Interface, card: CorpusCard, *, code: bool = False, more: Html | str = ""
) -> Html:
    """Return an article that refers to another, or is referred to, with the sentence that does.

    Where no text at hand does, it is an entry of a list like any other.
    """
    article, source = mention.article, mention.source
    if mention.start < 0:
        return article_entry(article, t, card, code=code, more=more)
    text = source.text
    left, right = sentence_around(text, mention.start, mention.end)
    sentence = tag(
        "q",
        "… " * (text[:left].strip() != "" and not _begins(text, left)),
        text[left : mention.start],
        tag("mark", text[mention.start : mention.end], class_="pd-refers"),
        text[mention.end : right],
        " …" * (right < len(text) and text[right - 1 : right] not in ".!?;:。；"),
        class_="pd-excerpt",
        lang=source.language or card.language,
    )
    law = article.language or card.language
    of = tag("span", article.code, class_="pd-count", lang=law) if code else ""
    return tag("li", link_to(article, title(article, t, card)), " ", of, " ", more, " ", sentence)


def _begins(text: str, at: int) -> bool:
    """Tell whether a sentence or a line begins at a place."""
    before = text[:at].rstrip(" ")
    return not before or before[-1] in ".!?;:\n。；"


NEEDS: Mapping[Need, str] = {
    "definition": N_("defines words of this article"),
    "exception": N_("an exception or a condition that this article names"),
    "rule": N_("the rule that this article departs from"),
    "departure": N_("departs from this article"),
}


def need_entry(need: Need, mention: Mention, t: Interface, card: CorpusCard, *, code: bool = False) -> Html:
    """Return an article that another must be read with: why, and what it says."""
    why = tag("span", t(NEEDS[need]), class_="pd-need")
    if need == "departure":
        return mention_entry(mention, t, card, code=code, more=why)
    return article_entry(mention.article, t, card, code=code, more=why)


def link_to(article: Article, label: str, **attributes: str | None) -> Html:
    """Return a link to where the article can be read."""
    return go(label, address(BROWSE, article=listed([article.id])), **attributes)
