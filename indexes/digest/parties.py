"""Persons and bodies of French civil law, under the names that official texts and summaries give them.

Rule 4: persons and bodies that a summary adds, and public authorities that it loses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from indexes.digest.finding import PERSON_ADDED, PERSON_LOST, Finding
from indexes.digest.text import Wording, word_pattern


@dataclass(frozen=True, slots=True)
class Person:
    """A person or body; its words are written as `indexes.digest.text.word_pattern` reads them."""

    name: str  # as findings call it
    said: str  # its names
    akin: str = ""  # other words by which a text speaks of it: "vente" of a seller
    authority: bool = False  # a summary must not lose it


_FAMILY = "parent* peres? meres? ascendan* filiation matern* patern* enfant* famil* aieul* adopt*"
_GIFT = "donn* donat* liberalites? legs legu* testament* dispos* gratifi*"
_SALE = "vend* ventes? achat* achet* acqu* adjudic* alien* ced* cession* rachat prix echang*"
_LOAN = "pret* emprunt*"
_LEASE = "bail* baux lou* locat* loyers? preneurs? ferm* cheptel colon*"
_DEBT = (
    "dettes? debit* codebit* crean* credit* obligations? obligee?s? paie* payer payee?s? devoir solidai* "
    "hypothe* surete* gages? gagist* nanti* garanti* caution* saisi* passif privilege* subrog* cession*"
)
_OWNER = (
    "propri* copropri* indivi* bail* lou* fonds heritages? appartien* appartenan* posse* mur mitoyen* "
    "maitres? fiduci*"
)
_HEIR = "success* succed* herit* coherit* hered* copartag* ayants? partage* de_cujus deces legataire*"
_COURT = (
    "justice judiciaire* juges? jugee?s? juger jugements? juridiction* tribuna* cour magistrat* "
    "condamn* greff* proces appel"
)
_JUDGE = r"(?<=\b(?:le|du|au|un|ce|ou|et)_)juge (?<=\b(?:les|des|aux|ces)_)juges"  # not "il est jugé"
_WORK = (
    "employ* salari* commettants? preposes? domestiques? maitres? travail* ouvri* ouvrage* entrepr* artisan*"
)

PEOPLE = (
    Person("juge aux affaires familiales", "juges?_aux_affaires_familiales", authority=True),
    Person("juge des tutelles", "juges?_des_tutelles", authority=True),
    Person("tribunal judiciaire", "(?<!pres_le_)tribuna(?:l|ux)_judiciaires?", authority=True),
    Person("juge ou tribunal", f"{_JUDGE} tribuna(?:l|ux) cour juridictions? magistrats?",
           _COURT, authority=True),
    Person("procureur de la République", "procureurs? ministere_public parquet", authority=True),
    Person("notaire", "notaires? notari*", "authentique* officiers?_publics?", authority=True),
    Person("officier de l'état civil", "officiers?_(?:de_l'|d')etat_civil",
           "etat_civil mairies? maires? officiers?", authority=True),
    Person("greffe", "greff*", authority=True),
    Person("commissaire de justice", "huissiers? commissaires?_de_justice",
           "extrajudiciaires? signifi*", authority=True),
    Person("préfet", "prefets? prefecture* representants?_de_l'etat", authority=True),
    Person("maire", "maires? mairies? municipal*", "communes? communa* etat_civil", authority=True),
    Person("ministre", "ministres?", "ministeriel* gouvernement decret* arretes?", authority=True),
    Person("consulat ou ambassade", "consuls? consula* diplomat* ambassad*", authority=True),
    Person("Conseil d'État", "(?<!decret_en_)(?<!decrets_en_)conseil_d'etat", authority=True),
    Person("conseil de famille", "conseils?_de_famille", authority=True),
    Person("tuteur", "(?<!subroge_)(?<!subroge-)tuteurs?", "tut* protecti* protegee?s? representants?"),
    Person("subrogé tuteur", "subroges?[_-]tuteurs?", "subroge*"),
    Person("curateur", "curateurs?", "curatelle* curateur*"),
    Person("mandataire", "mandataires?",
           "mandat* procuration represent* pouvoirs? administrateurs? executeurs? fonde"),
    Person("mandant", "mandants?", "mand* represent*"),
    Person("gérant", "gerants?", "ger* gest* administr*"),
    Person("créancier", "creanciers?", _DEBT),
    Person("débiteur", "debiteurs? codebiteurs?", _DEBT),
    Person("caution", "cautions?", _DEBT),
    Person("propriétaire", "proprietaires? bailleurs? locateurs?", _OWNER),
    Person("locataire", "locataires? preneurs? fermiers? metayers?", _LEASE),
    Person("voisin", "voisins?", "voisin* fonds heritages? mitoyen* murs? contig* clo* limitrophes?"),
    Person("usufruitier", "usufruitiers?", "usufruit* nue-propriete"),
    Person("indivisaire", "indivisaires? coindivisaires? coproprietaires?",
           "indivi* copropri* copartag* coherit* commun* partage* mitoyen*"),
    Person("héritier", "heritiers? coheritiers?", _HEIR),
    Person("légataire", "legataires?", _GIFT),
    Person("testateur", "testateurs? testatrices?", _GIFT),
    Person("donateur", "donateurs? donatrices?", _GIFT),
    Person("donataire", "donataires?", _GIFT),
    Person("vendeur", "vendeurs? venderesses?", _SALE),
    Person("acheteur", "acheteurs? acquereurs? adjudicataires?", _SALE),
    Person("emprunteur", "emprunteurs?", _LOAN),
    Person("prêteur", "preteurs?", _LOAN),
    Person("dépositaire", "depositaires?", "depo* sequestre* consign*"),
    Person("déposant", "deposants?", "depo* sequestre* consign*"),
    Person("associé", "associes? coassocies?", "associ* societ* statut* socia*"),
    Person("entrepreneur", "entrepreneurs?", _WORK),
    Person("employeur", "employeurs?", _WORK),
    Person("salarié", "salariee?s?", _WORK),
    Person("assureur", "assureurs?", "assur*"),
    Person("producteur", "producteurs?", "produ*"),
    Person("victime", "victimes?", "victim* domm* prejudic* lese* autrui violen*"),
    Person("avocat", "avocats?", "conseils?_juridiques?"),
    Person("médecin", "medecins?", "medic* docteurs? sante chirurg*"),
    Person("expert", "experts?", "exper* estim* gens_de_l'art"),
    Person("architecte", "architectes?", "architect*"),
    Person("témoin", "temoins?", "temoi*"),
    Person("époux", "epoux epouses? conjoints? maris?",
           "mari* epou* conj* matrimon* divorc* nuptia* communaute noces survivant* menage"),
    Person("partenaire de PACS", "partenaires? pacs", "partenair* pactes?_civils?"),
    Person("concubin", "concubin*", "concubin* vie_commune maritale*"),
    Person("parent", "parents? peres? meres?", _FAMILY),
    Person("grands-parents", "grands?-(?:parents?|peres?|meres?)", "ascendan* aieul* grands?-*"),
    Person("frère ou soeur", "freres? soeurs?", "frere* soeur* fratrie collatera* german*"),
    Person("enfant", "enfants?",
           _FAMILY + " mineure?s? fils filles? descend* pupilles? naiss* nee?s? posterite"),
    Person("mineur", "mineure?s?",
           "minor* enfants? age emancip* dix-huit 18 incapables? pupilles? majeure?s? tutelle"),
    Person("tiers", "(?<!deux_)(?<!un_)tiers", "tiers autrui autres? etrang* opposab* inopposab*"),
)  # fmt: skip


def persons(article_no: str, official: Wording, summary: Wording, headings: Wording) -> Iterator[Finding]:
    """Yield persons whom the summary alone names, and authorities whom the official text alone names.

    The headings speak for the official text too: below "Du tuteur" an article says "il".
    """
    context = f"{official.plain}\n{headings.plain}"
    for person in PEOPLE:
        said, known = _patterns(person)
        if said.search(summary.plain):
            if not known.search(context):
                yield Finding(article_no, PERSON_ADDED, person.name)
        elif person.authority and said.search(official.plain) and not known.search(summary.plain):
            yield Finding(article_no, PERSON_LOST, person.name)


@lru_cache(maxsize=len(PEOPLE))
def _patterns(person: Person) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what names a person, and what names it or speaks of it otherwise."""
    return word_pattern(person.said), word_pattern(person.said, person.akin)
