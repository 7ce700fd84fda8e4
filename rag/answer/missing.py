"""What a model says that the articles do not tell: let through only if it claims nothing else."""

from __future__ import annotations

import re

from rag.answer.claims import named_articles, quantities, telling
from rag.answer.flat import any_of, flat, signs_of
from rag.answer.force_words import WORDS
from rag.answer.language import language_of
from rag.answer.markup import plain

LONGEST = 300  # characters: one sentence

_LACKS = (  # every text must say that something is not told
    any_of(
        "ne n' aucun\\w* manque\\w* absen\\w* ignor\\w+",
        "not no nothing none missing silent unclear \\w+n't",
        "nicht nichts kein\\w* fehl\\w+ unklar offen",
        "niet niets geen ontbre\\w+ onduidelijk",
        "non nessun\\w* manca\\w* mancano",
    ),
    signs_of("没有 未 不 缺少 无"),
)
_SOURCE = (  # and that it is the articles or a detail of which this is said ...
    any_of(
        "articles? textes? dispositions? informations? details?",
        "articles? provisions? texts? information details?",
        "artikel\\w* vorschrift\\w* paragraph\\w* angaben? hinweis\\w*",
        "bepaling\\w* gegevens",
        "articol[oi] disposizion[ei] informazion[ei]",
    ),
    signs_of("条文 条款 法条 信息"),
)
_TELLS = (  # ... that it does not tell
    any_of(
        "precis\\w+ di(?:t|sent) indiqu\\w+ repond\\w* trait\\w+ mentionn\\w+ parl\\w+ manqu\\w+ absen\\w*",
        "says? tells? told said states? address\\w* mentions? answers? covers? specif\\w+ missing silent",
        "sag\\w+ nenn\\w+ beantwort\\w+ erwahn\\w+ fehl\\w+",
        "zeg\\w+ vermeld\\w+ beantwoord\\w* ontbre\\w+",
        "dic\\w+ indica\\w* precisa\\w* rispond\\w+ manca\\w*",
    ),
    signs_of("说明 提到 提及 涉及 回答 缺少"),
)
_WHETHER = (any_of("si s'ils? whether if ob of se quand when wie how comment"), signs_of("是否 如何 怎样"))
_GOES_ON = re.compile(r"[;:!?；：！？。\n\"“”«»„「」—–=]|\.(?=\s*\S)")
_CONCLUDES = (
    any_of(
        "donc mais ainsi alors parce car cependant toutefois en_realite",
        "so but therefore hence because however thus meaning",
        "daher aber also denn deshalb jedoch sondern",
        "dus maar daarom echter want",
        "quindi ma perche dunque pertanto",
    ),
    signs_of("因此 所以 但 因为 故 从而 而是"),
)
_ADDRESSES = (  # instructions, and what belongs to no law
    any_of(
        "clique\\w* visite\\w* appele\\w* contacte\\w* envoye\\w* signe\\w* verse\\w* ignore\\w+"
        " consulte\\w* telephone\\w* tapez vire\\w*",
        "click\\w* visit\\w* call\\w* contact\\w* send\\w* sign ignor\\w+ email\\w* transfer\\w*"
        " type write download\\w* please you",
        "klick\\w+ besuch\\w+ ruf\\w* kontaktier\\w+ send\\w+ unterschreib\\w+ ignorier\\w+"
        " uberweis\\w+ schreib\\w+ bitte",
        "klik\\w* bezoek\\w* bel\\w* stuur\\w* betaal\\w* negeer",
        "clicca\\w* visita\\w* chiama\\w* invia\\w* paga\\w* ignora\\w*",
        "prompts? systems? systeme api token\\w* passwor\\w+ keys? cle clef schlussel instructions?"
        " regles? rules? regeln anweisung\\w*",
        "secret\\w* admin\\w* developer\\w* assistant\\w* model\\w* tools? gate hotline numero nummer",
    ),
    signs_of(
        "点击 访问 拨打 联系 发送 转账 汇款 忽略 请 密码 密钥 提示词 系统",
        "指令 管理员 模型 工具 电话 微信 您 你",
    ),
)


def missing_text(text: str) -> str | None:
    """Return what may be shown of a model's remark that the articles do not tell something; None for nothing.

    The remark stands without a citation, so it may claim nothing: one sentence, which says that
    something is not told, without numbers, articles, dates, duties, rights, instructions, quotation
    marks, links or markup. "Must" and "may" may stand in an indirect question alone ("... do not say
    whether the tenant must ..."), with nothing after it that concludes.
    """
    joined = plain(text)
    if joined is None or len(joined) > LONGEST or _GOES_ON.search(joined.rstrip(" .。")):
        return None
    language = language_of(joined)
    told = flat(joined)
    if named_articles(joined, (), language) or telling(told) or any(map(str.isdigit, told)):
        return None
    if any(quantity.value > 1 or quantity.unit for quantity in quantities(told, language)):
        return None
    if _any(_CONCLUDES, told) or _any(_ADDRESSES, told):
        return None
    if not _says_so(told):
        return None
    asked = [found.start() for pattern in _WHETHER for found in pattern.finditer(told)]
    head = told[: min(asked)] if asked else told
    if _obliges(head) or (asked and "," in told[min(asked) :]) or (asked and "，" in told[min(asked) :]):
        return None
    return joined if not asked or _says_so(head) else None


def _says_so(told: str) -> bool:
    return all(_any(patterns, told) for patterns in (_LACKS, _SOURCE, _TELLS))


def _any(patterns: tuple[re.Pattern[str], ...], told: str) -> bool:
    return any(pattern.search(told) for pattern in patterns)


def _obliges(told: str) -> bool:
    """Tell whether a text permits, obliges, forbids or excepts in any of the languages."""
    return any(
        pattern.search(told)
        for words in WORDS.values()
        for pattern in (words.may, words.must, words.duty, words.ban, words.only, words.exception)
    )
