"""Rule 2: what the official text denies or forbids and the summary does not, or the other way round.

Rule 3: "peut" against "doit".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from indexes.digest.finding import NEGATION_ADDED, NEGATION_LOST, OBLIGES, PERMITS, Finding
from indexes.digest.text import Wording, partner, quoted, split_clauses, word_pattern

# What denies or forbids for certain. Between "ne" and its partner stand a few words of the same clause.
_NE = r"\b(?:ne |n')"
_PRONOUNS = r"(?:(?:le|la|les|lui|leur|en|y|se|me|nous|vous) |[lsmt]'){0,2}"
_BRACKETS = re.compile(r"\([^)]*\)")
_STRONG = re.compile(
    rf"{_NE}(?:[\w'-]+ ){{0,6}}?(?:pas|point|jamais|aucune?|nulle?|rien|guere|plus|ni|personne|qu[e'])(?!\w)"
    rf"|{_NE}{_PRONOUNS}(?:peu\w+|pou\w+|sau\w+|doi\w+|dev\w+)\b"
    r"|\bsans\b(?! (?:prejudice|delai))|\bpeine de nullite\b|\binterdi\w+|\bprohib\w+|\bdefendu\w*"
    r"|\bnul(?:le)?s?\b|\baucune?\b|\birrecevab\w+|\bni\b"
)
# The same without "ne ... que", "sans" and limits ("ne peut excéder"), which are told in many ways.
_CANNOT = rf"{_NE}{_PRONOUNS}(?:peu(?:t|vent|x)|pouvez|pourr\w+)\b"
_MODAL = rf"{_CANNOT}(?!.*(?:\bqu[e']|\bsans\b|exced|depass|inferieur))"
_NE_MODAL = re.compile(rf"{_CANNOT}|{_NE}{_PRONOUNS}(?:doi(?:t|vent|s)|dev(?:ez|ra|ront))\b")
_PERMITS = word_pattern("peut peuvent pouvez pourra pourront")
_FORBIDS = word_pattern("nul* aucune? interdi* prohib* defend* impossib* empech* refus* exclu* irrecevab*")
_LIMIT = word_pattern(
    "qu[e'] sans seul* uniquement exced* depass* inferieur* superieur* moins plus_de plus_tard avant tant"
)
_CLEAR = re.compile(
    rf"{_NE}(?:[\w'-]+ ){{0,6}}?(?:pas|point|jamais|aucune?|nulle?|rien|guere)\b(?! (?:seulement|plus))"
    rf"|{_MODAL}|\binterdi(?:te?s?)\b|\bprohib\w+|\bnul(?:le)?s?\b"
)
_SUBORDINATE = word_pattern(
    "qu[ei] qu'* dont si s'ils? lorsqu* quand ou lequel laquelle lesquel* tant pourvu condition a_moins",
    "meme quoi* des jusqu* cas",
)
# Other ways to say it: any of them in the clause that shares most words excuses it, ...
_OTHERWISE = (
    "ne n' non pas ni point jamais sans sauf hors hormis excepte* exception* seul* exclu* interdi*",
    "impossib* refus* nul* aucune? annul* empech* priv* perd* perte sinon contre contraire*",
    "defaut absen* manqu* dispens* malgre moins_que defen* prohib* echapp* ecart* libere*",
    "renonc* cess* oppos* inopposab* irrecevab* irrevocab* incapa* inalien* insaisiss*",
    "indivisi* invalid* imprescript* incompat* insuffis* insolvab* inexecut* illeg* illicit*",
    "inconnu* inutil* indep* caduc* faute_d[e'] uniquement depourvu* exempt* rejet* supprim*",
    "maximum au_plus limit* depass* exced* jusqu'* avant tant_que conserv* gard* rest* demeur*",
    "obstacle different* gratuit* peu_importe quel*_que evit* bloqu* ignor* plus defaillan* desaccord",
    "contraven* inaction inapt* faillite hors_d'etat suspend* suspens* ordre_public a_l'infini",
)
# ... and these too anywhere in the other text, which is longer.
_MILDER = (
    "unique* peine tout_moyen sous_reserve reserves? identique* meme imprev* distinct* doi* devez",
    "faut condition* bien_que toujours seulement plutot mort echou* disparu* disparai* inexist*",
)
_EXCUSE, _MILD_EXCUSE = word_pattern(*_OTHERWISE), word_pattern(*_OTHERWISE, *_MILDER)


def negations(article_no: str, official: Wording, summary: Wording) -> Iterator[Finding]:
    """Yield what one text denies or forbids and the other does not.

    The texts are compared as wholes, then clause by clause with the clause that shares most words.
    What the summary says in brackets explains a word, and "si vous n'avez pas ..." another: of the
    summary only the rest and main clauses count.
    """
    unbracketed = Wording(summary.shown, _BRACKETS.sub(_blank, summary.plain))
    lost = (*_whole(official, summary), *_clauses(official, summary, main=False))
    added = (*_whole(unbracketed, official), *_clauses(unbracketed, official, main=True))
    found = [(NEGATION_LOST, detail) for detail in lost] + [(NEGATION_ADDED, detail) for detail in added]
    for kind, detail in dict.fromkeys((*found, *_flips(official, unbracketed))):
        yield Finding(article_no, kind, detail)


def _whole(text: Wording, other: Wording) -> Iterator[str]:
    strong = _STRONG.search(text.plain)
    if strong and not _MILD_EXCUSE.search(other.plain):
        yield quoted(text, strong.start())


def _clauses(text: Wording, other: Wording, *, main: bool) -> Iterator[str]:
    """Yield what each clause of a text denies and the clause nearest to it in the other one does not.

    Args:
        text: one text.
        other: the other text.
        main: leave out what is denied after "si", "qui" and the like; "ne peut" is not left out.
    """
    among = split_clauses(other)
    for clause in split_clauses(text):
        denied = _denied(clause.text.plain, main)
        same = partner(clause, among) if denied is not None else None
        if denied is not None and same is not None and not _EXCUSE.search(same.text.plain):
            yield quoted(clause.text, denied)


def _flips(official: Wording, summary: Wording) -> Iterator[tuple[str, str]]:
    """Yield "peut" where the law has "ne peut", and "ne peut" where it has "peut"; both only where alone."""
    among = split_clauses(official)
    for clause in split_clauses(summary):
        if (same := partner(clause, among)) is None:
            continue
        (denies, permits), (law_denies, law_permits) = _modals(clause.text), _modals(same.text)
        if denies and law_permits and not (permits or law_denies or _FORBIDS.search(same.text.plain)):
            yield NEGATION_ADDED, quoted(clause.text, denies.start())
        if permits and law_denies and not (denies or law_permits or _FORBIDS.search(clause.text.plain)):
            yield NEGATION_LOST, quoted(clause.text, permits.start())


def _modals(clause: Wording) -> tuple[re.Match[str] | None, re.Match[str] | None]:
    """Return "ne peut" and the like of a clause, and "peut"; neither of a clause that sets a limit."""
    if _LIMIT.search(clause.plain):
        return None, None
    denies = _NE_MODAL.search(clause.plain)
    return denies, _PERMITS.search(_NE_MODAL.sub(_blank, clause.plain))


def _denied(plain: str, main: bool) -> int | None:
    for found in _CLEAR.finditer(plain):
        if not main or _NE_MODAL.match(found[0]) or not _SUBORDINATE.search(plain, 0, found.start()):
            return found.start()
    return None


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


# "Ne peut" and "ne doit" forbid, "n'est pas tenu" frees: they neither permit nor oblige.
_DENIED = re.compile(
    r"\b(?:ne |n')(?:(?:le|la|les|lui|leur|en|y|se|me|nous|vous) |[lsmt]'){0,2}(?:peu|pourr|pouv|doi|dev)\w+"
    r"|\b(?:n'|ne )(?:est|sont|etes|sera|seront) (?:\w+ ){0,2}tenue?s?"
)
_MAY = word_pattern(
    "peut peuvent peux pouvez pourra pourront pourrez libres? facultati* (?:a|ont|avez)_le_droit"
)
_PERMITS_WIDELY = word_pattern(
    "peut peuvent peux pouvez pourr* puisse* faculte libres? librement facultati* permet* permis*",
    "autorise* (?:a|ont|avez)_(?:le_)?droit loisible admis* possible action recours capable sauf_a*",
    "reclam* demand* sollicit* sans_prejudice",
)
# "Doit" obliges before an infinitive; else something is owed: "ce qu'il doit".
_MUST = word_pattern(
    "(?:doi(?:t|vent|s)|devez|devra|devront)(?=_(?:[\\w']+_){0,3}[\\w']+(?:er|ir|re)\\b)",
    "obligatoire(?:ment)?s? obligee?s? il_faut (?:est|sont|etes)_tenue?s?",
)
_LAW_MUST = word_pattern(
    "doi(?:t|vent|ve) devra devront obligatoire* a_peine_de",
    "(?:est|sont|sera|seront)_(?:*_)?(?:tenu|oblige|astreint)e?s?",
)
_OBLIGES = word_pattern(
    "doi(?:t|vent|s|ve) dev(?:ez|ra|ront|rait|raient) obligatoire* oblige* il_faut faudra tenue?s? exige*",
    "astrein* requis* impose* peine_d[e'] a_charge_d[e'] a_la_charge necessaire* incomb* supporte*",
)
_ONLY = word_pattern("seul* uniquement sauf sinon exclusivement (?:ne_|n')*_qu[e']")
# A condition of what the law permits is rightly told as a duty: "il faut avoir seize ans".
_PROVIDED = word_pattern("(?<!sans_)condition pourvu sous_reserve sur_autorisation en_*ant")
_CONDITION = word_pattern("si s'ils? apres_avis justifi* lorsqu* soit")
_STATE = word_pattern("il_faut (?:doi*|dev*)_(?:*_)?(?:avoir|etre|exister|prouver|justifier|resider|remplir)")


def force(article_no: str, official: Wording, summary: Wording) -> Iterator[Finding]:
    """Yield an obligation made of what the law only permits, or a permission of what it obliges to.

    French law obliges by the plain present, so only what it permits in so many words counts as
    permitted, and only what it demands in so many words as demanded. The texts are compared as
    wholes, then clause by clause with the clause that shares most words.
    """
    found = dict.fromkeys(_compared(official, summary))
    among = split_clauses(official)
    for clause in split_clauses(summary):
        same = partner(clause, among)
        if same is not None:
            found |= dict.fromkeys(_compared(same.text, clause.text))
    yield from (Finding(article_no, kind, detail) for kind, detail in found)


def _compared(official: Wording, summary: Wording) -> Iterator[tuple[str, str]]:
    law, ours = (_DENIED.sub(_blank, text.plain) for text in (official, summary))
    must, may = _MUST.search(ours), _MAY.search(ours)
    condition = _PROVIDED.search(law) or (_CONDITION.search(law) and _STATE.search(ours))
    permitted = _MAY.search(law) and not _OBLIGES.search(law)
    if must and permitted and not condition and not _PERMITS_WIDELY.search(ours):
        yield OBLIGES, quoted(summary, must.start())
    demanded = _LAW_MUST.search(law) and not _PERMITS_WIDELY.search(law)
    if may and demanded and not (_OBLIGES.search(ours) or _ONLY.search(ours)):
        yield PERMITS, quoted(summary, may.start())
