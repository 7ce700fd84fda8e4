"""Reads references in Chinese law: 本法第十二条第二款, 《民法典》第三条至第七条, 前条, 本章, 同法第五条.

The words are data, grammars/zh.toml; this module says only how they go together: a law, a part of it,
articles. Texts are read as `level` gives them, sign by sign: （ is (, ， is a comma, ； a semicolon.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from rag.graph.references.reference import Kind, Role, TextReference
from rag.text.article_numbers import CHINESE_DIGITS, chinese_number, number_key
from rag.text.chinese import HAN
from rag.text.code_names import CodeNames
from rag.text.folding import level

_N = rf"[{CHINESE_DIGITS}]{{1,12}}"
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


@dataclass(frozen=True, slots=True)
class ChineseGrammar:
    """The patterns of grammars/zh.toml, and the laws that a corpus knows by name."""

    names: CodeNames
    known: frozenset[str]  # more names, of laws that it may not hold
    start: re.Pattern[str]  # where a reference may begin, or the name of a law may end
    title: re.Pattern[str]  # the end of a title that is a law's
    continued: re.Pattern[str]  # what goes on a name: 实施细则
    short: re.Pattern[str]  # （以下简称…）
    cue: re.Pattern[str]  # all that stands before an unknown name
    unknown: frozenset[str]  # last words that an unknown name may have
    between: re.Pattern[str]  # a law and its places: 分则
    annexes: frozenset[str]  # 附录: its third article is none of the law
    levels: re.Pattern[str]  # 第二章第一节
    article: re.Pattern[str]  # 第十二条, 第三、四条, 第十二条之一
    numeral: re.Pattern[str]  # within 第三、四条
    parts: re.Pattern[str]  # 第一款第二项和第四项
    join: re.Pattern[str]  # between two articles of a list or range
    relative: Mapping[str, int]  # the word before 条: 前 is -1
    roles: tuple[tuple[Role, re.Pattern[str]], ...]


def chinese_grammar(names: CodeNames) -> ChineseGrammar:
    """Return the grammar for a corpus whose laws have these names."""
    table = files("rag.graph.references") / "grammars/zh.toml"
    words: Mapping[str, Any] = tomllib.loads(table.read_text(encoding="utf-8"))
    places, own, same, law = words["places"], words["own"], words["same"], words["law"]

    def laws(of: Iterable[str]) -> str:
        return f"(?:{_any(w for w in of if w != '法')}|法(?!{level(law['not_after'])}))(?![书人])"

    separator, levels, part = _any(places["separators"]), _any(places["levels"]), _any(places["parts"])
    gap = f"(?:(?P<through>{_any(places['range'])})|{separator})"
    link = gap.replace("?P<through>", "?:")
    level_list = f"(?:第 ?{_N} ?(?:{levels})){{1,5}}"
    one_part = (
        rf"(?:第\(?{_N}\)?|\({_N}\))(?:{link}第?\(?{_N}\)?){{0,20}}(?:{part})|[前各后本](?:{_N})?(?:{part})"
    )
    near = "".join(word for group in words["relative"].values() for word in group)
    start = (
        "(?P<title>《)"
        rf"|(?P<own>(?<!{own['not_before']})本(?:{_any(own['prefixes'])})?{laws(own['laws'])})"
        rf"|(?P<here>(?<!{own['not_before']})本(?:{levels})(?![{own['not_after']}]))"
        rf"|(?P<same>(?<![{same['not_before']}])(?:{_any(same['words'])})"
        rf"(?:{laws(same['always'])}|{laws(same['laws'])}(?=第{_N} ?条)))"
        rf"|(?P<near>(?<!{own['not_before']})(?P<word>[{near}])(?P<count>{_N})?条(?![例款件约文]))"
        rf"|(?P<place>第 ?{_N})"
        rf"|(?P<name>{laws(law['endings'])})"
    )
    return ChineseGrammar(
        names=names,
        known=frozenset(law["known"]),
        start=re.compile(start),
        title=re.compile(rf"(?:{_any(law['endings'])})(?: ?\([^()]{{1,20}}\))?$"),
        continued=re.compile(level(law["continued"])),
        short=re.compile(level(law["abbreviation"])),
        cue=re.compile(rf".*(?:{_any(law['cues'])}|[^{HAN}])", re.DOTALL),
        unknown=frozenset(law["unknown"]),
        between=re.compile(rf"(?:{_any(places['between'])})?(?=第 ?{_N})"),
        annexes=frozenset(places["annexes"]),
        levels=re.compile(f"{level_list}(?:{link}{level_list}){{0,20}}"),
        article=re.compile(rf"第? ?({_N}(?:{link}第?{_N}){{0,30}}) ?条(?![例件约])(?:之({_N}))?"),
        numeral=re.compile(f"(?:{gap})?第?({_N})"),
        parts=re.compile(f"(?:(?:{link})?(?:{one_part})){{0,40}}"),
        join=re.compile(f"{gap}|(?:{_any(places['weak_separators'])})(?=第)"),
        relative={word: int(step) for step, group in words["relative"].items() for word in group},
        roles=tuple((role, re.compile(level(p))) for role, group in words["roles"].items() for p in group),
    )


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(map(level, words), key=len, reverse=True))


def read_chinese(text: str, grammar: ChineseGrammar, own_law: str) -> tuple[TextReference, ...]:
    """Return the references of a text of `own_law`, in order, not overlapping; any text has some or none."""
    return tuple(_Text(level(text), grammar, frozenset(_plain(own_law))).references())


def _plain(law: str) -> tuple[str, str]:
    """Return the name of a law as it is compared, with a year at its end and without."""
    name = _QUOTES.sub("", level(law)).removeprefix(_STATE)
    return name, _YEAR.sub("", name)


@dataclass(slots=True)
class _Text:
    text: str
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
        start, end, group, law = found.start(), found.end(), found.lastgroup, ""
        if group == "own" and (near := self.grammar.start.match(self.text, end)) and near.lastgroup == "near":
            found, group = near, "near"  # 本解释前五条
        if group == "near":
            return self._relative(found, start)
        resume = start if group == "place" else end
        if group == "same":
            law = self.last
        elif group in ("title", "name"):
            start, end, law = self._title(start) if group == "title" else self._name(found, least)
            short = self.grammar.short.match(self.text, end) if law else None
            if short:
                self.short.setdefault(short[1], law)
            resume = short.end() if short else end
            if not law:
                return resume, None
        stop, levels, articles = self._places(resume)
        if group == "place":
            if stop == start or self._is_heading(start, stop):
                return max(stop, end), None
            law = self._carried(start)
        elif not self.own.isdisjoint(_plain(law)) and (stop > resume or group == "name"):
            law = ""  # but 《…》 alone is mostly an earlier law of this name, which ceases to be in force
        self.last = law or self.last
        places = levels or bool(articles)
        end = stop if places else end
        self.before = end, law * places
        kind: Kind = (
            ("external" if law else "internal") if articles else "law" if law and not levels else "level"
        )
        return max(end, resume), TextReference(start, end, kind, law, articles, self._role(start, end))

    def _carried(self, start: int) -> str:
        """Return the law of an article that is named alone, which is that of another in its sentence."""
        end, law = self.before
        return "" if _SENTENCE_END.search(self.text, end, start) else law

    def _relative(self, near: re.Match[str], start: int) -> tuple[int, TextReference]:
        step = self.grammar.relative[near["word"]]
        count = min(chinese_number(near["count"] or "1") or 1, _LIST)
        articles = tuple(f"{n:+d}" if n else "0" for n in sorted({step * n for n in range(1, count + 1)}))
        end = self.grammar.parts.match(self.text, near.end()).end()
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
                title = self.text[start + 1 : sign.start()].strip()
                return (
                    start,
                    sign.end(),
                    self.short.get(title) or title * bool(self.grammar.title.search(title)),
                )
        return start, start + 1, ""

    def _name(self, found: re.Match[str], least: int) -> tuple[int, int, str]:
        """Return the same of the longest name without 《》 whose last word was found."""
        text, end, grammar = self.text, found.end(), self.grammar
        window = max(least, end - _NAME)
        starts = [
            at for at in range(window, end) if text[at:end] in grammar.known or text[at:end] in self.short
        ]
        if (held := grammar.names.before_sign(text, end)) and held[0] >= least:
            starts.append(held[0])
        if not starts and found[0] in grammar.unknown and grammar.between.match(text, end):
            before = grammar.cue.match(text, window, found.start())
            starts = [at for at in (before.end() if before else window,) if at < found.start()]
        if not starts:
            return end, end, ""
        more = grammar.continued.match(text, end)
        start, end = min(starts), more.end() if more else end
        return start, end, self.short.get(text[start:end], text[start:end])

    def _places(self, at: int) -> tuple[int, bool, tuple[str, ...]]:
        """Return where the places that begin at `at` end, whether there is a level, and the articles."""
        between = self.grammar.between.match(self.text, at)
        if not between:
            return at, False, ()
        levels = self.grammar.levels.match(self.text, between.end())
        begin = levels.end() if levels else between.end()
        join = self.grammar.join.match(self.text, begin) if levels and self.text[begin : begin + 1] != "," else None
        stop, articles = self._articles(join.end() if join else begin)
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
            stop = self.grammar.parts.match(self.text, found.end()).end()
            if not (join := self.grammar.join.match(self.text, stop)):
                break
            at = join.end()
        return stop, tuple(numbers)

    def _is_heading(self, start: int, end: int) -> bool:
        """Tell whether a place is an article's own number, with which a line or a quotation begins, or an annex's."""
        spaced = " " in self.text[start:end] or self.text[end : end + 1] in (" ", "\n")
        if self.text[max(0, start - 2) : start] in self.grammar.annexes:
            return True
        return spaced and (not start or self.text[start - 1] in "\n“")

    def _role(self, start: int, end: int) -> Role:
        before = _CLAUSE_END.split(self.text[max(0, start - _AROUND) : start])[-1]
        clause = f"{before}◊{_CLAUSE_END.split(self.text[end : end + _AROUND], maxsplit=1)[0]}"
        return next((role for role, pattern in self.grammar.roles if pattern.search(clause)), "")
