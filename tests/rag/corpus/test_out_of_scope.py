"""The topics that other laws govern than those loaded, and where to find people: what ships of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag.corpus.card import Contact, CorpusCard, Elsewhere
from rag.corpus.out_of_scope import WHOLE_QUESTION, LawClassifier, Topics
from rag.errors import BadInput
from rag.text.analysers import analyser
from rag.types import Floats
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
    "family-benefits": (
        "La CAF me réclame un trop-perçu",
        "La prime d'activité est-elle cumulable avec un petit salaire ?",
    ),
    "social-assistance": (
        "Ai-je droit au RSA si je suis encore étudiant ?",
        "On m'a supprimé mon RSA parce que je me suis mise en couple",
        "rsa conditions",
        "Mon cousin sans papiers a-t-il droit à l'AME ?",
    ),
    "disability-and-old-age": (
        "Comment faire un dossier MDPH ?",
        "Mon grand-père peut-il avoir l'APA à domicile ?",
        "L'EHPAD augmente ses tarifs de moitié",
    ),
    "child-protection-and-adoption": (
        "Comment obtenir l'agrément pour adopter ?",
        "Je voudrais devenir assistante maternelle",
    ),
    "housing-benefit": ("Comment demander l'APL ?", "montant de l'APL pour un couple", "apl"),
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
    "offences-against-persons": ("Mon voisin menace de me tuer", "J'ai été agressé dans la rue"),
    "complaint-and-custody": (
        "Comment porter plainte ?",
        "La gendarmerie refuse de prendre ma plainte",
        "Combien de temps une garde à vue peut-elle durer ?",
        "Où demander un extrait de casier judiciaire ?",
    ),
    "contesting-a-fine": (
        "J'ai reçu une amende forfaitaire, sous quel délai la payer ?",
        "Comment faire opposition à une ordonnance pénale ?",
        "J'ai une amende majorée et je n'ai jamais eu la première lettre",
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
    "noise-offence": ("Mes voisins font du tapage nocturne",),
    "quiet-hours": (
        "Jusqu'à quelle heure peut-on passer la tondeuse, quelles sont les heures de bruit autorisées ?",
        "Peut-on tondre sa pelouse le dimanche ?",
    ),
    "animal-welfare": ("Mon voisin maltraite son chien", "Quelles règles pour un chien de catégorie 1 ?"),
    "business": (
        "Sous quel délai déposer le bilan ?",
        "Comment créer une SARL ?",
        "Mon bail commercial arrive à sa fin",
    ),
    "legal-aid": ("Comment obtenir l'aide juridictionnelle ?", "Je n'ai pas les moyens de payer un avocat"),
    "personal-data": (
        "Un site garde mes données personnelles",
        "Comment faire retirer mon nom de Google, le droit à l'oubli ?",
    ),
    "defamation": ("On me diffame sur Facebook", "Quelqu'un m'insulte sur les réseaux sociaux"),
    "social-housing": ("Comment obtenir un logement social ?", "Combien d'attente pour un HLM ?"),
    "unfit-housing": ("Le DPE de ma maison est faux", "Le maire a pris un arrêté de péril sur mon immeuble"),
    "buying-or-building-a-home": (
        "Ai-je un délai de rétractation après un compromis de vente ?",
        "Le constructeur de ma maison a six mois de retard",
    ),
    "renovation-grants": ("Qui a droit à MaPrimeRénov' ?",),
    "notary-fees": ("Comment se calculent les frais de notaire ?",),
    "squatters": ("Comment faire partir des squatteurs sans procès ?",),
    "pets-in-a-rented-home": ("Mon propriétaire peut-il m'interdire d'avoir un chat ?",),
    "minimum-wage-amount": ("C'est combien le SMIC net cette année ?",),
    "collective-agreement": ("Que prévoit la convention collective de la coiffure ?",),
    "internship": ("Quelle gratification pour un stage de trois mois ?",),
    "unemployment-benefit": (
        "Je démissionne pour suivre ma femme, aurai-je le chômage ?",
        "Quel est le délai de carence du chômage ?",
    ),
    "supplementary-pension": ("Comment demander ma retraite Agirc-Arrco ?",),
    "residence-of-algerians": ("Je suis algérienne, quel certificat de résidence demander ?",),
    "identity-papers": ("Comment refaire mon passeport ?", "J'ai perdu ma carte d'identité"),
    "public-health-rules": ("Quels sont les vaccins obligatoires ?", "Peut-on fumer en terrasse ?"),
    "air-travel": ("Mon vol a été annulé la veille, quelle indemnité ?", "La compagnie a perdu mes bagages"),
    "public-transport": ("Le contrôleur m'a mis une amende dans le TER", "La SNCF doit-elle me rembourser ?"),
    "cemetery-and-funeral": (
        "Comment renouveler une concession au cimetière ?",
        "Peut-on disperser les cendres en mer ?",
    ),
    "town-rules": ("Comment contester un forfait de post-stationnement ?",),
    "environment": (
        "Puis-je brûler des branches chez moi ?",
        "Des chasseurs tirent près de ma maison, distance ?",
    ),
    "brush-clearing": ("Jusqu'où va l'obligation de débroussaillement ?",),
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

# Questions that the laws that ship answer, most of them with a word of a topic that they do not govern.
ANSWERED = (
    "Mon propriétaire ne veut pas me rendre ma caution",
    "préavis d'un mois parce que je touche le RSA",
    "La pension de réversion se perd-elle si je me remarie ?",
    "On m'a renvoyée sans lettre de licenciement",
    "Combien de points pour un feu rouge ?",
    "Mon titre de séjour expire la semaine prochaine",
    "Mon colis n'est jamais arrivé, suis-je remboursé ?",
    "Comment effacer une condamnation de mon casier judiciaire ?",
    "Que risque quelqu'un qui me menace de mort ?",
    "Quelle peine pour un vol dans un magasin ?",
    "Un squatteur a-t-il droit à la trêve hivernale ?",
    "Mon avocat demande des honoraires trop élevés",
    "L'employeur rembourse-t-il le pass Navigo ?",
    "Mon entreprise est en redressement judiciaire, qui paie mon salaire ?",
    "Faut-il un permis de construire pour une piscine ?",
    "La CAF me réclame un trop-perçu d'allocations familiales",
    "Je suis en chômage partiel, combien dois-je toucher ?",
    "France Travail m'a radié de la liste",
    "Mon permis de chasser suffit-il pour acheter un fusil ?",
    "Mes voisins font du tapage nocturne",
    "On peut louer sans rien signer, c'est permis ?",
    "Dois-je payer l'EHPAD de mon père ?",
    "Le fisc peut-il effacer ma dette d'impôts ?",
    "Notre syndic refuse de montrer les comptes",
)


def _read(name: str) -> list[dict[str, Any]]:
    entries = json.loads((BUILTIN / name).read_text(encoding="utf-8"))
    assert isinstance(entries, list)
    return entries


TOPICS = {entry["id"]: Elsewhere(**entry) for entry in _read("elsewhere.json")}
CARD = CorpusCard("essai", "Essai", "fr", elsewhere=tuple(TOPICS.values()))
LAWS = json.loads((BUILTIN / "laws.json").read_text(encoding="utf-8"))
ALL = Topics(CARD, {"Code civil"}, FRENCH)
SHIPPED = Topics(CARD, LAWS, FRENCH)


def _matching(question: str, topics: Topics = ALL) -> set[str]:
    """The topics that the page would show."""
    return {topic.id for topic in topics.find(question)}


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


@pytest.mark.parametrize("question", ANSWERED)
def test_questions_for_the_laws_that_ship_raise_no_alarm(question: str) -> None:
    assert _matching(question, SHIPPED) == set()


def test_a_topic_is_silent_for_the_law_that_ships_under_its_name() -> None:
    """A law is named in `codes` as `laws.json` names it, or its notice would stand beside its articles."""
    official = {law["url"].rstrip("/"): name for name, law in LAWS.items()}
    for topic in TOPICS.values():
        loaded = official.get((topic.url or "").rstrip("/"))
        assert loaded is None or loaded in topic.codes, topic.id


@pytest.mark.parametrize(
    ("silent", "told", "question"),
    [
        ("unemployment", "unemployment-benefit", "Puis-je toucher le chômage après une démission ?"),
        ("home-lease", "housing-benefit", "Mon APL baisse car le proprio veut augmenter mon loyer"),
        ("traffic", "contesting-a-fine", "Comment contester une amende ?"),
    ],
)
def test_a_question_of_two_laws_is_told_of_the_one_that_does_not_ship(
    silent: str, told: str, question: str
) -> None:
    assert {silent, told} <= _matching(question)
    assert _matching(question, SHIPPED) == {told}


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


def classifier(threshold: float = 0.5) -> LawClassifier:
    """Of one feature, "vol", which leads to air travel, and of vectors of two numbers."""
    weights = np.array([[0.0, 9.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 4.0]], np.float32)
    bias = np.array([2.0, 0.0, 0.0], np.float32)
    return LawClassifier(
        ("vol",), np.ones(1, np.float32), weights, bias, ("air-travel", "taxes"), threshold, "f1"
    )


def plain_vector(_: str) -> Floats:
    return np.array([1.0, 0.0], np.float32)


def test_a_classifier_tells_by_words_and_by_meaning() -> None:
    made, meant = classifier(), np.array([0.0, 1.0], np.float32)

    assert made.topic(("vol",), plain_vector("")) == "air-travel"
    assert made.topic(("arbre",), plain_vector("")) is None
    assert made.topic(("arbre",), meant) == "taxes"
    assert made.probabilities(("vol", "arbre"), meant).sum() == pytest.approx(1)


def test_a_classifier_is_kept_as_it_is(tmp_path: Path) -> None:
    made = classifier()
    made.save(tmp_path / "law.npz")
    read = LawClassifier.load(tmp_path / "law.npz")

    assert (read.features, read.topics, read.threshold) == (made.features, made.topics, made.threshold)
    assert read.encoder == made.encoder == "f1"
    for mine, other in ((read.weights, made.weights), (read.rarity, made.rarity), (read.bias, made.bias)):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"no archive"])
def test_what_is_no_classifier_says_to_fit_it_anew(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "law.npz").write_bytes(content)
    with pytest.raises(BadInput, match="fit it anew"):
        LawClassifier.load(tmp_path / "law.npz")


def test_a_classifier_is_silent_for_a_law_that_is_loaded() -> None:
    air = TOPICS["air-travel"]
    card = CorpusCard(name="law", title="Law", language="fr", elsewhere=(air,))
    loaded = replace(card, elsewhere=(replace(air, codes=("Loi des airs",)),))

    assert Topics(card, (), FRENCH, classifier(), plain_vector).classify("vol") == (air,)
    assert Topics(loaded, ("Loi des airs",), FRENCH, classifier(), plain_vector).classify("vol") == ()
    assert Topics(card, (), FRENCH).classify("vol") == ()
