"""Rules 2 to 4 of the check of summaries: negation, force, persons."""

from __future__ import annotations

import pytest

from indexes.digest.finding import Finding
from indexes.digest.parties import PEOPLE
from indexes.digest.text import word_pattern, wording
from tests.fakes.law.digest import details, kinds, said


def test_any_of_reads_whole_words() -> None:
    pattern = word_pattern("refus* faute_d[e']", "nul")
    assert [m[0] for m in pattern.finditer("refuser, faute d'eau, nul, nullement, un refus")] == [
        "refuser", "faute d'", "nul", "refus",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "law",
    [
        "Le meunier ne ferme point le bief commun.",
        "Le meunier ne peut fermer le bief commun.",
        "Fermer le bief commun est interdit au meunier.",
        "Nul meunier ne ferme le bief commun.",
    ],
)
def test_a_lost_negation(law: str) -> None:
    assert "negation lost" in kinds(law, "Le meunier ferme le bief commun.")
    assert "negation lost" not in kinds(
        law, "Le meunier laisse le bief commun ouvert : le fermer est interdit."
    )


def test_an_added_negation() -> None:
    law = "Le meunier peut vendre la farine du moulin voisin."
    assert details(
        law, "Meunier, vous ne pouvez pas vendre la farine du moulin voisin.", "negation added"
    ) == {"ne pouvez pas vendre la farine"}
    assert "negation added" not in kinds(law, "Meunier, vous pouvez vendre la farine du moulin voisin.")


def test_a_lost_negation_shows_beside_others_that_stayed() -> None:
    law = (
        "Le meunier ne vend pas la farine du dimanche. "
        "Le gardien de la vanne ne peut quitter le barrage pendant la crue."
    )
    ours = (
        "Ne vendez pas la farine du dimanche. Le gardien de la vanne peut quitter le barrage pendant la crue."
    )
    assert "negation lost" in kinds(law, ours)
    assert "negation lost" not in kinds(law, ours.replace("peut", "ne peut pas"))


@pytest.mark.parametrize(
    "ours",
    [
        "Sans accord des voisins, fermer la vanne est exclu.",
        "Seul l'accord des voisins permet de fermer la vanne.",
        "Fermer la vanne est impossible à moins que les voisins soient d'accord.",
    ],
)
def test_other_ways_to_deny(ours: str) -> None:
    law = "La vanne ne peut être fermée qu'avec l'accord des voisins."
    assert not {kind for kind in kinds(law, ours) if kind.startswith("negation")}


def test_brackets_only_explain() -> None:
    law = "Le meunier ruiné rend la clef du moulin communal."
    ours = "Meunier ruiné (vous ne payez plus rien), rendez la clef du moulin communal."
    assert "negation added" not in kinds(law, ours)


def test_obliging_to_what_is_permitted() -> None:
    law = "Le meunier peut ouvrir la vanne pendant la crue."
    assert details(law, "Le meunier doit ouvrir la vanne pendant la crue.", "obliges") == {
        "doit ouvrir la vanne pendant la"
    }
    assert "obliges" not in kinds(law, "Le meunier peut ouvrir la vanne pendant la crue.")


@pytest.mark.parametrize(
    ("law", "ours"),
    [
        ("Le meunier ouvre la vanne.", "Le meunier doit ouvrir la vanne."),  # the plain present obliges
        ("Le meunier peut céder ce qui lui reste.", "Le meunier peut céder ce qu'on lui doit."),  # is owed
        ("Le moulin peut être cédé si le meunier a seize ans.", "Pour céder, il faut avoir 16 ans."),
        ("Le meunier peut partir, à condition de prévenir.", "En partant, le meunier doit prévenir."),
    ],
)
def test_what_is_no_added_duty(law: str, ours: str) -> None:
    assert "obliges" not in kinds(law, ours)


@pytest.mark.parametrize(
    "law",
    [
        "Le meunier doit ouvrir la vanne pendant la crue.",
        "Le meunier est tenu d'ouvrir la vanne pendant la crue.",
        "À peine de nullité du bail, le meunier ouvre la vanne pendant la crue.",
    ],
)
def test_only_permitting_what_is_due(law: str) -> None:
    assert "only permits" in kinds(law, "Le meunier peut ouvrir la vanne pendant la crue.")
    assert "only permits" not in kinds(law, "Le meunier doit ouvrir la vanne pendant la crue.")


def test_not_being_obliged_is_no_duty() -> None:
    law = "Le meunier n'est pas tenu d'ouvrir la vanne pendant la crue."
    assert "only permits" not in kinds(law, "Le meunier peut ouvrir la vanne pendant la crue, ou pas.")


def test_force_is_compared_clause_by_clause() -> None:
    law = "Le meunier doit curer le bief au printemps. Le gardien peut fermer le barrage la nuit."
    ours = "Le meunier doit curer le bief au printemps. Le gardien doit fermer le barrage la nuit."
    assert details(law, ours, "obliges") == {"doit fermer le barrage la nuit"}


def test_a_person_added() -> None:
    law = "Le bief est curé chaque printemps."
    assert details(law, "Le notaire fait curer le bief chaque printemps.", "person added") == {"notaire"}


@pytest.mark.parametrize(
    ("law", "ours"),
    [
        ("Le bailleur du moulin le répare.", "Le propriétaire du moulin le répare."),
        ("Le preneur paie l'eau.", "Le locataire paie l'eau."),
        ("La vente du moulin emporte la meule.", "Le vendeur laisse la meule."),
        ("Le ministère public surveille.", "Le procureur surveille."),
        ("La justice tranche.", "Le juge tranche."),
        ("L'huissier passe.", "Le commissaire de justice passe."),
    ],
)
def test_the_same_person_under_another_name(law: str, ours: str) -> None:
    assert not {kind for kind in kinds(law, ours) if kind.startswith("person")}


def test_headings_name_persons_too() -> None:
    law, ours = "Il cure le bief.", "Le tuteur cure le bief."
    assert details(law, ours, "person added") == {"tuteur"}
    assert said(law, ours, headings=("Titre II : Du tuteur",)) == set()


def test_a_lost_authority() -> None:
    law = "Le juge aux affaires familiales partage la farine devant notaire."
    assert details(law, "Le juge partage la farine.", "person lost") == {
        "juge aux affaires familiales",
        "notaire",
    }


def test_private_persons_may_be_left_out() -> None:
    assert kinds("Le débiteur vide le bief.", "Videz le bief.") == []


@pytest.mark.parametrize(
    ("law", "ours"),
    [
        ("Le moulin est estimé à la moitié.", "Le moulin est jugé valoir la moitié."),
        ("On prévient par écrit.", "Ils consultent la liste."),
        ("Un décret en Conseil d'État fixe le niveau de l'eau.", "Un décret fixe le niveau de l'eau."),
    ],
)
def test_words_that_only_look_like_persons(law: str, ours: str) -> None:
    assert not {kind for kind in kinds(law, ours) if kind.startswith("person")}


def test_every_person_is_known_by_its_own_name() -> None:
    for person in PEOPLE:
        name = "le " + wording(person.name).plain
        assert word_pattern(person.names).search(name), person.name


def test_findings_sort_and_compare() -> None:
    assert Finding("1", "number added", "x") < Finding("2", "number added", "x")
    assert len({Finding("1", "obliges", "x"), Finding("1", "obliges", "x")}) == 1
