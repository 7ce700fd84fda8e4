"""The words of references in law written with Latin letters, grammars/LANGUAGE.toml, as patterns.

Patterns of a grammar are regular expressions over texts as `level` gives them, upper and lower case alike.
In them "_" is one blank or a few, "_?" none or a few, and <name> what the table `words` gives by that name.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, get_args

from rag.errors import BadInput
from rag.graph.references.reference import Role

LANGUAGES = ("fr", "nl", "it", "de", "en")
_WORD = re.compile(r"<(\w+)>")
_BLANK = r"[^\S\n]"  # a reference ends with its line
_GAP, _GAP_1 = _BLANK + "{0,3}", _BLANK + "{1,3}"  # bounded: blanks alone are read in their length


@dataclass(frozen=True, slots=True)
class Grammar:
    """The patterns of one language."""

    start: re.Pattern[str]  # where a reference may begin; the last group that matched tells of what kind
    article: re.Pattern[str]  # a number, its parts behind it, "and following"; group: number
    join: re.Pattern[str]  # from one number of a list to the next; groups: through, determiner, marker
    plural: re.Pattern[str]  # a marker of several numbers
    ends: re.Pattern[str]  # what stands behind a bare number that does go on a list of one marker
    link: re.Pattern[str]  # from an article or a part of a law to the law: "du"
    own: re.Pattern[str]  # the law that the text stands in: "du présent code"
    same: re.Pattern[str]  # the law named before: "du même code"; its last word is the kind of law
    named: re.Pattern[str]  # a law by its name
    behind: re.Pattern[str]  # a law by a name that is one only behind an article: "BGB"
    short: re.Pattern[str]  # what is left out of a law's name
    level: re.Pattern[str]  # one part of a law, or several of one kind
    level_join: re.Pattern[str]  # from a part to the one that it is in
    not_before: re.Pattern[str]  # what a reference follows that is none: an opening quotation mark
    not_behind: re.Pattern[str]  # what follows a number that is none of an article: "5 Jahre"
    former: re.Pattern[str]  # what a reference follows to an article that bears the number no more
    same_before: re.Pattern[str]  # what an article of the law named before follows: "du même" article 3
    amended: re.Pattern[str]  # what says behind an article that it is changed, so that it is another law's
    handed_back: re.Pattern[str]  # between an article and one behind which the law of both is named
    relative: Mapping[str, int]  # group of `start` -> step
    counts: Mapping[str, int]  # number word -> its value
    roles: tuple[tuple[Role, re.Pattern[str]], ...]  # what the words before a reference say


@cache
def load_grammar(language: str) -> Grammar:
    """Return the grammar of a language.

    Raises:
        BadInput: there is none, or its table of roles has a name that is no role.
    """
    if language not in LANGUAGES:
        raise BadInput(f"no grammar of references for {language!r}: there are {', '.join(LANGUAGES)}")
    source = (files("rag.graph.references") / f"grammars/{language}.toml").read_text(encoding="utf-8")
    table: Mapping[str, Any] = tomllib.loads(source)
    if wrong := set(table["roles"]) - set(get_args(Role)):
        raise BadInput(f"grammars/{language}.toml: no roles: {', '.join(sorted(wrong))}")
    words = table.get("words", {})
    article, law, part = table["article"], table["law"], table["level"]

    def any_of(patterns: Iterable[str]) -> str:
        """Return a pattern of any of some; none of none."""
        joined = "|".join(f"(?:{pattern})" for pattern in patterns) or "(?!)"
        while _WORD.search(joined):
            joined = _WORD.sub(lambda name: f"(?:{words[name[1]]})", joined)
        return "(?:" + joined.replace("_?", _GAP).replace("_", _GAP_1) + ")"

    def compiled(pattern: str) -> re.Pattern[str]:
        return re.compile(pattern, re.IGNORECASE)

    number, marker, parts = any_of(article["number"]), any_of(article["markers"]), any_of(article["parts"])
    own, same, named = any_of(law["own"]), any_of(law["same"]), any_of(law["named"])
    unit, label, ordinal = any_of(part["units"]), any_of(part["labels"]), any_of(part["ordinals"])
    more = rf"(?:{_GAP}{any_of(part['list'])}{_GAP}{label}(?!\w)){{0,20}}"
    own_part = rf"{any_of(part['own'])}(?:{_GAP_1}{label}(?!\w))?"
    levels = (
        rf"(?:{ordinal}{_GAP_1}{unit}|{unit}{_GAP_1}{label}(?!\w){more}|{own_part}|{any_of(part['near'])})"
    )
    counts: Mapping[str, int] = table.get("counts", {})
    steps = {f"near{n}": int(step) for n, step in enumerate(table["relative"])}
    near = "|".join(
        rf"(?P<{name}>(?:(?P<count{name}>{any_of(counts)}){_GAP_1})?{any_of(table['relative'][str(step)])})(?!\w)"
        for name, step in steps.items()
    )
    return Grammar(
        start=compiled(
            rf"(?<![^\W_])(?<!\d[.-])(?:{near}|(?P<article>{marker}{_GAP}(?={number}))"
            rf"|(?P<own>{own})(?!\w)|(?P<law>{named})(?!\w)|(?P<level>{levels})(?!\w)|(?P<same>{same})(?!\w)"
            rf"|(?P<bare>(?={any_of(article.get('bare', []))})))"
        ),
        article=compiled(
            rf"(?P<number>{number})(?:{_GAP_1}{any_of(article['after'])})?"
            rf"(?P<parts>(?:{_GAP},?{_GAP}{parts}){{0,20}})(?:{_GAP_1}{any_of(article['after'])})?"
        ),
        join=compiled(
            rf"{_GAP}(?:(?P<through>{any_of(article['through'])})|{any_of(article['join'])}){_GAP}"
            rf"(?P<determiner>{any_of(article['determiners'])}{_GAP})?(?P<marker>{marker}{_GAP})?(?={number})"
        ),
        plural=compiled(any_of(article["plural"])),
        ends=compiled(any_of(article["ends"])),
        link=compiled(rf"{_GAP},?{_GAP}(?:{any_of(law['links'])}(?:,?{_GAP_1}|(?<='))){{0,3}}"),
        own=compiled(rf"{own}(?!\w)"),
        same=compiled(rf"{same}(?!\w)"),
        named=compiled(rf"{named}(?!\w)"),
        behind=compiled(rf"{any_of(law['behind'])}(?!\w)"),
        short=compiled(any_of(law["left_out"])),
        level=compiled(rf"{levels}(?!\w)"),
        level_join=compiled(rf"{_GAP},?{_GAP}{any_of(part['join'])}{_GAP}"),
        not_before=compiled(any_of(article["not_before"]) + r"\Z"),
        not_behind=compiled(rf"{_GAP}{any_of(article['not_behind'])}(?!\w)"),
        former=compiled(any_of(article["former"]) + _GAP_1 + r"\Z"),
        same_before=compiled(any_of(law["same_before"]) + _GAP_1 + r"\Z"),
        amended=compiled(rf"[^.;:\n]{{0,60}}?{any_of(law['amended'])}(?!\w)"),
        handed_back=compiled(rf"{_GAP}{any_of(law['handed_back'])}{_GAP}\Z"),
        relative=steps,
        counts=counts,
        roles=tuple((role, compiled(any_of(cues) + r"\Z")) for role, cues in table["roles"].items()),
    )
