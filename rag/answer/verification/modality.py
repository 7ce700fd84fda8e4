"""Clauses of a sentence and their force: must, may, not, forbidden, only, unless.

How six languages say must, may, not, only and unless; patterns of flat text, as `word_pattern` reads them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from types import MappingProxyType

from rag.answer.verification.normalise import signs_of, word_pattern


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
    may=word_pattern(
        "peu(?:t|vent|x) pouvez pourr\\w+ puiss\\w+ (?:a|ont|avez)_le_droit (?:est|sont)_autorise\\w*",
        "(?:est|sont)_libres? (?:est|sont)_permis\\w* est_loisible (?:a|ont)_la_faculte",
    ),
    must=word_pattern("doi(?:t|vent|s|ve) dev(?:ez|ra|ront|rait|raient) il_faut faut faudra"),
    duty=word_pattern(
        "tenu(?:e?s?) oblige(?:e?s?) astrein\\w+ obligatoire\\w* incombe\\w* requis\\w* exige\\w*"
    ),
    ban=word_pattern("interdi\\w+ prohib\\w+ defendu\\w*"),
    only=re.compile(
        r"(?<!\w)(?:seul\w*|uniquement|exclusivement|ne(?= \w)(?= (?:[\w'-]+"
        r" ){1,6}?qu(?:e(?!\w)|'))|n'(?=(?:[\w'-]+ ){1,6}?qu(?:e(?!\w)|')))"
    ),
    exception=word_pattern("sauf hormis excepte\\w* a_moins exception\\w* sous_reserve hors_le_cas"),
    without=word_pattern("sans"),
    condition=word_pattern("si s'ils? lorsqu\\w* quand en_cas a_condition pourvu des_lors dans_le_cas"),
    joint=word_pattern("mais et ou toutefois cependant tandis"),
    bound=word_pattern(
        "au_moins au_plus moins_de plus_de plus_tard plus_tot maximum minimum avant apres",
        "superieur\\w* inferieur\\w* depuis jusqu\\w*",
    ),
)
_ENGLISH = ForceWords(
    negation=word_pattern("not no never nobody none neither nor cannot \\w+n't"),
    may=word_pattern("may can can(?=not) could might (?:is|are)_(?:entitled|allowed|permitted|free)"),
    must=word_pattern("must shall should has_to have_to ought"),
    duty=word_pattern("required obliged bound obligatory mandatory need(?:s|ed)? compulsory"),
    ban=word_pattern("prohibited forbidden unlawful banned barred"),
    only=word_pattern("only solely exclusively"),
    exception=word_pattern("unless except\\w* save subject_to other_than"),
    without=word_pattern("without"),
    condition=word_pattern("if when where provided whenever in_case so_long as_long"),
    joint=word_pattern("but and or however whereas while"),
    bound=word_pattern(
        "at_least at_most not_more_than less_than more_than no_later no_earlier maximum minimum",
        "before after until since exceed\\w*",
    ),
)
_GERMAN = ForceWords(
    negation=word_pattern("nicht kein\\w* nie niemals niemand weder noch"),
    may=word_pattern("kann konn\\w+ darf durf\\w+ berechtigt befugt steht_frei"),
    must=word_pattern("soll sollen"),
    duty=word_pattern(
        "muss muß mussen mußten musste\\w* verpflichtet zwingend braucht brauchen"
        " (?:hat|haben)(?=_(?:[\\w-]+_){0,14}?(?:zu_|(?:ab|an|auf|aus|bei|durch|ein|fest|fort|frei|heraus|hin"
        "|mit|nach|nieder|sicher|vor|weg|weiter|wieder|zuruck|zusammen|bereit|statt|dar|bekannt)zu\\w+n\\b))"
    ),
    ban=word_pattern("verboten untersagt unzulassig"),
    only=word_pattern("nur ausschließlich ausschliesslich allein lediglich"),
    exception=word_pattern("außer ausser es_sei_denn ausgenommen soweit_nicht vorbehaltlich abweichend"),
    without=word_pattern("ohne"),
    condition=word_pattern(  # a verb first, then a comma: "wird die Miete nicht gezahlt, so ..."
        "wenn falls sofern soweit solange sobald",
        "(?<![^.;][^.;])(?:wird|werden|ist|sind|hat|haben|kann|konnen|darf|durfen|muss|mussen|soll|sollen|will"
        "|macht|besteht|bestehen|liegt|erfolgt|fehlt|tritt|verletzt|stirbt|kommt|gibt|lasst|verlangt|steht)"
        "(?=_[^,.;]+,_(?:so|kann|konnen|darf|durfen|muss|mussen|hat|haben|ist|sind|wird|werden|gilt|gelten)\\b)",
    ),
    joint=word_pattern("aber und oder jedoch sondern wahrend"),
    bound=word_pattern(
        "mindestens hochstens wenigstens spatestens fruhestens weniger_als mehr_als vor nach bis seit",
        "maximal minimal",
    ),
)
_DUTCH = ForceWords(
    negation=word_pattern("niet geen nooit niemand noch"),
    may=word_pattern("mag mogen kan kunnen bevoegd gerechtigd"),
    must=word_pattern("moet moeten dient dienen zal zullen"),
    duty=word_pattern("verplicht\\w* gehouden hoeft hoeven verplichte"),
    ban=word_pattern("verboden"),
    only=word_pattern("alleen slechts enkel uitsluitend"),
    exception=word_pattern("tenzij behalve uitgezonderd behoudens"),
    without=word_pattern("zonder"),
    condition=word_pattern("als indien wanneer mits zodra"),
    joint=word_pattern("maar en of echter terwijl"),
    bound=word_pattern(
        "ten_minste minstens hoogstens ten_hoogste uiterlijk minder_dan meer_dan voor na tot sinds",
        "maximaal minimaal",
    ),
)
_ITALIAN = ForceWords(
    negation=word_pattern("non ne mai nessun\\w* nulla neppure"),
    may=word_pattern("puo possono potra\\w* potranno possa possano ha_diritto ha_facolta hanno_diritto"),
    must=word_pattern("deve devono dovra dovranno debba debbano bisogna"),
    duty=word_pattern("tenut[oaie] obbligat[oaie] obbligatori\\w+ occorre"),
    ban=word_pattern("vietat[oaie] proibit[oaie]"),
    only=word_pattern("solo soltanto solamente esclusivamente"),
    exception=word_pattern("salvo tranne eccetto a_meno fatta_eccezione fatt[oi]_salv[oi]"),
    without=word_pattern("senza"),
    condition=word_pattern("se quando qualora purche a_condizione in_caso ove"),
    joint=word_pattern("ma e o ed tuttavia mentre"),
    bound=word_pattern(
        "almeno al_massimo al_piu meno_di piu_di entro_e_non_oltre prima dopo fino massimo minimo"
    ),
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
FOREIGN = word_pattern(
    "not never nicht kein\\w* niet geen pas jamais mai must shall doit peut muss darf moet mag deve puo sauf",
    "unless tenzij salvo ausser",
)


class Force(StrEnum):
    """What gives a clause its force."""

    MAY = "may"
    MUST = "must"
    FORBIDDEN = "forbidden"
    FREED = "freed"  # need not
    NOT = "not"
    ONLY = "only"
    EXCEPT = "except"
    WITHOUT = "without"


@dataclass(frozen=True, slots=True)
class ModalClause:
    """A piece of a sentence that has one force."""

    start: int
    end: int
    first: int  # where its first sign of force stands; its end where it has none: before it stands who acts
    verb: int  # where the first must, may or not stands; its start where it has none
    force: tuple[tuple[Force, int], ...]  # with how often, sorted
    condition: bool  # begins with "if" and the like
    segment: int  # semicolons part a sentence into segments

    @property
    def counted(self) -> Counter[Force]:
        """The signs of force, counted."""
        return Counter(dict(self.force))


@dataclass(frozen=True, slots=True)
class _Sign:
    kind: Force
    start: int
    end: int
    when_denied: Force | None = None  # None: "not" beside it stays a sign of its own


_CUT = re.compile(r"[,，:：]\s*|(?<!\d) ?[—–]\s|\s-\s|[()（）]|(?<!\d)[.!?。！？](?=\s|[^\W\d]|$)")
_BETWEEN = 12  # characters between "ne" and its verb: "ne lui est permis", "non gli e permesso"
_SEGMENT = re.compile(r"[;；]")


def clauses(plain: str, language: str) -> list[ModalClause]:
    """Return the clauses of one sentence or more, in order.

    Signs and words such as "if", "unless", "but" part them; "and" does only where what stands on
    either side has a force of its own.

    Args:
        plain: flat text.
        language: "fr", "nl", "en", "de", "it" or "zh".
    """
    words = WORDS[language]
    signs = list(_signs(plain, words))
    exceptions = [found.start() for found in words.exception.finditer(plain)]
    conditions = [found.start() for found in words.condition.finditer(plain)]
    ends = {0, len(plain)}
    ends |= {found.end() for found in _CUT.finditer(plain)} | {m.end() for m in _SEGMENT.finditer(plain)}
    ends |= set(exceptions) | set(conditions)
    at = sorted(ends)
    for joint in words.joint.finditer(plain):
        before = max(end for end in at if end <= joint.start())
        after = min((end for end in at if end > joint.start()), default=len(plain))
        starts = [sign.start for sign in signs]
        if any(before <= s < joint.start() for s in starts) and any(
            joint.start() < s < after for s in starts
        ):
            ends.add(joint.start())
            at = sorted(ends)
    segments = [found.start() for found in _SEGMENT.finditer(plain)]
    return [
        _clause((start, end), signs, conditions, sum(1 for s in segments if s < start), language)
        for start, end in pairwise(at)
        if any(map(str.isalnum, plain[start:end]))
    ]


def sign_spans(plain: str, language: str) -> list[tuple[int, int]]:
    """Return where the words stand that give force, set conditions or bound a number."""
    words = WORDS[language]
    patterns = (
        *(words.exception, words.only, words.without, words.ban, words.duty, words.may, words.must),
        *(words.negation, words.condition, words.bound, words.joint),
    )
    return [found.span() for pattern in patterns for found in pattern.finditer(plain)]


def bounds(plain: str, language: str) -> Counter[str]:
    """Return the words that bound a quantity or a time: at least, at most, before, after."""
    return Counter(found[0] for found in WORDS[language].bound.finditer(plain))


def _clause(
    span: tuple[int, int], signs: list[_Sign], conditions: list[int], segment: int, language: str
) -> ModalClause:
    start, end = span
    inside = [sign for sign in signs if start <= sign.start < end]
    counted = Counter(_combined(inside, language))
    first = min((sign.start for sign in inside), default=end)
    begins = any(start <= at < start + 4 for at in conditions)  # "et si", "und wenn"
    verb = min((sign.start for sign in inside if sign.kind in _VERBS), default=start)
    return ModalClause(start, end, first, verb, tuple(sorted(counted.items())), begins, segment)


_VERBS = frozenset({Force.MAY, Force.MUST, Force.FORBIDDEN, Force.NOT})


def _combined(signs: list[_Sign], language: str) -> Iterator[Force]:
    """Yield the force of each sign, with each "not" given to the modal verb nearest to it."""
    denials = [sign for sign in signs if sign.kind is Force.NOT]
    for sign in signs:
        if sign.kind is Force.NOT:
            continue
        near = [denial for denial in denials if _denies(denial, sign, language)]
        if sign.when_denied is not None and near:
            nearest = min(near, key=lambda denial: abs(denial.start - sign.start))
            rivals = [other for other in signs if other.when_denied is not None and other is not sign]
            if all(abs(nearest.start - sign.start) <= abs(nearest.start - other.start) for other in rivals):
                denials.remove(nearest)
                yield sign.when_denied
                continue
        yield sign.kind
    for _ in denials:
        yield Force.NOT


def _denies(denial: _Sign, modal: _Sign, language: str) -> bool:
    """Tell whether "not" stands where a modal verb is denied, and not what follows it: "peut ne pas"."""
    if language in ("fr", "it"):
        return denial.start < modal.start and modal.start - denial.end <= _BETWEEN
    if language == "en":  # may not, no tenant may
        return denial.start < modal.start or denial.start - modal.end <= 1
    return language != "zh" or modal.start == denial.end


def _signs(plain: str, words: ForceWords) -> Iterator[_Sign]:
    """Yield the signs of a text; a word is one sign, the first kind that reads it has it."""
    kinds: tuple[tuple[re.Pattern[str], Force, Force | None], ...] = (
        (words.exception, Force.EXCEPT, None),
        (words.only, Force.ONLY, None),
        (words.without, Force.WITHOUT, None),
        (words.ban, Force.FORBIDDEN, Force.MAY),
        (words.duty, Force.MUST, Force.FREED),
        (words.may, Force.MAY, Force.FORBIDDEN),
        (words.must, Force.MUST, Force.FORBIDDEN),
    )
    rest = plain
    for pattern, kind, denied in kinds:
        for found in pattern.finditer(rest):
            yield _Sign(kind, *found.span(), denied)
        if kind in (Force.EXCEPT, Force.ONLY, Force.WITHOUT, Force.FORBIDDEN):
            rest = pattern.sub(lambda found: " " * len(found[0]), rest)
    for found in words.negation.finditer(rest):
        yield _Sign(Force.NOT, *found.span())
