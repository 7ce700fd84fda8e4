"""Reads references in law written with Latin letters: "articles 3 à 5 du code civil", "§ 7 Abs. 2 BGB".

One engine for all languages; what each says is data, grammars/LANGUAGE.toml. It reads a marker and numbers,
the law behind them, parts of a law, a law alone, and words that point at an article near this one. What is
read at a place is bounded, so a text is read in its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from rag.graph.references.grammar import Grammar
from rag.graph.references.reference import Kind, Role, TextReference
from rag.text.article_numbers import number_key
from rag.text.code_names import CodeNames
from rag.text.folding import level

_LIST = 100  # articles of one reference
_DEPTH = 8  # parts of a law within each other
_LAWS = 50  # named before, that "the same" may mean
_AROUND = 90  # characters before a reference that say what it is for
_CLAUSE = re.compile(r"[.;:]\s|[;\n]")
_BETWEEN = 40  # characters between an article and another whose law is that of both
_LAW_FIRST = (", ", " ")  # between a law and its article: "legge 3 maggio 2004, n. 7, articolo 2"
_COMMA = re.compile(r"[^\S\n]{0,3},?[^\S\n]{0,3}")
_LAW_NUMBER = re.compile(r"(?:n°|no\.?|n\.|nr\.?) ?(\d+(?:-\d+)?)(?![\w/])")
_LAW_DATE = re.compile(r"(\d{1,2})(?:er|°|\.)? ?(?:st|nd|rd|th)? ([^\W\d_]{3,10}) (\d{4})")
_SENTENCE_ENDS = ("", "\n", ".", ":", ";", '"', "»")
_LINE_END = re.compile(r"[ .]{0,2}\n")
_HEADING = re.compile(r" ?(?:[.:] ?[-–—]|[.] [A-Z(\d]| [-–—] [A-Z(])")
_LETTERS = re.compile(r"[^\W\d_]+")


def read_latin(text: str, grammar: Grammar, names: CodeNames, own_law: str) -> tuple[TextReference, ...]:
    """Return the references of a text of `own_law`, in order, not overlapping.

    A law is "" where it is `own_law`: where the text names none, says "this code", or names it.
    """
    reading = _Reading(level(text), grammar, names, own_law)
    found = list(reading.references())
    for i in range(len(found) - 2, -1, -1):
        one, other = found[i], found[i + 1]
        between = reading.text[one.end : other.start] if other.start - one.end <= _BETWEEN else "\n"
        if one.kind == "law" and other.start in reading.unnamed and between in _LAW_FIRST:
            found[i : i + 2] = [replace(other, start=one.start, kind="external", law=one.law, role=one.role)]
        elif reading.alike(one, other) and grammar.handed_back.match(between):
            found[i] = replace(one, kind="external", law=other.law)
    return tuple(found)


@dataclass(slots=True)
class _Reading:
    text: str
    grammar: Grammar
    names: CodeNames
    own_law: str
    laws: list[str] = field(default_factory=list)  # named so far, the last one last
    end: int = 0  # of the last reference
    unnamed: set[int] = field(default_factory=set)  # where articles begin beside which no law is named

    def alike(self, one: TextReference, other: TextReference) -> bool:
        """Tell whether the law of another may be that of one; "§ 312d und Artikel 246a EGBGB" are of two."""
        signs = self.text[one.start].isalpha() or not self.text[other.start].isalpha()
        return signs and one.start in self.unnamed and other.kind == "external"

    def references(self) -> Iterator[TextReference]:
        at = 0
        while found := self.grammar.start.search(self.text, at):
            at, reference = self._reference(found)
            at = max(at, found.end(), found.start() + 1)
            if reference is not None:
                self.end = reference.end
                yield reference

    def _reference(self, found: re.Match[str]) -> tuple[int, TextReference | None]:
        """Return where to read on, and the reference that begins there, if any."""
        start, end, group = found.start(), found.end(), found.lastgroup or ""
        kind: Kind = "level"
        law: str | None = ""
        articles: tuple[str, ...] = ()
        match group:
            case "article" | "bare":
                end, articles, law = self._articles(start, end, found[0])
                if not articles:
                    return end, None
                kind = "external" if law else "internal"
            case "level":
                end, law = self._levels(start, end)
            case "law":
                end, law = self._name(start) or (end, "")
                kind = "law" if law else "level"
            case "own":
                self.laws.append(self.own_law)
            case "same":
                law = self._same(found[0])
                if law in ("", "?") or _last_word(found[0]) not in law.casefold():
                    return end, None  # "this decree", of which the text has not spoken
                kind = "law"
            case _:
                kind, step = "relative", self.grammar.relative[group]
                count = self.grammar.counts.get((found[f"count{group}"] or "").casefold(), 1) if step else 1
                articles = tuple(
                    f"{n:+d}" if n else "0" for n in sorted(step * n for n in range(1, count + 1))
                )
        return end, TextReference(start, end, kind, law or "", articles, self._role(start))

    def _articles(self, start: int, end: int, marker: str) -> tuple[int, tuple[str, ...], str | None]:
        """Return where articles end, behind whose marker `end` is, their numbers, and the law."""
        before = self._before(start)
        end, articles = self._numbers(end, marker)
        if not articles or self.grammar.not_before.search(before) or self._is_heading(start, end):
            return end, (), None
        end, law = self._law(end)
        if law is None and self.grammar.same_before.search(before):
            law = self._same("")
        elif law is None and self.grammar.amended.match(self.text, end):
            others = (named for named in reversed(self.laws[-_LAWS:]) if named != self.own_law)
            law = next(others, "?")
        elif law is None:
            self.unnamed.add(start)
        return end, articles, "?" if self.grammar.former.search(before) else law

    def _numbers(self, at: int, marker: str) -> tuple[int, tuple[str, ...]]:
        """Return where the list of articles at `at` ends, and their numbers, ranges as "a..b"."""
        found: list[str] = []
        single = bool(marker) and not self.grammar.plural.match(marker)
        end, through = at, False
        while len(found) < _LIST and (article := self.grammar.article.match(self.text, at)):
            if self.grammar.not_behind.match(self.text, article.end("number")):
                break
            key = number_key(article["number"])
            if through and ".." not in found[-1]:
                found[-1] += f"..{key}"
            else:
                found.append(key)
            end = article.end()
            join = self.grammar.join.match(self.text, end)
            if join is None or (join["determiner"] and join["marker"] and not join["through"]):
                break
            if join["marker"] and marker and join["marker"][0].casefold() != marker[0].casefold():
                break  # "§ 7, Art. 6 EGBGB"
            single = single and not (join["marker"] and self.grammar.plural.match(join["marker"]))
            at, through = join.end(), join["through"] is not None
            if single and not join["marker"] and not self._goes_on(at):
                break
        return end, tuple(found)

    def _goes_on(self, at: int) -> bool:
        """Tell whether a number is one more article behind a marker of one: "article 5 ou 7 du code"."""
        article = self.grammar.article.match(self.text, at)
        if article is None:
            return False
        end = article.end()
        if self.grammar.join.match(self.text, end) or self.grammar.ends.match(self.text, end):
            return True
        named = len(self.laws)
        law = self._law(end)[1]
        del self.laws[named:]
        return law is not None

    def _law(self, at: int) -> tuple[int, str | None]:
        """Return where the law that is named behind a place ends, and which; "" the own, None: none is."""
        for begin in dict.fromkeys((self._past(self.grammar.link, at), self._past(_COMMA, at))):
            if own := self.grammar.own.match(self.text, begin):
                self.laws.append(self.own_law)
                return own.end(), ""
            if name := self._name(begin, behind=True):
                return name
            if same := self.grammar.same.match(self.text, begin):
                return same.end(), self._same(same[0])
        return at, None

    def _name(self, at: int, behind: bool = False) -> tuple[int, str] | None:
        """Return where the law ends that is named at a place, and its name; "" the own.

        Behind an article words name a law that do not elsewhere.
        """
        held = self.names.after(self.text, at) if self.text[at : at + 1].isalpha() else None
        named = self.grammar.named.match(self.text, at)
        if behind and not named:
            named = self.grammar.behind.match(self.text, at)
        if not behind and not named:
            return None
        end = max(held[0] if held else 0, named.end() if named else 0)
        if not end:
            return None
        if held and end == held[0] and self.text.find(".", at) == end - 1:  # of the sentence: "code civil."
            held, end = (end - 1, held[1]), end - 1
        name = self.grammar.short.sub("", self.text[at:end]).strip()
        own = (
            held[1] == self.own_law if held and held[0] == end else name.casefold() == self.own_law.casefold()
        )
        self.laws.append(self.own_law if own else name)
        return end, "" if own else name

    def _same(self, words: str) -> str:
        """Return the law that "the same code" means: the last that was named, of this kind if any is."""
        kind = _last_word(words)
        of_kind = (law for law in reversed(self.laws[-_LAWS:]) if kind in law.casefold())
        law = next(of_kind, self.laws[-1] if self.laws else "?")
        return "" if law == self.own_law else law

    def _levels(self, start: int, end: int) -> tuple[int, str | None]:
        """Return where a part of a law ends with those that it is in, and the law."""
        for _ in range(_DEPTH):
            join = self.grammar.level_join.match(self.text, end)
            outer = self.grammar.level.match(self.text, join.end()) if join else None
            if outer is None:
                break
            end = outer.end()
        return self._law(end)

    def _past(self, pattern: re.Pattern[str], at: int) -> int:
        found = pattern.match(self.text, at)
        return found.end() if found else at

    def _is_heading(self, start: int, end: int) -> bool:
        """Tell whether it is the heading of an article that is set out in the text: "Art. 5. - Words"."""
        before = self.text[max(0, start - 3) : start].rstrip(" ")[-1:]
        if before == "\n" and _LINE_END.match(self.text, end):
            return True
        marked = before in _SENTENCE_ENDS and self.text[start].isupper()
        return marked and _HEADING.match(self.text, end) is not None

    def _before(self, start: int) -> str:
        return self.text[max(0, start - _AROUND) : start]

    def _role(self, start: int) -> Role:
        """Return what the words before a reference say; they are not those before another, and a comma."""
        clause = _CLAUSE.split(self._before(start))[-1]
        since = self.text[max(self.end, start - _AROUND) : start]
        if self.end and "," in since:
            clause = clause[-len(since) :]
        cues = ((found.start(), role) for role, cue in self.grammar.roles if (found := cue.search(clause)))
        return max(cues, default=(0, ""))[1]


def _last_word(words: str) -> str:
    found = [word[0] for word in _LETTERS.finditer(words)]
    return found[-1].casefold() if found else ""


def law_numbers(codes: Iterable[str]) -> dict[str, str]:
    """Return the codes of a corpus that are laws with a number or a date, by that: "loi 89-462"."""
    found: dict[str, str] = {}
    for code in codes:
        for key in _number_keys(code):
            found.setdefault(key, code)
    return found


def law_code(law: str, names: CodeNames, numbers: Mapping[str, str]) -> str | None:
    """Return the corpus's name of a law that a text names, None where the corpus does not hold it."""
    plain = level(law)
    held = names.after(plain, 0)
    if held and held[1] and not plain[held[0] :].strip(" .,"):
        return held[1]
    return next((numbers[key] for key in _number_keys(law) if key in numbers), None)


def _number_keys(law: str) -> list[str]:
    """Return what tells a law by its number, else by its date, with its first letter: "l89-462"."""
    plain = level(law).strip().casefold()
    found = [f"{plain[:1]}{number[1]}" for number in _LAW_NUMBER.finditer(plain)]
    return found or [f"{plain[:1]}{date[1]} {date[2]} {date[3]}" for date in _LAW_DATE.finditer(plain)]
