"""The words of references in Chinese law, grammars/zh.toml, as patterns."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from rag.graph.references.reference import Role
from rag.text.article_numbers import CHINESE_DIGITS
from rag.text.chinese import HAN
from rag.text.code_names import CodeNames
from rag.text.folding import level

_N = rf"[{CHINESE_DIGITS}]{{1,12}}"


@dataclass(frozen=True, slots=True)
class ChineseGrammar:
    """The patterns of grammars/zh.toml, made for texts as `level` gives them, and the names of laws."""

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
