from __future__ import annotations

import json
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rag.answer.generation import parser as objects
from rag.answer.generation.claim_reader import LONGEST, ClaimReader, ProseReader
from rag.answer.generation.parser import ArticleLabels
from rag.answer.types import Piece, Quote, Refusal, Statement
from rag.types import Article
from tests.fakes.answers.model_server import REFUSAL, root, sentence

IDS = ("KEYS", "RENT", "12")
LAW = (
    Article("KEYS", "Mill Code", "7", "The occupant returns the keys.", language="en"),
    Article("RENT", "Mill Code", "1907", "The rent is paid in flour.", language="en"),
    Article("12", "Mill Code", "9", "The wind belongs to all.", language="en"),
)
REFUSING = "The articles that were found are not enough."
ONE = sentence("Give the keys back.", ("A1", "returns the keys"))
TWO = sentence("Pay in flour.", ("RENT", "paid in flour"))
LINES = [ONE, TWO]
PIECES: list[Piece] = [
    Statement("Give the keys back.", ("KEYS",), (Quote("KEYS", "returns the keys"),)),
    Statement("Pay in flour.", ("RENT",), (Quote("RENT", "paid in flour"),)),
]


def a_reader() -> ClaimReader:
    return ClaimReader(ArticleLabels(IDS), LAW, REFUSING)


def read(text: str, cuts: tuple[int, ...] = ()) -> tuple[list[Piece], int]:
    """The pieces of a stream that comes in parts, and how many could not be read."""
    reader = a_reader()
    found: list[Piece] = []
    at = 0
    for cut in [*sorted(cuts), len(text)]:
        found += reader.feed(text[at:cut])
        at = max(at, cut)
    found += reader.close()
    return found, reader.unreadable


@pytest.mark.parametrize(
    "text",
    [
        "".join(LINES),
        "\r\n".join(line.strip() for line in LINES),
        "\n\n".join(LINES),
        "".join(line.strip() for line in LINES),
        "```json\n" + "".join(LINES) + "```\n",
        "Here is {my} answer [as asked]:\n\n" + "".join(LINES) + "\nI hope that {this} helps :-}",
        'He said "so {\n' + "".join(LINES),
        "[" + ",\n".join(line.strip() for line in LINES) + "]",
        "[" + ",\n".join(line.strip() for line in LINES) + ",]",
        root(LINES),
        json.dumps(json.loads(root(LINES)), indent=2),
        '{"answer": [' + ",".join(line.strip() for line in LINES) + "]}",
        '{"answer": {"sentences": [' + ",".join(line.strip() for line in LINES) + "]}}",
        "".join(json.dumps(json.loads(line), indent=1) + "\n" for line in LINES),
        "".join(line.replace("]}", "],}") for line in LINES),
        "1. " + "2. ".join(LINES),
        "<think>{hm}</think>" + "".join(LINES),
    ],
)
def test_pieces_are_found_however_they_are_written(text: str) -> None:
    assert read(text)[0] == PIECES


@given(st.sampled_from(["".join(LINES), root(LINES), "```\n" + "".join(LINES) + "``` {x} "]), st.data())
def test_how_a_stream_is_cut_changes_nothing(text: str, data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(text))))

    assert read(text, tuple(cuts)) == read(text)


ODD = st.text(st.sampled_from('{}[]":,\\\n\t ab0é' + "\ud83d"), max_size=120)
FRAGMENTS = st.lists(
    st.one_of(
        ODD,
        st.sampled_from(
            [*LINES, REFUSAL, '{"text": ', '"articles": [', '{"answer": [', '"quotes"', "]}", "null"]
        ),
    ),
    max_size=12,
).map("".join)


@given(FRAGMENTS, st.lists(st.integers(0, 400)))
@example('{"text": "a', [])
@example("{" * 50, [])
def test_garbage_never_raises_and_gives_the_same_in_any_parts(text: str, cuts: list[int]) -> None:
    pieces, unreadable = read(text, tuple(min(cut, len(text)) for cut in cuts))

    assert (pieces, unreadable) == read(text)
    for piece in pieces:
        if isinstance(piece, Statement):
            json.dumps(piece.text).encode("ascii")
            piece.text.encode("utf-8")  # no half characters


@pytest.mark.parametrize(
    "broken",
    [
        '{"text": "no end of the string, "articles": ["A1"]}\n',
        '{"text": "x", "articles": ["A1"\n',
        '{"text": "x" "articles": ["A1"]}\n',
        "{'text': 'x', 'articles': ['A1']}\n",
        '{"text": "x", "articles": ["A1"]]\n',
        '{"text": "a \\u12 b"}\n',
        '{"text": "x", "text": "y", "articles": ["A1"]}\n',
        '{"text": 5, "articles": ["A1"]}\n',
        '{"text": ["x"], "articles": ["A1"]}\n',
        '{"text": "x", "articles": {"A1": 1}}\n',
        '{"text": "x", "articles": [["A1"]]}\n',
        '{"text": "x", "articles": ["A1"], "quotes": "returns"}\n',
        '{"text": "x", "articles": ["A1"], "quotes": [{"article": "A1", "text": 3}]}\n',
        '{"text": "x", "articles": [true]}\n',
        '{"text": NaN}\n',
        '{"text": ""}\n',
        '{"sentence": "x"}\n',
        '{"article": "A1", "text": "a quote alone"}\n',
        '{"text": "' + "x" * (LONGEST + 1) + '"}\n',
    ],
)
def test_what_cannot_be_read_is_counted_and_its_neighbours_are_found(broken: str) -> None:
    pieces, unreadable = read(ONE + broken + TWO)

    assert pieces == PIECES[:2]
    assert unreadable >= 1


def test_a_broken_item_does_not_hide_the_rest_of_its_object() -> None:
    text = '{"answer": [{"text": 5}, {"text": "x", "x": tru}, ' + ONE + '], "refusal": false}'

    pieces, unreadable = read(text)

    assert pieces[0] == PIECES[0]
    assert unreadable >= 2


def test_a_sentence_is_known_with_its_last_character() -> None:
    for text in (ONE, root(LINES), "[" + ONE):
        reader = a_reader()
        end = text.index("}]}") + 3
        assert list(reader.feed(text[: end - 1])) == []
        assert list(reader.feed(text[end - 1 : end])) == PIECES[:1]


def test_a_stream_that_ends_inside_a_sentence_says_so() -> None:
    reader = a_reader()
    assert list(reader.feed(ONE + '{"text": "half of')) == PIECES[:1]
    assert list(reader.close()) == []
    assert reader.unfinished
    assert reader.unreadable == 1


@pytest.mark.parametrize(
    "text",
    [REFUSAL, '{"refusal": true, "answer": []}', REFUSING, f"**{REFUSING}**\n",
     json.dumps({"text": REFUSING.upper(), "articles": []}),
     "Sorry, none of these articles answers your question.",
     "Ces articles ne répondent pas à votre question."],
)  # fmt: skip
def test_a_refusal_in_any_form(text: str) -> None:
    assert read(text)[0] == [Refusal()]


@pytest.mark.parametrize(
    "text", ['{"refusal": false}', '{"refusal": "true"}', '{"missing": "a lost key"}', "Hello, how are you?"]
)
def test_what_says_nothing_is_nothing(text: str) -> None:
    assert read(text)[0] == []


def test_half_characters_are_joined_or_replaced() -> None:
    [joined] = read('{"text": "\ud83d\ude00 \\ud83d", "articles": ["A1"]}')[0]

    assert joined == Statement("\U0001f600 �", ("KEYS",))


@pytest.mark.parametrize(
    ("quotes", "expected"),
    [
        ('[{"article": "A1", "text": "q"}]', [("KEYS", "q")]),
        ('[{"article": 1, "quote": "q"}]', [("KEYS", "q")]),
        ('{"article": "KEYS", "text": "q"}', [("KEYS", "q")]),
        ('{"A1": "q", "A2": "r"}', [("KEYS", "q"), ("RENT", "r")]),
    ],
)
def test_quotes_in_other_forms(quotes: str, expected: list[tuple[str, str]]) -> None:
    [found] = read(f'{{"text": "x", "quotes": {quotes}}}')[0]

    assert isinstance(found, Statement)
    assert [(quote.article_id, quote.text) for quote in found.quotes] == expected
    assert found.article_ids == tuple(article for article, _ in expected)


@pytest.mark.parametrize(
    ("written", "meant"),
    [("A1", "KEYS"), ("a2", "RENT"), ("[A3]", "12"), ("KEYS", "KEYS"), (1, "KEYS"), ("2", "RENT"),
     ("12", "12"), (12, "12"), ("A9", "A9"), ("KEY", "KEY"), (99, "99"), (True, None), (None, None),
     (1.5, None), ([], None)],
)  # fmt: skip
def test_a_label_an_id_or_a_place_names_an_article_and_the_unknown_stays_to_be_stopped(
    written: object, meant: str | None
) -> None:
    assert ArticleLabels(IDS).id(written) == meant


def test_ids_that_look_like_labels_or_places_win() -> None:
    labels = ArticleLabels(["A2", "A1", "3", "1"])

    assert labels.labels == ("X1", "X2", "X3", "X4")
    assert [labels.id(name) for name in ("A2", "A1", 3, 1, "X1", 2)] == ["A2", "A1", "3", "1", "A2", "A1"]


@pytest.mark.parametrize("name", ["A2", "[A2]", "a2", "1907", "article 1907", "Art. 1907", "RENT", "A2.1"])
def test_what_a_model_may_call_an_article(name: str) -> None:
    [found] = read(json.dumps({"text": "Pay in flour.", "articles": [name]}))[0]

    assert found == Statement("Pay in flour.", ("RENT",))


@pytest.mark.parametrize(
    "text",
    [
        "Give the keys back [A1]. Pay in flour [A2].",
        "- Give the keys back. (A1)\n- Pay in flour. (A2)",
        "Here is the answer:\n\n1. **Give the keys back** [A1, A1.1].\n2. Pay in flour (A2.1).\n",
        "<think>A3?</think>Give the keys back (A1).\nPay in flour (RENT).",
    ],
)
def test_plain_prose_and_bullets_are_read_too(text: str) -> None:
    found = read(text)[0]

    assert [
        (one.text.replace(" (RENT)", ""), one.article_ids) for one in found if isinstance(one, Statement)
    ] == [("Give the keys back.", ("KEYS",)), ("Pay in flour.", ("RENT",))]


def test_an_article_that_prose_names_is_cited_and_its_label_is_put_into_words() -> None:
    [first, second] = read("Under article 1907, pay in flour. As A1 says, give the keys back.")[0]

    assert first == Statement("Under article 1907, pay in flour.", ("RENT",))
    assert second == Statement("As art. 7 says, give the keys back.", ("KEYS",))


@pytest.mark.parametrize(
    "text",
    ['{"text": "' * 20_000, "[" * 200_000, '{"a":' * 50_000, "{" * 200_000, '{"text": "x"}\n' * 10_000,
     ('{"' + "x" * 100 + "\n") * 2_000, '{"answer": [' + '{"text": "\\u0041"},' * 9_000,
     '\n{"text":' * 20_000],
)  # fmt: skip
def test_very_long_garbage_takes_little_time(text: str) -> None:
    begun = time.process_time()
    reader = a_reader()
    pieces = [piece for start in range(0, len(text), 16) for piece in reader.feed(text[start : start + 16])]
    pieces += reader.close()

    assert time.process_time() - begun < 20  # a tenth of it, where nobody else computes
    assert len(pieces) <= objects.MOST // 10
    assert reader.full == (len(text) > objects.MOST)


def test_prose_is_cut_into_sentences_that_name_no_article() -> None:
    reader = ProseReader("I cannot answer.")
    assert list(reader.feed("Give the keys back, as art. 7 says. Pay ")) == []
    assert list(reader.feed("in flour.\n- Do not wait.")) == []

    assert list(reader.close()) == [
        Statement("Give the keys back, as art. 7 says."),
        Statement("Pay in flour."),
        Statement("- Do not wait."),
    ]


def test_prose_that_refuses() -> None:
    reader = ProseReader("I cannot answer.")
    assert list(reader.feed("Sorry: i cannot ANSWER!")) == []
    assert list(reader.close()) == [Refusal()]
