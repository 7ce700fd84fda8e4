"""What `describe` counts: against the corpus in memory, worked by hand, and what it prints and writes."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from indexes.__main__ import main
from indexes.corpus.corpus import Corpus, counts, write
from indexes.describing.command import write as write_description
from indexes.describing.datacard import data_card
from indexes.describing.description import Code, Description, SplitSummary, TableColumn
from indexes.describing.measure import measure, units
from indexes.describing.tables import (
    LIMIT,
    WIDTH,
    Share,
    Table,
    as_csv,
    as_markdown,
    as_text,
    columns,
    tables,
)
from rag.corpus.card import CorpusCard
from rag.errors import BadInput, MissingExtra
from rag.types import Article, Question
from tests.fakes.law.corpora import corpora
from tests.fakes.law.corpus import VILLAGE

TOWN = CorpusCard("town", "Town law", "en", licence="CC BY-NC 4.0", law_date=date(2020, 1, 1))
LAW = (
    Article("w1", "Wells", "1", "The well is closed.", references=("w2", "w1"), valid_from=date(2000, 1, 1)),
    Article("w2", "Wells", "2", "Nobody's goat drinks there at night.", valid_to=date(2019, 6, 1)),
    Article("o1", "Ovens", "1", "Bread.", references=("elsewhere",), language="fr", region="North"),
    Article("h1", "Hedges", "1", "Cut it in March.", url="https://town.example/h1"),
)
ASKED = (
    Question("q1", "May my goat drink?", ("w2", "w1"), category="animals", split="train"),
    Question("q2", "Is the well open?", ("w1",), category="water", split="train", answer="No."),
    Question("q3", "When may I cut?", ("h1",), category="water", split="test"),
    Question("q4", "What is love?", (), split="test"),
)
SMALL = Corpus(TOWN, LAW, ASKED, {"w1": {"depth": 3}}, {"q1": {"by": "letter"}})


def described(corpus: Corpus, folder: Path) -> Description:
    return measure(write(corpus, folder), units(corpus.card.language))


@pytest.fixture
def small(tmp_path: Path) -> Description:
    return described(SMALL, tmp_path / "town")


def test_numbers_worked_by_hand(small: Description) -> None:
    assert (small.articles, small.questions, small.with_gold) == (4, 4, 3)
    assert small.sha256 == SMALL.sha256
    assert small.lengths["articles"]["characters"].counts == {6: 1, 16: 1, 19: 1, 36: 1}
    assert small.lengths["articles"]["words"].counts == {1: 1, 4: 2, 6: 1}  # nobody's is one word
    assert small.lengths["questions"]["words"].counts == {3: 1, 4: 3}
    assert small.codes == (
        Code("Wells", 2, 2, 2), Code("Hedges", 1, 1, 1), Code("Ovens", 1, 0, 0),
    )  # fmt: skip
    assert {name: dict(spread.counts) for name, spread in small.gold.items()} == {
        "water": {1: 2}, "": {0: 1}, "animals": {2: 1},
    }  # fmt: skip
    assert small.gold_of_all.counts == {0: 1, 1: 2, 2: 1}
    assert small.citations.counts == {0: 1, 1: 2, 2: 1}  # o1; w2 and h1; w1
    assert (small.cited, small.codes_cited) == (3, 2)
    assert small.references.spread.counts == {0: 2, 1: 1, 2: 1}
    assert (small.references.inside, small.references.itself) == (2, 1)
    assert small.splits == {"test": SplitSummary(2, 1), "train": SplitSummary(2, 2)}
    assert small.languages == {"en": 3, "fr": 1}
    days = small.dates
    assert (days.with_from, days.with_to, days.in_force) == (1, 1, 3)  # w2 had ended
    assert (days.earliest, days.latest) == (date(2000, 1, 1), date(2000, 1, 1))
    filled = {(c.of, c.column): c for c in small.columns}
    assert filled["article", "region"] == TableColumn("article", "region", 1, 4)
    assert filled["article", "references"].filled == 2
    assert filled["question", "answer"] == TableColumn("question", "answer", 1, 4)
    assert filled["article", "depth"] == TableColumn("article", "depth", 1, 4, used=False)
    assert filled["question", "by"] == TableColumn("question", "by", 1, 4, used=False)


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(corpora())
def test_it_counts_what_the_corpus_holds(tmp_path_factory: pytest.TempPathFactory, corpus: Corpus) -> None:
    found = described(corpus, tmp_path_factory.mktemp("any") / "corpus")
    papers = counts(corpus)
    assert found.sha256 == corpus.sha256
    assert (found.articles, len(found.codes), found.questions) == (
        papers["articles"], papers["codes"], papers["questions"],
    )  # fmt: skip
    assert found.cited == papers["relevant articles"]
    assert (found.gold_of_all.quantile(1.0) or 0) == papers["most articles of one question"]
    assert found.gold_of_all.total == sum(len(q.article_ids) for q in corpus.questions)
    assert found.citations.total == found.gold_of_all.total
    assert found.lengths["articles"]["characters"].counts == Counter(len(a.text) for a in corpus.articles)
    assert sum(c.articles for c in found.codes) == found.articles
    assert sum(c.cited for c in found.codes) == found.cited
    assert sum(s.questions for s in found.splits.values()) == found.questions
    assert json.loads(json.dumps(found.to_json()))["articles"] == found.articles
    for table in tables(found):
        assert all(columns(line) <= WIDTH for line in as_text(table).splitlines())
        rows = list(csv.reader(io.StringIO(as_csv(table), newline="")))
        assert {len(row) for row in rows} == {len(table.columns)}


def test_questions_by_number_are_found_and_a_lost_one_is_named(tmp_path: Path) -> None:
    folder = write(replace(SMALL, questions=(), question_extras={}), tmp_path / "town")
    asked = {"id": 1, "question": "Who closes it?", "code": "Wells", "article_no": ["1", "2"]}
    (folder / "questions.jsonl").write_text(json.dumps(asked), encoding="utf-8")
    found = measure(folder, units("en"))
    assert (found.gold_of_all.counts, found.cited) == ({2: 1}, 2)
    for odd in ({"article_no": "9"}, {"article_ids": ["w9"]}):
        (folder / "questions.jsonl").write_text(json.dumps({**asked, **odd}), encoding="utf-8")
        with pytest.raises(BadInput, match=r"questions\.jsonl:1: it cites '.*9', which the corpus"):
            measure(folder, units("en"))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"id": 1, "code": "C", "article_no": 1, "text": "again"}', r":2: id '1' was already used"),
        ('{"id": 2, "code": "C", "article_no": 1, "text": ""}', r":2: the text is empty"),
        ('{"id": 2', r":2: not JSON"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, told: str) -> None:
    (tmp_path / "card.json").write_text('{"name": "c", "title": "C", "language": "en"}', encoding="utf-8")
    good = '{"id": 1, "code": "C", "article_no": 1, "text": "one"}'
    (tmp_path / "articles.jsonl").write_text(f"{good}\n{line}\n", encoding="utf-8")
    with pytest.raises(BadInput, match=told):
        measure(tmp_path, units("en"))
    (tmp_path / "articles.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(BadInput, match="no articles in it"):
        measure(tmp_path, units("en"))


def test_units_say_how_they_count() -> None:
    french, chinese, other = units("fr"), units("zh"), units("cy")
    assert french["characters"].count(["l'été 😀"]) == [7]
    assert french["words"].count(["L'eau de la fontaine", ""]) == [4, 0]  # de and la too, l' not
    assert french["tokens"].count(["L'eau de la fontaine"]) == [2]
    assert "stop words too" in french["words"].name
    assert "snowball-french" in french["tokens"].name
    assert chinese["words"].count(["民法典第五条"]) == [2]
    assert other["words"].count(["dau air"]) == other["tokens"].count(["dau air"]) == [2]
    assert other["words"].name == "runs of letters and digits"


def test_a_tokenizer_of_ones_own(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="needs tokenizers: pip install tokenizers")
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({"the": 0, "well": 1, "[?]": 2}, "[?]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.enable_truncation(3)  # as models have it; no length may come of it
    made.enable_padding()
    folder = tmp_path / "my-model"
    folder.mkdir()
    made.save(str(folder / "tokenizer.json"))
    for place in (folder, folder / "tokenizer.json"):
        cut = units("en", str(place))["tokens"]
        assert cut.count(["the well the well the", "well", ""]) == [5, 1, 0]
        assert cut.name.startswith("my-model (tokenizers, sha256 ")
    with pytest.raises(BadInput, match=r"nowhere: cannot be had .*give a tokenizer\.json"):
        units("en", str(tmp_path / "nowhere"))


def test_without_the_package_the_cure_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "tokenizers", None)
    with pytest.raises(MissingExtra, match="pip install tokenizers"):
        units("en", "any")


def test_tables_are_cut_for_people_and_whole_in_files() -> None:
    rows = tuple((f"A code with a name that goes on and on, number {n}", n, Share(n, 60)) for n in range(60))
    table = Table("codes", "Codes", ("code", "articles", "of all"), rows, "A note.")
    lines = as_text(table, 40).splitlines()
    assert len(lines) == 2 + 1 + LIMIT + 1
    assert all(columns(line) <= 40 for line in lines)
    assert lines[3].split() == ["A", "code", "with", "a", "name", "th…", "0", "0.0", "%"]
    assert lines[-1] == "… and 40 more rows. A note."
    assert as_markdown(table).count("\n|") == LIMIT + 2
    assert as_csv(table).splitlines()[-1].endswith('number 59",59,0.9833333333333333')


def test_chinese_takes_two_columns_and_a_long_last_cell_goes_on() -> None:
    table = Table("t", "标题", ("what", "found"), (("标题", "中华人民共和国民法典" * 6), ("n", None)))
    lines = as_text(table, 40).splitlines()
    assert [columns(line) for line in lines[3:6]] == [40, 40, 40]
    assert "".join(line[6:] if n else line[4:] for n, line in enumerate(lines[3:-1])).replace(" ", "") == (
        "中华人民共和国民法典" * 6
    )
    assert lines[-1].split() == ["n", "–"]


def test_markup_in_names_stays_text() -> None:
    table = Table("t", "T", ("a|b", "c"), (("<img src=x>|\\", "y\nz"), ("[a](javascript:b)", "![x](c)")))
    assert as_markdown(table).splitlines()[-2:] == [
        "| &lt;img src=x>\\|\\\\ | y z |",
        "| \\[a](javascript:b) | !\\[x](c) |",
    ]


def test_a_title_is_no_markup(tmp_path: Path) -> None:
    evil = "<img src=x>\n# [a](javascript:b)\x1b[2J"
    found = described(replace(SMALL, card=replace(SMALL.card, title=evil)), tmp_path / "law")
    write_description(found, data_card(found, ""), tmp_path / "out")
    for name, before in (("description.md", "# "), ("datacard.md", "# Data card: ")):
        first = (tmp_path / "out" / name).read_text(encoding="utf-8").splitlines()[0]
        assert first == before + "&lt;img src=x> # \\[a](javascript:b)\\[2J"


@pytest.mark.parametrize("name", ["=cmd|'/c calc'!A1", "+1", "-1+cmd", "@SUM(1)", "\tx", "\rx"])
def test_no_cell_of_csv_is_a_formula(name: str) -> None:
    [_, row] = csv.reader(io.StringIO(as_csv(Table("t", "T", ("a", "b"), ((name, -1.5),))), newline=""))
    assert row == [f"'{name}", "-1.5"]


def test_the_command_prints_and_writes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    law = write(SMALL, tmp_path / "town")
    assert main(["import", str(law)]) == 0
    assert "  licence: CC BY-NC 4.0 (non-commercial)\n" in capsys.readouterr().out
    out = tmp_path / "out"
    assert main(["describe", "town", "--output", str(out)]) == 0
    told = capsys.readouterr().out
    assert all(columns(line) <= WIDTH for line in told.splitlines() if "written" not in line)
    for part in ("Lengths\n-------", "Wells            2", "CC BY-NC 4.0 (non-commercial)", "written: "):
        assert part in told
    names = {path.name for path in out.iterdir()}
    assert names >= {
        "description.md", "description.json", "datacard.md", "datacard.json", "codes.csv", "lengths.csv",
        "gold.csv", "citations.csv", "codes.svg", "gold.svg", "citations.svg", "references.svg",
        "lengths_articles.svg", "lengths_questions.svg",
    }  # fmt: skip
    record = json.loads((out / "description.json").read_text(encoding="utf-8"))
    assert record["gold_per_question"]["by_category"]["(none)"]["counts"] == {"0": 1}
    page = (out / "description.md").read_text(encoding="utf-8")
    assert all(f"]({name})" in page for name in names if name.endswith(".svg"))
    assert main(["describe", str(law)]) == 0  # a folder by its path
    assert main(["describe", "town", "--output", str(out)]) == 2
    assert "is there already" in capsys.readouterr().err


def test_what_cannot_be_described_names_the_cure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    for name, cure in (
        ("nope", "no corpus named 'nope' (there: builtin): run python -m indexes import PATH --name nope"),
        (str(tmp_path), "no corpus folder, for it has no card.json. Import it first: python -m indexes imp"),
    ):
        assert main(["describe", name]) == 2
        assert cure in capsys.readouterr().err


def test_list_and_export_name_the_licence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    bare = replace(VILLAGE, card=replace(VILLAGE.card, name="bare", licence=""))
    for corpus in (VILLAGE, bare):
        main(["import", str(write(corpus, tmp_path / corpus.card.name)), "--build", "--encoder", "none"])
    capsys.readouterr()
    assert main(["list"]) == 0
    builtin, second, third = capsys.readouterr().out.splitlines()
    assert builtin.endswith("poids des mots) (attribution)")
    assert second.startswith("bare ")
    assert second.endswith("licence none stated (no grant)")
    assert third.endswith("licence CC0 (open)")
    assert main(["export", "bare", str(tmp_path / "beir"), "--to", "beir"]) == 0
    assert capsys.readouterr().out.endswith("its licence goes with it: none stated (no grant)\n")
