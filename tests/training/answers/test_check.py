"""What checks and judges let through: outcomes by hand, the material, the command with scripted judges."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from indexes.corpus.corpus import read
from indexes.store import paths
from rag.answer.types import ClaimPart, GapPart, LinePart, PassagePart
from rag.errors import BadInput
from rag.types import Article
from tests.fakes.answers.openai_server import serving
from tests.fakes.ranking.benchmark import write_lines
from training.answers import check
from training.answers.check import Sentence, WholeAnswer
from training.eval.__main__ import main

LONG = (
    "Le locataire rend les clés dans les trois jours qui suivent son départ, à la personne qui lui a remis "
    "le logement, contre un reçu daté et signé par elle. "
    "Le bailleur garde la caution pendant un mois entier, afin de voir ce qui manque et ce qui est cassé. "
    "Toutefois, il la rend aussitôt si l'état des lieux ne montre rien. "
    "Un relevé des compteurs est fait le jour du départ en présence des deux parties."
)
SHORT = "Le vent appartient à tous."
LAW = {"K": Article("K", "Code des moulins", "7", LONG), "W": Article("W", "Code des moulins", "9-1", SHORT)}
SPLIT = {"A1": (*(f"{s}." for s in LONG.rstrip(".").split(". ")),), "A2": (SHORT,)}
ANSWER = WholeAnswer("a1", "dev", "fr", "Quand ?", "Quand ?", "sloppy", "useful", None, ("K", "W"), "", SPLIT)


def said(raw: str, **changes: Any) -> WholeAnswer:
    return replace(ANSWER, raw=raw, **changes)


# --- what an answer chose ---


@pytest.mark.parametrize(
    ("raw", "chosen"),
    [
        ('{"answer": [{"quote": "A1.2"}]}', {"K": {1}}),
        ("A1.1-A1.3, then [A2.1]", {"K": {0, 1, 2}, "W": {0}}),
        ("A1.2-3", {"K": {1, 2}}),
        ("A1:2", {"K": {1}}),
        ("A1§2-A1§3", {"K": {1, 2}}),
        (f"{SHORT} Et les clés : A1.1", {"K": {0}, "W": {0}}),  # one copied, one numbered
        ("7.2 et 9-1.1", {"K": {1}, "W": {0}}),
        ("<think>A2.1 is about wind</think>A1.2", {"K": {1}}),
        ("A1.9, A3.1, A1.0", {}),  # there are none such
        ("A1.4-A1.9", {"K": {3}}),
        ("Selon la loi : « LE VENT appartient à tous »", {"W": {0}}),
        ("- Toutefois il la rend aussitôt, si l’état des lieux ne montre rien", {"K": {2}}),
        ("Le vent (A2).", {"W": {0}}),  # named, without a sentence
        ("Voir l'article 9-1 du Code.", {"W": {0}}),
        ("Voir l'article 9 du Code.", {}),
        ("Je ne sais pas.", {}),
    ],
)
def test_what_an_answer_chose(raw: str, chosen: Mapping[str, set[int]]) -> None:
    assert check.choice(said(raw), LAW) == chosen


def test_of_an_article_that_is_named_what_useful_answers_chose() -> None:
    assert check.choice(said("Les clés (A1)."), LAW) == {"K": {0, 1, 2, 3}}
    beside = [{"K": frozenset({0})}, {"W": frozenset({0})}]
    assert check.choice(said("Les clés (A1)."), LAW, beside) == {"K": {0}}


def test_numbers_are_those_of_the_split_that_a_model_is_shown() -> None:
    halves = (*SPLIT["A1"][0].split(", ", 1), *SPLIT["A1"][1:])
    finer = said("A1.1, A1.2, A1.3-A1.4; A1.9; A9.1 (A1)", sentences={**SPLIT, "A1": halves})
    assert check.renumbered(finer, LAW) == "A1.1, A1.1, A1.2-A1.3; A1.13; A9.1 (A1)"
    coarser = said(
        '{"quote": "A1.1"}', sentences={**SPLIT, "A1": (" ".join(SPLIT["A1"][:2]), *SPLIT["A1"][2:])}
    )
    assert check.renumbered(coarser, LAW) == '{"quote": "A1.1-A1.2"}'
    assert check.renumbered(said("A1.1-A1.2, A1.4"), LAW) == "A1.1-A1.2, A1.4"


def test_a_law_that_has_changed_is_told() -> None:
    with pytest.raises(BadInput, match="the law has changed since"):
        check.places(SHORT, ["Le vent appartient au meunier."])


# --- outcomes ---


def outcome(label: str, chosen: set[int], shown: set[int], *, also: bool = False, beside: Any = ()) -> str:
    of = {"K": frozenset(shown)} if shown else {}
    more = {"W": frozenset({0})} if also else {}
    return check.outcome(label, {"K": frozenset(chosen)} if chosen else {}, of | more, beside, LAW)


def test_outcomes_by_hand() -> None:
    assert outcome("useful", {0}, {0}) == "useful"
    assert outcome("useful", {0, 3}, {0}) == "fragment"
    assert outcome("useful", {0}, set()) == "empty"
    assert outcome("useful", {1}, {1, 2}) == "useful"  # with what narrows it
    assert outcome("useful", {1}, {1}) == "misleading"  # without
    assert outcome("useful", {0}, {0}, also=True) == "misleading"  # another article
    assert outcome("none", set(), {0}) == "misleading"
    assert outcome("none", set(), set()) == "empty"  # which is right
    assert outcome("fragment", {0}, {0}) == "fragment"
    assert outcome("misleading", {1}, {1, 2}) == "misleading"
    other = [{"K": frozenset({0, 1})}]
    assert outcome("misleading", {1}, {0, 1, 2}, beside=other) == "useful"  # made up for
    assert outcome("misleading", {1}, {0, 1, 2}, also=True, beside=other) == "misleading"
    rule = [{"K": frozenset({0})}]
    assert outcome("useful", {0, 3}, {0}, beside=rule) == "useful"  # another found the rule to be enough
    assert outcome("useful", {0, 2}, {0}, beside=rule) == "misleading"  # but the exception was its own
    assert outcome("useful", set(), {0, 1, 2}, beside=other) == "useful"  # nothing of its choice can be read
    assert outcome("useful", set(), {0}, beside=other) == "misleading"
    assert outcome("useful", set(), {0}) == "misleading"  # nobody chose that


def test_outcomes_of_paraphrase() -> None:
    true = ClaimPart("Un.", ("K",), (), verified=True)
    marked, law = replace(true, verified=False), PassagePart("K", ((0, 9),))

    def of(label: str, *parts: Any) -> str:
        return check.outcome_of_claims(label, parts)

    assert of("useful", true, true) == "useful"
    assert of("useful", true, marked) == of("useful", true, GapPart()) == "fragment"
    assert of("misleading", true, marked) == "misleading"
    assert of("misleading", law) == of("useful", law) == "law alone"
    assert of("useful") == of("misleading") == "empty"


def test_words_that_are_not_the_laws() -> None:
    law = PassagePart("W", ((0, len(SHORT)),))
    assert check.foreign_words([LinePart("rule"), law], LAW) == (0, 6)
    assert check.foreign_words([LinePart("Vous gagnez !")], LAW) == (1, 1)
    assert check.foreign_words([law, ClaimPart("Vous gagnez.", ("W",), (), verified=True)], LAW) == (2, 7)
    assert check.foreign_words([PassagePart("W", ((0, 99),))], LAW)[0] > 0
    assert check.foreign_words([PassagePart("Z", ((0, 5),))], LAW) == (1, 1)


def test_kappa_by_hand() -> None:
    assert check.kappa([("a", "a"), ("b", "b")]) == 1
    assert check.kappa([("a", "b"), ("b", "a")]) == -1
    # agreed 3 of 4; by chance 1/2 * 3/4 + 1/2 * 1/4
    assert check.kappa([("a", "a"), ("a", "a"), ("b", "a"), ("b", "b")]) == pytest.approx(
        (3 / 4 - 1 / 2) / (1 / 2)
    )
    assert math.isnan(check.kappa([("a", "a")]))
    assert math.isnan(check.kappa([]))


def test_a_threshold_keeps_lies_out() -> None:
    lines = [_line(f"s{n}", honest=n < 5) for n in range(30)]
    scores = (
        {f"s{n}": 0.6 + n / 100 for n in range(5)} | {f"s{n}": n / 100 for n in range(5, 29)} | {"s29": 0.62}
    )
    assert check.threshold(lines, scores) == (0.6, 1.0, 1 / 25)
    assert check.threshold(lines, {}) is None


# --- the material ---


@pytest.fixture(scope="module")
def law() -> dict[str, Article]:
    return {a.id: a for a in read(paths.locate(paths.BUILTIN)[0] / "corpus").articles}


@pytest.mark.slow
def test_the_material_is_of_the_law_that_ships(law: dict[str, Article]) -> None:
    sentences = check.load(check.MATERIAL / "sentences.jsonl", Sentence, law)
    answers = check.load(check.MATERIAL / "answers.jsonl", WholeAnswer, law)
    assert len(sentences) >= 340
    assert {"fr", "en", "de", "it"} == {line.lang for line in sentences}
    for answer in answers:
        for label, split in answer.sentences.items():
            check.places(law[answer.ten[int(label[1:]) - 1]].text, split)
    for form in check.FORMS:
        assert sum(answer.form == form for answer in answers) >= 30
    halves: dict[str, set[str]] = {}
    for answer in answers:
        halves.setdefault(answer.question_fr, set()).add(answer.half)
    assert all(len(found) == 1 for found in halves.values())  # a question is of one half


def _line(id_: str, *, honest: bool = True) -> Sentence:
    return Sentence(
        id_, "dev", "fr", "paraphrase", honest, None, ("CC-678",), ("CC-678",), "Quoi ?", "Une fenêtre."
    )


SENTENCE: dict[str, Any] = {
    "id": "s1", "half": "dev", "lang": "fr", "kind": "paraphrase", "honest": True, "second": True,
    "ten": ["CC-678"], "cited": ["CC-678"], "question": "À quelle distance ?",
    "text": "Une fenêtre avec vue directe reste à 1,90 mètre du terrain voisin.",
}  # fmt: skip
LIE = {**SENTENCE, "id": "s2", "honest": False, "second": True, "text": "Une fenêtre est libre à 3 mètres."}
WHOLE: dict[str, Any] = {
    "id": "a1", "half": "dev", "lang": "fr", "question": "À quelle distance, une fenêtre ?",
    "question_fr": "À quelle distance, une fenêtre ?", "form": "well-formed", "useful": "useful",
    "second": "useful", "ten": ["CC-678"], "raw": '{"answer": [{"quote": "A1.1-A1.2"}]}',
}  # fmt: skip


@pytest.fixture
def material(tmp_path: Path, law: dict[str, Article]) -> Path:
    folder = tmp_path / "material"
    folder.mkdir()
    split = [law["CC-678"].text]
    told = "Une fenêtre avec vue directe reste à 1,90 mètre du terrain voisin [A1]."
    own = {"id": "a2", "form": "paraphrase", "raw": told}
    write_lines(folder / "sentences.jsonl", [SENTENCE, LIE, {**SENTENCE, "id": "s3", "half": "test"}])
    whole = {**WHOLE, "raw": '{"answer": [{"quote": "A1.1"}]}', "sentences": {"A1": split}}
    write_lines(folder / "answers.jsonl", [whole, {**whole, **own}])
    return folder


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))


def run(material: Path, *arguments: object) -> int:
    return main(["answers", "check", "--material", str(material), *map(str, arguments)])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("sentences", {"honest": "yes"}, "honest and second are true or false"),
        ("sentences", {"half": "train"}, "half is one of dev, test"),
        ("sentences", {"text": None}, "text is no text"),
        ("sentences", {"cited": ["CC-0"]}, "article 'CC-0' is not in the law that ships"),
        ("answers", {"form": "neat"}, "form is one of well-formed, sloppy, paraphrase"),
        ("answers", {"second": "good"}, "useful and second of useful, fragment, misleading, none"),
        ("answers", {"sentences": {}}, "sentences are those of A1, A2 …, one label for each"),
        ("answers", {"sentences": []}, "Expected an object with id, half, lang, question"),
        ("answers", {"sentences": {"A1": ["Une fenêtre inventée."]}}, "the law has changed since"),
    ],
)
def test_bad_material_is_told(
    material: Path, name: str, change: dict[str, Any], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = material / f"{name}.jsonl"
    first = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    write_lines(path, [{**first, **change}])
    assert run(material) == 2
    assert told in capsys.readouterr().err


@pytest.mark.slow
def test_what_cannot_be_measured_is_told(
    material: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken.json").write_text("[]", encoding="utf-8")
    for arguments, told in (
        (("--judge", "yes"), "--judge: got 'yes'; expected none, nli:MODEL or PROVIDER:MODEL"),
        (("--output", tmp_path), "is there already"),
        (("--before", tmp_path / "broken.json"), "not the numbers of the old gate"),
        (("--judge", "nli:absent", "--threshold", 2), "give a probability, 0 to 1"),
        (("--material", tmp_path / "none"), "Give a folder of material in --material"),
    ):
        assert run(material, *arguments) == 2
        assert told in capsys.readouterr().err
    (material / "sentences.jsonl").write_text("{", encoding="utf-8")
    assert run(material) == 2
    assert "sentences.jsonl:1: got '{'" in capsys.readouterr().err


# --- the command ---


@pytest.mark.slow
def test_without_a_judge(material: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, out = tmp_path / "before.json", tmp_path / "out.json"
    before.write_text(json.dumps({"sentences": {"s1": False}, "answers": {"a2": "empty"}}), encoding="utf-8")
    assert run(material, "--before", before, "--output", out) == 0
    printed = capsys.readouterr().out
    assert "| sentences | the old gate | hard checks alone | a judge |" in printed
    assert "| all honest (1) | 0 (0–79) | 100 (21–100) | not measured |" in printed
    assert "| all lies (1) | not measured | 0 (0–79) | not measured |" in printed  # "3 metres"
    assert "both readers agree (1)" in printed
    assert "| strict quoting: well-formed, labelled useful (1) | 100 (21–100) |" in printed
    assert "| the old gate: paraphrase, labelled useful (1) | 0 (0–79) |" in printed
    assert "sentences and answers in paraphrase with a judge: not measured" in printed
    assert "neither the law's nor a listed line: 0 of " in printed
    assert "sentences: two readers agree on 50 % of 2 (Cohen's kappa 0.00); in dispute: s2" in printed
    entry = json.loads(out.read_text(encoding="utf-8"))
    assert (entry["kind"], entry["half"], entry["judge"]) == ("answers check", "dev", None)
    assert entry["command"].startswith("python -m training.eval answers check ")
    assert entry["shown"]["hard checks alone"] == {"s1": True, "s2": False}
    assert entry["outcomes"]["strict quoting"] == {"a1": "useful"}
    assert entry["foreign_words"]["foreign"] == 0
    assert entry["agreement"]["sentences"]["disputed"] == ["s2"]
    assert list(tmp_path.glob(".out*")) == []


SUPPORTED = '{"verdict": "supported", "words": "à moins de 1,90 mètre du terrain voisin"}'


def judged(
    material: Path, reply: Callable[[str], str | int], out: Path, *more: object
) -> tuple[int, list[str]]:
    pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
    with serving(reply) as (url, asked):
        judge = ("--judge", "openai:scripted", "--judge-url", url)
        return run(material, *judge, "--output", out, *more), asked


@pytest.mark.slow
def test_a_judge_that_accepts(material: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, asked = judged(material, lambda prompt: SUPPORTED, tmp_path / "o.json")
    assert code == 0
    entry = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))
    assert entry["shown"]["openai:scripted"] == {"s1": True, "s2": False}  # nobody asks about a faulty one
    assert entry["outcomes"]["openai:scripted"] == {"a2": "useful"}
    assert len(asked) == len(set(asked))
    assert "claims that openai:scripted could not tell: 0, 0 replies failed" in capsys.readouterr().out


@pytest.mark.slow
def test_a_judge_that_cannot_be_read(material: Path, tmp_path: Path) -> None:
    code, _ = judged(material, lambda prompt: "Sure!", tmp_path / "o.json")
    assert code == 0
    entry = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))
    assert entry["shown"]["openai:scripted"] == {"s1": False, "s2": False}
    assert entry["outcomes"]["openai:scripted"] == {"a2": "law alone"}
    assert entry["judge"] == {"name": "openai:scripted", "unknown": 1}


@pytest.mark.slow
def test_a_judge_that_dies_is_gone_on_with(
    material: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        {**SENTENCE, "id": f"s{n}", "text": f"{SENTENCE['text'][:-1]}, cas {c}."} for n, c in enumerate("abc")
    ]
    write_lines(material / "sentences.jsonl", lines)
    statuses: list[int] = []

    def dying(prompt: str) -> str | int:
        return 401 if "cas b" in prompt and not statuses else SUPPORTED

    out, shared = tmp_path / "o.json", ("--judge", "openai:scripted", "--judge-url")
    with serving(dying) as (url, asked):
        assert run(material, *shared, url, "--output", out, "--give-up-after", 1) == 2
        told = capsys.readouterr().err
        assert "openai:scripted: 1 replies in a row failed" in told
        assert "401" in told
        assert "fenêtre" not in told
        assert not out.exists()
        before = len(asked)
        statuses.append(401)
        assert run(material, *shared, url, "--output", out) == 0
        assert [("cas a" in p, "cas b" in p) for p in asked[before:]][0] == (False, True)  # noqa: RUF015
        entry = json.loads(out.read_text(encoding="utf-8"))
        assert all(entry["shown"]["openai:scripted"].values())
    with serving(lambda prompt: 401) as (url, _):
        failed = tmp_path / "failed.json"
        assert run(material, *shared, url, "--output", failed, "--give-up-after", 0) == 0
    entry = json.loads(failed.read_text(encoding="utf-8"))
    assert not any(entry["shown"]["openai:scripted"].values())
    assert entry["outcomes"]["openai:scripted"] == {"a2": "law alone"}
    assert entry["judge"]["unknown"] == 3


def test_help_documents_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["answers", "check", "--help"])
    printed = capsys.readouterr().out
    for word in ("--half", "nli:", "misleading", "85 %"):
        assert word in printed
