"""The hub: listings, commits, checksums, and the ways in which it says no."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes.__main__ import main
from indexes.download import hub
from indexes.download import resolve as arrival
from indexes.download.http import FetchError
from indexes.download.hub import DATASETS, Hub, HubDataset, download
from indexes.sources.registry import SOURCES
from rag.errors import BadInput
from tests.fakes.law.hub_dataset import COMMIT, the_hub
from tests.fakes.law.odd_server import Answer, Odd, serving

SET = HubDataset("us/law", "bsard", ("articles.csv", "data/*.csv"), gated=True)
FILES = {"articles.csv": b"id\n1\n", "data/big.csv": b"big" * 100, "README.md": b"read me"}


def no_wait(seconds: float) -> None:
    pass


@pytest.fixture
def odd(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Odd]:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HF_TOKEN", "HF_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    with serving() as server:
        yield server


def test_the_files_that_are_needed(odd: Odd, tmp_path: Path) -> None:
    odd.answer = the_hub(FILES, odd.address, key="t")
    shown: list[tuple[str, int, int | None]] = []
    place = download(
        SET, tmp_path, hub=Hub(odd.address, "t"), progress=lambda *told: shown.append(told), sleep=no_wait
    )
    assert place == tmp_path / "us--law" / COMMIT
    found = {str(p.relative_to(place)): p.read_bytes() for p in place.rglob("*") if p.is_file()}
    assert found == {path: content for path, content in FILES.items() if path != "README.md"}
    assert shown[-1] == ("data/big.csv", 300, 300)
    before = len(odd.seen)
    download(SET, tmp_path, hub=Hub(odd.address, "t"), sleep=no_wait)
    assert not [seen for seen in odd.seen[before:] if "resolve" in seen.path]  # nothing is fetched twice
    (place / "articles.csv").write_bytes(b"id\n2\n")  # as long, and wrong
    download(SET, tmp_path, hub=Hub(odd.address, "t"), sleep=no_wait)
    assert (place / "articles.csv").read_bytes() == FILES["articles.csv"]


@pytest.mark.parametrize("token", [None, "wrong"])
def test_a_gated_data_set_is_explained(odd: Odd, tmp_path: Path, token: str | None) -> None:
    odd.answer = the_hub(FILES, odd.address, key="right")
    told = "with the token in HF_TOKEN" if token else "no token was given in HF_TOKEN"
    with pytest.raises(
        FetchError, match=rf"us/law is given only to those who signed.*{told}.*/datasets/us/law"
    ):
        download(SET, tmp_path, hub=Hub(odd.address, token), sleep=no_wait)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Answer(404), "404 .*The data set is at .*/datasets/us/law"),
        (Answer(403), "403 .*private one needs HF_TOKEN"),
        (Answer(500), "500 .*later"),
        (Answer(200, b"<html>"), "no JSON came"),
        (Answer(200, b"[1, 2]"), "no commit came"),
        (Answer(200, b'{"sha": "../../x"}'), "no commit came"),
        (Answer(200, b"[" * 100_000), "no JSON came"),
    ],
)
def test_what_a_hub_may_answer(odd: Odd, tmp_path: Path, answer: Answer, told: str) -> None:
    odd.in_turn(answer)
    dataset, pauses = HubDataset("us/law", "bsard", ("*",)), list[float]()
    with pytest.raises(FetchError, match=told):
        download(dataset, tmp_path, hub=Hub(odd.address), sleep=pauses.append)
    assert pauses == ([1.0, 2.0, 4.0] if answer.status == 500 else [])


def test_a_busy_hub_is_asked_again(odd: Odd, tmp_path: Path) -> None:
    good, busy = the_hub(FILES, odd.address), [Answer(429, headers={"Retry-After": "3"}), Answer(503)]
    odd.answer = lambda seen: busy.pop(0) if busy else good(seen)
    pauses: list[float] = []
    place = download(SET, tmp_path, hub=Hub(odd.address), sleep=pauses.append)
    assert (place / "articles.csv").is_file()
    assert pauses == [3.0, 2.0]
    odd.in_turn(Answer(429, headers={"Retry-After": "3600"}))
    with pytest.raises(FetchError, match=r"429 .*asked too often.*asks to wait 3,600 seconds"):
        download(SET, tmp_path, hub=Hub(odd.address), sleep=pauses.append)


def test_a_file_that_is_not_the_listed_one(odd: Odd, tmp_path: Path) -> None:
    good = the_hub(FILES, odd.address)
    odd.answer = lambda seen: Answer(200, b"id\n2\n") if seen.path.endswith("articles.csv") else good(seen)
    with pytest.raises(FetchError, match=r"articles\.csv: its checksum is .* nothing was kept"):
        download(SET, tmp_path, hub=Hub(odd.address), sleep=no_wait)
    assert not list(tmp_path.rglob("articles.csv"))


@pytest.mark.parametrize("content", [b"big" * 99, b"big" * 101, b"gib" * 100])
def test_a_large_file_that_is_shorter_longer_or_another(odd: Odd, tmp_path: Path, content: bytes) -> None:
    good = the_hub(FILES, odd.address)
    odd.answer = lambda seen: Answer(200, content) if seen.path.startswith("/cdn") else good(seen)
    with pytest.raises(FetchError, match=r"big\.csv: (its sha256 is|longer than the 300 bytes)"):
        download(SET, tmp_path, hub=Hub(odd.address), sleep=no_wait)
    assert not list(tmp_path.rglob("big.csv"))


def test_a_path_that_leads_outside(odd: Odd, tmp_path: Path) -> None:
    odd.answer = the_hub({"data/../../../x.csv": b"1"}, odd.address)
    with pytest.raises(BadInput, match="leads outside"):
        download(SET, tmp_path, hub=Hub(odd.address), sleep=no_wait)


def test_a_layout_that_changed(odd: Odd, tmp_path: Path) -> None:
    odd.answer = the_hub({"laws.csv": b"1"}, odd.address)
    with pytest.raises(FetchError, match=r"none of articles\.csv, data/\*\.csv at main.*by hand"):
        download(SET, tmp_path, hub=Hub(odd.address), sleep=no_wait)


def test_nobody_there(tmp_path: Path) -> None:
    with pytest.raises(FetchError, match=r"cannot be reached .*HF_ENDPOINT"):
        download(SET, tmp_path, hub=Hub("http://127.0.0.1:9"), sleep=no_wait)


def test_every_data_set_has_a_source() -> None:
    assert {dataset.source for dataset in DATASETS.values()} <= set(SOURCES)
    assert [name for name, dataset in DATASETS.items() if dataset.gated] == ["lleqa"]


# --- arrival: what a person may type ---


def test_a_name_of_the_hub(odd: Odd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", odd.address + "/")
    monkeypatch.setattr(hub, "DATASETS", {"law": SET})
    monkeypatch.setattr(arrival, "DATASETS", {"law": SET})
    odd.answer = the_hub(FILES, odd.address)
    found = arrival.bring("law")
    assert found == (tmp_path / "home" / "downloads" / "us--law" / COMMIT, "bsard", None)
    with pytest.raises(BadInput, match=r"nothing does not exist.*a data set of the hub: law"):
        arrival.bring("nothing")


def test_a_file_of_any_data_set_of_the_hub(odd: Odd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", odd.address)
    odd.answer = the_hub(FILES, odd.address)
    place = "hf://datasets/us/law/data/big.csv"
    assert arrival.present(place) is None
    found = arrival.bring(place)
    assert found == (tmp_path / "home" / "downloads" / "us--law" / COMMIT / "data" / "big.csv", None, None)
    assert arrival.present(place) == found.path
    assert (arrival.fetched_commit(place), arrival.fetched_commit("bsard")) == (COMMIT, None)
    assert arrival.present("hf://datasets/us/law/articles.csv") is None  # it was not wanted
    for other in ("hf://datasets/us/law", "hf://datasets/us/law/", "hf://datasets/us/law/law.csv"):
        with pytest.raises(
            FetchError, match=r"holds articles\.csv, data/big\.csv: type hf://.*/articles\.csv"
        ):
            arrival.bring(other)
        assert arrival.present(other) is None


@pytest.mark.parametrize("file", ["[a-z]*.csv", "l?w.csv", "**"])
def test_the_name_of_a_file_is_no_pattern(odd: Odd, monkeypatch: pytest.MonkeyPatch, file: str) -> None:
    monkeypatch.setenv("HF_ENDPOINT", odd.address)
    odd.answer = the_hub({f"law-{n}.csv": b"id\n" for n in range(30)}, odd.address)
    with pytest.raises(FetchError, match=r"no such file at main; it holds law-0\.csv, .* and 10 more: type"):
        arrival.bring(f"hf://datasets/us/law/{file}")


@pytest.mark.parametrize(
    "address",
    ["hf://", "hf://us/law/x.csv", "hf://datasets/law", "hf://datasets/../law/x.csv", "hf://datasets/u--s/law/x",
     "hf://datasets/us/law/../../../x.csv", "hf://datasets/us/law//etc/passwd", "hf://models/us/law/x.csv"],
)  # fmt: skip
def test_an_address_of_the_hub_that_is_none(odd: Odd, address: str) -> None:
    for do in (arrival.bring, arrival.present, arrival.fetched_commit):
        with pytest.raises(
            BadInput, match=r"came: hf://datasets/OWNER/NAME/FILE was expected, such as hf://"
        ):
            do(address)
    assert odd.seen == []


def test_an_address_needs_a_checksum(odd: Odd, tmp_path: Path) -> None:
    content = b'{"id": "1"}\n'
    odd.in_turn(Answer(200, content))
    sha256 = hashlib.sha256(content).hexdigest()
    with pytest.raises(BadInput, match=r"no checksum came. Give --sha256"):
        arrival.bring(f"{odd.address}/law.jsonl")
    with pytest.raises(BadInput, match="'ab' is no SHA-256"):
        arrival.bring(f"{odd.address}/law.jsonl", sha256="ab")
    found = arrival.bring(f"{odd.address}/a/law.jsonl?x=1", sha256=sha256.upper())
    assert found.path.name == "law.jsonl"
    assert found.path.read_bytes() == content
    for path in ("/", "/..", "/%2e%2e%2fx", "/" + "l" * 300):
        inside = arrival.bring(odd.address + path, sha256=sha256).path
        assert inside.resolve().is_relative_to(tmp_path / "home" / "downloads")


@pytest.mark.parametrize("address", ["http://{}", "https://{}", "http:/{}", "{}"])
@pytest.mark.parametrize("user", ["ada:pass-1", "ada:p/ss-1", "ada:p@ss-1"])
def test_no_password_of_what_is_to_be_brought_is_printed(address: str, user: str) -> None:
    with pytest.raises((BadInput, FetchError)) as refused:
        arrival.bring(address.format(f"{user}@law.example.org/law.csv"))
    assert "law.example.org/law.csv" in str(refused.value)
    assert not re.search("ada|ss-1", str(refused.value))


def test_a_bar_shows_what_is_fetched(odd: Odd, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    article = {"id": "1", "code": "Well Code", "article_no": "1", "text": "Close the lid."}
    content = json.dumps(article).encode()
    odd.in_turn(Answer(200, content, {"ETag": '"1"'}, cut=9), Answer(200, content))
    sha256 = hashlib.sha256(content).hexdigest()
    typed = ["--sha256", sha256, "--name", "wells", "--language", "en"]
    assert main(["import", f"{odd.address}/wells.jsonl", *typed]) == 0
    shown = capsys.readouterr()
    assert "wells: read as pandect" in shown.out
    assert "wells.jsonl: 100%" in shown.err
    assert f"{len(content)}/{len(content)}" in shown.err.replace(".0", "")


LAW = b"nr,loi,contenu\n1,Code du puits,Fermez le couvercle.\n"
COLUMNS = [f"--column={pair}" for pair in ("id=nr", "code=loi", "text=contenu")]


@pytest.mark.parametrize("of_hub", [False, True])
def test_columns_of_a_table_that_was_fetched(
    odd: Odd, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], of_hub: bool
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", odd.address)
    typed = ["import", "hf://datasets/us/law/data/law.csv", "--language", "fr", "--name", "wells"]
    if of_hub:
        odd.answer = the_hub({"data/law.csv": LAW}, odd.address)
    else:
        odd.in_turn(Answer(200, LAW))
        typed[1:2] = [f"{odd.address}/law.csv", "--sha256", hashlib.sha256(LAW).hexdigest()]
    assert main(typed) == 2
    assert "no column code, id, text; the columns are: nr, loi, contenu" in capsys.readouterr().err
    assert main([*typed, *COLUMNS, "--dry-run"]) == 0
    assert "[1] Code du puits\nFermez le couvercle." in capsys.readouterr().out
    assert main([*typed, *COLUMNS]) == 0
    assert "wells: read as table" in capsys.readouterr().out
    assert len([seen for seen in odd.seen if seen.path.endswith("law.csv")]) == 1


def test_a_published_data_set_takes_no_columns(
    odd: Odd, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", odd.address)
    assert main(["import", "bsard", *COLUMNS]) == 2
    assert "give one file of it, hf://datasets/maastrichtlawtech/bsard/FILE" in capsys.readouterr().err
    assert odd.seen == []


def test_an_archive_is_unpacked_once(odd: Odd, tmp_path: Path) -> None:
    import zipfile

    archive = tmp_path / "law.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("law/articles.csv", "id")
    found = arrival.bring(str(archive))
    assert [path.name for path in found.path.iterdir()] == ["articles.csv"]
    assert found.unpacked is not None
    # what was unpacked before is another import's too: who fails to read it takes nothing away
    assert arrival.bring(str(archive)) == found._replace(unpacked=None)
    assert arrival.bring(str(tmp_path)) == (tmp_path, None, None)
    bulk = archive.rename(tmp_path / "Freemium_legi_global.zip")
    assert arrival.bring(str(bulk)) == (bulk, "legi", None)  # read as it is
