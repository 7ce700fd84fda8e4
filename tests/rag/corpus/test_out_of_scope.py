"""The topics that other laws govern than those loaded, and where to find people: what ships of them."""

from __future__ import annotations

import gzip
import json
import re
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import indexes
from rag.corpus.card import Contact, CorpusCard, Elsewhere
from rag.corpus.out_of_scope import WHOLE_QUESTION, LawClassifier, LawEvidence, Topics
from rag.errors import BadInput
from rag.text.analysers import analyser
from rag.text.patterns import data
from rag.types import Floats
from rag.ui.i18n import LANGUAGES
from tests.paths import ROOT
from tests.rag.ui.test_reading_level import SPACELESS, lix, sentences, words

BUILTIN = ROOT / "indexes" / "builtin"
FRENCH = analyser("fr")
OFFICIAL = ("https://www.legifrance.gouv.fr/", "https://eur-lex.europa.eu/")

QUESTIONS = tomllib.loads(Path(__file__).with_name("questions.toml").read_text(encoding="utf-8"))
ASKED = QUESTIONS["asked"]  # topic -> questions


def _read(name: str) -> list[dict[str, Any]]:
    entries = json.loads((BUILTIN / name).read_text(encoding="utf-8"))
    assert isinstance(entries, list)
    return entries


TOPICS = {topic.id: topic for topic in indexes.open().card.elsewhere}
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


UNLOADED = [topic for topic in TOPICS.values() if not set(topic.codes) & set(LAWS)]
BY_ARTICLE = "https://www.legifrance.gouv.fr/search/code?tab_selection=code&searchField=NUM_ARTICLE&query="
WITHOUT_ARTICLE = {"supplementary-pension"}  # an agreement whose numbers nobody has looked up


@pytest.mark.parametrize("topic", UNLOADED, ids=lambda topic: topic.id)
def test_a_topic_whose_law_is_not_loaded_tells_its_rule_in_two_sentences_and_the_article(
    topic: Elsewhere,
) -> None:
    for language, text in topic.explain.items():
        ends = re.findall("。" if language in SPACELESS else r"\.(?=\s|$)", text)
        assert len(ends) == 2, text
    assert len(words(topic.explain["fr"])) <= 60  # an elided word counts as two
    numbers = re.search(r"\(.*?articles? ([^ ,)]+)", topic.law)
    assert (numbers is None) == (topic.id in WITHOUT_ARTICLE)
    assert (topic.article_url is not None) == topic.law.startswith("Code ")
    if numbers is not None and topic.article_url is not None:
        assert topic.article_url == BY_ARTICLE + numbers[1]


@pytest.mark.parametrize("language", [each for each in LANGUAGES if each not in SPACELESS])
def test_what_is_told_of_another_law_is_read_as_easily_as_news(language: str) -> None:
    rules, limits = ([of[language] for of in told] for told in _told())
    longest = max(len(words(sentence)) for text in (*rules, *limits) for sentence in sentences(text))
    said = f"rules LIX {lix(rules):.1f}, time limits {lix(limits):.1f}, longest sentence {longest} words"
    print(f"{language}: {said}")  # noqa: T201 - with -s: the numbers of docs/pages.md

    assert max(lix(rules), lix(limits)) <= 45  # newspapers write up to 50
    assert longest <= 30


def _told() -> tuple[list[Mapping[str, str]], list[Mapping[str, str]]]:
    return [topic.explain for topic in UNLOADED], [topic.deadline for topic in UNLOADED]


@pytest.mark.parametrize("topic", UNLOADED, ids=lambda topic: topic.id)
def test_a_topic_whose_law_is_not_loaded_tells_a_time_limit_and_who_helps(topic: Elsewhere) -> None:
    assert set(topic.deadline) == set(LANGUAGES)
    assert all(text.strip() == text != "" for text in topic.deadline.values())
    assert topic.contact is not None
    assert (topic.contact.url or "").startswith("https://")
    assert set(topic.terms) <= set(data("rag.screening", "lay_terms"))


def test_one_name_of_a_contact_is_one_address() -> None:
    card = indexes.open().card
    everyone = [*card.contacts, *(topic.contact for topic in TOPICS.values() if topic.contact is not None)]
    found: dict[str, set[str | None]] = {}
    for each in everyone:
        found.setdefault(each.name, set()).add(each.url)
    assert all(len(urls) == 1 for urls in found.values()), found


def test_who_advises_on_a_law_is_who_knows_it() -> None:
    card = indexes.open().card
    wanted = {"Code du travail": "droit du travail", "Code civil": "Points-justice", "89-462": "ADIL"}
    for part, name in wanted.items():
        [code] = [each for each in LAWS if part in each]
        adviser = card.adviser(code)
        assert adviser is not None
        assert name in adviser.name


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


@pytest.mark.parametrize("question", QUESTIONS["civil"])
def test_questions_for_the_code_civil_raise_no_alarm(question: str) -> None:
    assert _matching(question) == set()


@pytest.mark.parametrize("question", QUESTIONS["answered"])
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
    assert read.examples == ()
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


def weighed(vector: Callable[[str], Floats] = plain_vector, **weights: float) -> Topics:
    """Topics of air travel and taxes whose evidence has these weights; one example is near `plain_vector`."""
    made = replace(
        classifier(),
        examples=("vol annulé",),
        evidence=np.array([weights.get(name, 0.0) for name in (*LawEvidence._fields, "bias")], np.float32),
    )
    card = CorpusCard(
        name="law", title="Law", language="fr", elsewhere=(TOPICS["air-travel"], TOPICS["taxes"])
    )
    return Topics(card, (), FRENCH, made, vector, lambda texts: np.stack([*map(plain_vector, texts)]))


def test_a_phrase_is_told_only_where_the_loaded_law_has_nothing_nearer() -> None:
    topics, phrase = weighed(phrase=1.0, article=-2.0), TOPICS["taxes"].phrases[0]
    assert topics.find(phrase)

    assert topics.governing(phrase, 0.4) == topics.find(phrase)
    assert topics.governing(phrase, 0.6) == ()


def test_examples_of_another_law_tell_the_likeliest_topic() -> None:
    topics = weighed(examples=1.0, article=-2.0)

    assert [each.id for each in topics.governing("vol", 0.4)] == ["air-travel"]
    assert topics.governing("vol", 0.6) == ()
    found, likeliest = topics.evidence("vol", 0.3, phrase=False)
    assert (found.phrase, likeliest) == (False, "air-travel")
    assert found.examples == pytest.approx(1.0)
    assert found.article == 0.3
    assert 0 < found.log_odds < np.inf


def test_who_asks_first_together_have_the_examples_encoded_once() -> None:
    encoded: list[int] = []

    def slowly(texts: Sequence[str]) -> Floats:
        encoded.append(len(texts))
        time.sleep(0.05)
        return np.stack([*map(plain_vector, texts)])

    topics = weighed(examples=1.0)
    topics._vectors = slowly
    with ThreadPoolExecutor(8) as pool:
        told = [*pool.map(lambda _: topics.governing("vol", 0.4), range(8))]

    assert encoded == [1]
    assert {each.id for found in told for each in found} == {"air-travel"}


def test_of_what_is_like_no_example_and_near_no_article_nothing_is_told() -> None:
    topics, phrase = weighed(bias=9.0), TOPICS["taxes"].phrases[0]
    assert topics.governing("vol", 0.1)
    assert topics.governing("vol", 0.0) == ()  # nothing was found
    unlike = weighed(bias=9.0, vector=lambda _: np.array([0.0, 1.0], np.float32))
    assert unlike.governing("vol", 0.1) == ()
    assert unlike.governing(phrase, 0.1) == unlike.find(phrase) != ()


@pytest.mark.parametrize(
    "question",
    [
        "zzzz", "wmmm qqq", "asdfgh qwerty", "我想知道我的租约什么时候到期",
        "квартирант не платит за квартиру",
        "what is the meaning of life for you and me", "mon chat vomit depuis hier",
    ],
)  # fmt: skip
def test_what_is_no_question_of_any_law_in_its_language_is_told_no_other(question: str) -> None:
    assert indexes.open("builtin").ask(question).elsewhere == ()


def test_the_weights_that_ship_mean_what_they_should() -> None:
    shipped = LawClassifier.load(BUILTIN / "governing_law.npz")
    weights = dict(zip(LawEvidence._fields, shipped.evidence.tolist(), strict=False))

    assert min(weights["log_odds"], weights["phrase"], weights["examples"]) > 0 > weights["article"]
    assert len(shipped.examples) == (BUILTIN / "questions_elsewhere.jsonl").read_bytes().count(b"\n")


def test_without_weights_a_phrase_or_the_classifier_tells() -> None:
    card = CorpusCard(name="law", title="Law", language="fr", elsewhere=(TOPICS["air-travel"],))
    topics = Topics(card, (), FRENCH, classifier(), plain_vector)

    assert topics.governing("vol", 1.0) == topics.classify("vol") != ()
    with pytest.raises(ValueError, match="no classifier"):
        Topics(card, (), FRENCH).evidence("vol", 0.0, phrase=False)


def test_weights_of_evidence_are_kept_and_others_are_refused(tmp_path: Path) -> None:
    made = replace(classifier(), examples=("vol annulé", "vol en retard"), evidence=np.ones(5, np.float32))
    made.save(tmp_path / "law.npz")
    read = LawClassifier.load(tmp_path / "law.npz")
    assert read.examples == made.examples
    np.testing.assert_array_equal(read.evidence, made.evidence)

    replace(made, evidence=np.ones(3, np.float32)).save(tmp_path / "law.npz")
    with pytest.raises(BadInput, match="3 weights of evidence"):
        LawClassifier.load(tmp_path / "law.npz")
    replace(made, examples=()).save(tmp_path / "law.npz")
    with pytest.raises(BadInput, match="no examples"):
        LawClassifier.load(tmp_path / "law.npz")


@pytest.mark.slow
def test_questions_in_ten_languages_are_told_the_other_law_that_they_name() -> None:
    """Written apart from the terms that name a topic; the counts are those of docs/builtin-law.md."""
    notices = indexes.open().notices
    with gzip.open(Path(__file__).with_name("foreign_law.jsonl.gz"), "rt", encoding="utf-8") as file:
        lines = file.readlines()
    told = right = wrong = 0
    for asked in map(json.loads, lines):
        topics = notices.foreign_topics(asked["question"]) or ()
        told += bool(asked["law"] and topics)
        right += asked["law"] in {topic.id for topic in topics}
        wrong += bool(topics and not asked["law"])
    assert len(lines) == 320  # 160 of each kind
    assert (told, right, wrong) == (51, 51, 4)
