"""Articles of which nothing is left but the word that they were repealed.

Told narrowly, for a law may repeal another in nearly the same words: "Abrogé par la loi du 3 mai 2003" is a
repealed article, "Est abrogée la loi du 3 mai 2003" and "L'article 5 est abrogé" are law. The text must begin
with the word, or with this article as its subject, and what follows may only cite the act and the day.

Articles that say too little to be found by: under five words, as the language's analyser cuts them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from datetime import date
from importlib.resources import files

from indexes.cleaning.editorial_marks import struck_out, unmarked
from rag.text.analysers import analyser
from rag.types import Article

_REPEALED = (
    r"abrogée?s?|supprimée?s?|opgeheven|vervallen|ingetrokken|aufgehoben|weggefallen|entfallen|gestrichen"
    r"|abrogat[oaie]|soppress[oaie]|repealed|revoked|omitted"
)
_THIS = (  # this article, then its number if it is the article's own, then a verb
    r"(?:(?:le présent |cet |l')?article|art\.?)(?: {no})?(?: est| a été)?"
    r"|(?:dit |het )?artikel(?: {no})?(?: is| werd)?|(?:dieser |der )?(?:artikel|paragra(?:ph|f)|§)(?: {no})?"
    r"(?: ist| wurde| wird)?|(?:il presente |questo |l')?articolo(?: {no})?(?: è(?: stato)?)?"
    r"|(?:this )?(?:article|section)(?: {no})?(?: is| was| has been)?"
)
_STEMS = (  # of those words: what has none of them in its first characters is not looked at twice
    *("abrog", "supprim", "opgeheven", "vervallen", "ingetrokken", "aufgehoben", "weggefallen", "entfallen"),
    *("gestrichen", "soppress", "repealed", "revoked", "omitted", "废止", "删除", "删去", "失效"),
)
_NEAR = 120  # characters within which it must come: an article that holds nothing else begins with it
_LONG = 4_000  # characters of the longest text that says no more; of more, each pattern would try each day
_BY = (  # how a citation of the act, or of the day, begins
    r"par|bij|door|durch|mit|ab|am|zum|seit|per|vanaf|met|dal|dalla|dall'|dallo|dai|dagli|dalle|da|con|ai|a|à|au"
    r"|aux|depuis|le|du|en vertu|from|with|by|on|since|infolge|gemäß|gem|ingevolge|krachtens|overeenkomstig"
)
# words of which such citations are made; single letters, months and numbers are allowed beside them
_WORDS = frozenset(
    word
    for line in (files("indexes.cleaning") / "repeal_words.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
    for word in line.split()
)
_TOKEN = re.compile(r"[^\W\d_]+|\d+")
_EDGES = " \t\n\u00a0()[]{}<>.;:,*—–-«»\"'…"
_OWN = re.compile(r"[^\w]+")
_DAY = r"\d{4}年\d{1,2}月\d{1,2}日"
_NUMERAL = "[〇零一二三四五六七八九十百千\\d]+"
_CHINESE = re.compile(
    rf"[（(【\[]?(?:本条|该条|此条|第{_NUMERAL}条(?:之{_NUMERAL})?)?[:：\s]*[（(【\[]?"
    rf"(?:自{_DAY}起|于{_DAY}|根据《[^《》]*》|依据《[^《》]*》)?"
    r"(?:已经|已)?(?:被|予以)?(?:废止|删除|删去|失效)[）)】\]]*[。．.]?"
    rf"(?:[（(][^（()）]*{_DAY}[^（()）]*[）)])?"
)


def is_repealed(text: str, article_no: str = "", language: str = "fr") -> bool:
    """Return whether a text, with the marks of editors or without, says only that its article was repealed.

    "Article 5 abrogé" counts in article 5 alone; which marks are taken out first depends on the language.
    """
    near = text[:_NEAR].casefold()
    if not any(stem in near for stem in _STEMS):
        return struck_out(text)
    bare = unicodedata.normalize("NFC", unmarked(text, language)).strip()
    if len(bare) > _LONG:
        return False
    if _CHINESE.fullmatch(bare):
        return True
    plain = " ".join(bare.casefold().replace("’", "'").split()).strip(_EDGES)
    own = _OWN.sub(r"\\W*", article_no.casefold().strip())
    this = _THIS.replace("{no}", f"(?:{own})" if own else r"(?!)")
    found = re.match(rf"(?:(?:{this})[ :,.(\[«–—-]*)?(?:{_REPEALED})(?!\w)", plain)
    if found is None:
        return False
    # what stands behind the word must be a citation of the act that repealed, or nothing
    tail = plain[found.end() :]
    rest = tail.strip(_EDGES)
    opened = tail.lstrip()[:1] in tuple("(<[;-–—*")
    if rest and not opened and re.match(rf"(?:{_BY})(?!\w)|\d", rest) is None:
        return False
    tokens = _TOKEN.findall(rest)
    return len(tokens) <= 60 and all(t.isdigit() or len(t) == 1 or t in _WORDS for t in tokens)


def has_expired(valid_to: date | None, law_date: date | None) -> bool:
    """Return whether an article was out of force on the law's date; False if a date is missing."""
    return valid_to is not None and law_date is not None and valid_to <= law_date


FEWEST = 5  # words that an article must have
_GLANCE = 64  # characters that are cut first: nearly every article has five words among them


def short(articles: Iterable[Article], language: str) -> Iterator[str]:
    """Yield the ids of articles of fewer than five words.

    Words are those of the analyser of the language (BadInput: it has none), stop words among them, elided
    ones ("l'", "dell'") not; a number is one. In Chinese they are jieba's words.
    """
    word_analyser = analyser(language, stop_words=False, stem=False, chinese="words")
    for article in articles:
        text = article.text
        if (
            len(text) > _GLANCE and len(word_analyser.terms(text[:_GLANCE])) > FEWEST
        ):  # the last may be cut in two
            continue
        if len(word_analyser.terms(text)) < FEWEST:
            yield article.id
