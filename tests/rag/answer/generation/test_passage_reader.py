"""Which passages a model chose, in whatever form it said so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answer.generation.parser import ArticleLabels
from rag.answer.generation.passage_reader import PassageReader
from rag.answer.types import Choice, ChoicePiece, ConnectingLine, Refusal
from rag.types import Article
from tests.fakes.answers.model_server import REFUSAL, quote, root, say

KEYS = (
    "Le meunier rend le moulin propre à la fin du bail, et remet au bailleur toutes les pièces de la roue. "
    "Il en remet les clés dans les trois jours, en mains propres ou chez le gardien de la colline voisine. "
    "Le bailleur lui en donne un reçu, qui porte la date de la remise et le nom de celui qui l'a faite."
)
RENT = (
    "Le loyer du moulin se paie en farine, le premier jour de chaque mois, sur la table du grenier. "
    "Le meunier qui paie en retard donne une mesure de sel de plus pour chaque semaine entière de retard. "
    "Le bailleur peut y renoncer, s'il le dit par écrit avant la fin de l'année où le retard a commencé."
)
LAW = (
    Article("KEYS", "Code des moulins", "7", KEYS, language="fr"),
    Article("RENT", "Code des moulins", "1907", RENT, language="fr"),
    Article("SAIL", "Code des voiles", "1907-1", RENT.replace("moulin", "bateau"), language="fr"),
)
REFUSING = "Les articles trouvés ne suffisent pas pour répondre à cette question."
LINES = [say("rule"), quote("A1.2"), say("but"), quote("A2.2-A2.3")]
PIECES: list[ChoicePiece] = [
    ConnectingLine("rule"),
    Choice("KEYS", 1, 1),
    ConnectingLine("but"),
    Choice("RENT", 1, 2),
]


def read(raw: str, cuts: tuple[int, ...] = ()) -> list[ChoicePiece]:
    reader = PassageReader(ArticleLabels([article.id for article in LAW]), LAW, REFUSING)
    found: list[ChoicePiece] = []
    at = 0
    for cut in [*sorted(cuts), len(raw)]:
        found += reader.feed(raw[at:cut])
        at = max(at, cut)
    return [*found, *reader.close()]


def choices(raw: str) -> list[tuple[str, int | None, int | None]]:
    return [(one.article_id, one.first, one.last) for one in read(raw) if isinstance(one, Choice)]


@pytest.mark.parametrize(
    "raw",
    [
        "".join(LINES),
        "```json\n" + "".join(LINES) + "```",
        "Voici les passages :\n" + "".join(LINES),
        "[" + ", ".join(line.strip() for line in LINES) + "]",
        root(LINES),
        "<think>A3.1 ?</think>" + "".join(LINES),
    ],
)
def test_what_was_asked_for_in_any_wrapping(raw: str) -> None:
    assert read(raw) == PIECES


@given(st.sampled_from(["".join(LINES), root(LINES)]), st.data())
def test_how_a_stream_is_cut_changes_nothing(raw: str, data: st.DataObject) -> None:
    assert read(raw, tuple(data.draw(st.lists(st.integers(0, len(raw)))))) == PIECES


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("Il faut les rendre en trois jours [A1.2].", [("KEYS", 1, 1)]),
        ("- trois jours (A1.2)\n- du sel (A2.2 à A2.3)", [("KEYS", 1, 1), ("RENT", 1, 2)]),
        ("Voyez A1.", [("KEYS", None, None)]),
        ('{"quote": "A1§2"}', [("KEYS", 1, 1)]),
        ("Voyez A1:2 et A2§2-A2§3.", [("KEYS", 1, 1), ("RENT", 1, 2)]),
        ("A1: 3 phrases.", [("KEYS", None, None)]),
        ("A1.1 A1.3", [("KEYS", 0, 0), ("KEYS", 2, 2)]),
        ("Passage 1, phrases 2 à 3.", [("KEYS", 1, 2)]),
        (
            "Passage 1, phrases 1 et 3 ; passage 2, phrase 1.",
            [("KEYS", 0, 0), ("KEYS", 2, 2), ("RENT", 0, 0)],
        ),
        ("A1 parle des clés, bon passage. A2 aussi.\n\nA1.2\nA2.1", [("KEYS", 1, 1), ("RENT", 0, 0)]),
        ("A1.1 would do, A2.1 too.\n\n**Answer:** rule → A1.2", [("KEYS", 1, 1)]),
        ("A1.1, dann A2.1.\nAntwort: A2.2", [("RENT", 1, 1)]),
        ("Réponse : voir ci-dessus, A1.1.\nRéponse : rien de plus", [("KEYS", 0, 0)]),
        ("A1.2 is about keys, so I leave it. A2.1 is the rent.", [("RENT", 0, 0)]),
        ("A1.2 parle des clés, ce n'est pas ça. A2.1 le dit.", [("RENT", 0, 0)]),
        ("A1.2 does not apply here. A2.1 does.", [("RENT", 0, 0)]),
        ("A1.2 lasse ich weg. Es gilt A2.1.", [("RENT", 0, 0)]),
        ("Article 7 : il faut les rendre.", [("KEYS", None, None)]),
        ("L'article 1907 du Code des moulins le dit.", [("RENT", None, None)]),
        ("Selon l'art. 1907-1 du Code des voiles…", [("SAIL", None, None)]),
        ("Voyez RENT.", [("RENT", None, None)]),
        ('{"quote": "1907.2"}', [("RENT", 1, 1)]),
        ('{"quote": ["A1.1", "A1.3"]}', [("KEYS", 0, 0), ("KEYS", 2, 2)]),
        ("Le texte dit : « Il en remet les clés dans les trois jours, en mains propres »", [("KEYS", 1, 1)]),
        ("il en remet les clés dans les trois jours, en mains propres", [("KEYS", 1, 1)]),
        (  # a copy with a word changed
            "Le bailleur lui en donne un reçu, avec la date de la remise et le nom de celui qui l'a faite.",
            [("KEYS", 2, 2)],
        ),
        ('{"answer": [{"say": "rule"}, {"quote": "A1.2"}, {"quote": "A2', [("KEYS", 1, 1)]),
        ("L'article 7 ne répond pas à la question. Voyez A2.1.", [("RENT", 0, 0)]),
        ("Voyez A1.77.", []),
        ('{"text": "Le meunier paie.", "articles": [], "quotes": []}', []),
        ("Voyez A8.1 et l'article 4.", []),
        ("Voyez KEYS.2 et 1907-1.1.", [("KEYS", 1, 1), ("SAIL", 0, 0)]),
        (f"« {KEYS.split('. ')[1]}. » (Article 7)", [("KEYS", 1, 1)]),
        (f"{KEYS.split('. ')[1]}. (Code des moulins, article 7)", [("KEYS", 1, 1)]),
    ],
)
def test_sloppy_output_is_read_too(raw: str, expected: list[tuple[str, int | None, int | None]]) -> None:
    assert choices(raw) == expected


@pytest.mark.parametrize(
    "raw",
    [
        REFUSAL,
        REFUSING,
        '{"answer": []}',
        '{"refusal": true, "answer": []}',
        "Désolé, aucun de ces articles ne répond à votre question.",
        "None of these articles answers the question.",
        "Die Artikel beantworten die Frage leider nicht.",
        "A1.1 is about keys.\n\n**Answer:** none of these articles answers the question.",
        "Nessuno di questi articoli risponde alla domanda: non trattano questo tema.",
        "Geen van deze artikelen beantwoordt de vraag.",
        "这些条文没有涉及您的问题。",
    ],
)
def test_a_refusal_in_any_words(raw: str) -> None:
    assert read(raw) == [Refusal()]


def test_a_model_that_goes_on_is_ended() -> None:
    reader = PassageReader(ArticleLabels([article.id for article in LAW]), LAW)
    found = list(reader.feed(quote("A1.1") * 100))

    assert len(found) == PassageReader.most
    assert reader.full


FRAGMENTS = st.sampled_from([*LINES, "A1.", "[A2", '{"quote": ', "{", "]}", "article 7", "9" * 40])


@given(st.lists(FRAGMENTS | st.text(max_size=8)).map("".join))
def test_garbage_never_raises(raw: str) -> None:
    for piece in read(raw):
        if isinstance(piece, Choice):
            assert piece.article_id in {article.id for article in LAW}
