"""Opposed parties (landlord and tenant, creditor and debtor), and what part each has in a clause.

Words that turn a claim into its contrary, and those for a consent, in six languages; flat text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from rag.answer.verification.normalise import signs_of, word_pattern

# Pairs whose members a false claim swaps; synonyms of one side are one party.
PAIRS: Mapping[str, tuple[tuple[str, str], ...]] = MappingProxyType(
    {
        "fr": (
            ("bailleu(?:r|rs|se|ses) locateurs?", "locataires? preneu(?:r|rs|se|ses)"),
            ("creanci(?:er|ers|ere|eres)", "debit(?:eur|eurs|rice|rices)"),
            ("vende(?:ur|urs|resse|resses)", "achete(?:ur|urs|use|uses) acquereurs?"),
            ("employe(?:ur|urs|use|uses)", "salarie(?:e?s?) employee?s? travaille\\w+"),
            ("prete(?:ur|urs|use|uses)", "emprunte(?:ur|urs|use|uses)"),
            ("mandants?", "mandataires?"),
            ("donat(?:eur|eurs|rice|rices)", "donataires?"),
            ("demande(?:ur|urs|resse|resses)", "defende(?:ur|urs|resse|resses)"),
            ("deposants?", "depositaires?"),
            ("cedants?", "cessionnaires?"),
            ("proprietaires?", "usufruiti\\w+"),
            ("parents? pere mere", "enfants?"),
            ("maris? epoux", "femmes? epouses?"),
            ("tute(?:ur|urs) tutrices?", "pupilles?"),
            ("cautions?", "cautionnes?"),
            ("consommateurs?", "professionnels?"),
            ("assureurs?", "assures?"),
            ("testat\\w+", "legataires?"),
            ("maitres?_d(?:e_l)?'ouvrage", "entrepreneurs?"),
        ),
        "en": (
            ("landlords? lessors?", "tenants? lessees?"),
            ("creditors?", "debtors?"),
            ("sellers? vendors?", "buyers? purchasers?"),
            ("employers?", "employees? workers?"),
            ("lenders?", "borrowers?"),
            ("principals?", "agents?"),
            ("donors?", "donees?"),
            ("claimants? plaintiffs?", "defendants?"),
            ("parents?", "child children"),
            ("husbands?", "wives wife"),
            ("insurers?", "insured"),
            ("guardians?", "wards?"),
            ("traders?", "consumers?"),
            ("assignors?", "assignees?"),
            ("testators?", "legatees?"),
        ),
        "de": (
            ("vermieter(?:s|in|innen|n)?", "mieter(?:s|in|innen|n)?"),
            ("glaubiger(?:s|in|n)?", "schuldner(?:s|in|n)?"),
            ("verkaufer(?:s|in|n)?", "kaufer(?:s|in|n)?"),
            ("arbeitgeber(?:s|in|n)?", "arbeitnehmer(?:s|in|n)?"),
            ("darlehensgeber(?:s|n)?", "darlehensnehmer(?:s|n)?"),
            ("verpachter(?:s|n)?", "pachter(?:s|n)?"),
            ("auftraggeber(?:s|n)?", "beauftragten? beauftragter"),
            ("schenker(?:s|n)?", "beschenkten? beschenkter"),
            ("klager(?:s|in|n)?", "beklagten? beklagter"),
            ("eltern vater mutter", "kind(?:er|es|ern|e)?"),
            ("ehemann\\w*", "ehefrau\\w*"),
            ("unternehmer(?:s|n)?", "verbraucher(?:s|n)? besteller(?:s|n)?"),
            ("versicherer(?:s|n)?", "versicherungsnehmer(?:s|n)?"),
            ("verleiher(?:s|n)?", "entleiher(?:s|n)?"),
            ("vormund(?:es|e)?", "mundel(?:s|n)?"),
        ),
        "nl": (
            ("verhuurders?", "huurders?"),
            ("schuldeisers?", "schuldenaa?r(?:s|en)?"),
            ("verkopers?", "kopers?"),
            ("werkgevers?", "werknemers?"),
            ("uitleners?", "leners?"),
            ("lastgevers?", "lasthebbers?"),
            ("schenkers?", "begiftigden?"),
            ("eisers?", "verweerders?"),
            ("ouders?", "kind kinderen"),
            ("verzekeraars?", "verzekerden?"),
            ("voogd(?:en)?", "pupillen?"),
            ("verpachters?", "pachters?"),
        ),
        "it": (
            ("locator[ei]", "conduttor[ei] locatari[oa]? inquilin[oi]"),
            ("creditor[ei]", "debitor[ei]"),
            ("venditor[ei]", "compratori? compratore acquirent[ei]"),
            ("dator[ei]_di_lavoro", "lavorator[ei]"),
            ("mutuant[ei]", "mutuatari[oa]?"),
            ("mandant[ei]", "mandatari[oa]?"),
            ("donant[ei]", "donatari[oa]?"),
            ("attor[ei]", "convenut[oi]"),
            ("genitor[ei]", "figli[oa]? minor[ei]"),
            ("marit[oi]", "mogli[e]?"),
            ("depositant[ei]", "depositari[oa]?"),
            ("assicurator[ei]", "assicurat[oi]"),
            ("comodant[ei]", "comodatari[oa]?"),
        ),
        "zh": (
            ("出租人 房东", "承租人 租客 租户"),
            ("债权人", "债务人"),
            ("出卖人 卖方", "买受人 买方"),
            ("用人单位 雇主", "劳动者 雇员"),
            ("贷款人 出借人", "借款人"),
            ("委托人", "受托人"),
            ("赠与人", "受赠人"),
            ("原告", "被告"),
            ("父母", "子女"),
            ("丈夫", "妻子"),
            ("抵押权人", "抵押人"),
            ("保险人(?<!被保险人)", "被保险人"),
            ("甲方", "乙方"),
            ("监护人(?<!被监护人)", "被监护人"),
            ("定作人 发包人", "承揽人 承包人"),
            ("寄存人", "保管人"),
            ("经营者", "消费者"),
        ),
    }
)

SUBJECT, OTHER, OWNER = (
    "subject",
    "other",
    "owner",
)  # what is acted on, and for whom, is one: rewordings mix them
_ADVERB = r"(?:(?:le|la|les|l'|un|une|son|sa|leur|ce|cet|cette|chaque|tout|l'autre|nouveau|dit) ?)*"
# What stands right before a party and tells its part; none of them: it is named barely.
_AGENT: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "fr": re.compile(rf"\bpar {_ADVERB}$"),
        "en": re.compile(
            r"\bby (?:(?:the|a|an|his|its|their|each) )*(?:minor |adult |former |new |other )?$"
        ),
        "de": re.compile(
            r"\b(?:vom|von (?:de[mnr] |eine[mnr] |de[nm]en )?|durch (?:de[nm] |die |eine?n? )?)$"
        ),
        "nl": re.compile(r"\bdoor (?:(?:de|het|een|zijn) )*$"),
        "it": re.compile(r"\b(?:da|dal|dalla|dai|dalle|dall')[ ]?(?:un |una )?$"),
        "zh": re.compile(r"(?:由|被|经)$"),
    }
)
_OBLIQUE: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "fr": re.compile(
            rf"\b(?:(?:a|pour|envers|contre|avec|chez|sur|entre|sans|vers|aupres|quant|aux?)"
            rf" {_ADVERB}|aupres du |aux? )$"
        ),
        "en": re.compile(
            r"\b(?:to|for|from|against|with|towards?|on|upon|between|without)"
            r" (?:(?:the|a|an|his|its|their|each) )*$"
        ),
        "de": re.compile(
            r"\b(?:(?:an|fur|gegen|gegenuber|mit|bei|zu|zwischen|ohne) (?:de[mnr] |die |das"
            r" |eine?[mnr]? )?|zum |zur |de[mn] |eine[mn] |seine[mn] |ihre[mn] )$"
        ),
        "nl": re.compile(
            r"\b(?:aan|voor|tegen|met|bij|tegenover|jegens|tussen|zonder) (?:(?:de|het|een|zijn) )*$"
        ),
        "it": re.compile(
            r"\b(?:(?:a|per|contro|con|verso|su|tra|fra|senza) (?:il |lo |la |i |gli |le |un |una"
            r" |l')?|al |allo |alla |ai |agli |alle |all')$"
        ),
        "zh": re.compile(r"(?:向|对|给|与|为|从|和|同|跟|将|把)$"),
    }
)
_OWNER: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "fr": re.compile(rf"\b(?:(?:de) {_ADVERB}|du |des |d')$"),
        "en": re.compile(r"\bof (?:(?:the|a|an|his|its|their|each) )*$"),
        "de": re.compile(r"\b(?:des|eines|seines|ihres) $"),
        "nl": re.compile(r"\bvan (?:(?:de|het|een|zijn) )*$"),
        "it": re.compile(r"\b(?:di |del |dello |della |dei |degli |delle |dell')(?:un |una )?$"),
        "zh": re.compile(r"(?!)"),
    }
)
_AFTER_OWNER = re.compile(r"^(?:'s\b|'(?= )|的)")


@dataclass(frozen=True, slots=True)
class PartyRole:
    """A party in a clause: which pair, which side of it, and as what."""

    pair: int
    side: int
    role: str
    start: int
    end: int


def parts(clause: str, language: str) -> list[PartyRole]:
    """Return the parties of a flat clause in order, each with the part that words beside it tell.

    A party named barely is the subject if it comes first, else another; where an agent is named
    ("par le bailleur", "by the landlord") that is the subject, and who is named barely is acted on.
    """
    if not _any_party(language).search(clause):
        return []
    found = sorted(
        (place.start(), place.end(), pair, side)
        for pair, sides in enumerate(_patterns(language))
        for side, pattern in enumerate(sides)
        for place in pattern.finditer(clause)
    )
    told = [_told(clause, start, end, language) for start, end, _, _ in found]
    agent = "agent" in told
    made: list[PartyRole] = []
    bare = 0
    for (start, end, pair, side), role in zip(found, told, strict=True):
        if role == "agent":
            role = SUBJECT
        elif role == "":
            role = OTHER if agent or bare else SUBJECT
            bare += 1
        made.append(PartyRole(pair, side, role, start, end))
    return made


def _told(clause: str, start: int, end: int, language: str) -> str:
    before = clause[max(0, start - 40) : start]
    if _AFTER_OWNER.match(clause[end:]) or _OWNER[language].search(before):
        return OWNER
    if _AGENT[language].search(before):
        return "agent"
    return OTHER if _OBLIQUE[language].search(before) else ""


@lru_cache(maxsize=6)
def _any_party(language: str) -> re.Pattern[str]:
    """Return one pattern for all parties: most clauses name none, and thirty searches cost more than one."""
    return re.compile("|".join(side.pattern for pair in _patterns(language) for side in pair))


@lru_cache(maxsize=6)
def _patterns(language: str) -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    read = signs_of if language == "zh" else word_pattern
    return tuple((read(one), read(other)) for one, other in PAIRS[language])


# The first half of a pair against the second.
OPPOSED: Mapping[str, tuple[tuple[str, str], ...]] = MappingProxyType(
    {
        "fr": (
            ("gratuit\\w*", "payant\\w* onereu\\w*"),
            ("valables? valide\\w*", "nul(?:le)?s? nullite"),
            ("majeure?s?", "mineure?s?"),
            ("augment\\w+", "diminu\\w+ redui\\w+ reduction\\w*"),
            ("avant", "apres"),
            ("plus", "moins"),
            ("debut", "fin terme"),
            ("accept\\w+", "refus\\w+ rejet\\w+"),
            ("meubles? mobili\\w+", "immeubles? immobili\\w+"),
            ("ecrit\\w*", "oral\\w* verba\\w+"),
            ("achet\\w+ achat", "vend\\w+ vente"),
            ("superieur\\w*", "inferieur\\w*"),
            ("maximum", "minimum"),
            ("publi\\w+", "prive\\w*"),
            ("licite\\w*", "illicite\\w*"),
            ("present\\w*", "absen\\w+"),
            ("restitu\\w+ rend\\w*", "conserv\\w+ gard\\w+"),
            ("avec", "sans"),
            ("premiere?s?", "derni\\w+"),
            ("compris\\w* inclu\\w*", "hors exclu\\w*"),
            ("simple", "recommandee?s?"),
        ),
        "en": (
            ("free", "payable paid"),
            ("valid\\w*", "void invalid\\w* null"),
            ("increas\\w+", "reduc\\w+ decreas\\w+"),
            ("before", "after"),
            ("more", "less fewer"),
            ("accept\\w*", "refus\\w+ reject\\w*"),
            ("movable\\w*", "immovable\\w*"),
            ("written writing", "oral\\w*"),
            ("buy\\w* bought", "sell\\w* sold"),
            ("maximum", "minimum"),
            ("public\\w*", "private\\w*"),
            ("lawful\\w*", "unlawful\\w*"),
            ("return\\w*", "keep\\w* retain\\w*"),
            ("with", "without"),
            ("first", "last"),
            ("minors?", "adults?"),
            ("most", "least"),
            ("earlier", "later"),
            ("above over", "below under"),
            ("jointly", "severally separately"),
            ("includ\\w+", "exclud\\w+"),
            ("beginning start\\w*", "end\\w* expir\\w+"),
        ),
        "de": (
            ("unentgeltlich\\w* kostenlos\\w*", "entgeltlich\\w*"),
            ("wirksam\\w* gultig\\w*", "unwirksam\\w* ungultig\\w* nichtig\\w*"),
            ("erhoh\\w+", "herabsetz\\w+ mindern senk\\w+"),
            ("vor", "nach"),
            ("mehr", "weniger"),
            ("volljahrig\\w*", "minderjahrig\\w*"),
            ("bewegliche\\w*", "unbewegliche\\w*"),
            ("schriftlich\\w*", "mundlich\\w*"),
            ("mindestens wenigstens", "hochstens"),
            ("spatestens", "fruhestens"),
            ("zulassig\\w*", "unzulassig\\w*"),
            ("annehmen annimmt", "ablehn\\w+ verweiger\\w+"),
            ("mit", "ohne"),
            ("erst\\w{1,2}", "letzt\\w*"),
            ("zuruckgeben zuruckgewahr\\w+", "behalten"),
            ("beginn\\w* anfang\\w*", "ende\\w* beendigung schluss\\w* ablauf\\w*"),
            ("uber", "unter"),
        ),
        "nl": (
            ("kosteloos kosteloze", "betalend\\w*"),
            ("geldig\\w*", "ongeldig\\w* nietig\\w*"),
            ("verhog\\w+ verhoogd?", "verlag\\w+ verlaagd?"),
            ("voor", "na"),
            ("meer", "minder"),
            ("meerderjarig\\w*", "minderjarig\\w*"),
            ("schriftelijk\\w*", "mondeling\\w*"),
            ("minstens ten_minste", "hoogstens ten_hoogste"),
            ("met", "zonder"),
            ("eerste", "laatste"),
            ("roerend\\w*", "onroerend\\w*"),
            ("begin aanvang", "einde beeindiging afloop"),
            ("boven", "onder"),
        ),
        "it": (
            ("gratuit\\w+", "oneros\\w+"),
            ("valid\\w+", "null[oaie] invalid\\w+"),
            ("aument\\w+", "ridu\\w+ diminu\\w+"),
            ("prima", "dopo"),
            ("piu", "meno"),
            ("maggiorenn\\w+", "minorenn\\w+"),
            ("scritt\\w+ iscritto", "oral\\w+ verbal\\w+"),
            ("mobil\\w+", "immobil\\w+"),
            ("con", "senza"),
            ("prim[oaie]", "ultim[oaie]"),
            ("massimo", "minimo almeno"),
            ("lecit\\w+", "illecit\\w+"),
            ("accett\\w+", "rifiut\\w+"),
        ),
        "zh": (
            ("有偿", "无偿"),
            ("有效", "无效"),
            ("增加 提高", "减少 降低"),
            ("以前 之前", "以后 之后"),
            ("以上", "以下"),
            ("(?<!未)成年", "未成年"),
            ("书面", "口头"),
            ("动产(?<!不动产)", "不动产"),
            ("至少 最低 最少", "至多 最高 最多"),
            ("合法", "非法 违法"),
            ("返还", "保留"),
            ("接受", "拒绝"),
            ("公开", "秘密"),
            ("善意", "恶意"),
            ("共同", "单独"),
            ("超过", "不足"),
            ("(?<=[满止生效日月年])前", "(?<=[满止生效])后"),
            ("(?<=[日月年])后", "(?<=[日月年])内"),
            ("故意", "过失"),
            ("较多", "较少"),
            ("提前", "推迟"),
            ("全部", "部分"),
            ("结婚", "离婚"),
        ),
    }
)
# Somebody's consent that the law asks for: who leaves it out allows what is not allowed.
LEAVE: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "fr": word_pattern("autoris\\w+ accord consent\\w+ agrement approbation"),
        "en": word_pattern("consent\\w* permission approval authori[sz]\\w+ leave"),
        "de": word_pattern("zustimm\\w+ einwillig\\w+ genehmig\\w+ erlaubnis einverstandnis\\w*"),
        "nl": word_pattern("toestemming instemming goedkeuring machtiging akkoord"),
        "it": word_pattern("consenso autorizz\\w+ approvazione assenso accordo"),
        "zh": signs_of("同意 许可 批准 授权"),
    }
)
