"""The forms in which six languages say that articles do not tell something; patterns of flat text.

A form that is not here is not shown, for a remark cites nothing: better none than one that claims.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag.answer.verification.normalise import any_of, signs_of

_REST = r"(.+)"


@dataclass(frozen=True, slots=True)
class Remarks:
    """The remarks of one language; what a pattern captures is what is not told."""

    silent: re.Pattern[str]  # whole: "the articles do not say"
    whether: re.Pattern[str]
    happens: re.Pattern[str]  # "what happens if", "who pays": questions that take nearly nothing for granted
    about: re.Pattern[str]  # with a noun phrase
    joins: re.Pattern[str]  # begins a clause that tells something, or a second one
    finite: re.Pattern[str]  # makes a clause of a noun phrase, or takes a right or a duty for granted


def _of(one: str) -> re.Pattern[str]:
    return re.compile(one)


_FR = (
    r"(?:(?:les|ces) (?:articles|textes|dispositions)(?: (?:fourni|cite|montre|presente)e?s| ci-dessus)?"
    r"|aucun(?:e)? (?:article|texte|disposition)(?: (?:fourni|cite|montre|presente)e?)?) n(?:e |')"
)
_FR_TELL = rf"{_FR}(?:disent|precisent|indiquent|(?:dit|precise|indique)(?! pas))(?: pas)?"
_FR_OF = r"(?:(?:a propos |au sujet )?(?:de |du |des |d')|sur )"
_FRENCH = Remarks(
    silent=_of(
        rf"{_FR}(?:(?:disent|precisent|indiquent) rien(?: a ce sujet| la-dessus)?"
        r"|(?:repondent|repond)(?: pas)? a (?:la|cette) question|en parlent? pas|le (?:disent|precisent) pas)"
    ),
    whether=_of(rf"{_FR_TELL} (?:si |s'){_REST}"),
    happens=_of(
        rf"{_FR_TELL} (?:ce qui (?:se passe|arrive) "
        r"(?:si |s'|quand |lorsqu(?:e |')|en cas de |en cas d'|avec )"
        rf"|ce qu'il (?:se passe|arrive) (?:si |s'|en cas de )|qui (?:paie|paye|supporte|decide) ){_REST}"
    ),
    about=_of(
        rf"{_FR}(?:disent rien {_FR_OF}|(?:parlent|parle|traitent|traite)(?: pas)? {_FR_OF}"
        rf"|(?:precisent|indiquent|mentionnent|disent|evoquent|abordent) pas (?!pas\b)"
        rf"|(?:precise|indique|mentionne|evoque|aborde) ){_REST}"
    ),
    joins=any_of(
        "qu(?:e|') qui dont lequel laquelle lesquel\\w+ et mais donc car ainsi alors parce puisqu\\w*"
        " cependant toutefois comme sachant vu malgre bien quoiqu\\w* tandis pourtant sinon or",
        "qu'\\w+ ou(?=_(?:il|elle|le|la|les|l'))",
    ),
    finite=any_of(
        "est sont etait etaient a ont avait avaient sera seront serait fut soit va vont",
        "droits? obligations? interdictions? devoirs? fait_de culpabilite il elle ils elles je tu",
        "nous vous on",
    ),
)
_EN = (
    r"(?:(?:the|these) (?:articles|provisions|texts|sections)(?: (?:shown|given|cited|above))? "
    r"(?:do not|don't) |no (?:article|provision|section)(?: (?:shown|given|cited|above))? )"
)
_EN_PLURAL = (
    r"(?:the|these) (?:articles|provisions|texts|sections)(?: (?:shown|given|cited|above))? (?:do not|don't) "
)
_EN_SAY_NOTHING = (
    r"(?:(?:the|these) (?:articles|provisions|texts|sections)(?: (?:shown|given|cited|above))? "
    r"(?:say nothing|(?:do not|don't) say anything|are silent)|nothing is said)"
)
_EN_ASK = rf"{_EN}(?:say|state|specify|mention|tell|says|states|specifies|mentions|tells)(?: us| you)?"
_EN_HEADS = (  # nouns after which "that" is seldom left out: "do not mention the tenant wins" is a clause
    r"amounts?|prices?|costs?|fees?|rates?|length|durations?|periods?|time limits?|deadlines?|dates?|times?"
    r"|procedures?|forms?|consequences?|penalt(?:y|ies)|rules?|conditions?|cases?|kinds?|numbers?"
    r"|notice periods?"
)
_ENGLISH = Remarks(
    silent=_of(
        rf"{_EN_PLURAL}(?:say(?: so| this| it)?|answer (?:this|the) question)"
        rf"|{_EN_SAY_NOTHING}(?: about (?:this|that|it))?|no (?:article|provision|section) says so"
    ),
    whether=_of(rf"{_EN_ASK} (?:whether|if) {_REST}"),
    happens=_of(
        rf"{_EN_ASK} (?:what happens (?:if|when|to|with|in case of)|who (?:pays|bears|decides)) {_REST}"
    ),
    about=_of(
        rf"(?:{_EN_SAY_NOTHING} (?:about|on|of|as to|regarding) |{_EN}(?:cover|address|deal with|covers"
        r"|addresses|deals with) "
        rf"|{_EN}(?:mention|specify|give|state|mentions|specifies|gives|states) (?:the |an? |any )?"
        rf"(?:{_EN_HEADS}) (?:of|for) ){_REST}"
    ),
    joins=any_of(
        "that which who whom whose and but so therefore hence because however thus since given as while",
        "although though despite whereas otherwise meaning for_the_reason then yet",
    ),
    finite=any_of(
        "is are was were be been being has have had having do does did will would isn't aren't if",
        "rights? dut(?:y|ies) obligations? bans? fact guilt i you he she it we they nothing",
        "nobody everything win wins won owe owes pay pays",
    ),
)
_DE = r"(?:die|diese) (?:gezeigten |genannten )?(?:artikel|vorschriften|paragrafen|paragraphen|bestimmungen) "
_GERMAN = Remarks(
    silent=_of(
        rf"{_DE}(?:sagen (?:dazu |daruber |hierzu )?nichts(?: dazu| daruber| hierzu)?|sagen (?:es|das) nicht"
        r"|beantworten (?:die|diese) frage nicht)"
    ),
    whether=_of(rf"{_DE}(?:sagen|beantworten) nicht, ob {_REST}"),
    happens=_of(
        rf"{_DE}sagen nicht, (?:was (?:geschieht|passiert)(?:, (?:wenn|falls|sobald)| mit| bei) {_REST}"
        r"|wer (.+) (?:zahlt|bezahlt|tragt|entscheidet))"
    ),
    about=_of(
        rf"{_DE}(?:sagen nichts (?:uber|zu|zum|zur|von|vom) {_REST}"
        r"|(?:erwahnen|nennen|behandeln) (?:keine?[nrs]? (.+)|(.+) nicht))"
    ),
    joins=any_of(
        "dass daß und aber also daher denn deshalb jedoch sondern weil da obwohl trotz sonst welche\\w* somit"
    ),
    finite=any_of(
        "ist sind war waren hat haben hatte hatten wird werden wurde wurden sei seien",
        "\\w*rechte?s? \\w*anspruch\\w* \\w*pflicht\\w* \\w*verbot\\w* tatsache schuld ich er es wir",
    ),
)
_NL = r"(?:de|deze) (?:getoonde |genoemde )?(?:artikelen|bepalingen|artikels) "
_DUTCH = Remarks(
    silent=_of(
        rf"{_NL}(?:zeggen (?:daarover |hierover )?niets(?: daarover| hierover)?|zeggen het niet"
        r"|beantwoorden (?:de|deze) vraag niet)"
    ),
    whether=_of(rf"{_NL}(?:zeggen|vermelden) niet of {_REST}"),
    happens=_of(
        rf"{_NL}zeggen niet (?:wat er gebeurt (?:als|wanneer|met|bij|indien) {_REST}"
        r"|wie (.+) (?:betaalt|draagt|beslist))"
    ),
    about=_of(
        rf"{_NL}(?:(?:zeggen niets|gaan niet|spreken niet) over {_REST}"
        r"|(?:vermelden|noemen) (?:geen (.+)|(.+) niet))"
    ),
    joins=any_of(
        "dat die en maar dus want daarom echter omdat aangezien hoewel ondanks anders terwijl welke doordat"
    ),
    finite=any_of(
        "is zijn was waren heeft hebben had hadden wordt worden werd werden zal zullen",
        "\\w*recht(?:en)? \\w*plicht\\w* \\w*verbod\\w* feit schuld ik hij zij het_is we wij er",
    ),
)
_IT = r"(?:(?:gli|questi) articoli|(?:le|queste) disposizioni)(?: (?:mostrat|citat|indicat)[ie])? non "
_IT_OF = (
    r"(?:su |sul |sui |sugli |sulla |sulle |sullo |sull'|di |del |dei |degli |della |delle |dello |dell')"
)
_ITALIAN = Remarks(
    silent=_of(rf"{_IT}(?:dicono nulla|lo dicono|rispondono a questa domanda|rispondono alla domanda)"),
    whether=_of(rf"{_IT}(?:dicono|precisano|indicano) se {_REST}"),
    happens=_of(
        rf"{_IT}(?:dicono|precisano|indicano) (?:(?:che )?cosa (?:succede|accade) (?:se|quando|in caso di"
        rf"|con)|chi (?:paga|sostiene|decide)) {_REST}"
    ),
    about=_of(
        rf"{_IT}(?:dicono nulla {_IT_OF}|(?:parlano|trattano) {_IT_OF}"
        rf"|(?:menzionano|indicano|precisano) ){_REST}"
    ),
    joins=any_of(
        "che chi cui quale quali e ed ma quindi perche dunque pertanto poiche giacche siccome dato benche",
        "sebbene nonostante altrimenti mentre invece",
    ),
    finite=any_of(
        "ee sono era erano ha hanno aveva avevano sara saranno viene vengono",
        "diritt[oi] obblig(?:o|hi) diviet[oi] dover[ei] fatto colpa io lui lei noi loro",
    ),
)
_ZH = (
    r"(?:这些|上述|所列|以上|所示)?(?:条文|条款|法条)(?:中)?(?:都|均|并)?(?:没有|未)(?:明确)?"
    r"(?:说明|规定|提到|提及|涉及|写明|回答)"
)
_CHINESE = Remarks(
    silent=_of(rf"{_ZH}(?:这一点|此事|(?:这个|该|此)问题)?"),
    whether=_of(rf"{_ZH}([^是归属已被将会应可]{{0,20}}是否.+)"),
    happens=_of(
        rf"{_ZH}{_REST}(?:时|后|的)?(?:怎么办|如何处理|怎样处理|由谁承担|由谁支付|由谁负担|会有什么后果)"
    ),
    about=_of(
        rf"{_ZH}(?:关于|有关)?(.*(?:问题|事项|费用|期限|金额|标准|方式|程序|时间|价格|宠物|押金|利率))"
    ),
    joins=signs_of("因此 所以 但 因为 故 从而 而 由于 既然 虽然 尽管 并 且 和 否则 即 也就是"),
    finite=signs_of("是 归 属 已 被 将 会 要 能 了 必 应 须 可 权 义务 禁止 无需 不 没 胜 有罪 违法"),
)
REMARKS = (_FRENCH, _ENGLISH, _GERMAN, _DUTCH, _ITALIAN, _CHINESE)
