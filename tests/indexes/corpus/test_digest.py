"""A digest: a folder of what was written, and the corpus that it makes with the official law."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import indexes
from indexes.__main__ import main
from indexes.corpus.digest import read_card, read_digest, read_laws
from indexes.corpus.facts import fingerprint
from indexes.sources import registry
from rag.errors import BadInput

CODE = "Mühlengesetz"
OFFICIAL = {
    "1": "Der Müller räumt den Graben binnen vierzehn Tagen.",
    "2 a": "Das Rad gehört dem Müller.",
    "3": "Die Gemeinde wählt einen Deichgrafen.",
}
SUMMARY = {
    "1": "Der Müller hat 14 Tage, um den Graben zu räumen.",
    "2 a": "Das Mühlrad ist Sache des Müllers.",
}


def lines(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def law(path: Path, **changed: str) -> Path:
    texts = OFFICIAL | changed
    rows = [
        {"id": f"x{no}", "code": CODE, "article_no": no, "headings": ["Wasser"], "text": text}
        for no, text in texts.items()
    ]
    return lines(path, rows)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    made = tmp_path / "written"
    made.mkdir()
    card = {
        "name": "muehle",
        "title": "Mühle",
        "language": "de",
        "text_kind": "summary",
        "jurisdiction": "DE",
    }
    laws = {CODE: {"prefix": "M", "themes": ["land"], "article_url": "https://example.org/{article_no}"}}
    contacts = [{"name": "Müllerbund"}]
    for name, content in {"card": card, "laws": laws, "contacts": contacts, "accepted": []}.items():
        (made / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    limit = {"what": "räumen", "within": "14 Tage", "clause": "14 Tage"}
    lines(
        made / "digest.jsonl",
        [
            {"code": CODE, "article_no": "1", "summary": SUMMARY["1"], "time_limits": [limit]},
            {"code": CODE, "article_no": "2 a", "summary": SUMMARY["2 a"]},
        ],
    )
    asked = {"id": "q", "question": "Wem gehört das Rad?", "code": CODE, "article_no": "2 a"}
    lines(made / "questions.jsonl", [asked])
    law(tmp_path / "law.jsonl")
    return made


def written_from(folder: Path, **official: str) -> None:
    """Have each line say which wording its summary was written from."""
    path = folder / "digest.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    lines(path, [row | {"official": fingerprint((OFFICIAL | official)[row["article_no"]])} for row in rows])


def test_numbers_and_headings_are_the_law_s_and_words_are_ours(folder: Path, tmp_path: Path) -> None:
    corpus, _ = registry.load("digest", folder, official=str(tmp_path / "law.jsonl"), title="Andere")
    assert [(a.id, a.article_no, a.text) for a in corpus.articles] == [
        ("M-1", "1", SUMMARY["1"]),
        ("M-2_a", "2 a", SUMMARY["2 a"]),
    ]
    assert {a.headings for a in corpus.articles} == {("Wasser",)}
    assert corpus.articles[0].url == "https://example.org/1"
    assert [(q.id, q.article_ids) for q in corpus.questions] == [("q", ("M-2_a",))]
    assert corpus.facts["M-1"].time_limits[0].within == "14 Tage"
    assert {id_: each.official for id_, each in corpus.facts.items()} == {
        "M-1": fingerprint(OFFICIAL["1"]),
        "M-2_a": fingerprint(OFFICIAL["2 a"]),
    }
    assert (corpus.card.title, corpus.card.contacts[0].name) == ("Andere", "Müllerbund")
    assert corpus.card.laws[CODE].themes == ("land",)


def test_the_law_s_own_address_comes_before_the_one_made_of_a_number(folder: Path, tmp_path: Path) -> None:
    row = {"id": "x", "code": CODE, "article_no": "1", "text": OFFICIAL["1"], "url": "https://example.net/1"}
    other = {"id": "y", "code": CODE, "article_no": "2 a", "text": OFFICIAL["2 a"]}
    corpus, _ = registry.load("digest", folder, official=str(lines(tmp_path / "own.jsonl", [row, other])))
    assert [a.url for a in corpus.articles] == ["https://example.net/1", "https://example.org/2 a"]


def test_a_summary_written_from_another_wording_is_out_of_date_from_the_start(
    folder: Path, tmp_path: Path
) -> None:
    written_from(folder, **{"1": "Der Müller räumt den Graben binnen zehn Tagen."})
    corpus, _ = registry.load("digest", folder, official=str(tmp_path / "law.jsonl"))
    assert {id_: each.outdated for id_, each in corpus.facts.items()} == {"M-1": True, "M-2_a": False}
    assert corpus.facts["M-1"].shown.time_limits == ()


def test_a_folder_becomes_an_index_that_answers_and_follows_the_law(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    official = str(tmp_path / "law.jsonl")
    assert main(["import", str(folder), "--option", f"official={official}", "--build"]) == 0
    assert "read as digest" in capsys.readouterr().out
    engine = indexes.open("muehle")
    result = engine.ask("Wem gehört das Rad?")
    assert [shown.article.article_no for shown in result.shown][:1] == ["2 a"]

    later = law(tmp_path / "later.jsonl", **{"1": "Der Müller räumt den Graben binnen drei Tagen."})
    assert main(["update", "muehle", str(later), "--from", "pandect"]) == 0
    out = capsys.readouterr().out
    assert "1 articles as they were, 1 changed, 0 gone" in out
    assert f"changed: {CODE}, 1" in out


def test_summaries_of_another_language_are_checked_by_numbers_and_words(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = ["check-builtin", str(tmp_path / "law.jsonl"), "--folder", str(folder), "--list"]
    assert main(typed) == 0
    assert capsys.readouterr().out.startswith("de: compared by numbers, copied words and lengths")
    wrong = "Der Müller hat 15 Tage. Er hat dafür einen Graben, ein Rad und 3 Kühe."
    lines(folder / "digest.jsonl", [{"code": CODE, "article_no": "1", "summary": wrong}])
    assert main(typed) == 1
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{")]
    assert {(each["article"], each["kind"], each["detail"]) for each in found} == {
        ("M-1", "number added", "15 day"),
        ("M-1", "number added", "3"),
        ("M-1", "number lost", "14 day"),
    }


def test_what_cannot_be_read_names_the_cure(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="--option official=PATH"):
        registry.load("digest", folder)
    lines(tmp_path / "short.jsonl", [{"id": "x", "code": CODE, "article_no": "1", "text": OFFICIAL["1"]}])
    with pytest.raises(BadInput, match=f"without an article in the law at hand: {CODE} 2 a"):
        registry.load("digest", folder, official=str(tmp_path / "short.jsonl"))


def test_a_summary_that_is_no_text_is_told_with_its_line(folder: Path) -> None:
    lines(folder / "digest.jsonl", [{"code": CODE, "article_no": "1", "summary": 0}])
    with pytest.raises(BadInput, match=r"digest\.jsonl:1: summary is 0"):
        read_digest(folder)


@pytest.mark.parametrize(
    ("laws", "said"),
    [
        ({CODE: {}}, f"{CODE} has no prefix of its own"),
        ({"A": {"prefix": "X"}, "B": {"prefix": "X"}}, "B has no prefix of its own"),
        ({CODE: {"prefix": "M", "article_url": "https://example.org/"}}, "write {article_no} where"),
    ],
)
def test_laws_need_prefixes_of_their_own(folder: Path, laws: dict[str, object], said: str) -> None:
    (folder / "laws.json").write_text(json.dumps(laws), encoding="utf-8")
    with pytest.raises(BadInput, match=said):
        read_laws(folder)


def test_a_card_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"card\.json: cannot be read as JSON"):
        read_card(tmp_path)
