"""Passages that can be read alone: by hand in six languages, and what holds of any text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answer.passages import SHORT, units

LONG = "Ce texte est ici pour que l'article soit trop long pour être montré en entier, et rien de plus. " * 3


def closed(text: str, language: str, *wanted: int) -> list[str]:
    found = units(text, language)
    return [text[slice(*found.spans[i])] for i in found.closure(wanted)]


def test_a_short_text_is_shown_whole() -> None:
    text = "Le bailleur rend le dépôt. Il a deux mois."
    assert len(text) <= SHORT
    assert closed(text, "fr", 0) == ["Le bailleur rend le dépôt.", "Il a deux mois."]
    assert units("", "fr").spans == units(" … ", "fr").spans == ()


@pytest.mark.parametrize(
    ("language", "text", "wanted", "shown"),
    [
        ("fr", "Le bailleur rend le dépôt. Il a deux mois. Le loyer se paie par mois.", 1, [0, 1]),
        ("fr", "Le loyer se paie par mois. Toutefois, un an peut être convenu.", 0, [0, 1]),
        ("fr", "Le loyer se paie par mois. Il faut une quittance.", 1, [1]),
        ("fr", "Le voisin peut faire arracher l'arbre. Exceptions : un titre, trente ans passés.", 0, [0, 1]),
        ("fr", "Le vendeur garantit la chose. Ce n'est pas le cas si l'acheteur savait.", 0, [0, 1]),
        ("fr", "Il est libéré s'il prouve l'un des points suivants. La chose était neuve.", 0, [0, 1]),
        ("fr", "Le juge sépare les époux un an. Il faut prouver ce motif. Un acte est dressé.", 1, [0, 1]),
        ("fr", "Le bail est écrit. Un bail oral se prouve, et ce bail vaut autant.", 1, [1]),
        ("fr", "Le bail est écrit. Les règles de cet article valent pour tous.", 1, [1]),
        ("en", "A deposit is paid. The landlord returns this deposit.", 1, [0, 1]),
        ("de", "Der Mieter zahlt eine Kaution. Der Vermieter legt diese Summe an.", 1, [0, 1]),
        ("it", "Il conduttore versa una cauzione. Il locatore custodisce questa somma.", 1, [0, 1]),
        ("nl", "De huurder betaalt een waarborg. De verhuurder bewaart deze som.", 1, [0, 1]),
        ("en", "The seller answers for it. The exception is a known fault.", 0, [0, 1]),
        ("de", "Der Verkäufer haftet. Ausnahmsweise haftet er nicht.", 0, [0, 1]),
        ("it", "Il venditore risponde. Eccezione: il vizio era noto.", 0, [0, 1]),
        ("nl", "De verkoper staat ervoor in. Uitzondering: een bekend gebrek.", 0, [0, 1]),
        (
            "fr",
            "La police est appelée. En cas d'empêchement, elle vient plus tard. Un acte est dressé.",
            1,
            [0, 1],
        ),
        (
            "fr",
            "Les parents déclarent l'enfant. Vous choisissez alors le nom. Un acte est dressé.",
            1,
            [0, 1],
        ),
        ("fr", "Cette règle vaut sans descendant. Chaque parent reçoit un quart.", 0, [0, 1]),
        ("fr", "Le juge peut accorder un délai. Si celui-ci expire, la dette est due.", 1, [0, 1]),
        ("en", "The landlord returns the deposit. He has two months. Rent is paid monthly.", 1, [0, 1]),
        ("en", "Rent is paid monthly. However, a year may be agreed.", 0, [0, 1]),
        ("en", "Rent is paid monthly. It is forbidden to ask for more.", 1, [1]),
        (
            "de",
            "Der Vermieter zahlt zurück. Dies gilt nicht bei Schäden. Miete wird monatlich gezahlt.",
            0,
            [0, 1],
        ),
        ("de", "Der Vermieter zahlt zurück. Die Frist beträgt zwei Monate.", 1, [0, 1]),
        ("it", "Il locatore rende il deposito. In tal caso paga gli interessi.", 1, [0, 1]),
        ("it", "Il canone si paga ogni mese. Tuttavia le parti possono convenire altro.", 0, [0, 1]),
        ("nl", "De verhuurder betaalt terug. Hij heeft twee maanden.", 1, [0, 1]),
        ("nl", "De huur wordt maandelijks betaald. Echter kan een jaar worden afgesproken.", 0, [0, 1]),
        (
            "fr",
            "Le meunier part. Les fils, frères et sœurs peuvent alors entrer. Un acte est dressé.",
            1,
            [0, 1],
        ),
        ("fr", "Le meunier part. Si la roue casse, le juge peut alors ordonner sa réparation.", 1, [1]),
        ("fr", "Le meunier part. Le gardien qui tient le registre des moulins en est informé.", 1, [0, 1]),
        ("fr", "Le meunier part. Le gardien doit être informé.", 1, [1]),
        ("zh", "出租人应当返还押金。该期限为两个月。租金按月支付。", 1, [0, 1]),
        ("zh", "租金按月支付。但是当事人可以另行约定。", 0, [0, 1]),
    ],
)
def test_what_points_back_or_narrows(language: str, text: str, wanted: int, shown: list[int]) -> None:
    text = f"{text} {LONG}"
    found = units(text, language)
    assert list(found.closure([wanted])) == shown


REST = "Le vent passe sur la colline, et personne ne peut le détourner de la vallée. " * 4
FAR = {  # the rule, what stands between, the limit
    "fr": ("Le moulin se loue. Le bail est écrit. Le sel se paie à part. L'usage est libre.", [
        "Une personne mariée n'est pas concernée.",
        "Vous n'avez pas ces droits si le bailleur refuse.",
        "Cet article ne s'applique pas aux barques.",
        "La garantie ne joue pas si la roue était cassée.",
        "Il peut le résilier si la rivière gèle.",
        "Le juge peut la refuser par équité.",
        "Le tribunal peut y mettre fin.",
        "Un acte privé suffit s'il est enregistré.",
        "Ces deux droits sont exclus en cas de fraude.",
    ]),
    "en": ("The mill is let. The lease is in writing. Salt is paid apart. Use is free.", [
        "This section does not apply to boats.",
        "Millers under age are not concerned.",
        "The court may terminate it.",
        "A private deed is enough if it is registered.",
    ]),
    "de": ("Die Mühle wird vermietet. Der Vertrag ist schriftlich. Salz kostet extra. Nutzung ist frei.", [
        "Diese Vorschrift gilt nicht für Boote.",
        "Minderjährige sind davon ausgenommen.",
        "Das Gericht kann sie jederzeit aufheben.",
        "Eine Abschrift genügt, wenn sie beglaubigt ist.",
    ]),
    "it": ("Il mulino si affitta. Il contratto è scritto. Il sale si paga a parte. L'uso è libero.", [
        "Il presente articolo non si applica alle barche.",
        "Chi ha rinunciato non ha questo diritto.",
        "Il giudice può revocarlo.",
        "Una copia basta se è autenticata.",
    ]),
    "nl": ("De molen wordt verhuurd. Het contract is schriftelijk. Zout kost extra. Gebruik is vrij.", [
        "Dit artikel is niet van toepassing op boten.",
        "De rechter kan het op elk moment beëindigen.",
        "Een afschrift volstaat als het gewaarmerkt is.",
    ]),
    "zh": ("磨坊可以出租。合同采用书面形式。盐另行支付。使用不受限制。", [
        "本条对船舶不适用。",
        "出租船舶的，不适用本条第一款的规定。",
        "法院可以撤销该权利。",
    ]),
}  # fmt: skip


@pytest.mark.parametrize(("language", "limit"), [(of, limit) for of in FAR for limit in FAR[of][1]])
def test_a_limit_further_down_comes_with_each_sentence_that_it_takes_back(language: str, limit: str) -> None:
    found = units(f"{FAR[language][0]} {limit} {REST}", language)

    assert 4 in found.closure([0])
    assert 4 in found.closure([2])
    assert 0 in found.closure([4])
    assert 4 not in found.closure([5])


@pytest.mark.parametrize(
    "other",
    [
        "Il doit informer les autres, sinon la vente ne vaut pas.",
        "Le meunier peut vendre si cet article ne joue pas.",
        "La publication ne vaut plus après un an.",
        "Le juge peut aussi le révoquer pour cause légitime.",
        "L'enfant n'a pas ce discernement.",
        "La vente ne vaut pas contre les créanciers.",
    ],
)
def test_what_only_looks_like_a_limit_of_all_before_it(other: str) -> None:
    assert 4 not in units(f"{FAR['fr'][0]} {other} {LONG}", "fr").closure([0])


def test_a_limit_takes_back_its_paragraph_and_one_that_is_a_paragraph_the_article() -> None:
    law = (
        "(1) Er zahlt. Er haftet. Frist ist Mai.\n"
        "(2) Salz kostet. Korn kostet. Diese Regel gilt nicht für Boote."
    )
    found = units(f"{law}\n(3) Absatz 1 gilt nicht für Kinder.\n{LONG}", "de")
    limit, article = 5, 6

    assert limit in found.closure([3])
    assert limit not in found.closure([0])
    assert article in found.closure([0])
    assert article in found.closure([4])


LIST = f"""Sont payés en priorité :
1° Les frais de justice ;
2° Les frais d'obsèques.
Ils se limitent à l'usage.
3° Les salaires.
La liste est complète.
{LONG}"""


def test_an_item_comes_with_what_leads_into_its_list() -> None:
    assert closed(LIST, "fr", 2) == ["Sont payés en priorité :", "2° Les frais d'obsèques."]
    assert closed(LIST, "fr", 3) == [
        "Sont payés en priorité :",
        "2° Les frais d'obsèques.",
        "Ils se limitent à l'usage.",
    ]
    assert len(closed(LIST, "fr", 0)) == 4  # with its items
    assert closed(LIST, "fr", 5) == ["La liste est complète."]
    spans = units(LIST, "fr").runs([4])
    assert [LIST[a:b] for a, b in spans] == ["Sont payés en priorité :", "3° Les salaires."]


def test_conditions_that_count_together_come_together() -> None:
    items = "1° Le loyer n'est pas payé ;\n2° Le locataire est averti ; et\n3° Un mois a passé."
    text = f"Le bail prend fin si :\n{items}\n{LONG}"
    assert units(text, "fr").closure([1]) == (0, 1, 2, 3)
    either = text.replace("; et", "; ou")
    assert units(either, "fr").closure([1]) == (0, 1)


def test_lists_in_lists_and_numbered_paragraphs() -> None:
    text = f"Ont droit :\n1° Les parents :\na) mariés ;\nb) non mariés ;\n2° Les enfants.\n{LONG}"
    found = units(text, "fr")
    assert found.closure([3]) == (0, 1, 3)
    assert found.closure([4]) == (0, 4)
    german = "(1) Er zahlt.\n(2) Er haftet für:\n1. Mängel,\n2. Schäden.\n(3) Die Miete ist fällig."
    found = units(f"{german}\n{LONG}", "de")
    assert found.closure([0]) == (0,)
    assert found.closure([3]) == (1, 3)
    assert found.closure([4]) == (4,)


PIECES = st.sampled_from(
    ["Le juge décide.", "Toutefois, il attend.", "1° un ;", "2° deux ; et", "a) x,", "Liste :", "\n", "- un",
     "Il peut.", "(1) Der Mieter.", "但是不行。", "（一）甲；", "…", "suite en bas"]
)  # fmt: skip


@given(
    st.lists(PIECES, max_size=30).map(" ".join), st.sampled_from(["fr", "de", "zh", "en", None]), st.data()
)
def test_what_is_shown_stands_in_the_text_and_lacks_nothing(
    text: str, language: str | None, data: st.DataObject
) -> None:
    text = text.replace(" \n ", "\n")
    found = units(text, language)
    assert list(found.spans) == sorted(found.spans)
    assert all(0 <= a < b <= len(text) and text[a:b] == text[a:b].strip() for a, b in found.spans)
    assert all(b <= c for (_, b), (c, _) in zip(found.spans, found.spans[1:], strict=False))
    if not found.spans:
        return
    wanted = data.draw(st.lists(st.integers(0, len(found.spans) - 1), min_size=1, max_size=4))
    shown = found.closure(wanted)
    assert set(wanted) <= set(shown)
    assert all(found.needs[unit] <= set(shown) for unit in shown)
    assert all(set(found.items.get(unit, ())) <= set(shown) for unit in wanted)
    runs = found.runs(wanted)
    inside = {i for i, (a, b) in enumerate(found.spans) if any(c <= a and b <= d for c, d in runs)}
    assert inside == set(shown)
    with pytest.raises(IndexError):
        found.closure([len(found.spans)])


def test_any_text_takes_time_by_its_length() -> None:
    for sign in ("a", "(", "1) ", "; ", "Il ", ":\n", "但", "- ", "i"):
        assert units(sign * 100_000, "fr").spans == units(sign * 100_000, "fr").spans
