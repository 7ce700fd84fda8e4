from __future__ import annotations

import json
import lzma
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.corpus.card import CorpusCard
from rag.errors import BadInput, MissingExtra
from rag.screening import danger
from rag.screening.danger import CLASSES, classes, rule_classes
from rag.screening.danger_classifier import (
    BUCKETS,
    Classifier,
    Network,
    classifier,
    ngrams,
    plain_words,
    subword_buckets,
)
from rag.screening.emergencies import Danger, Emergency, help_for, situations
from rag.screening.language import question_languages
from training import danger as fitting
from training import danger_network as network
from training.danger import Example, fit, threshold, weigh
from training.danger_network import SHARE
from training.screening import FOLDER, MEASURED


def test_each_chinese_sign_is_a_word() -> None:
    assert plain_words("他打我，Émile") == ["他", "打", "我", "emile"]


@given(st.text(max_size=80))
def test_every_text_has_ngrams_in_order_and_none_outside(text: str) -> None:
    ids, counts = ngrams(text)
    assert np.all(np.diff(ids) > 0)
    assert np.all((ids >= 0) & (ids < BUCKETS))
    assert np.all(counts > 0)


def test_case_accents_and_marks_make_no_difference() -> None:
    plain, typed = ngrams("j'ai été frappée"), ngrams("  J’AI ETE,  frappee !")
    assert [part.tolist() for part in plain] == [part.tolist() for part in typed]
    assert ngrams("j'ai ete")[0].tolist() != ngrams("ete j'ai")[0].tolist()


def small(score: float) -> Classifier:
    """Return a classifier that gives every text one score for its only class.

    It raises from 1, names from 0 and doubts below -1.
    """
    one, rows = np.ones(1, np.float32), np.ones(1, np.int64)
    return Classifier(
        ("threat",),
        rows,
        one,
        np.zeros((1, 1), np.int8),
        one,
        one * score,
        raises=np.ones((2, 1), np.float32),
        hints=np.zeros((2, 1), np.float32),
        doubts=-np.ones((2, 1), np.float32),
    )


@pytest.mark.parametrize(
    ("score", "text", "french", "found"),
    [
        (1.5, "hier soir il a dit un mot de trop", True, {"threat": True}),
        (0.5, "hier soir il a dit un mot de trop", True, {"threat": False}),
        (-0.5, "hier soir il a dit un mot de trop", True, {}),
        (1.5, "il a dit un mot de trop", True, {"threat": False}),  # short
        (9.5, "mon fils et ma fille ?", True, {}),  # a few words are too few
        (9.5, "dépôt", False, {}),
        (9.5, "他打我", False, {"threat": True}),  # three
        (4.5, "he said one word", False, {"threat": True}),
        (3.5, "he said one word", False, {"threat": False}),
        (2.5, "he said one word", False, {}),  # very short
        (2.5, "he said one word too many last night", False, {"threat": True}),
        (1.5, "he said one word too many last night", False, {"threat": False}),
        (1.5, "un mot de trop, hier soir ! " * 11, True, {}),  # a story of 66 words
        (2.5, "un mot de trop, hier soir ! " * 11, True, {"threat": False}),
        (3.5, "un mot de trop, hier soir ! " * 11, True, {"threat": True}),
        (2.5, "one word too many last night " * 11, False, {"threat": False}),
        (3.5, "one word too many last night " * 11, False, {"threat": True}),
        (1.5, "他昨天说了一句话" * 10, False, {"threat": True}),  # 80 signs are none
        (1.5, "他昨天说了一句话" * 16, False, {}),
    ],
)
def test_it_is_surer_of_a_few_words_and_of_stories(
    score: float, text: str, *, french: bool, found: dict[str, bool]
) -> None:
    assessed = small(score).assess(text, french=french)
    assert (assessed.found() if assessed else {}) == found


@pytest.mark.parametrize(
    ("score", "question", "now"),
    [
        (-1.1, "mon voisin menace de me tuer depuis hier soir", False),  # the rules are doubted below -1
        (-0.9, "mon voisin menace de me tuer depuis hier soir", True),
        (-9.0, "il menace de me tuer", True),  # of a few words nothing is said
        (-9.0, "mein Nachbar droht mich umzubringen", True),
        (-9.0, "他昨天说要杀了我", True),  # four words
        (-9.0, "il menace de me tuer. Comment récupérer mon dépôt de garantie ?", True),  # in one sentence
        (-9.0, "Bonjour : il menace de me tuer ; comment récupérer mon dépôt ?", True),
        (-9.0, "mon voisin menace de me tuer depuis hier soir. Comment récupérer mon dépôt ?", False),
        (-9.0, "il menace de me tuer, comment récupérer mon dépôt de garantie", True),
        # who types much without a mark is believed
        (-9.0, "mon voisin menace de me tuer depuis hier soir et je veux mon dépôt", True),
    ],
)
def test_what_the_rules_raise_and_the_classifier_doubts_is_named(
    score: float, question: str, monkeypatch: pytest.MonkeyPatch, *, now: bool
) -> None:
    assert rule_classes(question)["threat"]
    with _assessing_by(small(score), monkeypatch):
        assert classes(question)["threat"] is now


def test_a_doubted_time_limit_silences_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a time limit no fact is merely named; beside one that is doubted it is."""
    question = "j'ai une audience au tribunal mardi prochain"
    assert rule_classes(question) == {"deadline": True}
    made = small(0.5)
    scores, both = np.array([1.8, -5.0], np.float32), np.ones((2, 2), np.float32)
    two = replace(
        made, names=("housing", "deadline"), weights=np.zeros((1, 2), np.int8), scale=both[0], bias=scores,
        raises=both, hints=0 * both, doubts=-both,
    )  # fmt: skip
    with _assessing_by(two, monkeypatch):
        assert classes(question) == {"deadline": False, "housing": False}
        assert situations(question)[0] == Emergency(Danger.HOUSING, now=False)


def test_what_is_in_an_unknown_language_is_not_doubted(monkeypatch: pytest.MonkeyPatch) -> None:
    question = "xyz " * 8 + "OQTF 48h"
    raised = {name for name, now in rule_classes(question).items() if now}
    assert raised == {"removal"}
    assert not question_languages(question)
    with _assessing_by(replace(small(-9.0), names=("removal",)), monkeypatch):
        assert classes(question) == {"removal": True}


def test_the_number_of_the_likeliest_danger_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    card = CorpusCard("law", "Law", "fr", "FR")
    found = [Emergency(Danger.VIOLENCE, now=True), Emergency(Danger.CHILD, now=True)]
    assert help_for(found, card)[0].phone == "119"
    found[0] = replace(found[0], likeliest=True)
    assert help_for(found, card)[0].phone == "3919"

    both = np.ones((2, 2), np.float32)
    two = replace(
        small(0), names=("child", "violence"), weights=np.zeros((1, 2), np.int8), scale=both[0],
        bias=np.array([2.0, 3.0], np.float32), raises=both, hints=0 * both, doubts=-both,
    )  # fmt: skip
    with _assessing_by(two, monkeypatch):
        told = situations("hier soir il a dit un mot de trop à ma porte")
        assert {each.danger: each.likeliest for each in told} == {Danger.VIOLENCE: True, Danger.CHILD: False}
        # who says in plain words that he wants to die is told of that first
        told = situations("hier soir il a dit un mot de trop à ma porte, je veux me suicider")
        assert {each.danger for each in told if each.likeliest} == {Danger.SUICIDE}


@contextmanager
def _assessing_by(made: Classifier, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Another classifier stands in for the one that ships; what is told meanwhile is forgotten."""
    monkeypatch.setattr("rag.screening.danger.classifier", lambda: made)
    try:
        for cached in (classes, danger._assessed):
            cached.cache_clear()
        yield
    finally:
        for cached in (classes, danger._assessed):
            cached.cache_clear()


@pytest.mark.parametrize(
    "plain",
    [
        "mon mari me frappe", "mon fils me tape dessus", "je veux me suicider", "ma fille veut se suicider",
        "mon voisin menace de me tuer", "j'ai été violée", "mon beau-père frappe mon petit frère",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "practical",
    [
        "{}, puis-je résilier mon bail ?",
        "{}. Comment récupérer mon dépôt de garantie auprès du propriétaire ?",
        "{} comment faire pour changer la garde et le compte bancaire",
        "{} et le syndic ne répond pas à mes courriers recommandés",
    ],
)
def test_plain_words_are_heard_among_practical_troubles(plain: str, practical: str) -> None:
    question = practical.format(plain)
    raised = {danger for danger, now in rule_classes(question).items() if now}
    assert raised
    assert raised <= {danger for danger, now in classes(question).items() if now}


def test_a_threat_that_is_named_shows_help(monkeypatch: pytest.MonkeyPatch) -> None:
    with _assessing_by(small(0.5), monkeypatch):
        found = situations("hier soir il a dit un mot de trop à ma porte")
    assert found == (Emergency(Danger.VIOLENCE, now=False),)


@pytest.mark.parametrize(
    "question",
    [
        "je n'ai pas été licencié, mon patron m'a seulement parlé de mes horaires",
        "mi marido no me pega, solo quiero divorciarme",
        "j'ai été expulsée de mon logement il y a douze ans",
    ],
)
def test_what_the_rules_take_for_denied_or_over_stays_so(question: str) -> None:
    assert not any(classes(question).values())


def test_what_ships_knows_every_class() -> None:
    assert classifier().names == CLASSES
    assert np.all(classifier().raises >= 0)


@pytest.mark.slow
def test_a_writer_without_the_words_of_the_rules_is_understood() -> None:
    """Of what the rules miss in the cases that no fit has read, some is found, and little besides."""
    missed = Counter[str]()
    for name in CLASSES:
        for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            if (
                case["half"] == "unseen"
                and case["language"] == "fr"
                and not rule_classes(case["text"]).get(name)
            ):
                kind = "case" if case["danger"] else "near"
                missed[kind] += 1
                missed[f"{kind} found"] += bool(classes(case["text"]).get(name))
    assert missed["case found"] / missed["case"] > 0.3
    assert missed["near found"] / missed["near"] < 0.06


def test_no_unseen_case_teaches() -> None:
    unseen, seen = set[str](), set[str]()
    for path in FOLDER.glob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            (unseen if case["half"] in MEASURED else seen).add(case["text"])
    with lzma.open(fitting.WRITTEN, "rt", encoding="utf-8") as lines:
        seen |= {json.loads(line)["text"] for line in lines}
    assert len(seen) > 10_000
    assert not unseen & seen


def test_a_small_fit_tells_its_classes_apart() -> None:
    told = [
        Example(f"{word} {n}", name, is_case, writer)
        for n in range(10)
        for writer in ("first", "second")
        for name, is_case, word in (
            ("threat", True, "il me menace"),
            ("threat", False, "menace de pluie"),
            ("", False, "quel est le loyer"),
        )
    ]  # fmt: skip
    grams = weigh([each.text for each in told])
    labels = np.array([[each.danger == "threat" and each.is_case] for each in told])
    weights, bias = fit(grams.rows, labels)
    scores = grams.rows @ weights + bias

    assert grams.rows.shape == (len(told), len(grams.buckets)) == (len(told), len(grams.idf))
    assert ((scores[:, 0] > 0) == labels[:, 0]).all()
    chosen = threshold(told, "threat", scores[:, 0], np.zeros(len(told), np.bool_), french=True)
    assert (chosen.with_rules, chosen.rules_alone) == ((1.0, 0.0), (0.0, 0.0))
    assert chosen.hints <= chosen.raises


def test_the_rules_are_doubted_below_nearly_all_situations_that_they_raise() -> None:
    """Of a hundred such, three may be lost; near misses that they raise below them cost nothing then."""
    of = [Example(str(n), "threat", n < 100, "second") for n in range(150)]
    ruled = np.ones(len(of), np.bool_)
    scores = np.concatenate([np.linspace(0, 3, 100), np.full(50, -1.0)]).astype(np.float32)
    chosen = threshold(of, "threat", scores, ruled, french=True)
    assert chosen.doubts == pytest.approx(np.quantile(scores[:100], fitting.LOST))
    assert chosen.doubts <= chosen.hints <= chosen.raises
    assert (chosen.with_rules[1], chosen.rules_alone) == (0.0, (1.0, 1.0))
    assert chosen.with_rules[0] >= 1 - fitting.LOST
    unruled = threshold(of, "threat", scores, ~ruled, french=True)
    assert unruled.doubts == -np.inf  # nothing tells what it would cost


def test_thresholds_are_of_one_language_and_not_of_harder_cases() -> None:
    """High scores of near misses of other languages, or of who wrote against a fit, cost nothing."""
    of = [
        Example(f"{writer} {n}", name, n < 5, writer, language)
        for writer, language, name in (
            ("second", "fr", "threat"), ("third", "de", "threat"), ("against-1", "fr", "threat"),
            ("first", "fr", "threat"), ("long-1", "fr", ""),
        )
        for n in range(10)
    ]  # fmt: skip
    high = np.array([each.writer != "second" or each.is_case for each in of])
    scores, ruled = np.where(high, 1.0, -1.0).astype(np.float32), np.zeros(len(of), np.bool_)
    french = threshold(of, "threat", scores, ruled, french=True)
    assert (french.raises, french.with_rules) == (fitting.LEAST, (1.0, 0.0))
    others = threshold(of, "threat", scores, ruled, french=False)
    assert others.raises > 1  # where near misses score as high as cases, none is raised
    assert others.with_rules == (0.0, 0.0)


def test_a_class_takes_the_network_where_more_is_found_with_it() -> None:
    of = [Example(str(n), name, n < 5, "second") for name in CLASSES for n in range(10)]
    alone = np.full((len(of), len(CLASSES)), -3.0, np.float32)
    mixed = alone.copy()
    for at, name in enumerate(CLASSES):
        case = [n for n, each in enumerate(of) if each.danger == name and each.is_case]
        (mixed if name == "threat" else alone)[case, at] = 2.0
    share, (others, french) = fitting.choose(of, np.stack([alone, mixed]), np.zeros(alone.shape, np.bool_))
    assert share[1] == pytest.approx([SHARE if name == "threat" else 0 for name in CLASSES])
    assert not share[0].any()  # nobody wrote in another language
    assert {each.with_rules for each in french} == {(1.0, 0.0)}
    assert {each.raises for each in others} == {fitting.TRIED[-1]}  # without near misses nothing is raised


def test_cases_stand_beside_ordinary_questions_of_their_language_and_are_held_out_with_their_writer() -> None:
    of = [
        Example(f"{language} {writer} {name or 'loyer'} {n} {is_case}", name, is_case, writer, language)
        for language in ("fr", "de")
        for writer in ("second", "third")
        for name, is_case in (("threat", True), ("threat", False), ("", False))
        for n in range(20)
    ]
    of += [Example("loyer " * 60 + str(n), "", is_case=False, writer="long-1") for n in range(20)]
    made = fitting.joined(of, seed=1)
    assert made == fitting.joined(of, seed=1) != fitting.joined(of, seed=2)
    by_text = {each.text: each for each in of}
    kinds = Counter[tuple[str, bool]]()
    for each in made:
        parts = [by_text[part] for part in each.text.removesuffix(".").split(". ")]
        kinds[each.danger, each.is_case] += 1
        assert {part.language for part in parts} == {each.language}
        own = [part for part in parts if part.danger]
        assert len(own) == bool(each.danger) < len(parts)
        assert not own or all(len(part.text) < 100 for part in parts)  # none is cut off
        for part in own:
            written = (part.danger, part.is_case, f"{fitting.JOINED}{part.writer}")
            assert (each.danger, each.is_case, each.writer) == written
    assert set(kinds) == {("threat", True), ("threat", False), ("", False)}
    assert fitting.joined([each for each in of if each.danger], seed=1) == []


def test_what_was_fitted_is_read_for_the_same_texts_alone(tmp_path: Path) -> None:
    of = [Example(str(n), "threat", n < 5, "second") for n in range(10)]
    scores, ruled = np.zeros((2, 10, 1), np.float32), np.zeros((10, 1), np.bool_)
    made = fitting.Fit({"names": np.array(["threat"])}, scores, ruled, fitting._checksum(of))
    made.save(tmp_path / "fit.npz")
    again = fitting.Fit.read(tmp_path / "fit.npz", of)
    assert again.arrays["names"].tolist() == ["threat"]
    assert np.array_equal(again.scores, scores)
    with pytest.raises(BadInput, match="other texts"):
        fitting.Fit.read(tmp_path / "fit.npz", [*of[:-1], replace(of[-1], is_case=True)])
    (tmp_path / "fit.npz").write_bytes(b"none")
    with pytest.raises(BadInput, match=r"fit\.npz"):
        fitting.Fit.read(tmp_path / "fit.npz", of)


def test_cases_that_are_not_there_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fitting.main(["--written", str(tmp_path / "none.xz")]) == 2
    assert "none.xz" in capsys.readouterr().err


KNOWN = network.WordVectors(
    {"cogne": 0, "frappe": 1, "pluie": 2, "soleil": 3},
    np.array([[1, 0, 0.1], [1, 0.1, 0], [-0.7, 0.7, 0], [-0.7, -0.7, 0.1]], np.float32),
)


def test_words_of_the_same_company_have_like_vectors() -> None:
    texts = [
        f"{who} {what} {whom} {where}"
        for who, acts, whom, where in (
            ("il", ("cogne", "frappe"), "moi", "fort"), ("elle", ("lit", "parcourt"), "livre", "chambre")
        )
        for what in acts
    ]  # fmt: skip
    known = network.WordVectors.of(texts * network.SEEN, dim=4)
    near = known.vectors @ known.vectors.T
    cogne, frappe, parcourt = (known.rows[word] for word in ("cogne", "frappe", "parcourt"))
    assert near[cogne, frappe] > 0.9 > near[cogne, parcourt]
    assert np.allclose(np.diag(near), 1, atol=1e-5)
    assert "jamais" not in network.WordVectors.of(["jamais dit", *texts * network.SEEN], dim=4).rows


def test_a_word_that_no_case_has_is_read_as_the_nearest() -> None:
    vocabulary = network.Vocabulary.of(["Il frappe, pluie soleil"] * network.SEEN, KNOWN)
    assert vocabulary.rows["cogne"] == vocabulary.rows["frappe"] != vocabulary.rows["pluie"]
    read = network.Texts.read(["cogne xyz", ""], vocabulary)
    assert [read.rows[text].tolist() for text in read.texts] == [[vocabulary.rows["frappe"], 0], [0]]


@given(st.lists(st.text(max_size=30), min_size=1, max_size=5))
def test_the_subwords_of_words_are_those_of_each(texts: list[str]) -> None:
    read = network.Texts.read(texts, network.Vocabulary.of(texts, KNOWN))
    ids, lengths = read.padded(np.arange(len(texts)))
    for text, row, length in zip(texts, ids, lengths, strict=True):
        words = plain_words(text)
        parts, begins = read.parts(row[:length])
        found = [part.tolist() for part in np.split(parts, begins[1:])]
        assert (
            found == [subword_buckets(word, network.SUBWORD_BUCKETS).tolist() for word in words] or not words
        )
        assert not row[length:].any()


def test_a_word_with_a_typing_error_shares_subwords_with_the_one_that_is_meant() -> None:
    typed, meant, other = (set(subword_buckets(w, 2**20)) for w in ("menasse", "menace", "loyer"))
    assert len(typed & meant) > 3 > len(typed & other)
    assert len(subword_buckets("他", 2**20)) == 1  # "<他>"


@pytest.mark.models
@pytest.mark.slow
def test_what_is_packed_scores_as_what_was_fitted(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    texts = ["elle frappe fort", "pluie et soleil", "frappe encore", "soleil et pluie fort"] * network.SEEN
    labels = np.array([["frappe" in text, "soleil" in text] for text in texts])
    vocabulary = network.Vocabulary.of(texts, KNOWN)
    read = network.Texts.read(texts, vocabulary)
    costs = np.ones(labels.shape, np.float32)
    learnt, again = (
        network.fit_network(read, labels, costs, vocabulary.vectors, seed=0, epochs=15) for _ in range(2)
    )
    assert all(np.array_equal(learnt[name], again[name]) for name in learnt)
    assert not learnt["words.weight"][0].any()  # unknown words stay 0
    fitted = network.assemble(vocabulary, learnt, np.ones((2, 1), np.float32))
    expected = np.array([fitted.scores(text) for text in texts])
    assert ((expected > 0) == labels[:, :1]).all()

    np.savez(tmp_path / "net.npz", allow_pickle=False, **network.packed(fitted))
    with np.load(tmp_path / "net.npz") as data:
        shipped = Network.read(data)
    assert np.allclose([shipped.scores(text) for text in texts], expected, atol=0.1)
    assert shipped.scores("elle cogne")[0] > 0  # a word that was never learnt
    assert shipped.scores("").shape == (1,)


@pytest.mark.models
def test_numpy_scores_as_torch_does() -> None:
    """Texts of many lengths, which torch reads side by side, padded; some words are unknown."""
    torch = pytest.importorskip("torch")
    texts = ["frappe", "", "il frappe pluie soleil xyz encore", "cogne " * 12]
    vocabulary = network.Vocabulary.of(["il frappe pluie encore"] * network.SEEN, KNOWN)
    read = network.Texts.read(texts, vocabulary)
    torch.manual_seed(3)
    module = network._module(vocabulary.vectors, 4).eval()
    with torch.no_grad():
        expected = module(read, *read.padded(np.arange(len(texts)))).numpy()
    learnt = {name: each.detach().numpy() for name, each in module.named_parameters()}
    fitted = network.assemble(vocabulary, learnt, np.ones((2, 2), np.float32))
    assert np.allclose([fitted.scores(text) for text in texts], expected[:, :2], atol=1e-5)


@pytest.mark.models
def test_what_is_not_to_be_learnt_from_changes_nothing() -> None:
    pytest.importorskip("torch")
    taught = ["elle frappe fort", "pluie et soleil"]
    vocabulary, costs = network.Vocabulary.of(taught * network.SEEN, KNOWN), np.ones((4, 1), np.float32)
    costs[2:] = 0
    fits = []
    for others in (["soleil fort", "frappe"], ["pluie pluie pluie elle", "et"]):
        read, labels = network.Texts.read([*taught, *others], vocabulary), np.array([[1], [0], [1], [0]]) > 0
        fits.append(network.fit_network(read, labels, costs, vocabulary.vectors, seed=0, epochs=3))
    assert all(np.array_equal(fits[0][name], fits[1][name]) for name in fits[0])


def test_without_torch_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match="models"):
        network.require()


@pytest.mark.models
@pytest.mark.slow
def test_a_text_is_scored_by_what_other_writers_teach(monkeypatch: pytest.MonkeyPatch) -> None:
    """The third writer's texts are scored alike whatever their labels are, and the network has its share."""
    pytest.importorskip("torch")
    monkeypatch.setattr(fitting, "FEWEST", 2)
    words = {"threat": "menace", "violence": "mari frappe", "": "loyer"}
    scores = []
    for turned in (False, True):
        of = [
            Example(
                f"il {words[name]} {n}", name, (name == "threat") != (turned and writer == "third"), writer
            )
            for writer in ("first", "second", "third")
            for name in words
            for n in range(6)
        ]
        made = fitting.TrainingSet.of(of, KNOWN, seed=0)
        folds = np.array([("first", "second", "third").index(each.writer) for each in of])
        scores.append(made.fold_scores(2, folds))
        learnt = np.flatnonzero(folds != 2)
        net = Network.read(network.packed(made.network(learnt)))
        expected = np.array([net.scores(each.text) for each in of if each.writer == "third"])
        assert np.allclose(scores[-1][1], (1 - SHARE) * scores[-1][0] + SHARE * expected, atol=1e-4)
        assert made.tasks.shape == (len(of), 2 * len(CLASSES) + 1)
        assert made.tasks[:, len(CLASSES)].tolist() == [each.is_case for each in of]
    assert np.allclose(*scores, atol=1e-4)


def test_a_class_hears_the_network_in_the_languages_where_it_finds_more() -> None:
    made = classifier()
    assert made.network is not None
    text = "il m'a poussée contre le mur"
    alone = replace(made, network=None)
    for french, share in enumerate(made.network.share):
        mixed, plain = (each.scores(text, french=bool(french)) for each in (made, alone))
        assert np.array_equal(mixed != plain, share > 0)
    assert made.network.share.any()
