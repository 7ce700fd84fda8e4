"""What a model may call articles and their passages: labels (A1, A1.2), ids, numbers, copied sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rag.answer.generation.parser import ArticleLabels
from rag.answer.passages import units
from rag.answer.types import Choice
from rag.answer.verification.quotes import is_long_enough, places
from rag.text.article_numbers import number_key
from rag.text.code_names import CodeNames
from rag.text.language import language_of
from rag.text.patterns import plain
from rag.text.references import find_references
from rag.types import Article

LEAST_WORDS = 6  # of a text that is compared with sentences of law
ALIKE = 0.6  # of the words of both: a copy with small changes
MOST_UNITS = 12  # of one choice; a longer range is the article
_RANGE = r"(?:\s*(?:-|–|—|à|至|(?:to|bis|al?|tot)\s)\s*(?:{letter}\d{{1,2}}[.:§]|[.:§])?(?P<last>\d{{1,3}}))?"
_SPELLED = re.compile(  # "Passage 1, phrases 1 et 3 à 4"
    r"\bpassag\w*\s+(?P<article>\d{1,2})\s*[,:;(]?\s*(?:phrases?|sentences?|sätze?|satz|fras[ei]|zin(?:nen)?)"
    r"\s+(?P<units>\d{1,3}(?:\s*(?:,|et|and|und|e|en)\s*\d{1,3})*)",
    re.IGNORECASE,
)


class Names:
    """What a model may call passages and articles, and sentences of law that it copied."""

    def __init__(self, labels: ArticleLabels, articles: Sequence[Article]) -> None:
        self._labels, self._articles = labels, articles
        self._at = {article.id: article for article in articles}
        letter = self._letter = re.escape(re.sub(r"\d", "", labels.labels[0])) if labels.labels else "A"
        self._label = re.compile(
            rf"(?<![\w.])(?P<label>{letter}\d{{1,2}})(?:[.:§](?P<first>\d{{1,3}}){_RANGE.format(letter=letter)})?(?!\w)",
            re.IGNORECASE,
        )
        label = self._label.pattern
        self._bracketed = re.compile(
            rf"\s*[\[(]\s*{_unnamed(label)}(?:\s*[,;&-]\s*{_unnamed(label)})*\s*[\])]", re.IGNORECASE
        )
        self._names = CodeNames(
            tuple(dict.fromkeys(article.code for article in articles)), language=_language(articles)
        )
        self._by_number: dict[str, list[str]] = {}
        for article in articles:
            self._by_number.setdefault(number_key(article.article_no), []).append(article.id)
        of = {a.article_no: a.id for a in articles if len(self._by_number[number_key(a.article_no)]) == 1} | {
            id_: id_ for id_ in self._at if not id_.isdigit()
        }
        self._unit_of, names = of, "|".join(map(re.escape, sorted(of, key=len, reverse=True))) or "(?!)"
        self._named_unit = re.compile(rf"(?<![\w.-])(?P<name>{names})\.(?P<first>\d{{1,2}})(?![\w-])")

    def ids(self, text: str) -> list[str]:
        """Return the articles that a text names, by label, number or id; those shown only."""
        found = [self._id(each["label"]) for each in self._label.finditer(text)]
        found += self._numbered(text)
        found += [id_ for id_ in self._at if _stands(id_, text)]
        return list(dict.fromkeys(id_ for id_ in found if id_ is not None))

    def article(self, written: object) -> str | None:
        """Return the article that one name means, else what was written; None if it is no name at all."""
        id_ = self._labels.id(written)
        if id_ is None or id_ in self._at:
            return id_
        named = self._by_number.get(number_key(id_), []) or self.ids(id_)
        return named[0] if len(named) == 1 else id_

    def without(self, text: str) -> str:
        """Return a text for a reader, who knows no labels: those in brackets go, others become "art. 7"."""

        def told(found: re.Match[str]) -> str:
            id_ = self._id(found["label"])
            return f"art. {self._at[id_].article_no}" if id_ is not None else found[0]

        bare = self._bracketed.sub("", text)
        return " ".join(self._label.sub(told, bare).split())

    def choices(self, text: str, *, bare: bool = True) -> list[Choice]:
        """Return what a short text chooses: copied law, passages, else articles; these by label if `bare`."""
        if copied := self.copied(text):
            return copied
        found, whole = self._labelled(_SPELLED.sub(self._labels_of, text))
        if found:
            return found
        whole = whole if bare else []
        whole += [id_ for id_ in self._numbered(text) if id_ not in whole]
        whole += [id_ for id_ in self._at if id_ not in whole and _stands(id_, text)]
        near = " ".join(self._label.sub(" ", text).split())
        return [Choice(id_, None, None, near) for id_ in whole]

    def copied(self, text: str) -> list[Choice]:
        """Return the units that a text copies, by position, whatever its quotation marks and capitals."""
        found: list[Choice] = []
        for part in filter(is_long_enough, _copies(text)):
            for article in self._articles:
                if spans := places(article.text).find(part)[:1]:
                    if touched := units(article.text, article.language).touching(*spans[0]):
                        found.append(Choice(article.id, touched[0], touched[-1]))
                    break
        return list(dict.fromkeys(found))

    def like(self, text: str) -> Choice | None:
        """Return the sentence of law whose words a text has nearly all: a copy with small changes."""
        words = _words(text)
        best: tuple[float, Choice] | None = None
        for article in self._articles if len(words) >= LEAST_WORDS else ():
            for i, (start, end) in enumerate(units(article.text, article.language).spans):
                own = _words(article.text[start:end])
                alike = len(words & own) / max(len(words | own), 1)
                if alike >= ALIKE and (best is None or alike > best[0]):
                    best = alike, Choice(article.id, i, i)
        return best[1] if best else None

    def numbers(self, text: str) -> bool:
        """Tell whether a text names a passage of an article by its number."""
        return any(self._id(found["label"]) and found["first"] for found in self._label.finditer(text))

    def unknown(self, text: str) -> int:
        """Return how many labels of a text name nothing that was shown."""
        return sum(self._id(found["label"]) is None for found in self._label.finditer(text))

    def _labels_of(self, spelled: re.Match[str]) -> str:
        label = f"{self._letter}{spelled['article']}."
        return " ".join(label + unit for unit in re.findall(r"\d+", spelled["units"]))

    def _labelled(self, text: str) -> tuple[list[Choice], list[str]]:
        found: list[Choice] = []
        whole: list[str] = []
        for each in self._label.finditer(text):
            id_ = self._id(each["label"])
            if id_ is None:
                continue
            if each["first"] is None:
                whole += [id_] * (id_ not in whole)
                continue
            count = len(units(self._at[id_].text, self._at[id_].language).spans)
            first = int(each["first"]) - 1
            last = int(each["last"]) - 1 if each["last"] else first
            if 0 <= first < count:
                last = min(max(last, first), count - 1, first + MOST_UNITS - 1)
                found.append(Choice(id_, first, last))
        for each in self._named_unit.finditer(text):  # "1242.3", "CC-1242.3"
            id_ = self._unit_of[each["name"]]
            at = int(each["first"]) - 1
            if 0 <= at < len(units(self._at[id_].text, self._at[id_].language).spans):
                found.append(Choice(id_, at, at))
        return list(dict.fromkeys(found)), whole

    def _numbered(self, text: str) -> list[str]:
        """Return the articles shown that a text names by number; one number of two codes needs its code."""
        found: list[str] = []
        for each in find_references(text, self._names):
            if not each.marked and each.code is None:
                continue
            ids = self._by_number.get(each.number, ())
            named = [id_ for id_ in ids if each.code in (None, self._at[id_].code) and not each.unresolved]
            found += [id_ for id_ in named if len(named) == 1 and id_ not in found]
        return found

    def _id(self, label: str) -> str | None:
        id_ = self._labels.id(label)
        return id_ if id_ in self._at else None


def _language(articles: Sequence[Article]) -> str:
    return language_of(articles[0].text, articles[0].language) if articles else "en"


_COPY_OF = re.compile(r"[«“\"„]([^«»“”\"„]{12,})[»”\"“]")
_NAMED = re.compile(r"^[\s\-–•*>\d.)]*(?:[^\w]*\b[\w.§ -]{0,60}?\s?[:：])?\s*")


def _copies(text: str) -> Iterator[str]:
    """Yield what of a text may be copied law: what is in quotation marks, all of it, and behind a colon."""
    yield from (found[1] for found in _COPY_OF.finditer(text))
    bare = re.sub(r"[\[(][^\[\]()]{0,24}[\])]", " ", text).strip()
    yield bare
    behind = _NAMED.sub("", bare, count=1)
    if behind != bare:
        yield behind


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W_]+", plain(text)))


def _stands(id_: str, text: str) -> bool:
    """Tell whether an id stands in a text as a word of its own; short numbers mean something else there."""
    if id_.isdigit() and len(id_) < 5:
        return text.strip(" []()\"'") == id_
    return re.search(rf"(?<![\w-]){re.escape(id_)}(?![\w-])", text) is not None


def _unnamed(pattern: str) -> str:
    """Return a pattern without the names of its groups, so that it may stand twice in one."""
    return re.sub(r"\(\?P<\w+>", "(?:", pattern)
