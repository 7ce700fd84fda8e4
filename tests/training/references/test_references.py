"""Measuring references: claims of labels and of mark-up, worked out by hand; real labels, real acts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from rag.corpus.card import CorpusCard
from rag.errors import BadInput
from rag.types import Article
from tests.indexes.sources.test_akoma_ntoso import act, article
from tests.paths import SHARED
from training.references.__main__ import LABELS, against_labels, main
from training.references.labels import Label, Passage, compare, read_passages
from training.references.marked import compare as compare_markup
from training.references.marked import read_marked
from training.references.scores import Claim, Found, measured, same_law, wilson

TEXT = "Voir les articles 3 et 5 du code rural et l'article 9."
LAW = [Article(id=f"r{n}", code="Code rural", article_no=str(n), text=TEXT) for n in range(1, 10)]


@dataclass(frozen=True)
class Read:
    """A reference as a reader gives it."""

    start: int
    end: int
    kind: str
    law: str = ""
    articles: tuple[str, ...] = ()


class Scripted:
    """A reader that finds what it is told, by the words of it."""

    def __init__(
        self, found: Sequence[tuple[str, str, str, tuple[str, ...]]], articles: Sequence[Article]
    ) -> None:
        self._found = found
        self._at = {(each.code, each.article_no): i for i, each in enumerate(articles)}

    def read(self, article: Article) -> list[Read]:
        return sorted(
            (
                Read(at, at + len(words), kind, law, numbers)
                for words, kind, law, numbers in self._found
                if (at := article.text.find(words)) >= 0
            ),
            key=lambda read: read.start,
        )

    def resolve(self, article: Article, reference: Read) -> list[int]:
        code = reference.law or article.code
        return [self._at[code, n] for n in reference.articles if (code, n) in self._at]


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))


def label(words: str, kind: str, law: str = "", *articles: str) -> Label:
    at = TEXT.index(words)
    return Label(at, at + len(words), kind, law, articles)


def passage(*labels: Label, left_out: tuple[tuple[int, int], ...] = ()) -> Passage:
    digest = hashlib.sha256(TEXT.encode()).hexdigest()[:16]
    return Passage(0, "dev", "law", "r1", 0, len(TEXT), len(TEXT), digest, labels, left_out)


FIRST = label("articles 3 et 5 du code rural", "external", "code rural", "3", "5")
SECOND = label("article 9", "internal", "", "9")


def rights(claims: Sequence[Claim], level: str, *, sought: bool) -> list[bool]:
    return [claim.right for claim in claims if claim.level == level and claim.sought is sought]


def test_what_is_labelled_is_right() -> None:
    read = [Read(FIRST.start, FIRST.end, "external", "Code Rural", ("3", "5")), SECOND]
    claims, differences = compare(passage(FIRST, SECOND), LAW[0], read)
    assert all(claim.right for claim in claims)
    assert not differences
    assert len(rights(claims, "article", sought=True)) == 3


def test_half_a_list_a_wrong_law_and_what_is_not_there() -> None:
    read: list[Found] = [
        Read(FIRST.start, FIRST.end - len(" du code rural"), "internal", "", ("3", "5")),  # its law not read
        Read(SECOND.start, SECOND.end, "internal", "", ("9", "10")),
        Read(0, 4, "internal", "", ("1",)),
    ]
    claims, differences = compare(passage(FIRST, SECOND), LAW[0], read)
    assert rights(claims, "article", sought=True) == [False, False, True]
    assert rights(claims, "article", sought=False) == [False, False, True, False, False]
    assert rights(claims, "document", sought=True) == [False, True]
    assert rights(claims, "document", sought=False) == [False, True, False]
    assert rights(claims, "place", sought=True) == [False, True]
    assert not any(rights(claims, "whole", sought=True))
    assert [d.what.partition(":")[0] for d in differences] == [
        "found", "labelled", "found", "labelled", "found",
    ]  # fmt: skip


def test_one_reference_for_two_counts_by_its_numbers() -> None:
    two = (label("articles 3", "external", "code rural", "3"), label("5", "external", "code rural", "5"))
    claims, _ = compare(
        passage(*two), LAW[0], [Read(FIRST.start, FIRST.end, "external", "code rural", ("3", "5"))]
    )
    assert all(claim.right for claim in claims if claim.level in ("article", "document"))


def test_left_out_and_edges_are_passed_over() -> None:
    read = [Read(FIRST.start, FIRST.end, "external", "code rural", ("3",))]
    claims, _ = compare(passage(left_out=((FIRST.start, FIRST.start + 3),)), LAW[0], read)
    assert not claims


@pytest.mark.parametrize(
    ("labelled", "found", "same"),
    [
        ("", "", True),
        ("code civil", "", False),
        ("", "code civil", False),
        ("?", "code civil", True),
        ("?", "", False),
        ("code civil", "?", False),
        ("loi n° 89-462 du 6 juillet 1989", "LOI N° 89-462 du 6 juillet 1989", True),
        ("loi n° 89-462", "loi n° 89-462 du 6 juillet 1989", True),
        ("code", "code civil", False),
        ("刑法", "《中华人民共和国刑法》", True),
        ("刑法", "刑事诉讼法", False),
    ],
)
def test_names_of_laws(labelled: str, found: str, same: bool) -> None:
    assert same_law(labelled, found) is same


def test_shares_and_intervals() -> None:
    claims = [Claim("article", "internal", True, n < 8) for n in range(10)]
    claims += [Claim("article", "external", False, True)]
    numbers = measured(claims)["article"]
    assert numbers["all"]["recall"]["value"] == 0.8
    assert (numbers["all"]["met"], numbers["all"]["sought"], numbers["all"]["found"]) == (8, 10, 1)
    assert numbers["internal"]["precision"] is None
    assert numbers["external"]["recall"] is None
    # Wilson 1927, as in Agresti & Coull 1998
    assert (wilson(8, 10).low, wilson(8, 10).high) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson(30, 30).low == pytest.approx(0.8865, abs=1e-4)


# --- the command ---


def data(folder: Path, text: str = TEXT) -> Path:
    law = folder / "law"
    law.mkdir(parents=True)
    lines = [{"id": "r1", "code": "Code rural", "article_no": "1", "text": text}]
    (law / "articles.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    card = {"name": "law", "title": "Law", "language": "fr"}
    (law / "card.json").write_text(json.dumps(card), encoding="utf-8")
    return folder


def labels(folder: Path) -> Path:
    folder.mkdir()
    record = {
        "n": 0, "half": "dev", "source": "law", "article": "r1", "start": 0, "end": len(TEXT),
        "length": len(TEXT), "sha256": hashlib.sha256(TEXT.encode()).hexdigest()[:16],
        "references": [
            {key: getattr(each, key) for key in ("start", "end", "kind", "law", "articles")}
            for each in (FIRST, SECOND)
        ],
    }  # fmt: skip
    (folder / "references-fr.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    return folder


def scripted(articles: Sequence[Article], card: CorpusCard) -> Scripted:
    assert card.language
    return Scripted([("article 9", "internal", "", ("9",))], articles)


def test_labels_are_measured_by_half(tmp_path: Path) -> None:
    folder = labels(tmp_path / "labels")
    numbers, differences = against_labels("fr", data(tmp_path / "data"), scripted, None, folder)
    assert numbers["all"]["article"]["all"]["recall"]["value"] == pytest.approx(1 / 3)
    assert numbers["dev"] == numbers["all"]
    assert not numbers["test"]
    assert [d.what for d in differences] == ["labelled: external 3, 5, of 'code rural'"]
    assert differences[0].where == "r1 (passage 0)"


def test_other_data_than_was_labelled_is_an_error(tmp_path: Path) -> None:
    folder = labels(tmp_path / "labels")
    with pytest.raises(BadInput, match="not the text that was labelled"):
        against_labels("fr", data(tmp_path / "data", TEXT + " Et encore."), scripted, None, folder)
    with pytest.raises(BadInput, match="--data"):
        against_labels("fr", tmp_path / "nowhere", scripted, None, folder)
    with pytest.raises(BadInput, match="Languages that have one: fr"):
        against_labels("nl", tmp_path / "data", scripted, None, folder)
    (folder / "references-nl.jsonl").write_text('{"n": 1}\n', encoding="utf-8")
    with pytest.raises(BadInput, match="line 1"):
        read_passages(folder / "references-nl.jsonl")


def test_the_command_says_what_to_type(capsys: pytest.CaptureFixture[str]) -> None:
    for typed, says in (
        ([], "nothing to measure"),
        (["--labels", "fr"], "--data"),
        (["--labels", "fr", "--data", "x", "--errors", "3"], "--half dev"),
    ):
        assert main(typed, scripted) == 2
        assert says in capsys.readouterr().err


# --- mark-up ---

BODY = (
    article("1", "Si veda l'<ref href='#art_2'>articolo 2</ref> e l'articolo 3.", "art_1")
    + article("2", "Vedi <ref href='#art_1'>l'articolo 1</ref>, il <ref href='#art_2'>comma 1</ref>", "art_2")
    + article(
        "3",
        "A norma dell'<ref href='/akn/it/act/legge/stato/2006-04-03/152#art_7'>articolo 7 della legge 3 "
        "aprile 2006, n. 152</ref> e della <ref href='/akn/it/act/legge/stato/1990-08-07/241'>"
        "legge n. 241 del 1990</ref>.",
        "art_3",
    )
)  # fmt: skip


def markup(
    tmp_path: Path, *found: tuple[str, str, str, tuple[str, ...]]
) -> tuple[dict[str, dict[str, bool]], int]:
    """Sides of levels -> whether all that is marked is met, and whether all that is read is right."""
    path = tmp_path / "a.xml"
    path.write_text(act(BODY), encoding="utf-8")
    (law,) = read_marked(path)
    assert law.passed_over == 0
    claims, _, counts = compare_markup(law, Scripted(found, law.corpus.articles))
    sides = {
        level: {
            "met": all(rights(claims, level, sought=True)),
            "right": all(rights(claims, level, sought=False)),
        }
        for level in ("document", "article")
    }
    assert counts["elements"] == 5
    return sides, counts["elements around parts of an article"]


GOOD = (
    ("articolo 2", "internal", "", ("2",)),
    ("articolo 1", "internal", "", ("1",)),
    ("articolo 7 della legge 3 aprile 2006, n. 152", "external", "legge 3 aprile 2006, n. 152", ("7",)),
    ("legge n. 241 del 1990", "law", "legge n. 241 del 1990", ()),
)


def test_spans_are_found_again_in_the_text(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(act(BODY.replace(">articolo 2<", "> articolo 2 <")), encoding="utf-8")
    (law,) = read_marked(path)
    marked = {law.corpus.articles[i].text[s.start : s.end] for i, spans in law.spans.items() for s in spans}
    assert {"articolo 2", "l'articolo 1", "comma 1", "legge n. 241 del 1990"} <= marked


def test_markup_that_is_read_as_it_says(tmp_path: Path) -> None:
    sides, parts = markup(
        tmp_path, *GOOD, ("articolo 3", "internal", "", ("3",))
    )  # the last: nobody marked it
    assert sides == {level: {"met": True, "right": True} for level in ("document", "article")}
    assert parts == 1


@pytest.mark.parametrize(
    ("left_out", "instead", "wrong"),
    [
        (0, None, {"document": "met", "article": "met"}),
        (3, None, {"document": "met"}),
        (2, ("articolo 7", "internal", "", ("7",)), {"document": "both", "article": "both"}),
        (2, ("articolo 7 della legge 3 aprile 2006, n. 152", "external", "legge n. 9", ("7",)),
         {"document": "both", "article": "both"}),
        (0, ("articolo 2", "internal", "", ("3",)), {"article": "met"}),  # its 3 is not in the marked text
    ],
)  # fmt: skip
def test_markup_that_is_read_otherwise(
    tmp_path: Path,
    left_out: int,
    instead: tuple[str, str, str, tuple[str, ...]] | None,
    wrong: dict[str, str],
) -> None:
    found = [*GOOD[:left_out], *([instead] if instead else []), *GOOD[left_out + 1 :]]
    sides, _ = markup(tmp_path, *found)
    for level, of in sides.items():
        assert of["met"] is (level not in wrong), level
        assert of["right"] is (wrong.get(level) != "both"), level


def test_the_command_prints_tables_and_writes_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, output = tmp_path / "a.xml", tmp_path / "numbers.json"
    path.write_text(act(BODY), encoding="utf-8")
    typed = ["--akn", str(path), "--errors", "1", "--output", str(output)]
    assert main(typed, lambda articles, _: Scripted(GOOD[1:], articles)) == 0
    out = capsys.readouterr().out
    assert "marked: 2 of this law" in out  # what differs
    assert "| JuriFindIT (published) | 92.2 | 65.7 | 77.1 | 52.3 |" in out
    assert "| mark-up, a.xml (it) | internal | article | 100.0 (20.7–100.0) | 1 of 1 | 50.0" in out
    entry = json.loads(output.read_text(encoding="utf-8"))
    assert entry["command"] == f"python -m training.references {' '.join(typed)}"
    assert entry["akn"]["a.xml (it)"]["all"]["article"]["all"]["sought"] == 3
    path.write_text(act(article("1", "Pane.")), encoding="utf-8")
    assert main(["--akn", str(path)], lambda articles, _: Scripted((), articles)) == 2
    assert "no article with a reference" in capsys.readouterr().err


# --- real data ---


@pytest.mark.parametrize("language", ["fr", "it", "de", "zh"])
def test_labels_are_whole(language: str) -> None:
    passages = read_passages(LABELS / f"references-{language}.jsonl")
    assert [each.n for each in passages] == list(range(len(passages)))
    assert sum(len(each.references) for each in passages) >= 150
    for each in passages:
        assert each.half == ("test" if each.n % 2 else "dev")
        places = sorted([*((r.start, r.end) for r in each.references), *each.left_out])
        assert all(each.start <= start < end <= each.end for start, end in places)
        assert all(end <= after for (_, end), (after, _) in pairwise(places))
        for reference in each.references:
            numbered = reference.kind in ("internal", "relative", "external")
            assert bool(reference.articles) is numbered
            assert bool(reference.law) is (reference.kind in ("external", "law")) or reference.kind == "level"


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("language", ["fr", "it", "de", "zh"])
def test_labels_are_of_the_measuring_data(language: str) -> None:
    if not (SHARED / "data").is_dir():
        pytest.skip(f"{SHARED / 'data'} is not there: the law that was labelled is measuring data")
    if language == "it":
        pytest.importorskip("lxml")
    numbers, differences = against_labels(language, SHARED / "data", lambda a, _: Scripted((), a))
    assert numbers["all"]["article"]["all"]["found"] == 0
    assert len(differences) == numbers["all"]["whole"]["all"]["sought"]


@pytest.mark.data
@pytest.mark.slow
def test_markup_of_real_acts() -> None:
    path = SHARED / "data" / "akn" / "it_codice_penale.xml"
    if not path.is_file():
        pytest.skip(f"{path} is not there: acts of parliaments are measuring data")
    pytest.importorskip("lxml")
    (law,) = read_marked(path)
    assert law.passed_over == 0
    assert sum(map(len, law.spans.values())) > 500
