"""Cleaning of a corpus as it is imported: optional, counted, and nothing that it takes out is lost.

The text of an altered article stays in the extra column `original_text`; removed articles lie in
`removed.jsonl.gz` (`indexes.cleaning.steps`). An article that a question cites is never removed over the
head of the question: the citation moves to the article that stays for it, or the article is kept and
counted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from indexes.cleaning.duplicates import Duplicates, same_number, same_text
from indexes.cleaning.editorial_marks import unmarked
from indexes.cleaning.repealed import has_expired, is_repealed, short
from indexes.cleaning.steps import Cleaned, drop, merge, unmark
from indexes.corpus.corpus import Corpus
from rag.errors import BadInput

# In the order in which they are done: what was repealed has no number left to be double, texts are compared
# and counted without their marks.
KINDS: Mapping[str, str] = {
    "repealed": "remove articles that say nothing but that they were repealed, or that had ended on the "
    "day of the law (--law-date)",
    "marks": "take the marks of amendments and the notes under the text out of it",
    "duplicate-numbers": "of several versions of an article, keep the one in force on the day of the "
    "law, or the last; where dates do not tell, keep all and count them",
    "exact-duplicates": "of articles of one code in the same words, keep the first",
    "short": "remove articles of fewer than five words, as the language's analyser cuts them",
}
ALL, NOTHING = "all", "none"
_MANY = 200_000


def ordered_kinds(typed: Iterable[str]) -> tuple[str, ...]:
    """Return the kinds typed, each once, in order of work; BadInput: one unknown, or "none" with others."""
    wanted = set(typed)
    unknown = ", ".join(sorted(wanted - KINDS.keys() - {ALL, NOTHING}))
    if unknown:
        raise BadInput(f"no cleaning {unknown}. Use some of: {', '.join(KINDS)}, {ALL}, {NOTHING}.")
    if NOTHING in wanted and len(wanted) > 1:
        raise BadInput(f"--clean {NOTHING} came with {', '.join(sorted(wanted - {NOTHING}))}. Leave out one.")
    return tuple(kind for kind in KINDS if kind in wanted or ALL in wanted)


def clean(corpus: Corpus, kinds: Collection[str]) -> Cleaned:
    """Clean a corpus in the ways named, "all" among them; a second time changes nothing.

    Raises:
        BadInput: there is no such kind, no article would be left, or the language has no analyser.
    """
    done = Cleaned(corpus)
    for kind in ordered_kinds(kinds):
        if kind == "marks":
            done = unmark(done)
        elif kind == "repealed":
            done = drop(done, kind, _repealed(done.corpus))
        elif kind == "short":
            done = drop(done, kind, set(short(done.corpus.articles, corpus.card.language)))
        else:
            done = merge(done, kind, _doubles(done.corpus, kind))
    return done


def would_find(corpus: Corpus) -> dict[str, int]:
    """Return how many articles each kind would alter or remove, of those kinds that are found quickly.

    `short` is not among them: it cuts every text into words. Nothing is looked for in a corpus of more than
    200,000 articles, where it would take minutes, and memory beside the articles'.
    """
    if len(corpus.articles) > _MANY:
        return {}
    language = corpus.card.language
    found = {
        "repealed": len(_repealed(corpus)),
        "marks": sum(unmarked(a.text, language) != a.text for a in corpus.articles),
        **{kind: len(_doubles(corpus, kind).instead) for kind in ("duplicate-numbers", "exact-duplicates")},
    }
    return {kind: count for kind, count in found.items() if count}


def _repealed(corpus: Corpus) -> set[str]:
    day, language = corpus.card.law_date, corpus.card.language
    return {
        a.id
        for a in corpus.articles
        if has_expired(a.valid_to, day) or is_repealed(a.text, a.article_no, language)
    }


def _doubles(corpus: Corpus, kind: str) -> Duplicates:
    if kind == "duplicate-numbers":
        return same_number(corpus.articles, corpus.card.law_date)
    return same_text(corpus.articles)
