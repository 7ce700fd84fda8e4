"""What a model says that the articles do not tell: let through only if it claims nothing else."""

from __future__ import annotations

import re

from rag.answer.verification.force_words import WORDS
from rag.answer.verification.language import language_of
from rag.answer.verification.markup import plain
from rag.answer.verification.normalise import any_of, flat, signs_of
from rag.answer.verification.quantities import named_articles, quantities, telling
from rag.answer.verification.sanitise import REMARKS, Remarks

LONGEST = 300  # characters: one sentence
NOUNS, CLAUSE = 12, 25  # words of what is not told, as a noun phrase and as an indirect question
HAN_A_WORD = 2  # Chinese characters that are taken for a word

_GOES_ON = re.compile(r"[;:!?；：！？。\n\"“”«»„「」—–=()…/]|\.(?=\s*\S)|\s-|-\s")
_COMMA = re.compile("[,，、]")
_ADDRESSES = (  # instructions, and what belongs to no law
    any_of(
        "clique[rz] visite[rz] appele[rz] contacte[rz] envoye[rz] signe[rz] verse[rz] ignore[rz]"
        " consulte[rz] telephone[rz] tapez vire[rz]",
        "click\\w* visit\\w* call contact\\w* send email\\w* transfer download\\w* please ignore",
        "klick\\w+ besuch(?:en|t) ruf(?:en|t) kontaktier\\w+ senden unterschreib\\w+ ignorier\\w+ bitte",
        "klik\\w* bezoek bel bellen stuur betaal negeer",
        "clicca\\w* visita\\w* chiama\\w* invia\\w* ignora\\w*",
        "prompts? api tokens? passwor\\w+ passwort\\w* secrets? admins? assistant\\w* hotline whatsapp",
    ),
    signs_of("点击 访问 拨打 发送 转账 汇款 忽略 密码 密钥 提示词 管理员 微信"),
)


def missing_text(text: str) -> str | None:
    """Return what may be shown of a model's remark that the articles do not tell something; None for nothing.

    The remark stands without a citation, so it may claim nothing. It has one of a few forms
    (`rag.answer.verification.sanitise`): that the articles do not tell, and what, as a noun phrase or as an
    indirect question ("whether", "what happens if", "who pays"). No clause may follow it or stand in it that
    tells something ("that", "who", "and", a comma), no number, article, date, right, instruction,
    quotation mark, link or markup. "Must" and "may" may stand after "whether" alone.
    """
    joined = plain(text)
    if joined is None or len(joined) > LONGEST or _GOES_ON.search(joined.rstrip(" .。")):
        return None
    language = language_of(joined)
    told = flat(joined).rstrip(" .。")
    if named_articles(joined, (), language) or telling(told) or any(map(str.isdigit, told)):
        return None
    if any(quantity.value > 1 or quantity.unit for quantity in quantities(told, language)):
        return None
    if any(pattern.search(told) for pattern in _ADDRESSES):
        return None
    return joined if any(_claims_nothing(told, forms) for forms in REMARKS) else None


def _claims_nothing(told: str, forms: Remarks) -> bool:
    """Tell whether a flat text has one of the forms of a language, with nothing told in it."""
    if forms.silent.fullmatch(told):
        return True
    if found := forms.whether.fullmatch(told):
        return _in_one(found, CLAUSE, forms.joins)
    if found := forms.happens.fullmatch(told):
        return _in_one(found, CLAUSE, forms.joins) and not _obliges(_rest(found))
    if found := forms.about.fullmatch(told):
        rest = _rest(found)
        return _in_one(found, NOUNS, forms.joins) and not (forms.finite.search(rest) or _obliges(rest))
    return False


def _rest(found: re.Match[str]) -> str:
    return " ".join(filter(None, found.groups()))


def _in_one(found: re.Match[str], most: int, joins: re.Pattern[str]) -> bool:
    """Tell whether what is not told is short, and one clause or phrase."""
    rest = _rest(found)
    han = sum("\u4e00" <= sign <= "\u9fff" for sign in rest)
    if len(rest.split()) > most or han > most * HAN_A_WORD:
        return False
    return not (_COMMA.search(rest) or joins.search(rest))


def _obliges(told: str) -> bool:
    """Tell whether a text permits, obliges, forbids or excepts in any of the languages."""
    return any(
        pattern.search(told)
        for words in WORDS.values()
        for pattern in (words.may, words.must, words.duty, words.ban, words.only, words.exception)
    )
