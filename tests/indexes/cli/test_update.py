"""`python -m indexes update`, `versions` and `rollback` as a host types them."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

import indexes
from indexes.__main__ import main
from indexes.build.build import build
from indexes.cleaning.steps import read_removed
from indexes.cli import importing
from indexes.corpus.corpus import Corpus, read, write
from indexes.corpus.extras import Node, read_nodes, write_nodes
from indexes.store import paths, versions
from rag.types import Article, Question
from tests.fakes.law.corpus import CODE, FIT, GOAT, NONE, VILLAGE, edition, first, install

Screen = pytest.CaptureFixture[str]
Typed = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PANDECT_INDEX", raising=False)
    return tmp_path / "home"


@pytest.fixture
def typed(capsys: Screen) -> Typed:
    def run(*words: str | Path) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main([str(word) for word in words])
        out, err = capsys.readouterr()
        return status, out, err

    return run


@pytest.fixture
def law(tmp_path: Path) -> Callable[[Corpus], Path]:
    """Write law to files, as a host gets it."""
    made: list[Path] = []

    def files(corpus: Corpus) -> Path:
        made.append(write(corpus, tmp_path / f"law-{len(made)}"))
        return made[-1]

    return files


Files = Callable[[Corpus], Path]


def everything(home: Path) -> dict[str, tuple[int, int]]:
    """Every file under PANDECT_HOME but the locks, with its size and the moment it was written."""
    files = (path for path in home.rglob("*") if path.is_file() and path.parent.name != "locks")
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in files}


def agreed() -> Corpus:
    """The corpus of the village, which is the one that its index was built from."""
    corpus = read(paths.corpus_folder("village"))
    assert indexes.open("village").info.corpus_sha256 == corpus.sha256
    return corpus


def with_text(text: str) -> Corpus:
    return replace(VILLAGE, articles=(replace(VILLAGE.articles[0], text=text), *VILLAGE.articles[1:]))


def test_new_law(typed: Typed, law: Files) -> None:
    install(settings=FIT)
    articles = [*VILLAGE.articles[1:], Article("v-13", CODE, "13", "La chèvre qui sait nager est libre.")]
    articles[2] = replace(articles[2], valid_to=date(2026, 1, 1))
    questions = tuple(q for q in VILLAGE.questions if q.id != "q1")
    status, out, err = typed(
        "update", "village", law(replace(VILLAGE, articles=tuple(articles), questions=questions))
    )
    assert status == 0
    said = [" ".join(line.split()) for line in out.splitlines()]
    for line in ("added 1 v-13", "changed 0", "repealed 1 v-4", "removed 1 v-1", "removed questions 1 q1"):
        assert line in said
    version = paths.current("village").name
    assert f"village: 1 articles analysed, 1 encoded by static-fr-8; version {version} is in use" in said
    assert said[-1] == "back: python -m indexes rollback village"
    assert "analysing articles: 100%" in err
    assert [a.id for a in agreed().articles] == [a.id for a in articles]
    engine = indexes.open("village")
    assert first(engine, "nager") == "v-13"
    assert engine.ask("couvercle", mode="keyword").status == "nothing"
    assert engine.articles["v-4"].valid_to == date(2026, 1, 1)


def test_nothing_changed(typed: Typed, law: Files, home: Path) -> None:
    marked = replace(VILLAGE, extras={"v-1": {"note": [1, "x"]}}, question_extras={"q1": {"by": "Ada"}})
    install(marked)
    before = everything(home)
    for words in ((), ("--dry-run",)):
        status, out, _ = typed("update", "village", law(marked), *words)
        assert (status, "nothing changed since version" in out) == (0, True)
    assert everything(home) == before
    assert not [path for path in (home / "corpora").iterdir() if path.name != "village"]


def test_a_dry_run_only_prints(typed: Typed, law: Files, home: Path) -> None:
    install()
    before = everything(home)
    status, out, _ = typed("update", "village", law(with_text("Le puits est fermé.")), "--dry-run")
    assert status == 0
    assert re.search(r"changed +1 +v-1\n", out)
    assert out.endswith("dry run: nothing was written\n")
    assert everything(home) == before


@pytest.mark.parametrize(
    "other",
    [
        replace(VILLAGE, extras={"v-1": {"note": "new"}}),
        replace(VILLAGE, question_extras={"q1": {"note": "new"}}),
        replace(VILLAGE, articles=VILLAGE.articles[::-1]),
        replace(VILLAGE, questions=VILLAGE.questions[::-1]),
        replace(VILLAGE, questions=(replace(VILLAGE.questions[0], answer="Non."), *VILLAGE.questions[1:])),
    ],
    ids=["columns", "columns of questions", "order", "order of questions", "an answer"],
)
def test_what_changes_no_article_is_brought_in_too(typed: Typed, law: Files, other: Corpus) -> None:
    install(replace(VILLAGE, extras={"v-1": {"note": "old"}}))
    assert typed("update", "village", law(other))[0] == 0
    found = agreed()
    assert (found.articles, found.questions) == (other.articles, other.questions)
    assert (found.extras, found.question_extras) == (other.extras, other.question_extras)
    assert "nothing changed" in typed("update", "village", law(other))[1]


@pytest.mark.slow
def test_the_card_stays_unless_told_otherwise(typed: Typed, law: Files) -> None:
    card = replace(VILLAGE.card, title="Mon village", licence="CC BY 4.0", law_date=date(2025, 1, 1))
    install(replace(VILLAGE, card=card))
    new = replace(
        with_text("Le puits est fermé."), card=replace(VILLAGE.card, title="autre", note="de fichier")
    )
    out = typed("update", "village", law(new))[1]
    assert "the card still says law of 2025-01-01: --law-date YYYY-MM-DD changes it" in out
    assert agreed().card == replace(card, note="de fichier")  # what it left open is filled in
    newer = replace(with_text("Le puits."), card=replace(VILLAGE.card, law_date=date(2026, 1, 1)))
    assert "the card still says" not in typed("update", "village", law(newer))[1]
    older = replace(with_text("Le puits ouvert."), card=replace(VILLAGE.card, law_date=date(2024, 1, 1)))
    typed("update", "village", law(older))
    assert agreed().card.law_date == date(2026, 1, 1)  # the later one of two
    out = typed("update", "village", law(older), "--law-date", "2024-06-01", "--title", "Le village")[1]
    assert re.search(r"card +title, law_date", out)
    told = indexes.open("village").card
    assert (told.title, told.law_date, told.licence) == ("Le village", date(2024, 6, 1), "CC BY 4.0")


def test_a_card_that_a_host_wrote_into_reaches_the_index(typed: Typed, law: Files) -> None:
    install()
    file = paths.corpus_folder("village") / "card.json"
    record = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**record, "examples": ["Qui ferme le puits ?"]}), encoding="utf-8")
    assert re.search(r"card +examples", typed("update", "village", law(VILLAGE))[1])
    assert indexes.open("village").card.examples == ("Qui ferme le puits ?",)


@pytest.mark.slow
def test_questions_stay_where_the_new_files_bring_none(typed: Typed, law: Files) -> None:
    install(replace(VILLAGE, question_extras={"q3": {"by": "Ada"}, "q1": {"by": "Bob"}}))
    left = replace(VILLAGE, articles=VILLAGE.articles[1:-2], questions=())  # without 1, 11 and 12
    out = typed("update", "village", law(left))[1]
    assert "no questions in the new files: 4 kept (--drop-questions drops them)" in out
    assert re.search(r"removed questions +1 +q1\n", out)
    found = agreed()
    assert {q.id: q.article_ids for q in found.questions} == {
        "q2": ("v-5",),
        "q3": ("v-10",),
        "q4": ("v-4",),
        "q5": (),
    }
    assert found.question_extras == {"q3": {"by": "Ada"}}
    assert indexes.open("village").info.questions == 2
    new = replace(left, questions=(Question("n1", "Qui chauffe le four ?", ("v-3",)),))
    typed("update", "village", law(new))
    assert [q.id for q in agreed().questions] == ["n1"]  # questions that came take their place
    out = typed("update", "village", law(left), "--drop-questions")[1]
    assert re.search(r"removed questions +1 +n1\n", out)
    assert agreed().questions == ()


def test_options_of_import_are_options_of_update(typed: Typed, tmp_path: Path) -> None:
    table = tmp_path / "law.csv"
    options = (
        "--from",
        "table",
        "--column",
        "text=contenu",
        "--column",
        "id=no",
        "--column",
        "article_no=no",
    )
    table.write_text("no,code,contenu\n1,Code,Le puits.\n2,Code,Le four.\n", encoding="utf-8")
    begun = typed(
        "import", table, "--name", "village", "--language", "fr", *options, "--build", "--encoder", "none"
    )
    assert begun[0] == 0
    table.write_text("no,code,contenu\n1,Code,Le puits fermé.\n3,Code,\n", encoding="utf-8")
    status, _, err = typed("update", "village", table, *options)  # its language is on its card
    assert status == 2
    assert "the text is empty" in err
    status, out, _ = typed("update", "village", table, *options, "--lenient")
    assert status == 0
    assert "skipped 1: empty text" in out
    assert [article.text for article in agreed().articles] == ["Le puits fermé."]
    # what was typed once need not be typed each week
    table.write_text("no,code,contenu\n1,Code,Le puits.\n3,Code,\n", encoding="utf-8")
    status, out, _ = typed("update", "village", table)
    assert (status, "skipped 1: empty text" in out) == (0, True)
    assert [article.text for article in agreed().articles] == ["Le puits."]


def test_what_cleaning_took_out_is_kept_beside_and_goes_with_its_version(typed: Typed, law: Files) -> None:
    def removed() -> list[str]:
        return [each.article.id for each in read_removed(paths.corpus_folder("village"))]

    short = Article("v-13", CODE, "13", "Abrogé.")
    first_law = law(replace(VILLAGE, articles=(*VILLAGE.articles, short)))
    assert typed("import", first_law, "--clean", "short", "--build", "--encoder", "none")[0] == 0
    assert removed() == ["v-13"]
    assert "nothing changed" in typed("update", "village", first_law)[1]  # cleaned as it was
    other = replace(short, id="v-14", article_no="14")
    second_law = law(replace(VILLAGE, articles=(*VILLAGE.articles, other)))
    status, out, _ = typed("update", "village", second_law)
    assert (status, "nothing changed" in out) == (0, False)
    assert removed() == ["v-14"]
    assert agreed().sha256 == VILLAGE.sha256
    assert typed("rollback", "village")[0] == 0
    assert removed() == ["v-13"]


def test_nodes_come_and_go_with_the_law(
    home: Path, monkeypatch: pytest.MonkeyPatch, typed: Typed, law: Files
) -> None:
    """A source with rows that are no articles: they are compared, kept and brought back as well."""
    from indexes.sources import registry

    nodes: list[tuple[Node, ...]] = [(Node("n", "Livre I"),)]
    source = replace(registry.SOURCES["pandect"], nodes=lambda path, lenient: nodes[0])
    monkeypatch.setattr(registry, "SOURCES", {**registry.SOURCES, "pandect": source})
    typed("import", law(VILLAGE), "--build", "--encoder", "none")
    assert read_nodes(paths.corpus_folder("village")) == nodes[0]
    assert "nothing changed" in typed("update", "village", law(VILLAGE))[1]
    nodes[0] = (Node("n", "Livre premier"),)
    typed("update", "village", law(VILLAGE))
    assert read_nodes(paths.corpus_folder("village")) == nodes[0]
    typed("rollback", "village")
    assert read_nodes(paths.corpus_folder("village")) == (Node("n", "Livre I"),)
    write_nodes(home, ())  # without nodes there is no file
    assert not (home / "nodes.jsonl").exists()


@pytest.mark.slow
def test_what_cannot_be_updated(typed: Typed, law: Files, home: Path) -> None:
    path = law(VILLAGE)
    err = typed("update", "village", path)[2]
    assert "no index named 'village'" in err
    assert "run python -m indexes import PATH --name village --build" in err
    install(settings=None)
    assert "run python -m indexes build village" in typed("update", "village", path)[2]
    assert "give a law that holds one of its codes" in typed("update", "builtin", path)[2]
    install()
    assert "keep 2 versions at least" in typed("update", "village", path, "--keep", "1")[2]
    assert "the index has no encoder" in typed("update", "village", path, "--refit")[2]
    before = everything(home)
    with versions.only_one("village"):
        status, _, err = typed("update", "village", law(with_text("Le puits.")))
    assert (status, "another import, build or removal of 'village' is running" in err) == (2, True)
    assert everything(home) == before


def test_a_command_that_ran_meanwhile_is_told(
    monkeypatch: pytest.MonkeyPatch, typed: Typed, law: Files
) -> None:
    install()
    from indexes.cli import update

    read_law = importing.bring_in

    def slow(*given: object) -> object:
        build(VILLAGE, "village", NONE)
        return read_law(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(update, "bring_in", slow)
    status, _, err = typed("update", "village", law(with_text("Le puits.")))
    assert (status, "was changed by another command meanwhile: type this one again" in err) == (2, True)
    assert agreed().sha256 == VILLAGE.sha256


def test_an_import_without_a_build_is_overtaken(typed: Typed, law: Files) -> None:
    install(edition(0))
    install(edition(1), settings=None)
    status, out, _ = typed("update", "village", law(edition(0)))
    assert status == 0
    assert "nothing changed" not in out  # for the corpus was not the one of the index
    assert agreed().sha256 == edition(0).sha256
    assert agreed().extras == edition(0).extras


def test_an_update_that_fails_leaves_everything_as_it_was(
    typed: Typed, law: Files, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install()
    before = everything(home)

    def full(*given: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    for step in (
        "indexes.build.build.stamp",
        "indexes.build.build.write_corpus",
        "indexes.store.versions.switch",
    ):
        with monkeypatch.context() as patch:
            patch.setattr(step, full)
            assert typed("update", "village", law(with_text("Le puits.")))[0] == 2
            assert agreed().sha256 == VILLAGE.sha256
    with versions.only_one("village"):
        assert everything(home) == before


def test_versions(typed: Typed, law: Files) -> None:
    assert "no index named 'village'" in typed("versions", "village")[2]
    made = [install(edition(0)).name]
    typed("update", "village", law(edition(1)))
    made.append(paths.current("village").name)
    build(edition(1), "village", NONE)
    made.append(paths.current("village").name)
    lines = typed("versions", "village")[1].splitlines()
    assert [line[2:].split()[0] for line in lines] == made[::-1]
    assert [line[0] for line in lines] == ["*", " ", " "]
    assert lines[0].endswith(
        f"13 articles  corpus {edition(1).sha256[:12]}  the same law (against {made[1]})"
    )
    assert lines[1].endswith(f"  1 added, 1 removed (against {made[0]})")
    assert lines[2].endswith(f"  corpus {edition(0).sha256[:12]}")
    (paths.index_folder("village") / made[0] / "manifest.json").write_text("{", encoding="utf-8")
    assert typed("versions", "village")[1].splitlines()[2] == f"  {made[0]}  damaged"


@pytest.mark.slow
def test_back_and_forth(typed: Typed, law: Files) -> None:
    made = [install(edition(0)).name]
    for n in (1, 2):
        typed("update", "village", law(edition(n)))
        made.append(paths.current("village").name)
    for wanted in (1, 0):
        status, out, _ = typed("rollback", "village")
        assert status == 0
        assert out.startswith(
            f"village: version {made[wanted]} is in use again, and its corpus with it (13 articles"
        )
        assert agreed().extras == edition(wanted).extras
    assert "has no version before the one in use" in typed("rollback", "village")[2]
    for wanted in (2, 0, 1):  # by its whole name, forward too
        assert typed("rollback", "village", made[wanted])[0] == 0
        assert (agreed().sha256, agreed().extras) == (edition(wanted).sha256, edition(wanted).extras)
    assert f"version {made[1]} is in use already" in typed("rollback", "village", made[1])[1]
    assert "3 versions of 'village' begin with '2'" in typed("rollback", "village", "2")[2]
    assert "no version of 'village' begins with '1999'" in typed("rollback", "village", "1999")[2]
    assert "no version of 'village' begins with '../x'" in typed("rollback", "village", "../x")[2]
    assert typed("rollback", "village", made[2][:-2])[0] == 0  # how it begins is enough
    # an update starts from the version in use
    typed("rollback", "village", made[0])
    assert re.search(r"added +1 +v-ed-5", typed("update", "village", law(edition(5)))[1])
    assert agreed().extras == edition(5).extras


@pytest.mark.slow
def test_the_way_back_is_the_one_that_was_promised_whatever_the_clock_says(
    typed: Typed, law: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [install(edition(0)).name]
    for n, clock in ((1, "20000111T000000000000"), (2, "20000101T000000000000")):  # ten days back
        monkeypatch.setattr(versions, "stamp_now", lambda clock=clock: clock)
        monkeypatch.setattr("indexes.update.update.stamp_now", lambda clock=clock: clock)
        said = typed("update", "village", law(edition(n)))[1]
        assert said.endswith("back: python -m indexes rollback village\n")
        made.append(paths.current("village").name)
    assert made == sorted(made, reverse=True)
    listed = typed("versions", "village")[1].splitlines()
    assert [line.strip("* ").partition(" ")[0] for line in listed] == [*reversed(made)]
    for n in (1, 0):
        assert typed("rollback", "village")[0] == 0
        assert paths.current("village").name == made[n]
        assert agreed().extras == edition(n).extras
    assert "has no version before the one in use" in typed("rollback", "village")[2]


def test_back_to_the_same_law_built_otherwise(typed: Typed) -> None:
    one = install(edition(0)).name
    other = build(edition(0), "village", FIT).name
    assert typed("rollback", "village")[0] == 0
    assert (paths.current("village").name, indexes.open("village").modes) == (one, ("keyword",))
    assert agreed().extras == edition(0).extras
    assert typed("rollback", "village", other)[0] == 0
    assert agreed().extras == edition(0).extras
    assert "meaning" in indexes.open("village").modes


def test_a_deleted_version_leaves_its_corpus_to_another_of_the_same_law(typed: Typed, law: Files) -> None:
    one = install(edition(0)).name
    other = build(edition(0), "village", NONE)
    typed("rollback", "village", one)
    install(edition(1))  # the former corpus is kept beside the version in use, which is the oldest
    shutil.rmtree(other.with_name(f"{other.name}.corpus"))
    typed("update", "village", law(edition(2)), "--keep", "3")
    assert one not in versions.versions("village")
    assert typed("rollback", "village", other.name)[0] == 0
    assert (agreed().sha256, agreed().extras) == (edition(0).sha256, edition(0).extras)


def test_columns_that_were_not_kept_are_not_lost_in_silence(typed: Typed, home: Path, law: Files) -> None:
    made = install(edition(0))
    typed("update", "village", law(edition(1)))
    later = paths.current("village").name
    shutil.rmtree(made.with_name(f"{made.name}.corpus"))
    status, _, err = typed("rollback", "village")
    assert status == 0
    assert re.search(r"WARNING what no index holds .* was not kept .*: import it again to have it", err)
    assert (agreed().sha256, agreed().extras) == (edition(0).sha256, {})
    assert typed("rollback", "village", later)[0] == 0
    assert agreed().extras == edition(1).extras


def test_an_import_that_no_version_holds_is_not_rolled_over(typed: Typed) -> None:
    install(edition(0))
    install(edition(1))
    install(edition(2), settings=None)
    status, _, err = typed("rollback", "village")
    assert status == 2
    assert "was imported since and is in no version, so it would be lost: run python -m indexes build" in err
    assert read(paths.corpus_folder("village")).sha256 == edition(2).sha256
    assert typed("build", "village", "--encoder", "none")[0] == 0
    assert typed("rollback", "village")[0] == 0
    assert agreed().extras == edition(1).extras


def test_a_corpus_that_cannot_be_read_stands_in_no_way_and_is_not_lost(typed: Typed, home: Path) -> None:
    install(edition(0))
    install(edition(1))
    place = paths.corpus_folder("village")
    broken = (place / "articles.jsonl.gz").read_bytes()[:-40]
    (place / "articles.jsonl.gz").write_bytes(broken)
    for command in (("check", "village"), ("build", "village", "--encoder", "none")):
        status, _, err = typed(*command)
        assert status == 2
        assert "articles.jsonl.gz" in err
        assert "import it again: python -m indexes import PATH --name village --replace" in err
        assert "go back, which sets it aside: python -m indexes rollback village" in err

    assert typed("rollback", "village")[0] == 0
    assert agreed().extras == edition(0).extras
    [aside] = (home / "set-aside").iterdir()
    assert (aside / "articles.jsonl.gz").read_bytes() == broken
    assert paths.names() == ["village"]


def test_check_says_that_the_corpus_is_another(typed: Typed) -> None:
    install(edition(0))
    assert typed("check", "village")[::2] == (0, "")
    install(edition(1), settings=None)

    status, out, err = typed("check", "village")
    assert status == 0
    assert "files match their hashes" in out
    told = "WARNING the corpus of 'village' is not the one that the version in use was built from: run "
    assert err == f"{told}python -m indexes build village to search it\n"
    assert typed("check", paths.current("village"))[2] == err


def test_downloads_are_removed_when_asked(typed: Typed, home: Path) -> None:
    install(edition(0))
    (home / "downloads" / "unpacked").mkdir(parents=True)
    (home / "downloads" / "unpacked" / "law").write_bytes(bytes(1_500_000))

    assert typed("remove", "--downloads")[:2] == (
        0, "downloads: 1.5 MB removed; what is needed again is fetched again\n"
    )  # fmt: skip
    assert not (home / "downloads").exists()
    assert paths.names() == ["village"]
    assert "give a NAME (python -m indexes list), or --downloads" in typed("remove")[2]


def test_a_damaged_version_does_not_come_into_use(typed: Typed) -> None:
    made, last = install(edition(0)), install(edition(1))
    file = made / "bm25" / "data.csc.index.npy"
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    status, _, err = typed("rollback", "village")
    assert status == 2
    assert "is not what was built" in err
    assert paths.current("village") == last
    assert agreed().extras == edition(1).extras


def test_what_was_imported_again_keeps_its_columns_for_the_way_back(typed: Typed, law: Files) -> None:
    install(edition(0))
    for n in (1, 2):
        assert typed("import", law(edition(n)), "--replace", "--build", "--encoder", "none")[0] == 0
    for n in (1, 0):
        assert typed("rollback", "village")[0] == 0
        assert agreed().extras == edition(n).extras


def test_indexes_and_corpora_on_two_disks(
    typed: Typed, law: Files, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    """A rename from one to the other fails; the corpus is copied, and comes back whole."""
    replace_path = Path.replace

    def refused(self: Path, target: Path) -> Path:
        if {"corpora", "indexes"} <= {*self.parts, *Path(target).parts}:
            raise OSError(18, "Invalid cross-device link")
        return replace_path(self, target)

    monkeypatch.setattr(Path, "replace", refused)
    install(edition(0))
    typed("update", "village", law(edition(1)))
    assert agreed().extras == edition(1).extras
    assert typed("rollback", "village")[0] == 0
    assert agreed().extras == edition(0).extras
    assert first(indexes.open("village"), GOAT) == "v-5"
