"""Rule 2: what the official text denies or forbids and the summary does not, or the other way round."""

from __future__ import annotations

import re
from collections.abc import Iterator

from indexes.digest.clauses import cut, partner
from indexes.digest.finding import NEGATION_ADDED, NEGATION_LOST, Finding
from indexes.digest.text import Wording, any_of, quoted

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
_PERMITS = any_of("peut peuvent pouvez pourra pourront")
_FORBIDS = any_of("nul* aucune? interdi* prohib* defend* impossib* empech* refus* exclu* irrecevab*")
_LIMIT = any_of(
    "qu[e'] sans seul* uniquement exced* depass* inferieur* superieur* moins plus_de plus_tard avant tant"
)
_CLEAR = re.compile(
    rf"{_NE}(?:[\w'-]+ ){{0,6}}?(?:pas|point|jamais|aucune?|nulle?|rien|guere)\b(?! (?:seulement|plus))"
    rf"|{_MODAL}|\binterdi(?:te?s?)\b|\bprohib\w+|\bnul(?:le)?s?\b"
)
_SUBORDINATE = any_of(
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
_EXCUSE, _MILD_EXCUSE = any_of(*_OTHERWISE), any_of(*_OTHERWISE, *_MILDER)


def negations(article_no: str, official: Wording, summary: Wording) -> Iterator[Finding]:
    """Yield what one text denies or forbids and the other does not.

    The texts are compared as wholes, then clause by clause with the clause that shares most words.
    What the summary says in brackets explains a word, and "si vous n'avez pas ..." another: of the
    summary only the rest and main clauses count.
    """
    said = Wording(summary.shown, _BRACKETS.sub(_blank, summary.plain))
    lost = (*_whole(official, summary), *_clauses(official, summary, main=False))
    added = (*_whole(said, official), *_clauses(said, official, main=True))
    found = [(NEGATION_LOST, detail) for detail in lost] + [(NEGATION_ADDED, detail) for detail in added]
    for kind, detail in dict.fromkeys((*found, *_flips(official, said))):
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
    among = cut(other)
    for clause in cut(text):
        denied = _denied(clause.text.plain, main)
        same = partner(clause, among) if denied is not None else None
        if denied is not None and same is not None and not _EXCUSE.search(same.text.plain):
            yield quoted(clause.text, denied)


def _flips(official: Wording, summary: Wording) -> Iterator[tuple[str, str]]:
    """Yield "peut" where the law has "ne peut", and "ne peut" where it has "peut"; both only where alone."""
    among = cut(official)
    for clause in cut(summary):
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
