"""The topics that the Code civil does not govern, and where to find people: what ships of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rag.corpus.card import Contact, CorpusCard, Elsewhere
from rag.corpus.out_of_scope import WHOLE_QUESTION, Topics
from rag.text.analysers import analyser
from rag.ui.i18n import LANGUAGES
from tests.paths import ROOT

BUILTIN = ROOT / "indexes" / "builtin"
FRENCH = analyser("fr")
OFFICIAL = "https://www.legifrance.gouv.fr/"

# topic -> questions as people ask them
ASKED = {
    "rent-deposit": (
        "Mon propriétaire ne veut pas me rendre ma caution, que faire ?",
        "Sous quel délai le dépôt de garantie doit-il être rendu après mon départ ?",
        "L'agence garde ma caution à cause de trous dans le mur",
        "rendre la caution délai",
    ),
    "home-lease": (
        "Quel préavis pour quitter mon appartement ?",
        "Le propriétaire peut-il augmenter mon loyer chaque année ?",
        "Mon bailleur m'a donné congé pour vendre, est-ce légal ?",
        "Combien de temps dure un bail d'habitation ?",
        "locataire ne paie pas",
    ),
    "eviction": (
        "Suis-je expulsable pendant la trêve hivernale ?",
        "Des squatteurs se sont installés chez ma mère",
        "Comment expulser un locataire qui ne paie plus ?",
    ),
    "seizure": (
        "Un huissier peut-il entrer dans ma maison en mon absence ?",
        "On a saisi mon compte bancaire sans me prévenir",
        "Quelle part de mon salaire peut être saisie ?",
    ),
    "end-of-employment": (
        "J'ai été viré de mon travail du jour au lendemain",
        "Mon licenciement est-il abusif ?",
        "Quel préavis si je démissionne ?",
        "Puis-je refuser une rupture conventionnelle ?",
        "Mon patron m'a mis à la porte",
        "on m'a viré du jour au lendemain",
        "mon chef m'a renvoyé",
        "perdu mon emploi indemnités",
    ),
    "working-conditions": (
        "Mon employeur ne me paie pas mes heures supplémentaires",
        "À combien de jours de congés payés ai-je droit ?",
        "Quel est le montant du SMIC ?",
        "Mon employeur ne m'a pas versé mon salaire ce mois-ci",
    ),
    "harassment-at-work": (
        "Mon chef me harcèle au travail",
        "Je n'ai pas été embauchée parce que je suis enceinte, est-ce de la discrimination à l'embauche ?",
    ),
    "purchase-at-a-distance": (
        "J'ai acheté un téléphone sur internet, puis-je le rendre ?",
        "Mon colis n'est jamais arrivé",
        "Un démarcheur m'a fait signer un contrat à domicile",
        "Comment résilier mon abonnement à la salle de sport ?",
    ),
    "consumer-guarantee": (
        "Le magasin refuse de me rembourser mon aspirateur",
        "Mon lave-linge est tombé en panne au bout d'un an, quelle garantie ?",
        "Qu'est-ce que la garantie légale de conformité ?",
    ),
    "consumer-credit": (
        "Puis-je rembourser mon crédit à la consommation avant la fin ?",
        "Comment changer d'assurance emprunteur ?",
    ),
    "over-indebtedness": (
        "Comment déposer un dossier de surendettement ?",
        "Je suis fiché à la Banque de France",
    ),
    "bank-account": (
        "On a piraté ma carte bancaire",
        "La banque refuse de m'ouvrir un compte",
        "J'ai fait un chèque sans provision",
    ),
    "co-owned-building": (
        "Le syndic ne fait pas les travaux dans l'immeuble",
        "Puis-je contester une décision de l'assemblée générale des copropriétaires ?",
        "Qui paie les charges de copropriété ?",
    ),
    "residence-permit": (
        "Comment renouveler mon titre de séjour ?",
        "J'ai reçu une OQTF",
        "Comment faire venir ma femme par le regroupement familial ?",
        "Où demander l'asile ?",
    ),
    "sickness-and-work-accident": (
        "Combien suis-je payé pendant un arrêt maladie ?",
        "J'ai eu un accident du travail",
        "Ma carte vitale ne marche plus",
    ),
    "retirement": (
        "À quel âge puis-je partir à la retraite ?",
        "Ai-je droit à la pension de réversion de mon mari ?",
    ),
    "unemployment": (
        "Ai-je droit au chômage ?",
        "Pôle emploi m'a radié",
        "Combien de temps vais-je toucher le chômage ?",
    ),
    "benefits": (
        "Ai-je droit au RSA ?",
        "Comment demander l'APL ?",
        "La CAF me réclame un trop-perçu",
        "Comment faire un dossier MDPH ?",
    ),
    "taxes": (
        "Comment contester ma taxe d'habitation ?",
        "Dois-je déclarer aux impôts les loyers que je reçois ?",
        "Combien je vais payer d'impôt sur le revenu ?",
    ),
    "gift-and-inheritance-tax": (
        "Combien de droits de succession vais-je payer sur la maison ?",
        "Quel est l'abattement pour une donation à mes enfants ?",
    ),
    "traffic": (
        "Comment contester une amende ?",
        "Combien de points reste-t-il sur mon permis ?",
        "J'ai été flashé à 150 par un radar",
    ),
    "road-accident": ("J'ai eu un accident de voiture, qui m'indemnise ?", "Un automobiliste m'a renversé"),
    "offences-against-persons": (
        "Comment porter plainte ?",
        "Mon voisin menace de me tuer",
        "J'ai été agressé dans la rue",
    ),
    "theft-and-fraud": (
        "On a cambriolé mon appartement",
        "J'ai été victime d'une arnaque sur internet",
        "On m'a volé mon téléphone",
        "Quelqu'un a usurpé mon identité",
    ),
    "planning-permission": (
        "Faut-il un permis de construire pour un garage ?",
        "Dois-je faire une déclaration préalable pour une clôture ?",
    ),
    "insurance": (
        "Mon assurance refuse de m'indemniser",
        "Comment résilier mon assurance auto ?",
        "J'ai un dégât des eaux",
    ),
    "school": (
        "Mon fils passe en conseil de discipline",
        "Comment obtenir une dérogation à la carte scolaire ?",
        "Puis-je faire l'école à la maison ?",
    ),
    "health-care": (
        "Comment obtenir mon dossier médical ?",
        "Je pense être victime d'une erreur médicale",
        "Ma fille veut avorter sans me le dire",
    ),
    "noise-offence": (
        "Mes voisins font du tapage nocturne",
        "Jusqu'à quelle heure peut-on passer la tondeuse, quelles sont les heures de bruit autorisées ?",
    ),
    "animal-welfare": ("Mon voisin maltraite son chien", "Quelles règles pour un chien de catégorie 1 ?"),
    "business": (
        "Mon entreprise est en redressement judiciaire",
        "Comment créer une SARL ?",
        "Mon bail commercial arrive à sa fin",
    ),
    "legal-aid": ("Comment obtenir l'aide juridictionnelle ?", "Je n'ai pas les moyens de payer un avocat"),
    "personal-data": (
        "Un site garde mes données personnelles",
        "Comment faire retirer mon nom de Google, le droit à l'oubli ?",
    ),
    "defamation": ("On me diffame sur Facebook", "Quelqu'un m'insulte sur les réseaux sociaux"),
    "social-housing": ("Comment obtenir un logement social ?", "Le DPE de ma maison est faux"),
}
# Questions that the Code civil does answer, most of them with a word that other laws use too.
CIVIL = (
    "Ma caution peut-elle refuser de payer ma dette ?",
    "Je me suis porté caution pour mon frère, puis-je me retirer ?",
    "Qui a la garde des enfants après la séparation ?",
    "Puis-je faire une donation à mon petit-fils ?",
    "Le locataire doit-il entretenir la maison qu'il loue ?",
    "Mon voisin a planté un arbre contre ma clôture, que faire ?",
    "Comment changer de prénom ?",
    "J'ai découvert un vice caché dans la voiture que j'ai achetée à un particulier",
    "Quels sont mes droits dans la succession de mon père ?",
    "Mon bail rural peut-il être cédé à mon fils ?",
    "Comment divorcer par consentement mutuel ?",
    "Le maçon a mal construit mon mur, quelle garantie ?",
    "Puis-je devenir français par mariage ?",
    "Mon chien a mordu le facteur, suis-je responsable ?",
    "L'eau de pluie du toit de mon voisin coule chez moi",
    "Puis-je rompre un pacs sans l'accord de mon partenaire ?",
    "Peut-on vivre en concubinage sans papiers signés ?",
    "Ma mère part en maison de retraite, qui paie ?",
    "Je suis au chômage, puis-je faire baisser la pension alimentaire ?",
    "Un ami ne me rembourse pas l'argent que je lui ai prêté",
    "Le bruit des travaux de mon voisin est-il un trouble anormal ?",
    "Quel âge faut-il avoir pour se marier ?",
    "Mon tuteur peut-il vendre ma maison ?",
    "Le vendeur est revenu sur sa promesse de vente",
    "Dois-je laisser passer mon voisin sur mon terrain ?",
    "J'ai reçu un virement d'un inconnu, dois-je le rendre ?",
    "virer le gérant de la SCI",
)


def _read(name: str) -> list[dict[str, Any]]:
    entries = json.loads((BUILTIN / name).read_text(encoding="utf-8"))
    assert isinstance(entries, list)
    return entries


TOPICS = {entry["id"]: Elsewhere(**entry) for entry in _read("elsewhere.json")}
ALL = Topics(CorpusCard("essai", "Essai", "fr", elsewhere=tuple(TOPICS.values())), {"Code civil"}, FRENCH)


def _matching(question: str) -> set[str]:
    """The topics that the page would show."""
    return {topic.id for topic in ALL.find(question)}


@pytest.mark.parametrize("question", ["on m'a viré", "je me suis fait virer", "Viré !", "j'ai été virée"])
def test_a_word_that_is_the_whole_question_is_enough(question: str) -> None:
    assert _matching(question) == {"end-of-employment"}


@pytest.mark.parametrize("question", ["virement fait deux fois", "virer le gérant de la maison", ""])
def test_a_word_that_must_be_the_whole_question_is_not_enough_in_another(question: str) -> None:
    assert "end-of-employment" not in _matching(question)


def test_ids_are_unique_and_plain() -> None:
    entries = _read("elsewhere.json")
    assert len(TOPICS) == len(entries)
    assert all(name.replace("-", "").isalpha() and name == name.lower() for name in TOPICS)


@pytest.mark.parametrize("topic", TOPICS.values(), ids=TOPICS)
def test_topic_is_complete(topic: Elsewhere) -> None:
    for texts in (topic.title, topic.explain):
        assert set(texts) == set(LANGUAGES)
        assert all(text.strip() == text != "" for text in texts.values())
    assert topic.law
    assert topic.codes
    assert topic.url is not None
    assert topic.url.startswith(OFFICIAL)


@pytest.mark.parametrize("topic", TOPICS.values(), ids=TOPICS)
def test_phrases_have_content_and_say_different_things(topic: Elsewhere) -> None:
    anywhere = [phrase for phrase in topic.phrases if not phrase.startswith(WHOLE_QUESTION)]
    terms = [frozenset(FRENCH.terms(phrase)) for phrase in anywhere]
    assert terms
    empty = [phrase for phrase in topic.phrases if not FRENCH.terms(phrase)]
    assert not empty, "these would match every question"
    needless = [
        phrase
        for i, phrase in enumerate(anywhere)
        if any(other < terms[i] or (other == terms[i] and j < i) for j, other in enumerate(terms))
    ]
    assert not needless, "another phrase of the topic matches wherever these do"


def test_every_topic_is_asked_about() -> None:
    assert set(ASKED) == set(TOPICS)


@pytest.mark.parametrize(
    ("topic", "question"), [(topic, question) for topic, questions in ASKED.items() for question in questions]
)
def test_topic_is_found(topic: str, question: str) -> None:
    assert topic in _matching(question)


@pytest.mark.parametrize("question", CIVIL)
def test_questions_for_the_code_civil_raise_no_alarm(question: str) -> None:
    assert _matching(question) == set()


def test_contacts_can_be_reached() -> None:
    contacts = [Contact(**entry) for entry in _read("contacts.json")]
    assert len({contact.name for contact in contacts}) == len(contacts)
    for contact in contacts:
        assert contact.note
        assert contact.url is not None
        assert contact.url.startswith("https://")
        assert contact.phone is None or contact.phone.replace(" ", "").isdigit()


def test_who_helps_in_any_matter_stands_before_who_helps_in_one() -> None:
    """The sheet has room for the first four, whatever the question was."""
    names = [entry["name"] for entry in _read("contacts.json")]

    assert "Points-justice" in names[:4]
    assert "Conciliateurs de justice" in names[:4]
    assert names.index("Violences Femmes Info") > names.index("Défenseur des droits")
    built = json.loads((BUILTIN / "index" / "corpus" / "card.json").read_text(encoding="utf-8"))
    assert [entry["name"] for entry in built["contacts"]] == names
