"""Reads references in Chinese law: 本法第十二条第二款, 《民法典》第三条至第七条, 前条, 本章, 同法第五条.

The words are data, grammars/zh.toml; this module says only how they go together: a law, a part of it,
articles. Texts are read as `level` gives them, sign by sign: （ is (, ， is a comma, ； a semicolon.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from rag.graph.references.chinese_grammar import ChineseGrammar
from rag.graph.references.reference import Kind, Role, TextReference
from rag.text.article_numbers import chinese_number, number_key
from rag.text.code_names import CodeNames
from rag.text.folding import level

_STATE = "中华人民共和国"
_YEAR = re.compile(r" ?\([^()]{0,20}(?:\d{4}|修[正订])[^()]{0,20}\)$")  # （2018修正）; not （二）, （试行）
_QUOTES = re.compile(r"[《》<>〈〉\s]")
_BRACKET = re.compile(r"[《》\n]")
_SENTENCE_END = re.compile(r"[。\n]")
_CLAUSE_END = re.compile(r"[。;\n]")
_TITLE = 150  # characters of the longest title
_DEPTH = 3  # of titles within titles
_NAME = 24  # characters of the longest name that is not the corpus's
_LIST = 100  # articles of one reference
_AROUND = 80  # characters of a clause that say what role a reference plays


def read_chinese(text: str, grammar: ChineseGrammar, own_law: str) -> tuple[TextReference, ...]:
    """Return the references of a text of `own_law`, in order, not overlapping.

    An article named alone is one of the law that the article before it in its sentence is of. The title of
    `own_law` itself, without an article, is an earlier law of its name, as laws name it to end it.
    """
    return tuple(_Reading(text, level(text), grammar, frozenset(_plain(own_law))).references())


def chinese_code(law: str, names: CodeNames) -> str | None:
    """Return the code that a law is called in a corpus, None where it holds none of this name.

    《…》, 中华人民共和国 and a year, （2018修正）, may stand in either name or not.
    """
    for name in _plain(law):
        found = names.before_sign(name, len(name))
        if found and not found[0] and found[1]:
            return found[1]
    return None


def chinese_short_names(codes: Iterable[str]) -> dict[str, list[str]]:
    """Return what else the codes of a corpus are called: 最高人民法院关于… is cited as 《关于…》 too."""
    return {code: [code[at:]] for code in codes if (at := code.find("关于")) > 0}


def _plain(law: str) -> tuple[str, str]:
    """Return the name of a law as it is compared, with a year at its end and without."""
    name = _QUOTES.sub("", level(law)).removeprefix(_STATE)
    return name, _YEAR.sub("", name)


@dataclass(slots=True)
class _Reading:
    written: str
    text: str  # the same as `level` gives it
    grammar: ChineseGrammar
    own: frozenset[str]
    last: str = "?"  # the law named before, which 同法 means
    before: tuple[int, str] = (0, "")  # where the last reference ended, and the law of its articles
    short: dict[str, str] = field(default_factory=dict)  # short names that the text itself has given

    def references(self) -> Iterator[TextReference]:
        at = least = 0
        while found := self.grammar.start.search(self.text, at):
            at, reference = self._reference(found, least)
            if reference is not None:
                least = at
                yield reference

    def _reference(self, found: re.Match[str], least: int) -> tuple[int, TextReference | None]:
        """Return where to read on, and the reference there, which begins at `least` or later, if any."""
        group = found.lastgroup
        near = self.grammar.start.match(self.text, found.end()) if group == "own" else found
        if near and near.lastgroup == "near":
            return self._relative(near, found.start())  # 前条, or 本解释前五条
        start, end, resume, law = self._law(found, least)
        if group in ("title", "name") and not law:
            return resume, None
        stop, levels, articles = self._places(resume)
        if group == "place":
            if stop == start or self._is_no_article(start, stop):
                return max(stop, found.end()), None
            law = self._carried(start)
        elif not self.own.isdisjoint(_plain(law)) and (stop > resume or group == "name"):
            law = ""  # but 《…》 alone is mostly an earlier law of this name, which ceases to be in force
        self.last = law or self.last
        end = stop if stop > resume else end
        self.before = end, law if stop > resume else ""
        kind: Kind = "law" if law and not levels else "level"
        if articles:
            kind = "external" if law else "internal"
        return max(end, resume), TextReference(start, end, kind, law, articles, self._role(start, end))

    def _law(self, found: re.Match[str], least: int) -> tuple[int, int, int, str]:
        """Return where the law found begins and ends, where its articles may follow, and its name."""
        start, end = found.span()
        match found.lastgroup:
            case "place":
                return start, start, start, ""
            case "same":
                return start, end, end, self.last
            case "title":
                start, end, law = self._title(start)
            case "name":
                start, end, law = self._name(found, least)
            case _:
                return start, end, end, ""
        short = self.grammar.short.match(self.text, end) if law else None
        if short:
            self.short.setdefault(short[1], law)
        return start, end, short.end() if short else end, law

    def _carried(self, start: int) -> str:
        """Return the law of an article that is named alone, which is that of another in its sentence."""
        end, law = self.before
        return "" if _SENTENCE_END.search(self.text, end, start) else law

    def _relative(self, near: re.Match[str], start: int) -> tuple[int, TextReference]:
        step = self.grammar.relative[near["word"]]
        count = min(chinese_number(near["count"] or "1") or 1, _LIST)
        articles = tuple(f"{n:+d}" if n else "0" for n in sorted({step * n for n in range(1, count + 1)}))
        end = self._after_parts(near.end())
        self.before = end, ""
        return end, TextReference(start, end, "relative", "", articles, self._role(start, end))

    def _title(self, start: int) -> tuple[int, int, str]:
        """Return where the title at `start` begins and ends, and the law that it is; "" if it is none."""
        depth = 0
        for sign in _BRACKET.finditer(self.text, start, start + _TITLE):
            depth += {"《": 1, "》": -1}.get(sign[0], _DEPTH)
            if depth > _DEPTH:
                break
            if not depth:
                title = self.text[start + 1 : sign.start()]
                told = self.grammar.title.search(title) or self.grammar.article.match(self.text, sign.end())
                named = self.written[start + 1 : sign.start()] if told else ""
                return start, sign.end(), self.short.get(title, named)
        return start, start + 1, ""

    def _name(self, found: re.Match[str], least: int) -> tuple[int, int, str]:
        """Return the same of the longest name without 《》 whose last word was found."""
        text, end, grammar = self.text, found.end(), self.grammar
        window = max(least, end - _NAME)
        known = (grammar.known, self.short)
        starts = [at for at in range(window, end) if any(text[at:end] in names for names in known)]
        if (held := grammar.names.before_sign(text, end)) and held[0] >= least:
            starts.append(held[0])
        if not starts and found[0] in grammar.unknown and grammar.between.match(text, end):
            before = grammar.cue.match(text, window, found.start())
            at = before.end() if before else window
            starts = [at] if at < found.start() else []
        if not starts:
            return end, end, ""
        more = grammar.continued.match(text, end)
        start, end = min(starts), more.end() if more else end
        return start, end, self.short.get(text[start:end], self.written[start:end])

    def _places(self, at: int) -> tuple[int, bool, tuple[str, ...]]:
        """Return where the places that begin at `at` end, whether there is a level, and the articles."""
        between = self.grammar.between.match(self.text, at)
        if not between:
            return at, False, ()
        levels = self.grammar.levels.match(self.text, between.end())
        begin = levels.end() if levels else between.end()
        join = self.grammar.join.match(self.text, begin) if levels else None  # 第三章、第一百条
        weak = join is not None and join[0] == ","
        stop, articles = self._articles(join.end() if join and not weak else begin)
        return (stop if articles else begin if levels else at), levels is not None, articles

    def _articles(self, at: int) -> tuple[int, tuple[str, ...]]:
        """Return where the list of articles at `at` ends, and their numbers."""
        numbers: list[str] = []
        join, stop = None, at
        while len(numbers) < _LIST and (found := self.grammar.article.match(self.text, at)):
            for numeral in self.grammar.numeral.finditer(found[1]):
                last = found[2] if numeral.end() == len(found[1]) else None
                number = number_key(f"第{numeral[2]}条" + (f"之{last}" if last else ""))
                if numbers and (numeral["through"] or (join and join["through"] and not numeral.start())):
                    number = f"{numbers.pop().partition('..')[0]}..{number}"
                numbers.append(number)
            stop = self._after_parts(found.end())
            if not (join := self.grammar.join.match(self.text, stop)):
                break
            at = join.end()
        return stop, tuple(numbers)

    def _after_parts(self, at: int) -> int:
        parts = self.grammar.parts.match(self.text, at)
        return parts.end() if parts else at

    def _is_no_article(self, start: int, end: int) -> bool:
        """Tell whether a place is the number with which an article begins, quoted or not, or an annex's."""
        spaced = " " in self.text[start:end] or self.text[end : end + 1] in (" ", "\n")
        first = not start or self.text[start - 1] in "\n“"
        return (spaced and first) or self.text[max(0, start - 2) : start] in self.grammar.annexes

    def _role(self, start: int, end: int) -> Role:
        before = _CLAUSE_END.split(self.text[max(0, start - _AROUND) : start])[-1]
        clause = f"{before}◊{_CLAUSE_END.split(self.text[end : end + _AROUND], maxsplit=1)[0]}"
        return next((role for role, pattern in self.grammar.roles if pattern.search(clause)), "")
