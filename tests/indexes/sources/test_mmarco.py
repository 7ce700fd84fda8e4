"""mMARCO's TSV files, in small, where they lie in the repository and beside each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.sources.mmarco import triples
from indexes.sources.registry import detect, load
from rag.errors import BadInput


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def repository(at: Path, files: str, judged: str) -> Path:
    write(
        at / files / "collections" / "french_collection.tsv",
        '0\tLe "four est chaud.\n1\tLe pain\tlève.\n2\tIl pleut.\n',
    )
    write(
        at / files / "queries" / "dev" / "french_queries.dev.tsv",
        "9\tfour ?\n8\tpain ?\n7\tqui n'est pas jugé ?\n",
    )
    write(at / files / "queries" / "train" / "french_queries.train.tsv", "5\tquel temps ?\n")
    write(at / judged / "qrels.dev.small.tsv", "9\t0\t0\t1\n8\t0\t1\t1\n8\t0\t0\t1\n")
    write(at / judged / "triples.train.ids.small.tsv", "5\t2\t0\n5\t2\t1\n")
    return at


@pytest.mark.parametrize(("files", "judged"), [("data/google", "data"), (".", ".")])
def test_passages_and_queries(tmp_path: Path, files: str, judged: str) -> None:
    path = repository(tmp_path, files, judged)
    assert detect(path) == "mmarco"
    corpus, _ = load("mmarco", path, splits="dev,train")
    assert [(a.id, a.text) for a in corpus.articles] == [
        ("0", 'Le "four est chaud.'),
        ("1", "Le pain\tlève."),
        ("2", "Il pleut."),
    ]
    assert [(q.id, q.split, q.article_ids) for q in corpus.questions] == [
        ("9", "dev", ("0",)),
        ("8", "dev", ("1", "0")),
        ("5", "train", ("2",)),
    ]
    assert list(triples(path)) == [("5", "2", "0"), ("5", "2", "1")]
    assert (corpus.card.name, corpus.card.language) == ("mmarco-fr", "fr")


def test_another_language(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no collections/dutch_collection\.tsv"):
        load("mmarco", repository(tmp_path, ".", "."), language="nl")
    with pytest.raises(BadInput, match="the language is 'xx'"):
        load("mmarco", tmp_path, language="xx")
    write(tmp_path / "collections" / "dutch_collection.tsv", "0\tDe oven is warm.\n1\tbrood\n")
    write(tmp_path / "queries" / "dev" / "dutch_queries.dev.tsv", "9\toven?\n")
    corpus, _ = load("mmarco", tmp_path, language="nl")
    assert (corpus.card.name, corpus.card.language, len(corpus.questions)) == ("mmarco-nl", "nl", 1)


def test_a_part_of_it_holds_what_answers_and_the_same_others_everywhere(tmp_path: Path) -> None:
    path = repository(tmp_path, ".", ".")
    lines = [f"{i}\tPassage {i}.\n" for i in range(500)]
    write(path / "collections" / "french_collection.tsv", "".join(lines))
    write(path / "qrels.dev.small.tsv", "9\t0\t77\t1\n8\t0\t401\t1\n7\t0\t3\t1\n")
    corpus, _ = load("mmarco", path, passages="20", queries="2")
    assert [question.id for question in corpus.questions] == ["9", "8"]
    found = [int(article.id) for article in corpus.articles]
    assert len(found) == 20
    assert {77, 401} <= set(found)
    assert found == sorted(found)
    write(path / "collections" / "french_collection.tsv", "".join(reversed(lines)))
    again, _ = load("mmarco", path, passages=20, queries=2)
    assert {article.id for article in again.articles} == {str(i) for i in found}
    more, _ = load("mmarco", path, passages=40, queries=2)
    assert set(map(str, found)) < {article.id for article in more.articles}
    assert len(load("mmarco", path, passages=0)[0].articles) == 3  # those that answer stay
    write(path / "qrels.dev.small.tsv", "9\t0\t77\t1\n8\t0\t999\t1\n")  # one that is not there takes a place
    assert len(load("mmarco", path, passages=20, lenient=True)[0].articles) == 19
    with pytest.raises(BadInput, match=r"passages is 'few'\. Give a whole number"):
        load("mmarco", path, passages="few")


def test_a_line_without_a_tab(tmp_path: Path) -> None:
    path = repository(tmp_path, ".", ".")
    write(path / "collections" / "french_collection.tsv", "0\tchaud\n1 lève\n")
    with pytest.raises(BadInput, match=r"french_collection\.tsv:2: 1 values came for 2 columns"):
        load("mmarco", path)
