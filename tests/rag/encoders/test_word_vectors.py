"""Word vectors: every format gives the same numbers, only what is asked for is read, damage is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.encoders import fasttext
from rag.encoders.word_vectors import VectorFile, WordVectorEncoder, open_vectors, word_splitter
from rag.errors import BadInput
from rag.types import Article
from tests.fakes.models import vector_files as samples

TABLE = {
    "bail": (1.0, 0.0, 0.0),
    "loyer": (0.0, 1.0, 0.0),
    "École": (0.0, 0.0, 1.0),
    "new york": (9.0, 9.0, 9.0),  # a word with a blank: in no text
    "l": (0.5, 0.5, 0.0),
    "合同": (0.0, 0.25, 0.5),
}
WRITERS: dict[str, Callable[[Path, samples.Table], Path]] = {
    "text": lambda p, t: samples.text(p / "w.vec", t),
    "text, Windows": lambda p, t: samples.text(p / "w.vec", t, end="\r\n"),
    "glove": lambda p, t: samples.text(
        p / "w.txt", {k: (*v, 0, 0) for k, v in t.items()}, counts=False, end="\n"
    ),
    "word2vec": lambda p, t: samples.binary(p / "w.bin", t),
    "word2vec, no line ends": lambda p, t: samples.binary(p / "w.bin", t, end=b""),
}
SOME = {k: v for k, v in TABLE.items() if " " not in k}


@pytest.mark.parametrize("how", WRITERS)
@pytest.mark.parametrize("gz", [False, True])
def test_every_format_gives_the_same(how: str, gz: bool, tmp_path: Path) -> None:
    table = SOME if "word2vec" in how else TABLE  # a blank ends a word in the binary format
    path = WRITERS[how](tmp_path, table)
    file = open_vectors(samples.packed(path) if gz else path)
    assert (file.name, file.subwords) == ("w", False)
    found = file.find(["bail", "École", "合同", "absent", "new", ""])
    assert set(found) == {"bail", "École", "合同"}
    for word, vector in found.items():
        assert vector[:3].tolist() == list(TABLE[word])
        assert (vector.dtype, len(vector)) == (np.float32, file.dim)
    assert file.find([]) == {}


def test_a_large_binary_file_is_read_in_pieces(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = {f"mot{n}": rng.normal(size=300).astype(np.float32).tolist() for n in range(2500)}  # 3 MB
    file = open_vectors(samples.binary(tmp_path / "w.bin", table))
    found = file.find(["mot0", "mot1249", "mot2499"])
    assert all(found[word].tolist() == table[word] for word in ("mot0", "mot1249", "mot2499"))


def _matrix(rows: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.random.default_rng(1).normal(size=(rows, 4)).astype(np.float32)


@pytest.mark.parametrize("gz", [False, True])
def test_fasttext_makes_words_of_their_subwords(gz: bool, tmp_path: Path) -> None:
    words, matrix = ["</s>", "bail", "été"], _matrix(3 + 50)
    path = samples.fasttext(tmp_path / "cc.fr.bin", words, matrix, buckets=50, minn=3, maxn=4, labels=["x"])
    file = open_vectors(samples.packed(path) if gz else path)
    assert (file.format, file.dim, file.subwords, file.name) == ("fasttext", 4, True, "cc.fr")
    found = file.find(["bail", "baux", "</s>", "été", "x"])
    runs = ["<ba", "bai", "ail", "il>", "<bai", "bail", "ail>"]  # worked by hand: 3 and 4 letters of <bail>
    rows = [1, *(3 + fasttext.bucket(r.encode()) % 50 for r in runs)]
    assert found["bail"] == pytest.approx(matrix[rows].mean(axis=0), abs=1e-6)
    runs = ["<ba", "bau", "aux", "ux>", "<bau", "baux", "aux>"]  # never seen: subwords alone
    rows = [3 + fasttext.bucket(r.encode()) % 50 for r in runs]
    assert found["baux"] == pytest.approx(matrix[rows].mean(axis=0), abs=1e-6)
    assert found["</s>"] == pytest.approx(matrix[0])
    assert [r.decode() for r in fasttext.subwords("été", 3, 4)] == [
        "<ét",
        "<été",
        "éte"[:2] + "é",
        "été>",
        "té>",
    ]
    assert "x" in found  # a label is no word: "x" is made of <x> alone


def test_the_hash_is_that_of_fasttext() -> None:
    # FNV-1a with 32 bits has published values; a byte above 127 is read as signed there
    assert fasttext.bucket(b"") == 0x811C9DC5
    assert fasttext.bucket(b"a") == 0xE40C292C
    assert fasttext.bucket(b"foobar") == 0xBF9CF968
    assert fasttext.bucket("é".encode()) == ((((0x811C9DC5 ^ 0xFFFFFFC3) * 16777619) & 0xFFFFFFFF) ^ 0xFFFFFFA9) * 16777619 & 0xFFFFFFFF  # fmt: skip  # noqa: E501


def test_fasttext_without_subwords_knows_its_words_alone(tmp_path: Path) -> None:
    matrix = _matrix(2)
    for version, model, maxn in ((12, 1, 0), (11, 3, 4)):  # old classifiers had none, whatever they say
        path = samples.fasttext(
            tmp_path / f"{version}.bin", ["bail", "loyer"], matrix, buckets=0 if maxn == 0 else 9, minn=3,
            maxn=maxn, version=version, model=model,
        )  # fmt: skip
        found = open_vectors(path).find(["bail", "baux"])
        assert {w: v.tolist() for w, v in found.items()} == {"bail": matrix[0].tolist()}


@given(st.text(alphabet="abcé合", max_size=8), st.integers(1, 3), st.integers(0, 3))
def test_subwords_are_all_runs_of_the_marked_word(word: str, minn: int, more: int) -> None:
    marked = f"<{word}>"
    runs = [r.decode() for r in fasttext.subwords(word, minn, minn + more)]
    assert set(runs) == {
        marked[i : i + n]
        for n in range(minn, minn + more + 1)
        for i in range(len(marked) - n + 1)
        if marked[i : i + n] not in ("<", ">")
    }


def _damaged(path: Path) -> dict[str, Path]:
    def of(name: str, content: bytes) -> Path:
        (path / name).write_bytes(content)
        return path / name

    good = samples.binary(path / "good.bin", SOME).read_bytes()
    fast = samples.fasttext(path / "fast.bin", ["bail"], _matrix(9), buckets=8, minn=3, maxn=3).read_bytes()
    return {
        "nothing": of("empty.vec", b""),
        "prose": of("prose.vec", b"This is no file of vectors.\nAt all.\n"),
        "cut": of("cut.bin", good[:-5]),
        "short line": of("short.vec", b"2 3\nbail 1 2 3\nloyer 1 2\n"),
        "no number": of("number.vec", b"2 3\nbail 1 2 3\nloyer 1 2 x\n"),
        "packed and cut": of("cut.gz", samples.packed(path / "good.bin").read_bytes()[:-20]),
        "no dim": of("dim.vec", b"2 0\n"),
        "fasttext head": of("head.bin", fast[:20]),
        "fasttext words": of("words.bin", fast[:95]),
        "fasttext rows": of("rows.bin", fast[:-60]),
        "fasttext version": of("version.bin", fast[:4] + b"\x01\0\0\0" + fast[8:]),
        "absent": path / "absent.vec",
    }


@pytest.mark.parametrize("what", [
    "nothing", "prose", "cut", "short line", "no number", "packed and cut", "no dim", "fasttext head",
    "fasttext words", "fasttext rows", "fasttext version", "absent",
])  # fmt: skip
def test_damage_is_told(what: str, tmp_path: Path) -> None:
    path = _damaged(tmp_path)[what]
    with pytest.raises(BadInput, match=path.name):
        open_vectors(path).find(["loyer", "bail", "合同", "absent"])


def test_a_quantised_model_is_refused_and_a_pruned_one_read(tmp_path: Path) -> None:
    path = samples.fasttext(
        tmp_path / "q.ftz", ["bail"], _matrix(9), buckets=8, minn=3, maxn=3, quantised=True
    )
    with pytest.raises(BadInput, match="quantised"):
        open_vectors(path).find(["bail"])
    whole = samples.fasttext(tmp_path / "p.bin", ["bail"], _matrix(9), buckets=8, minn=0, maxn=0, pruned=2)
    assert open_vectors(whole).find(["bail"])["bail"].tolist() == _matrix(9)[0].tolist()


# --- the encoder ---


def _encoder(tmp_path: Path, language: str = "fr") -> WordVectorEncoder:
    return WordVectorEncoder(open_vectors(samples.text(tmp_path / "w.vec", TABLE)), word_splitter(language))


def test_a_text_is_the_mean_of_its_words(tmp_path: Path) -> None:
    encoder = _encoder(tmp_path)
    vectors = encoder.encode_questions(["Loyer, bail !", "loyer loyer bail", "rien de connu", "", "l'École"])
    assert vectors[0] == pytest.approx([0.5**0.5, 0.5**0.5, 0])  # the capital gives way, the sign is no word
    assert vectors[1] == pytest.approx(np.array([1, 2, 0]) / 5**0.5)  # a word counts as often as it stands
    assert (vectors[2:4] == 0).all()
    assert vectors[4] == pytest.approx(np.array([0.5, 0.5, 1]) / 1.5**0.5)
    assert encoder.encode_questions([]).shape == (0, 3)
    [article] = encoder.encode_articles([Article("1", "bail", "1", "loyer", ("bail", "inconnu"))])
    assert article == pytest.approx(np.array([2, 1, 0]) / 5**0.5)


def test_chinese_is_cut_into_words(tmp_path: Path) -> None:
    [vector] = _encoder(tmp_path, "zh").encode_questions(["合同"])
    assert vector == pytest.approx(np.array([0, 1, 2]) / 5**0.5)


def test_the_file_is_read_for_new_words_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = _encoder(tmp_path)
    asked: list[set[str]] = []
    find = VectorFile.find

    def counted(self: VectorFile, words: set[str]) -> object:
        asked.append(set(words))
        return find(self, words)

    monkeypatch.setattr(VectorFile, "find", counted)
    assert encoder.prepare(["Bail loyer", "xyz"]) == pytest.approx(2 / 3)
    encoder.encode_questions(["bail xyz loyer"])
    encoder.encode_questions(["École bail"])
    assert asked == [{"Bail", "bail", "loyer", "xyz"}, {"École", "école"}]
    assert encoder.prepare([]) == 1.0


def test_one_text_does_not_depend_on_the_others(tmp_path: Path) -> None:
    encoder = _encoder(tmp_path)
    texts = ["bail loyer", "l'École du bail", "loyer"]
    alone = np.concatenate([_encoder(tmp_path).encode_questions([t]) for t in texts])
    assert (encoder.encode_questions(texts) == alone).all()
