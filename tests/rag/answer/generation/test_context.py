from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from rag.answer.generation.context import ELLIPSIS, LEAST_TOKENS, PromptContext, context_depth, fit, tokens
from rag.text.analysers import analyser
from rag.types import Article

FRENCH = analyser("fr")
FRAME = 20
MILL = "Le meunier moud le grain. "
KEY = "La clé du moulin est en fer. "


def article(name: str, text: str) -> Article:
    return Article(name, "Code des moulins", "1", text)


def fitted(articles: Sequence[Article], room: int, question: str = "Où est la clé ?") -> PromptContext:
    return fit(articles, question, room, FRENCH, lambda article: FRAME)


def cost(found: PromptContext) -> int:
    return sum(FRAME + tokens(excerpt.text) for excerpt in found.excerpts)


def test_tokens_are_never_guessed_too_few() -> None:
    assert tokens("") == 0
    assert tokens("abc") == 1
    assert tokens("12, 3.") == 6  # three digits and two signs, and a blank that is a third
    assert tokens("民法典") == 5  # one and a half each
    assert tokens("abc" * 100) == 100


def test_all_that_fits_is_whole() -> None:
    articles = [article("a", MILL * 3), article("b", KEY)]

    found = fitted(articles, 10_000)

    assert [excerpt.text for excerpt in found.excerpts] == [MILL * 3, KEY]
    assert (found.trimmed, found.left_out) == ((), ())


def test_the_longest_is_trimmed_to_what_the_question_asks_and_the_others_stay_whole() -> None:
    long = article("long", MILL * 60 + KEY + MILL * 60)
    short = article("short", MILL)

    found = fitted([long, short], 300)

    first, second = found.excerpts
    assert second.text == MILL
    assert KEY.strip() in first.text
    assert first.text.endswith(ELLIPSIS)
    assert ELLIPSIS in first.text.partition(KEY.strip())[0]
    [trimmed] = found.trimmed
    assert (trimmed.article_id, trimmed.of) == ("long", len(long.text))
    assert (
        trimmed.kept == 25 * first.text.count(MILL.strip()) + 28
    )  # the letters of its sentences, without blanks
    assert cost(found) <= 300


def test_a_neighbour_of_what_matters_comes_before_what_stands_far_off() -> None:
    far = "Le vent tourne les ailes. "
    text = far * 10 + "Elle pend au clou. " + KEY + far * 40

    [excerpt] = fitted([article("a", text)], FRAME + LEAST_TOKENS + 10).excerpts

    assert f"Elle pend au clou. {KEY.strip()}" in excerpt.text


def test_a_sentence_too_long_to_show_is_begun() -> None:
    [excerpt] = fitted([article("a", "farine " * 3000)], 200).excerpts

    assert excerpt.text.startswith("farine farine")
    assert excerpt.text.endswith(f"farine {ELLIPSIS}")


def test_where_too_little_of_each_would_be_left_the_last_are_left_out() -> None:
    articles = [article(name, MILL * 50) for name in "abcde"]

    found = fitted(articles, 3 * (FRAME + LEAST_TOKENS))

    assert [excerpt.article.id for excerpt in found.excerpts] == ["a", "b", "c"]
    assert found.left_out == ("d", "e")
    assert [trimmed.article_id for trimmed in found.trimmed] == ["a", "b", "c"]


def test_no_room_and_no_articles() -> None:
    assert fitted([article("a", MILL)], 0) == PromptContext((), (), ("a",))
    assert fitted([article("a", MILL)], -500) == PromptContext((), (), ("a",))
    assert fitted([], 100) == PromptContext(())


SENTENCES = st.lists(
    st.sampled_from(
        [MILL, KEY, "Art. 5. Le vent.\n", "民法典规定。", "x" * 300 + " ", "12, 13 ; 14.\r\n\r\n\n"]
    ),
    max_size=40,
).map("".join)


@given(st.lists(SENTENCES, max_size=8), st.integers(-10, 1500), st.text(max_size=30))
def test_within_the_budget_in_order_and_nothing_dropped_silently(
    texts: list[str], room: int, question: str
) -> None:
    articles = [article(str(i), text) for i, text in enumerate(texts)]

    found = fitted(articles, room, question)

    shown = [excerpt.article.id for excerpt in found.excerpts]
    assert cost(found) <= max(room, 0)
    assert [*shown, *found.left_out] == [article.id for article in articles]
    trimmed = {one.article_id: one for one in found.trimmed}
    for excerpt in found.excerpts:
        if excerpt.article.id not in trimmed:
            assert excerpt.text == excerpt.article.text
            continue
        one = trimmed[excerpt.article.id]
        assert 0 < one.kept < one.of
        at = 0
        for part in excerpt.text.split(ELLIPSIS):  # every piece stands in the article, and in this order
            for line in part.split("\n"):
                at = excerpt.article.text.index(line.strip(), at) + len(line.strip())


def test_a_very_long_article_takes_little_time() -> None:
    text = (MILL + KEY) * 10_000

    [excerpt] = fitted([article("a", text)], 2000).excerpts

    assert tokens(excerpt.text) <= 2000


# --- how many articles ---


def test_ten_unless_it_is_told_to_adapt() -> None:
    assert context_depth([1.0] * 50) == 10
    assert context_depth([1.0] * 4) == 4
    assert context_depth([]) == 0
    assert context_depth([1.0] * 50, setting=3) == 3


def test_it_adapts_to_where_scores_drop_and_to_the_area() -> None:
    scores = [10.0, 9.0, 8.0, 6.0, 5.0, 4.9, *[1.0] * 30]

    assert context_depth(scores, setting=None) == 5  # 5.0 is half of the best, 4.9 is less
    assert context_depth(scores, setting=None, typical=12.0) == 12
    assert context_depth(scores, setting=None, typical=40.0) == 15
    assert context_depth([10.0, 1.0, 1.0, 1.0], setting=None) == 3
    assert context_depth([10.0, 1.0], setting=None) == 2
    assert context_depth([0.0] * 9, setting=None) == 9
    assert context_depth([1.0] * 50, setting=None) == 15


@given(st.lists(st.floats(-5, 5), max_size=60), st.none() | st.integers(0, 15), st.none() | st.floats(0, 30))
def test_never_more_than_there_are(scores: list[float], setting: int | None, typical: float | None) -> None:
    ranked = sorted(scores, reverse=True)

    assert 0 <= context_depth(ranked, setting=setting, typical=typical) <= min(len(ranked), 15)
