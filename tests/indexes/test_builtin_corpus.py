"""What ships, held against what is said of it in docs/builtin-law.md."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pytest

import indexes
from indexes.__main__ import main
from indexes.build.score_distributions import FILE as DISTRIBUTIONS
from indexes.builtin_corpus import read_test_questions
from indexes.corpus.articles import read_articles
from indexes.corpus.corpus import Corpus, read
from indexes.corpus.digest import read_card, read_laws
from indexes.corpus.facts import fingerprint
from indexes.sources import registry
from indexes.store import paths
from indexes.update.reuse import VECTORS
from rag.text.analysers import analyser
from rag.types import Question
from training.splits.near_duplicates import near_duplicates

UNANSWERABLE = {"other_french_law", "other_country", "not_law", "too_vague"}

_REAL = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    folder, _ = paths.locate(paths.BUILTIN)
    return read(folder / "corpus")


def _common() -> list[dict[str, Any]]:
    """Return the commonest questions that nothing learnt from."""
    lines = (paths.builtin().parent / "questions_common.jsonl").read_text(encoding="utf-8").splitlines()
    return list(map(json.loads, lines))


@pytest.fixture(scope="module")
def asked() -> tuple[Question, ...]:
    folder, _ = paths.locate(paths.BUILTIN)
    return read_test_questions(folder)


@pytest.mark.slow
def test_the_test_questions_are_many_enough_of_every_kind(asked: tuple[Question, ...]) -> None:
    answered = [q for q in asked if q.article_ids]
    others = [q for q in asked if not q.article_ids]
    topics = Counter(q.category for q in answered)
    assert len(answered) >= 400
    assert min(topics.values()) >= 20
    assert not UNANSWERABLE & set(topics)
    assert len(others) >= 80
    assert {q.category for q in others} == UNANSWERABLE
    assert max(len(q.article_ids) for q in answered) <= 5
    assert len({q.id for q in asked}) == len(asked)


@pytest.mark.slow
def test_the_halves_share_no_article_and_no_section(corpus: Corpus, asked: tuple[Question, ...]) -> None:
    section = {article.id: article.headings for article in corpus.articles}
    assert {q.split for q in asked} == {"dev", "test"}
    halves = [{id_ for q in asked if q.split == half for id_ in q.article_ids} for half in ("dev", "test")]
    assert not halves[0] & halves[1]
    assert not {section[id_] for id_ in halves[0]} & {section[id_] for id_ in halves[1]}
    counts = Counter((q.split, bool(q.article_ids)) for q in asked)
    assert abs(counts["dev", True] - counts["test", True]) <= 20


@pytest.mark.slow
def test_nothing_that_is_learnt_is_nearly_a_test_question(
    corpus: Corpus, asked: tuple[Question, ...]
) -> None:
    learnt = [q.text for q in corpus.questions]
    common = _common()
    assert len(common) == 88
    cited = {id_ for each in common for id_ in each["article_ids"]}
    assert cited <= {article.id for article in corpus.articles if article.text}
    texts = [*learnt, *(q.text for q in asked), *(each["question"] for each in common)]
    pairs = near_duplicates(texts, analyser(language="fr").terms)
    across = [(texts[a], texts[b]) for a, b in pairs if a < len(learnt) <= b]
    assert not across


@pytest.mark.slow
def test_no_question_of_an_article_says_nearly_what_another_one_says(corpus: Corpus) -> None:
    questions = corpus.questions
    pairs = near_duplicates([q.text for q in questions], analyser(language="fr").terms)
    same = [
        (questions[a].id, questions[b].id)
        for a, b in pairs
        if set(questions[a].article_ids) & set(questions[b].article_ids)
    ]
    assert len(same) <= len(questions) // 100, f"{len(same)} pairs: {same[:5]}"


def test_former_numbers_lead_to_articles_that_are_there(corpus: Corpus) -> None:
    moved = read_card(paths.builtin().parent).moved
    there = {article.article_no for article in corpus.articles if article.code == "Code civil"}
    assert len(moved) > 600
    assert all(set(entry.new) <= there for entry in moved)
    assert len({(entry.old, entry.since) for entry in moved}) == len(moved)


@pytest.mark.slow
def test_it_is_exported_as_beir_reads_it(
    corpus: Corpus, asked: tuple[Question, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "beir"
    assert main(["export", "builtin", str(out), "--to", "beir"]) == 0
    lines = (out / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    written = [article for article in corpus.articles if article.text]
    assert len(lines) == len(written) < len(corpus.articles)
    assert {"_id", "title", "text"} <= set(json.loads(lines[0]))
    again, _ = registry.load("beir", out, language="fr")
    splits = Counter(q.split for q in again.questions)
    there = {article.id for article in written}
    assert splits["train"] == sum(not there.isdisjoint(q.article_ids) for q in corpus.questions)
    assert splits["dev"] + splits["test"] == sum(bool(q.article_ids) for q in asked)  # of the Code civil
    assert [a.text for a in again.articles] == [a.text for a in written]
    capsys.readouterr()


@pytest.mark.data
@pytest.mark.slow
def test_every_number_heading_and_link_is_the_official_one(corpus: Corpus, data: Path) -> None:
    laws = read_laws(paths.builtin().parent)
    official = {
        laws[a.code].article_id(a.article_no.strip()): a
        for a in read_articles(data / "fr_everyday" / "articles.jsonl.gz")
    }
    for article in corpus.articles:
        law = official[article.id]
        assert (article.code, article.article_no) == (law.code, law.article_no.strip())
        assert (article.headings, article.url) == (law.headings, law.url)
        assert corpus.facts[article.id].official == fingerprint(law.text)


def test_every_article_leads_to_an_official_text_and_is_dated(corpus: Corpus) -> None:
    for article in corpus.articles:
        page, _ = corpus.card.official_page(article.code, article.url)
        assert page is not None
        assert page.startswith("https://www.legifrance.gouv.fr/")
        assert corpus.card.laws[article.code].law_date is not None
        assert corpus.card.laws[article.code].themes


def test_many_articles_beyond_the_code_civil_are_summarised(corpus: Corpus) -> None:
    written = [a for a in corpus.articles if a.text]
    assert sum(a.code == "Code civil" for a in written) == 2889
    assert sum(a.code != "Code civil" for a in written) >= 1000
    assert {a.article_no for a in written if a.id.startswith("L1989-")} >= {"1", "3", "7", "15", "22", "24"}


def test_a_time_limit_is_said_by_the_summary_beside_it(corpus: Corpus) -> None:
    text = {article.id: article.text for article in corpus.articles}
    limits = [(id_, each) for id_, facts in corpus.facts.items() for each in facts.time_limits]
    amounts = [(id_, each) for id_, facts in corpus.facts.items() for each in facts.amounts]
    assert len(limits) > 300
    for id_, each in [*limits, *amounts]:
        assert each.clause in text[id_], id_


@pytest.mark.data
@pytest.mark.slow
def test_references_are_those_of_the_official_texts_and_nothing_else_changes(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index = paths.builtin()
    folder = tmp_path / "builtin"
    shutil.copytree(index, folder / "index")
    law = data / "fr_everyday" / "articles.jsonl.gz"
    assert main(["make-builtin", str(law), "--graph", "--folder", str(folder)]) in (0, None)
    assert "articles" in capsys.readouterr().out
    for path in index.rglob("*"):
        if path.is_file() and path.name != "manifest.json":  # which names versions of libraries
            assert path.read_bytes() == (folder / "index" / path.relative_to(index)).read_bytes(), path
    assert [each.name for each in folder.iterdir()] == ["index"]


@pytest.mark.data
@pytest.mark.slow
def test_with_the_same_encoder_and_digest_the_same_index_is_made(data: Path, tmp_path: Path) -> None:
    index = paths.builtin()
    folder = tmp_path / "builtin"
    shutil.copytree(index.parent, folder)
    law = data / "fr_everyday" / "articles.jsonl.gz"
    assert main(["make-builtin", str(law), "--same-encoder", "--folder", str(folder)]) in (0, None)
    for path in index.rglob("*"):
        made = folder / "index" / path.relative_to(index)
        # another processor rounds means and scores otherwise; the manifest names day and libraries
        if path.name == VECTORS:
            ours, theirs = (faiss.read_index(str(each)).reconstruct_n() for each in (path, made))
            assert np.abs(ours - theirs).max() < 0.02  # two of the steps that a vector is kept in
        elif path.name == DISTRIBUTIONS:
            shipped, again = (each.read_text(encoding="utf-8") for each in (path, made))
            assert _REAL.sub("", shipped) == _REAL.sub("", again)
            reals, others = (list(map(float, _REAL.findall(text))) for text in (shipped, again))
            assert reals == pytest.approx(others, abs=1e-4)
        elif path.is_file() and path.name != "manifest.json":
            assert path.read_bytes() == made.read_bytes(), path


@pytest.mark.data
@pytest.mark.slow
def test_another_encoder_is_fitted_where_the_questions_have_changed(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, written = tmp_path / "builtin", tmp_path / "written"
    shutil.copytree(paths.builtin().parent, folder)
    written.mkdir()
    line = {"code": "Code civil", "article_no": "671", "summary": "Un résumé."}
    (written / "digest.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    (written / "questions.jsonl").write_text("", encoding="utf-8")
    law = data / "fr_everyday" / "articles.jsonl.gz"
    asked = ["make-builtin", str(law), "--written", str(written), "--same-encoder", "--folder", str(folder)]
    before = (folder / "index" / "manifest.json").read_bytes()

    assert main(asked) == 2
    assert "leave out --same-encoder" in capsys.readouterr().err
    assert (folder / "index" / "manifest.json").read_bytes() == before


@pytest.mark.slow
def test_what_ships_is_read_together_with_what_its_official_text_names() -> None:
    engine = indexes.open()
    needs = [engine.law.read_with(id_) for id_ in engine.articles]
    assert {need for found in needs for need, _ in found} == {"definition", "exception", "rule", "departure"}
    assert all(mention.start < 0 for found in needs for _, mention in found)  # no text of law ships
    assert [(need, m.article.article_no) for need, m in engine.law.read_with("CC-433")] == [("rule", "432")]
