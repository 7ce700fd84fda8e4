"""A bridge is learnt: what its probabilities are, what is kept out, and that nothing else decides."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexes.build.query_expansion import LEAST, forms, learnt_from, stop_terms
from indexes.build.translation_model import TranslationSettings, learn
from rag.encoders.static import StaticEncoder
from rag.retrieval.term_counts import count
from rag.retrieval.translation_model import TranslationModel
from rag.text.analysers import LANGUAGES, analyser
from rag.types import Article, Question

CUT = analyser("fr")
LAW = (
    Article("1", "Code", "1", "Le contrat de travail est rompu par le licenciement."),
    Article("2", "Code", "2", "Le licenciement se motive. Le préavis se paie."),
    Article("3", "Code", "3", "Le bail prend fin par un congé du bailleur."),
    Article("4", "Code", "4", "Le congé du bailleur se motive."),
    Article("5", "Code", "5", "Le voisin coupe les branches."),
    Article("6", "Code", "6", "Le tuteur rend ses comptes."),
)
ASKED = (
    *(Question(f"v{n}", f"Mon patron m'a viré {w}", ("1",)) for n, w in enumerate(("hier", "mardi", "tôt"))),
    *(Question(f"w{n}", f"Je suis viré, {w} ?", ("2",)) for n, w in enumerate(("normal", "payé", "motif"))),
    *(Question(f"p{n}", f"Le proprio me met dehors {w}", ("3",)) for n, w in enumerate(("hier", "vite"))),
    *(Question(f"q{n}", f"Mon proprio {w}", ("4",)) for n, w in enumerate(("exagère", "crie", "part"))),
)
LOOSE = TranslationSettings(common=1.0, surprise=0.0, least=0.001, synonyms=0.0)
STOP = frozenset({"motiv"})


def learned(
    questions: Sequence[Question] = ASKED,
    law: Sequence[Article] = LAW,
    chosen: TranslationSettings = LOOSE,
    encoder: StaticEncoder | None = None,
) -> TranslationModel:
    cut = [CUT.terms(q.text) for q in questions]
    return learn(count(law, CUT), questions, cut, encoder, chosen, STOP)


def term(word: str) -> str:
    [found] = CUT.terms(word)
    return found


def test_a_word_is_bridged_to_what_the_articles_it_asks_for_have_in_common() -> None:
    bridge = learned()
    best = bridge.pairs[term("viré")][0]
    assert (best.law, best.questions) == (term("licenciement"), 6)
    assert {p.law for p in bridge.pairs[term("proprio")][:2]} == {term("congé"), term("bailleur")}
    assert term("dehors") not in bridge.pairs  # its questions cite one article: two are needed
    assert all(p.law != "motiv" for pairs in bridge.pairs.values() for p in pairs)


def test_one_round_by_hand() -> None:
    law = (
        Article("1", "C", "1", "bail"),
        Article("2", "C", "2", "bail loyer"),
        Article("3", "C", "3", "mur"),
    )
    asked = (Question("a", "toit", ("1",)), Question("b", "toit", ("2",)), Question("c", "pierre", ("3",)))
    bridge = learned(asked, law, TranslationSettings(1, common=1.0, surprise=0.0, least=0.0, synonyms=0.0))
    # to begin, toit: bail 1/2, loyer 1/2; the empty word: bail, loyer and mur 1/3 each. So toit gets
    # (1/2) / (1/2 + 1/3) = 3/5 of bail twice and of loyer once
    [pair] = bridge.pairs["toit"]  # loyer stands beside it in one question alone
    assert (pair.law, pair.questions, pair.probability) == ("bail", 2, pytest.approx(2 / 3, abs=1e-4))


@st.composite
def lessons(draw: st.DrawFn) -> list[Question]:
    words = st.sampled_from(["viré", "patron", "proprio", "licenciement", "motivé", "voisin", "12", "le"])
    ids = st.lists(st.sampled_from(["1", "2", "3", "4", "5", "none"]), max_size=3).map(tuple)
    texts = draw(st.lists(st.tuples(st.lists(words, max_size=5).map(" ".join), ids), max_size=30))
    return [Question(str(n), text, gold) for n, (text, gold) in enumerate(texts)]


@given(questions=lessons(), seed=st.integers(0, 9), synonyms=st.sampled_from([0.0, 0.15, 1.0]))
@settings(deadline=None)
def test_probabilities_add_up_to_one_at_most_and_the_order_of_questions_is_nothing(
    questions: list[Question], seed: int, synonyms: float
) -> None:
    chosen = TranslationSettings(common=1.0, surprise=0.0, least=0.001, synonyms=synonyms, nearness=-1.0)
    bridge = learned(questions, chosen=chosen, encoder=encoder())
    shuffled = [questions[i] for i in np.random.default_rng(seed).permutation(len(questions))]
    assert learned(shuffled, chosen=chosen, encoder=encoder()) == bridge
    for lay, pairs in bridge.pairs.items():
        assert 0 < sum(p.probability for p in pairs) <= 1 + 1e-3  # each is rounded
        assert len({p.law for p in pairs}) == len(pairs) <= chosen.max_terms
        for one in {lay, *(p.law for p in pairs)}:
            assert one not in STOP
            assert not any(letter.isdigit() for letter in one)
        assert lay not in {b.law for b in bridge.expand([lay])}


def encoder() -> StaticEncoder:
    words = [term(w) for w in ("viré", "licenciement", "congé", "bailleur", "boîte", "contrat")]
    vectors = np.array([[1, 0], [0.9, 0.1], [0, 1], [0.1, 0.9], [1, 0.1], [0, 0]], dtype=np.float32)
    return StaticEncoder.of("by hand", CUT, {w: n for n, w in enumerate(words)}, vectors)


def test_a_word_that_no_question_has_gets_the_terms_that_are_near() -> None:
    bridge = learned((), chosen=TranslationSettings(common=1.0, synonyms=0.5), encoder=encoder())
    [pair] = bridge.pairs[term("boîte")]
    assert (pair.law, pair.questions) == (term("licenciement"), 0)
    assert pair.near == pytest.approx(1.0, abs=0.01)
    assert pair.probability <= 0.5


@pytest.mark.parametrize(
    ("questions", "law"),
    [((), LAW), (ASKED[:1], LAW), (ASKED, ()), ((), ()), ([Question("q", "?", ("1",))], LAW)],
)
def test_of_too_little_nothing_is_learnt(questions: Sequence[Question], law: Sequence[Article]) -> None:
    bridge = learned(questions, law, TranslationSettings())
    assert bridge.expand(["viré", "unheard"]) == ()
    assert bridge.law_terms == ()


def test_an_index_learns_from_a_hundred_questions() -> None:
    many = [Question(f"{n}", q.text, q.article_ids) for n, q in enumerate(ASKED * 12)][:LEAST]
    assert learnt_from(count(LAW, CUT), LAW, many[1:], CUT) is None
    assert learnt_from(count(LAW, CUT), LAW, many, CUT) is not None


def test_forms_are_those_that_articles_write_most() -> None:
    told = forms(LAW, CUT, [term("licenciement"), term("branche"), "nowhere"])
    assert told == {term("branche"): "branches", term("licenciement"): "licenciement"}
    assert forms(LAW, analyser("zh"), ["合同"]) == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_has_words_that_are_never_bridged(language: str) -> None:
    assert len(stop_terms(analyser(language))) > 20
