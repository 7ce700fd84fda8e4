"""How six languages say must, may, not, only and unless; patterns of flat text, as `any_of` reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from rag.answer.verification.normalise import any_of, signs_of


@dataclass(frozen=True, slots=True)
class ForceWords:
    """What gives a clause its force in one language."""

    negation: re.Pattern[str]
    may: re.Pattern[str]  # denied it forbids
    must: re.Pattern[str]  # denied it forbids: "ne doit pas", "must not"
    duty: re.Pattern[str]  # denied it frees: "n'est pas tenu", "need not"
    ban: re.Pattern[str]  # denied it permits
    only: re.Pattern[str]
    exception: re.Pattern[str]
    without: re.Pattern[str]
    condition: re.Pattern[str]
    joint: re.Pattern[str]  # begins another clause: but, and
    bound: re.Pattern[str]  # at least, at most, before, after: a limit read the other way round is another


_PRONOUNS = r"(?:(?:le|la|les|lui|leur|en|y|se|me|nous|vous) |[lsmt]'){0,2}"
_NE = r"n(?:e |')"
_PARTNER = "pas|point|jamais|aucune?|nulle?|rien|guere|plus|personne"
_FRENCH = ForceWords(
    negation=re.compile(  # "ne" alone denies before a few verbs; else it only fills in
        rf"(?<!\w)(?:(?:nul(?:le)?|aucune?|personne|ni|jamais)(?: [\w'-]+){{0,5}}? )?{_NE}"
        rf"(?:{_PRONOUNS}[\w-]+ (?:[\w-]+ ){{0,2}}?(?:{_PARTNER})(?!\w)"
        rf"|(?={_PRONOUNS}(?:peu|pou|puis|sau|ces|doi|dev|ose)))"
        rf"|(?<!\w)(?:nul(?:le)?|aucune?|personne)(?= (?:[\w'-]+ ){{0,5}}?n[e'])"
        r"|(?<!\w)(?:pas|point(?= de\b)|jamais|nul(?:le)?s?|non(?! plus)|ni)(?!\w)"
    ),
    may=any_of(
        "peu(?:t|vent|x) pouvez pourr\\w+ puiss\\w+ (?:a|ont|avez)_le_droit (?:est|sont)_autorise\\w*",
        "(?:est|sont)_libres? (?:est|sont)_permis\\w* est_loisible (?:a|ont)_la_faculte",
    ),
    must=any_of("doi(?:t|vent|s|ve) dev(?:ez|ra|ront|rait|raient) il_faut faut faudra"),
    duty=any_of("tenu(?:e?s?) oblige(?:e?s?) astrein\\w+ obligatoire\\w* incombe\\w* requis\\w* exige\\w*"),
    ban=any_of("interdi\\w+ prohib\\w+ defendu\\w*"),
    only=re.compile(
        r"(?<!\w)(?:seul\w*|uniquement|exclusivement|ne(?= \w)(?= (?:[\w'-]+"
        r" ){1,6}?qu(?:e(?!\w)|'))|n'(?=(?:[\w'-]+ ){1,6}?qu(?:e(?!\w)|')))"
    ),
    exception=any_of("sauf hormis excepte\\w* a_moins exception\\w* sous_reserve hors_le_cas"),
    without=any_of("sans"),
    condition=any_of("si s'ils? lorsqu\\w* quand en_cas a_condition pourvu des_lors dans_le_cas"),
    joint=any_of("mais et ou toutefois cependant tandis"),
    bound=any_of(
        "au_moins au_plus moins_de plus_de plus_tard plus_tot maximum minimum avant apres",
        "superieur\\w* inferieur\\w* depuis jusqu\\w*",
    ),
)
_ENGLISH = ForceWords(
    negation=any_of("not no never nobody none neither nor cannot \\w+n't"),
    may=any_of("may can can(?=not) could might (?:is|are)_(?:entitled|allowed|permitted|free)"),
    must=any_of("must shall should has_to have_to ought"),
    duty=any_of("required obliged bound obligatory mandatory need(?:s|ed)? compulsory"),
    ban=any_of("prohibited forbidden unlawful banned barred"),
    only=any_of("only solely exclusively"),
    exception=any_of("unless except\\w* save subject_to other_than"),
    without=any_of("without"),
    condition=any_of("if when where provided whenever in_case so_long as_long"),
    joint=any_of("but and or however whereas while"),
    bound=any_of(
        "at_least at_most not_more_than less_than more_than no_later no_earlier maximum minimum",
        "before after until since exceed\\w*",
    ),
)
_GERMAN = ForceWords(
    negation=any_of("nicht kein\\w* nie niemals niemand weder noch"),
    may=any_of("kann konn\\w+ darf durf\\w+ berechtigt befugt steht_frei"),
    must=any_of("soll sollen"),
    duty=any_of(
        "muss muß mussen mußten musste\\w* verpflichtet zwingend braucht brauchen"
        " (?:hat|haben)(?=_(?:[\\w-]+_){0,14}?(?:zu_|(?:ab|an|auf|aus|bei|durch|ein|fest|fort|frei|heraus|hin"
        "|mit|nach|nieder|sicher|vor|weg|weiter|wieder|zuruck|zusammen|bereit|statt|dar|bekannt)zu\\w+n\\b))"
    ),
    ban=any_of("verboten untersagt unzulassig"),
    only=any_of("nur ausschließlich ausschliesslich allein lediglich"),
    exception=any_of("außer ausser es_sei_denn ausgenommen soweit_nicht vorbehaltlich abweichend"),
    without=any_of("ohne"),
    condition=any_of(  # a verb first, then a comma: "wird die Miete nicht gezahlt, so ..."
        "wenn falls sofern soweit solange sobald",
        "(?<![^.;][^.;])(?:wird|werden|ist|sind|hat|haben|kann|konnen|darf|durfen|muss|mussen|soll|sollen|will"
        "|macht|besteht|bestehen|liegt|erfolgt|fehlt|tritt|verletzt|stirbt|kommt|gibt|lasst|verlangt|steht)"
        "(?=_[^,.;]+,_(?:so|kann|konnen|darf|durfen|muss|mussen|hat|haben|ist|sind|wird|werden|gilt|gelten)\\b)",
    ),
    joint=any_of("aber und oder jedoch sondern wahrend"),
    bound=any_of(
        "mindestens hochstens wenigstens spatestens fruhestens weniger_als mehr_als vor nach bis seit",
        "maximal minimal",
    ),
)
_DUTCH = ForceWords(
    negation=any_of("niet geen nooit niemand noch"),
    may=any_of("mag mogen kan kunnen bevoegd gerechtigd"),
    must=any_of("moet moeten dient dienen zal zullen"),
    duty=any_of("verplicht\\w* gehouden hoeft hoeven verplichte"),
    ban=any_of("verboden"),
    only=any_of("alleen slechts enkel uitsluitend"),
    exception=any_of("tenzij behalve uitgezonderd behoudens"),
    without=any_of("zonder"),
    condition=any_of("als indien wanneer mits zodra"),
    joint=any_of("maar en of echter terwijl"),
    bound=any_of(
        "ten_minste minstens hoogstens ten_hoogste uiterlijk minder_dan meer_dan voor na tot sinds",
        "maximaal minimaal",
    ),
)
_ITALIAN = ForceWords(
    negation=any_of("non ne mai nessun\\w* nulla neppure"),
    may=any_of("puo possono potra\\w* potranno possa possano ha_diritto ha_facolta hanno_diritto"),
    must=any_of("deve devono dovra dovranno debba debbano bisogna"),
    duty=any_of("tenut[oaie] obbligat[oaie] obbligatori\\w+ occorre"),
    ban=any_of("vietat[oaie] proibit[oaie]"),
    only=any_of("solo soltanto solamente esclusivamente"),
    exception=any_of("salvo tranne eccetto a_meno fatta_eccezione fatt[oi]_salv[oi]"),
    without=any_of("senza"),
    condition=any_of("se quando qualora purche a_condizione in_caso ove"),
    joint=any_of("ma e o ed tuttavia mentre"),
    bound=any_of("almeno al_massimo al_piu meno_di piu_di entro_e_non_oltre prima dopo fino massimo minimo"),
)
_CHINESE = ForceWords(
    negation=signs_of(
        "没有 并非 不(?!动产|可抗力|当得利) 未(?!来|婚|成年) 无(?!偿|权处分|形) 非(?!法|常) 否则? 勿"
    ),
    may=signs_of("可以 有权 得以 能够"),
    must=signs_of("应当 必须 (?<![相适反对供响])应(?![用付收答急]) (?<![无不毋])须"),
    duty=signs_of("有义务 有责任 必要 (?<=[无不毋])[须需必]"),
    ban=signs_of("不得 禁止 严禁 不准 不可以? 不能"),
    only=signs_of("只能 只有 仅限?于? 方可 唯一 只可"),
    exception=signs_of("除外 除非 例外 除(?=.{1,30}外)"),
    without=signs_of("未经"),
    condition=signs_of(  # last, a clause that ends with 的: "...的，应当..."
        "如果 倘若 若 只要 (?<![例比假诸])如(?!何|实|期|下) 假如 的时候",
        "(?<![^,;:，。；：])(?=[^,;:，。；：]{2,60}的[,，])",
    ),
    joint=signs_of("但是? 并且 而且 且 而(?!且)"),
    bound=signs_of(
        "至少 至多 最多 最少 最低 最高 不超过 不少于 不低于 以上 以下 以内 以前 以后 之前 之后 超过"
    ),
)
WORDS: Mapping[str, ForceWords] = MappingProxyType(
    {
        "fr": _FRENCH,
        "en": _ENGLISH,
        "de": _GERMAN,
        "nl": _DUTCH,
        "it": _ITALIAN,
        "zh": _CHINESE,
    }
)

# Words that deny or oblige in one of the languages: in a text of another they are no harmless noise.
FOREIGN = any_of(
    "not never nicht kein\\w* niet geen pas jamais mai must shall doit peut muss darf moet mag deve puo sauf",
    "unless tenzij salvo ausser",
)
