"""Why an article is there, in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rag.corpus.card import CorpusCard
from rag.engine.result import Shown, Why
from rag.text import Analyser
from rag.types import Article
from rag.ui.components.article_history import took_over
from rag.ui.components.cite import number_of
from rag.ui.html import Html, join, tag
from rag.ui.i18n import N_, Words

# What the systems behind a hybrid do, as a person would say it; a system of another name is called by it.
LISTS: Mapping[str, str] = {
    "bm25": N_("by words"),
    "bm25+questions": N_("by words"),
    "keyword": N_("by words"),
    "dense": N_("by meaning"),
    "meaning": N_("by meaning"),
    "nearest": N_("by questions already asked"),
    "beside": N_("by an article under the same headings"),
}
MAX_ASKED = 2
MAX_WORDS = 12


def reasons(shown: Shown, analyser: Analyser, t: Words, card: CorpusCard, *, ranks: bool = True) -> Html:
    """Return the reasons as a list, the strongest first.

    Args:
        shown: the article, with why it is there.
        analyser: the index's.
        t: the interface.
        card: of the corpus.
        ranks: whether its place in each ranking is told here; else a table beside tells it.
    """
    items = [tag("li", line) for line in _lines(shown, analyser, t, card, ranks=ranks)]
    return tag("ul", *items or [tag("li", t("Its meaning is close to that of your question."))])


def _lines(shown: Shown, analyser: Analyser, t: Words, card: CorpusCard, *, ranks: bool) -> Iterator[Html]:
    why: Why = shown.why
    law = shown.article.language or card.language  # of the questions annotated for it too
    if why.moved_from is not None:
        yield join(took_over(number_of(why.moved_from, shown.article.code, card), t))
    elif why.known:
        yield join(t("Your question names it by its number."))
    common = matched_words(shown.article, why.terms, analyser)
    if common:
        quoted = t.listed(t("“{word}”", word=word) for word in common)
        yield join(t("Words in common with your question: {words}.", words=quoted))
    asked = why.asked[:MAX_ASKED]
    if asked:
        said = t.n(
            "A similar question that cites this article:",
            "Similar questions that cite this article:",
            len(asked),
        )
        yield join(said, *(join(" ", tag("q", question, lang=law)) for question in asked))
    if ranks and why.ranks:
        places = (
            t("no. {rank} {by}", rank=rank, by=t(LISTS[name]) if name in LISTS else name)
            for name, rank in sorted(why.ranks.items())
        )
        yield join(t("Its place in each ranking: {places}.", places=t.listed(places)))


def matched_words(article: Article, terms: frozenset[str], analyser: Analyser) -> list[str]:
    """Return the article's own words behind the terms, in order of appearance, one a term.

    Numbers tell little, and are left out where there are words.
    """
    words: dict[str, str] = {}
    for text in (article.text, *article.headings, article.code):
        for token in analyser.tokens(text):
            if token.term in terms:
                words.setdefault(token.term, text[token.start : token.end].lower())
    found = list(dict.fromkeys(words.values()))
    return ([word for word in found if not word.isdigit()] or found)[:MAX_WORDS]
