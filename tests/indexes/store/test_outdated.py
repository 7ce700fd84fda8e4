from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import indexes
from indexes.__main__ import main
from indexes.build.build import BuildSettings, build
from indexes.corpus.corpus import Corpus, write
from indexes.corpus.facts import fingerprint
from indexes.store import outdated
from rag.corpus.card import CorpusCard
from rag.corpus.facts import ArticleFacts, TimeLimit
from rag.errors import BadInput, DamagedIndex
from rag.types import Article

OFFICIAL = tuple(
    Article(f"o{n}", "Loi A", str(n), f"Le délai de l'article {n} est de {n} mois.") for n in (1, 2, 3)
)
CARD = CorpusCard("digest", "Digest", "fr", "FR", text_kind="summary")
LIMIT = TimeLimit("agir", "2 mois", clause="Vous avez deux mois.")
DIGEST = Corpus(
    CARD,
    tuple(replace(a, id=f"A-{a.article_no}", text="Vous avez deux mois.") for a in OFFICIAL),
    facts={f"A-{a.article_no}": ArticleFacts((LIMIT,), official=fingerprint(a.text)) for a in OFFICIAL},
)
NEWER = (OFFICIAL[0], replace(OFFICIAL[1], text="Le délai est d'un mois."))  # the third is gone


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PANDECT_INDEX", raising=False)
    return tmp_path / "home"


@pytest.fixture
def law(tmp_path: Path) -> Callable[..., str]:
    def files(*articles: Article) -> str:
        card = CorpusCard("loi", "Loi", "fr", "FR")
        return str(write(Corpus(card, articles), tmp_path / f"law-{len([*tmp_path.iterdir()])}"))

    return files


def prints() -> dict[str, str]:
    return {id_: facts.official for id_, facts in DIGEST.facts.items()}


def test_each_article_is_as_it_was_changed_or_gone() -> None:
    found = outdated.compare(DIGEST.articles, prints(), NEWER)
    assert (found.articles, found.same) == ({"A-2": "changed", "A-3": "gone"}, 1)


def test_a_number_is_the_same_however_it_is_written_and_an_edition_with_several_wordings_has_each() -> None:
    written = Article("A-L1-1", "Loi A", "L1-1", "")
    now = (
        Article("x", "Loi A", "L. 1-1", "Ancien."),
        Article("y", "Loi A", "L1-1", "Le  délai\nest d'un mois."),
    )
    found = outdated.compare((written,), {"A-L1-1": fingerprint("Le délai est d'un mois.")}, now)
    assert (found.articles, found.same) == ({}, 1)


def test_nothing_is_said_of_a_code_that_the_law_lacks() -> None:
    other = Article("B-1", "Loi B", "1", "Vous avez un mois.")
    found = outdated.compare((*DIGEST.articles, other), {**prints(), "B-1": "0" * 16}, OFFICIAL)
    assert (found.articles, found.same, found.unknown) == ({}, 3, {"Loi B": 1})


def test_a_law_without_any_of_the_codes_is_refused() -> None:
    with pytest.raises(BadInput, match="the law given has Loi C, and the digest Loi A"):
        outdated.compare(DIGEST.articles, prints(), [replace(OFFICIAL[0], code="Loi C")])
    with pytest.raises(BadInput, match="it is no digest"):
        outdated.compare(DIGEST.articles, {}, OFFICIAL)


def test_an_update_with_newer_law_marks_what_has_changed_and_an_open_page_sees_it(
    law: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    build(DIGEST, "digest", BuildSettings(encoder="none"))
    engine = indexes.open("digest")
    assert not any(facts.outdated for facts in engine.facts.values())

    assert main(["update", "digest", law(*NEWER), "--dry-run"]) == 0
    assert "changed: Loi A, 2" in capsys.readouterr().out
    assert not any(facts.outdated for facts in engine.facts.values())

    assert main(["update", "digest", law(*NEWER)]) == 0
    said = capsys.readouterr().out
    assert "1 articles as they were, 1 changed, 1 gone" in said
    assert "2 summaries are out of date" in said
    assert {id_ for id_, facts in engine.facts.items() if facts.outdated} == {"A-2", "A-3"}

    assert main(["update", "digest", law(*OFFICIAL)]) == 0
    assert not any(facts.outdated for facts in engine.facts.values())


def test_a_damaged_note_is_told_with_its_cure(home: Path) -> None:
    build(DIGEST, "digest", BuildSettings(encoder="none"))
    engine = indexes.open("digest")
    place = outdated.write(DIGEST.sha256, outdated.Outdated({"A-1": "changed"}, 2, {}), "law")
    place.write_text("[]", encoding="utf-8")
    with pytest.raises(DamagedIndex, match="Remove it, and run"):
        engine.facts  # noqa: B018


@pytest.mark.slow
def test_the_law_that_ships_is_held_against_a_newer_one_too(
    law: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    article = Article("x", "Code civil", "671", "Nouveau texte.")
    status = main(["update", "builtin", law(article), "--dry-run"])
    said = capsys.readouterr()
    assert status == 0, said.err
    assert "changed: Code civil, 671" in said.out
