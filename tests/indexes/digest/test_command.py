"""`python -m indexes check-builtin`: counts, the list, the exit status, and what was accepted."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from indexes.__main__ import main
from indexes.digest.accepted import Acceptance, fingerprint, read_accepted, settle
from indexes.digest.command import check_builtin
from indexes.digest.finding import Finding
from indexes.store.paths import builtin
from rag.errors import BadInput

LAW = {"1": "Le meunier a quinze jours pour vider le bief.", "2": "Le notaire garde la clef."}
GOOD = {"1": "Vous avez 15 jours pour vider le bief.", "2": "La clef reste chez le notaire."}
Screen = pytest.CaptureFixture[str]


def lines(texts: dict[str, str], code: str = "Code civil") -> str:
    prefix = "".join(word[0].upper() for word in code.split())
    records = (
        {"id": f"{prefix}-{no}", "code": code, "article_no": no, "text": text} for no, text in texts.items()
    )
    return "".join(json.dumps(record) + "\n" for record in records)


class Shipped:
    """A folder like the one that ships, with its law, and what the command says of them."""

    def __init__(self, folder: Path, screen: Screen) -> None:
        self.folder, self.screen, self.law = folder, screen, folder / "law.jsonl"
        (folder / "index" / "corpus").mkdir(parents=True)
        self.law.write_text(lines(LAW) + lines({"1": "Rien."}, "Code du vent"), encoding="utf-8")
        self.accept([])

    def summaries(self, texts: dict[str, str]) -> None:
        (self.folder / "index" / "corpus" / "articles.jsonl").write_text(lines(texts), encoding="utf-8")

    def accept(self, records: object) -> None:
        (self.folder / "accepted.json").write_text(json.dumps(records), encoding="utf-8")

    def check(self, *more: str) -> tuple[int, str, str]:
        self.screen.readouterr()
        status = main(["check-builtin", str(self.law), "--folder", str(self.folder), *more])
        out, err = self.screen.readouterr()
        return status, out, err.splitlines()[-1] if err else ""


@pytest.fixture
def shipped(tmp_path: Path, capsys: Screen) -> Shipped:
    made = Shipped(tmp_path, capsys)
    made.summaries(GOOD)
    return made


def test_clean_summaries(shipped: Shipped) -> None:
    status, out, _ = shipped.check()
    assert status == 0
    assert "0 findings left on 0 of 2 summaries, 0 accepted, 0 lapsed" in out
    assert "--list" not in out


def test_what_is_left_is_counted_then_listed_and_fails(shipped: Shipped) -> None:
    bad = GOOD | {"1": "Vous avez 16 jours pour vider le bief."}
    shipped.summaries(bad)
    status, out, _ = shipped.check()
    assert status == 1
    assert re.search(r"^number added +1 +1  ", out, re.MULTILINE)
    assert "2 findings left on 1 of 2 summaries" in out
    assert "16 jours" not in out
    status, out, _ = shipped.check("--list")
    assert status == 1
    assert [json.loads(line)["detail"] for line in out.splitlines() if line.startswith("{")] == [
        "16 jours",
        "quinze jours",
    ]


def test_an_acceptance_holds_until_the_summary_changes(shipped: Shipped) -> None:
    shipped.summaries(GOOD | {"1": "Vous avez 16 jours pour vider le bief."})
    records = [json.loads(line) for line in shipped.check("--list")[1].splitlines() if line.startswith("{")]
    shipped.accept(records)
    status, _, complaint = shipped.check()
    assert (status, "reason is ''" in complaint) == (2, True), "the reason is not for the program to write"
    shipped.accept([record | {"reason": "le jour du départ compte"} for record in records])
    status, out, _ = shipped.check()
    assert status == 0
    assert "0 findings left on 0 of 2 summaries, 2 accepted" in out
    shipped.summaries(GOOD | {"1": "Vous avez 16 jours pour vider tout le bief."})
    status, out, _ = shipped.check()
    assert status == 1
    assert "2 findings left on 1 of 2 summaries, 0 accepted, 2 lapsed" in out


def test_an_acceptance_that_fits_nothing_fails(shipped: Shipped) -> None:
    record = {"article": "CC-1", "kind": "number added", "detail": "16 jours"}
    shipped.accept([record | {"summary": fingerprint(GOOD["1"]), "reason": "relu"}])
    status, out, _ = shipped.check()
    assert status == 1
    assert "no longer found (CC-1, number added: 16 jours): take it out of accepted.json" in out


RECORD = {"article": "1", "kind": "obliges", "detail": "doit", "summary": "0" * 12, "reason": "relu"}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{", "Write a list of records into it"),
        ("{}", "dict where a list of records was expected"),
        ('["x"]', "record 1: 'x'. Give article, kind, detail, summary, reason"),
        (json.dumps([RECORD | {"reason": " "}]), "reason is ' '. Give a text"),
        (json.dumps([RECORD | {"kind": "odd"}]), "no kind 'odd'. Give one of: number added"),
        (json.dumps([RECORD | {"more": "x"}]), "and nothing else"),
        (json.dumps([RECORD, RECORD]), "is accepted twice"),
    ],
)
def test_a_bad_file_of_acceptances_is_refused(tmp_path: Path, content: str, complaint: str) -> None:
    path = tmp_path / "accepted.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(BadInput) as refused:
        read_accepted(path)
    assert complaint in str(refused.value)
    assert str(path) in str(refused.value)


def test_a_missing_file_of_acceptances_names_the_cure(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"Write a list of records into it, \[\] if there are none"):
        read_accepted(tmp_path / "accepted.json")


def test_an_article_of_another_edition_is_refused(shipped: Shipped) -> None:
    shipped.summaries(GOOD | {"3": "De trop."})
    status, out, said = shipped.check()
    assert (status, out) == (2, "")
    assert "has no article 3 of Code civil (1 such)" in said


def test_an_article_that_nobody_has_summarised_is_passed_over(shipped: Shipped) -> None:
    shipped.summaries({"1": GOOD["1"], "2": ""})
    status, out, _ = shipped.check()
    assert status == 0
    assert "0 findings left on 0 of 1 summaries" in out


def test_settling() -> None:
    one, two = Finding("1", "obliges", "doit"), Finding("2", "obliges", "doit")
    now = Acceptance(one, fingerprint("a"), "relu")
    before = Acceptance(two, fingerprint("old"), "relu")
    gone = Acceptance(Finding("9", "obliges", "doit"), fingerprint("c"), "relu")
    settled = settle([one, two], [now, before, gone], {"1": "a", "2": "b"})
    assert (settled.left, settled.accepted, settled.lapsed, settled.unfit) == (
        (two,),
        (now,),
        (before,),
        (gone,),
    )
    assert not settled.clean
    assert settle([one], [now], {"1": "a"}).clean


def test_what_ships_of_acceptances_can_be_read() -> None:
    read_accepted(builtin().parent / "accepted.json")


@pytest.mark.slow
@pytest.mark.data
def test_the_summaries_that_ship_are_clean(data: Path) -> None:
    checked = check_builtin(
        data / "fr_everyday" / "articles.jsonl.gz", builtin().parent, lambda what, done, total: None
    )
    assert checked.settled.clean, "\n".join(checked.lines(listed=True))
