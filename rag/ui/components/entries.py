"""How an article is called on the pages (`rag.corpus.citation` cites it), and how it stands in lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rag.corpus.card import CorpusCard
from rag.corpus.citation import is_bare, signed
from rag.corpus.contents import Mention, Need
from rag.text.highlight import sentence_around, sentences
from rag.types import Article
from rag.ui.components.question_form import theme_name
from rag.ui.html import Html, folded, join, tag
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
SENTENCE = 240  # characters of a sentence that refers to an article
_ENDS = ".!?;:\n。；！？"  # of sentences and lines
_QUOTED = ("q", "span")  # the law's own words, and those of a summary, which are never quoted as law


def heading(text: str, view: str, lang: str | None = None) -> Html:
    """Return a view's heading; the keyboard goes on from here when a link led to it (`rag.ui.layout`).

    `view` tells this view from the one before.
    """
    return tag("h2", text, lang=lang, tabindex="-1", data_arrive=view)


def entry(link: Html, note: str, lang: str) -> Html:
    """Return an entry of a list: a link in the law's language, and a note in the interface's."""
    return tag("li", tag("span", link, lang=lang), " ", tag("span", note, class_="pd-count"), " ")


def laws_html(card: CorpusCard, codes: Mapping[str, int], t: Interface) -> Html:
    """Return the codes by theme, each theme folded; a code with its articles and the day of its text.

    Nothing where the codes have no themes.
    """
    parts: list[Html] = []
    for theme, named in card.by_theme(codes).items():
        count = t.n("one law", "{count} laws", len(named))
        label = join(theme_name(theme, t), " ", tag("span", count, class_="pd-count"))
        parts.append(folded(label, tag("ul", *(_code_entry(c, codes[c], card, t) for c in named))))
    return tag("div", *parts, class_="pd-laws") if parts else Html()


def _code_entry(code: str, articles: int, card: CorpusCard, t: Interface) -> Html:
    day = card.dated(code)
    note = t.n("one article", "{count} articles", articles)
    way = go(code, address(BROWSE, code=code))
    return entry(way, f"{note} · {t.day(day)}" if day else note, card.language)


def article_entry(
    article: Article, t: Interface, card: CorpusCard, *, code: bool = False, more: Html | str = ""
) -> Html:
    """Return an article as an entry of a list, with its `code` if wanted; `more` stands beside the link."""
    start = " ".join(article.text[: 2 * EXCERPT].split())
    shortened = start if len(start) <= EXCERPT else start[:EXCERPT].rsplit(" ", 1)[0] + " …"
    law = article.language or card.language
    # the title is in the interface's language ("Article 5"), the text in the law's
    of = tag("span", article.code, class_="pd-count", lang=law) if code else ""
    excerpt = tag("span", shortened, class_="pd-excerpt", lang=law) if start else unsummarised_mark(t)
    return tag("li", link_to(article, title(article, t, card)), " ", of, " ", more, " ", excerpt)


def unsummarised_mark(t: Interface) -> Html:
    """Return what stands in a list in place of an article's text that is not there."""
    return tag("span", t("no summary yet"), class_="pd-excerpt")


def mention_entries(
    mentions: Sequence[Mention],
    t: Interface,
    card: CorpusCard,
    code: str,
    more: Callable[[Article], Html] = lambda article: Html(),
) -> list[Html]:
    """Return entries of articles that refer to one of a code, or that it refers to, with the sentences.

    Articles that one expression names are one entry: "articles 3 to 7" has one sentence and five links.
    """
    together: dict[tuple[str, int, int], list[Mention]] = {}
    for n, mention in enumerate(mentions):
        place = mention.source.id, mention.start, mention.end if mention.start >= 0 else n
        together.setdefault(place, []).append(mention)
    return [
        tag(
            "li", *(_linked(m.article, t, card, code, more(m.article)) for m in same), _told(same[0], t, card)
        )
        for same in together.values()
    ]


def _linked(article: Article, t: Interface, card: CorpusCard, code: str, more: Html | str) -> Html:
    """Return a link to an article, which says of which law it is where that is not the one at hand."""
    name, of, label = title(article, t, card), Html(), None
    if article.code != code:
        of = tag("span", article.code, class_="pd-of", lang=article.language or card.language)
        label = t.with_note(name, article.code)
    return tag("span", link_to(article, name, aria_label=label), " ", of, " ", more, " ", class_="pd-other")


def _told(mention: Mention, t: Interface, card: CorpusCard) -> Html:
    """Return the sentence that makes a reference; where no text at hand does, what the other article says."""
    if mention.start < 0:
        return _opening(mention.article, card, t)
    text, start = mention.source.text, mention.start
    end = min(mention.end, start + SENTENCE)
    left, right = sentence_around(text, start, end, SENTENCE)
    before, behind = text[:left].rstrip(" "), text[right : right + 2].lstrip(" ")
    return tag(
        _QUOTED[card.text_kind == "summary"],
        "… " if before and before[-1] not in _ENDS else "",
        text[left:start],
        tag("mark", text[start:end], class_="pd-refers"),
        text[end:right],
        " …" if behind.strip() and "\n" not in behind and text[right - 1] not in _ENDS else "",
        class_="pd-excerpt",
        lang=mention.source.language or card.language,
    )


def _opening(article: Article, card: CorpusCard, t: Interface) -> Html:
    """Return how an article begins: its first sentences as far as they are short, or a part of the first."""
    law, under = article.language or card.language, Html()
    if article.headings and card.text_kind == "summary":  # an official text has a heading of its own
        under = tag("span", article.headings[-1], class_="pd-of", lang=law)
    text = " ".join(article.text[: 4 * SENTENCE].split())
    spans = sentences(text)[:1] + [(a, b) for a, b in sentences(text)[1:] if b <= EXCERPT]
    end = spans[-1][1] if spans else 0
    if end < EXCERPT // 2 or end > SENTENCE:  # a title alone says little
        end = len(text) if len(text) <= SENTENCE else text[:SENTENCE].rfind(" ")
        end = SENTENCE if end <= 0 else end
    if not text:
        return join(under, " ", unsummarised_mark(t))
    told = text[:end]
    cut = " …" if told and told[-1] not in _ENDS else ""
    return join(under, " ", tag("span", told, cut, class_="pd-excerpt", lang=law))


NEEDS: Mapping[Need, str] = {
    "definition": N_("defines words of this article"),
    "exception": N_("an exception or a condition that this article names"),
    "rule": N_("the rule that this article departs from"),
    "departure": N_("departs from this article"),
}


def need_entry(need: Need, mention: Mention, t: Interface, card: CorpusCard, code: str) -> Html:
    """Return an article that one of a code must be read with: why, and what it says."""
    why = tag("span", t(NEEDS[need]), class_="pd-need")
    said = _told(mention, t, card) if need == "departure" else _opening(mention.article, card, t)
    return tag("li", _linked(mention.article, t, card, code, why), said)


def link_to(article: Article, label: str, **attributes: str | None) -> Html:
    """Return a link to where the article can be read."""
    return go(label, address(BROWSE, article=listed([article.id])), **attributes)
