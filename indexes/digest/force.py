"""Rule 3: "peut" against "doit"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from indexes.digest.clauses import cut, partner
from indexes.digest.finding import OBLIGES, PERMITS, Finding
from indexes.digest.text import Wording, any_of, quoted

# "Ne peut" and "ne doit" forbid, "n'est pas tenu" frees: they neither permit nor oblige.
_DENIED = re.compile(
    r"\b(?:ne |n')(?:(?:le|la|les|lui|leur|en|y|se|me|nous|vous) |[lsmt]'){0,2}(?:peu|pourr|pouv|doi|dev)\w+"
    r"|\b(?:n'|ne )(?:est|sont|etes|sera|seront) (?:\w+ ){0,2}tenue?s?"
)
_MAY = any_of("peut peuvent peux pouvez pourra pourront pourrez libres? facultati* (?:a|ont|avez)_le_droit")
_PERMITS = any_of(
    "peut peuvent peux pouvez pourr* puisse* faculte libres? librement facultati* permet* permis*",
    "autorise* (?:a|ont|avez)_(?:le_)?droit loisible admis* possible action recours capable sauf_a*",
    "reclam* demand* sollicit* sans_prejudice",
)
# "Doit" obliges before an infinitive; else something is owed: "ce qu'il doit".
_MUST = any_of(
    "(?:doi(?:t|vent|s)|devez|devra|devront)(?=_(?:[\\w']+_){0,3}[\\w']+(?:er|ir|re)\\b)",
    "obligatoire(?:ment)?s? obligee?s? il_faut (?:est|sont|etes)_tenue?s?",
)
_LAW_MUST = any_of(
    "doi(?:t|vent|ve) devra devront obligatoire* a_peine_de",
    "(?:est|sont|sera|seront)_(?:*_)?(?:tenu|oblige|astreint)e?s?",
)
_OBLIGES = any_of(
    "doi(?:t|vent|s|ve) dev(?:ez|ra|ront|rait|raient) obligatoire* oblige* il_faut faudra tenue?s? exige*",
    "astrein* requis* impose* peine_d[e'] a_charge_d[e'] a_la_charge necessaire* incomb* supporte*",
)
_ONLY = any_of("seul* uniquement sauf sinon exclusivement (?:ne_|n')*_qu[e']")
# A condition of what the law permits is rightly told as a duty: "il faut avoir seize ans".
_PROVIDED = any_of("(?<!sans_)condition pourvu sous_reserve sur_autorisation en_*ant")
_CONDITION = any_of("si s'ils? apres_avis justifi* lorsqu* soit")
_STATE = any_of("il_faut (?:doi*|dev*)_(?:*_)?(?:avoir|etre|exister|prouver|justifier|resider|remplir)")


def force(article_no: str, official: Wording, summary: Wording) -> Iterator[Finding]:
    """Yield an obligation made of what the law only permits, or a permission of what it obliges to.

    French law obliges by the plain present, so only what it permits in so many words counts as
    permitted, and only what it demands in so many words as demanded. The texts are compared as
    wholes, then clause by clause with the clause that shares most words.
    """
    found = dict.fromkeys(_compared(official, summary))
    among = cut(official)
    for clause in cut(summary):
        same = partner(clause, among)
        if same is not None:
            found |= dict.fromkeys(_compared(same.text, clause.text))
    yield from (Finding(article_no, kind, detail) for kind, detail in found)


def _compared(official: Wording, summary: Wording) -> Iterator[tuple[str, str]]:
    law, ours = (_DENIED.sub(_blank, text.plain) for text in (official, summary))
    must, may = _MUST.search(ours), _MAY.search(ours)
    condition = _PROVIDED.search(law) or (_CONDITION.search(law) and _STATE.search(ours))
    permitted = _MAY.search(law) and not _OBLIGES.search(law)
    if must and permitted and not condition and not _PERMITS.search(ours):
        yield OBLIGES, quoted(summary, must.start())
    demanded = _LAW_MUST.search(law) and not _PERMITS.search(law)
    if may and demanded and not (_OBLIGES.search(ours) or _ONLY.search(ours)):
        yield PERMITS, quoted(summary, may.start())


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])
