"""The bridge of an index: built, opened, renewed with its law, shown, and missed by no older index."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from indexes.__main__ import main
from indexes.build import query_expansion
from indexes.corpus.corpus import Corpus
from indexes.store import manifest
from indexes.store.open_index import open_index
from rag.errors import DamagedIndex
from rag.types import Article, Question
from tests.fakes.law.changing_law import built, hashes, updated
from tests.fakes.law.corpus import NONE, VILLAGE, install

GOATS = (
    *(Question(f"g{n}", f"ma bique {w}", ("v-5",)) for n, w in enumerate(("broute", "saute", "dort"))),
    *(Question(f"h{n}", f"la bique {w}", ("v-13",)) for n, w in enumerate(("mange", "crie", "tombe"))),
    *(Question(f"f{n}", f"le toutou {w}", (f"v-{6 + n}",)) for n, w in enumerate("abcdef")),
)
MORE = Article("v-13", "Code du village", "13", "La chèvre est attachée la nuit.", ("Livre I", "Des bêtes"))
ASKED = replace(VILLAGE, articles=(*VILLAGE.articles, MORE), questions=GOATS)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(query_expansion, "LEAST", 6)
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))


def test_an_index_finds_by_words_that_its_questions_taught(capsys: pytest.CaptureFixture[str]) -> None:
    folder = install(ASKED)
    found = open_index(folder).ask("une bique", without=frozenset({("unheard", "x")}))
    assert [(b.typed, b.form) for b in found.bridged] == [("bique", "chèvre")]
    assert main(["bridge", "village", "bique", "le", "jamais"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("bique: chèvre 0.")
    assert lines[1:] == ["le: a stop word, never bridged", "jamais: nothing"]
    assert main(["bridge", "village"]) == 0
    assert "chèvre" in capsys.readouterr().out


def test_of_few_questions_none_is_made_and_the_command_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    folder = install(VILLAGE)
    assert not (folder / query_expansion.FOLDER).exists()
    assert open_index(folder).ask("une chèvre").bridged == ()
    assert main(["bridge", "village"]) == 2
    assert "6 annotated questions or more" in capsys.readouterr().err


def test_an_index_of_before_opens_without(tmp_path: Path) -> None:
    folder = install(ASKED)
    shutil.rmtree(folder / query_expansion.FOLDER)
    manifest.stamp(manifest.read(folder, "again"), folder)
    assert open_index(folder).ask("une bique").bridged == ()


def test_a_broken_bridge_is_named(tmp_path: Path) -> None:
    folder = install(ASKED)
    (folder / query_expansion.FOLDER / "pairs.json").write_text("{}", encoding="utf-8")
    with pytest.raises(DamagedIndex, match="bridge"):
        open_index(folder)
    manifest.stamp(manifest.read(folder, "again"), folder)
    with pytest.raises(DamagedIndex, match=r"pairs\.json"):
        open_index(folder)


def _reworded(corpus: Corpus) -> Corpus:
    told = [
        replace(a, text="La bête est attachée la nuit.") if a.id == "v-13" else a for a in corpus.articles
    ]
    return replace(corpus, articles=tuple(told))


@pytest.mark.parametrize(
    "other",
    [
        _reworded(ASKED),
        replace(ASKED, questions=GOATS[1:]),
        replace(ASKED, questions=tuple(replace(q, text=q.text.replace("bique", "cabri")) for q in GOATS)),
        replace(ASKED, questions=()),
    ],
    ids=["article", "fewer", "other words", "none"],
)
def test_it_is_renewed_with_law_and_questions(other: Corpus, tmp_path: Path) -> None:
    former, again, made = (tmp_path / name for name in ("former", "again", "made"))
    built(former, ASKED, NONE, None)
    wanted = built(again, other, NONE, None)
    updated(made, former, other)
    assert hashes(made) == wanted
    assert (made / query_expansion.FOLDER).exists() == (len(other.questions) >= 6)
