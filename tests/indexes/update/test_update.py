"""An update comes to what a build from nothing would make of the new law with the same encoder."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import faiss
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from indexes.build.build import BuildSettings, build_into
from indexes.build.encoder_choice import EncoderChoice, fit_encoder
from indexes.build.fit_settings import FitSettings
from indexes.corpus.corpus import Corpus, to_learn_from
from indexes.sources import registry
from indexes.store import manifest
from indexes.store.open_index import open_index
from indexes.update import reuse
from indexes.update.diff import Changes
from indexes.update.reuse import EXACT, Start
from rag.encoders import static
from rag.encoders.static import StaticEncoder
from rag.errors import BadInput, DamagedIndex
from rag.fusion.settings import FusionSettings
from rag.ltr.ranker import Ranker
from rag.ltr.trees import Trees
from rag.retrieval.bm25 import BM25Settings
from rag.text.analysers import analyser
from rag.types import Article, Encoder, Floats, Question
from tests.fakes.law.changing_law import AGAIN, built, changed, hashes, histories, updated
from tests.fakes.law.corpus import CODE, FIT, GOAT, NONE, TINY, VILLAGE, change_manifest
from training.benchmark.update import change

QUICK = settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Threads race for the edges of a graph; with one, the same vectors make the same graph."""
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    yield
    faiss.omp_set_num_threads(before)


@pytest.fixture(scope="module")
def encoder() -> EncoderChoice:
    fitted = fit_encoder(VILLAGE, to_learn_from(VILLAGE.questions), analyser("fr"), TINY, lambda *told: None)
    return EncoderChoice(*fitted)


def same_answers(one: Path, other: Path) -> None:
    engines = [open_index(folder) for folder in (one, other)]
    for mode in engines[0].modes:
        for question in (GOAT, "le pain de la voisine", "Livre I", "belette", ""):
            a, b = ([(s.article, s.score) for s in e.ask(question, k=20, mode=mode).shown] for e in engines)
            assert a == b


@pytest.mark.slow
@pytest.mark.parametrize(
    "chosen",
    [
        NONE,
        BuildSettings(
            bm25=BM25Settings(k1=0.9, b=0.4, weights={"text": 1.0, "headings": 0.3, "questions": 2.5})
        ),
        BuildSettings(vectors="hnsw"),
        BuildSettings(vectors="8bit", fusion=FusionSettings("z-score")),
        BuildSettings(analyser={"stop_words": False}),
        BuildSettings(learned=Ranker(Trees((), ()))),
    ],
    ids=["keywords", "flat", "hnsw", "8bit", "stop words kept", "learned"],
)
@given(states=histories())
@QUICK
def test_it_is_a_build_from_nothing_to_the_byte(
    chosen: BuildSettings, encoder: EncoderChoice, states: list[Corpus]
) -> None:
    kept = None if chosen is NONE else encoder
    if kept is not None and chosen.analyser:
        cut = analyser("fr", **chosen.analyser)
        kept = EncoderChoice(replace(encoder.encoder, analyser=cut), encoder.entry)  # type: ignore[type-var]
    with tempfile.TemporaryDirectory() as scratch:
        former = Path(scratch) / "v0"
        built(former, states[0], chosen, kept)
        for n, corpus in enumerate(states[1:], 1):
            again = Path(scratch) / f"again{n}"
            wanted = built(again, corpus, chosen, kept)
            made = Path(scratch) / f"v{n}"
            updated(made, former, corpus)
            assert hashes(made) == wanted
            about, about_again = manifest.read(made, AGAIN), manifest.read(again, AGAIN)
            apart = {"version": "", "built": "", "files": {}, "checksum": None}
            assert replace(about, **apart) == replace(about_again, **apart)
            former = made
        same_answers(former, again)


def _question(**fields: object) -> Corpus:
    asked = [replace(q, **fields) if q.id == "q2" else q for q in VILLAGE.questions]  # type: ignore[arg-type]
    return replace(VILLAGE, questions=tuple(asked))


@pytest.mark.parametrize(
    ("other", "analysed"),
    [
        (_question(answer="Son maître, et les légumes aussi."), 0),
        (_question(text="Qui rembourse mes salades ?"), 0),
        (_question(article_ids=("v-6",)), 0),
        (_question(split="test"), 0),
        (replace(VILLAGE, questions=VILLAGE.questions[1:]), 0),
        (replace(VILLAGE, card=replace(VILLAGE.card, title="Autre")), 0),
        (replace(VILLAGE, articles=VILLAGE.articles[::-1]), 0),
        (replace(VILLAGE, articles=tuple(replace(a, url="https://x") for a in VILLAGE.articles)), 0),
        (replace(VILLAGE, articles=tuple(replace(a, text=f"{a.text} !") for a in VILLAGE.articles)), 12),
        (
            replace(
                VILLAGE, articles=tuple(replace(a, id=f"x{a.id}") for a in VILLAGE.articles), questions=()
            ),
            12,
        ),
    ],
    ids=[
        "answer",
        "question",
        "gold",
        "split",
        "fewer",
        "card",
        "order",
        "addresses",
        "all texts",
        "all ids",
    ],
)
def test_one_thing_alone_changes(
    tmp_path: Path, encoder: EncoderChoice, other: Corpus, analysed: int
) -> None:
    was = replace(_question(answer="Personne.").questions[1], id="q2")
    former = replace(VILLAGE, questions=(VILLAGE.questions[0], was, *VILLAGE.questions[2:]))
    built(tmp_path / "former", former, BuildSettings(), encoder)
    wanted = built(tmp_path / "again", other, BuildSettings(), encoder)
    made = updated(tmp_path / "made", tmp_path / "former", other)
    assert hashes(tmp_path / "made") == wanted
    assert (made.analysed, made.encoded, made.notes) == (analysed, analysed, ())


def test_chinese_too(tmp_path: Path) -> None:
    card = replace(VILLAGE.card, language="zh")

    def law(*texts: str) -> Corpus:
        asked = Question("q", "山羊吃菜谁赔", ("0",))
        articles = tuple(Article(str(i), "村规", str(i), text) for i, text in enumerate(texts))
        return Corpus(card, articles, (asked,))

    new = law("山羊吃了菜，主人赔偿两倍。", "水井归全村共有。", "狗咬人的，拴起来。")
    built(tmp_path / "former", law("山羊吃了菜，主人赔偿。", "水井归全村共有。"), NONE, None)
    wanted = built(tmp_path / "again", new, NONE, None)
    assert updated(tmp_path / "made", tmp_path / "former", new).analysed == 2
    assert hashes(tmp_path / "made") == wanted


class Watched:
    """An encoder that remembers what it encoded."""

    def __init__(self, of: StaticEncoder, seen: list[str]) -> None:
        self.of, self.seen = of, seen

    def encode_articles(self, articles: list[Article]) -> object:
        self.seen.extend(article.id for article in articles)
        return self.of.encode_articles(articles)

    def __getattr__(self, name: str) -> object:
        return getattr(self.of, name)


@pytest.mark.slow
@given(st.data())
@QUICK
def test_only_what_changed_is_analysed_and_encoded(encoder: EncoderChoice, data: st.DataObject) -> None:
    corpus = data.draw(changed(VILLAGE))
    was = {a.id: (a.code, a.headings, a.text) for a in VILLAGE.articles}
    fresh = [a.id for a in corpus.articles if was.get(a.id) != (a.code, a.headings, a.text)]
    assume(len(fresh) < len(corpus.articles))
    encoded: list[str] = []
    with tempfile.TemporaryDirectory() as scratch, pytest.MonkeyPatch.context() as patch:
        former = Path(scratch) / "former"
        built(former, VILLAGE, BuildSettings(), encoder)
        load = StaticEncoder.load
        patch.setattr(static.StaticEncoder, "load", lambda *given: Watched(load(*given), encoded))
        made = updated(Path(scratch) / "made", former, corpus)
        assert (made.analysed, made.encoded, made.notes) == (len(fresh), len(fresh), ())
        assert encoded == fresh
        assert made.changes.against == "former"
        assert Changes.read(Path(scratch) / "made") == made.changes


def fitted(folder: Path, **options: object) -> Path:
    build_into(folder, VILLAGE, "village", folder.name, replace(FIT, **options))  # type: ignore[arg-type]
    return folder


NEW = replace(
    VILLAGE, articles=(*VILLAGE.articles, Article("v-13", CODE, "13", "La chèvre qui sait nager est libre."))
)


def test_the_files_of_the_encoder_are_not_copied(tmp_path: Path) -> None:
    former = fitted(tmp_path / "former")
    made = updated(tmp_path / "made", former, NEW)
    for name in ("codes.npy", "scales.npy", "vocabulary.json", "encoder.json"):
        assert (tmp_path / "made/encoder" / name).samefile(former / "encoder" / name)
    assert (made.analysed, made.encoded) == (1, 1)
    assert manifest.read(tmp_path / "made", AGAIN).encoder == manifest.read(former, AGAIN).encoder


def test_without_hard_links_they_are_copied_and_hashed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*given: object) -> None:
        raise OSError(1, "Operation not permitted")

    former = fitted(tmp_path / "former")
    monkeypatch.setattr("os.link", refused)
    updated(tmp_path / "made", former, NEW)
    assert not (tmp_path / "made/encoder/codes.npy").samefile(former / "encoder/codes.npy")
    assert hashes(tmp_path / "made")["encoder/codes.npy"] == hashes(former)["encoder/codes.npy"]


def test_a_refitted_encoder_is_the_one_of_a_build(tmp_path: Path) -> None:
    former = fitted(tmp_path / "former")
    again = tmp_path / "again"
    build_into(again, NEW, "village", "again", FIT)
    made = updated(tmp_path / "made", former, NEW, refit=True)
    assert hashes(tmp_path / "made") == hashes(again)
    assert (made.analysed, made.encoded) == (1, 13)
    assert made.notes == ("the encoder is new: all articles are encoded again",)
    assert manifest.read(tmp_path / "made", AGAIN).encoder == manifest.read(again, AGAIN).encoder


def test_what_was_never_fitted_is_not_refitted(tmp_path: Path) -> None:
    for name, chosen, said in (
        ("none", NONE, "no encoder"),
        (
            "borrowed",
            BuildSettings(encoder="borrow"),
            "the encoder static-fr-256, which was not fitted to it",
        ),
    ):
        build_into(tmp_path / name, VILLAGE, "village", name, chosen)
        with pytest.raises(BadInput, match=rf"--refit: the index has {said}.*{AGAIN} --encoder fit"):
            updated(tmp_path / f"{name}-made", tmp_path / name, NEW, refit=True)


def test_a_borrowed_encoder_is_kept(tmp_path: Path) -> None:
    chosen = BuildSettings(encoder="borrow")
    build_into(tmp_path / "former", VILLAGE, "village", "former", chosen)
    build_into(tmp_path / "again", NEW, "village", "again", chosen)
    assert updated(tmp_path / "made", tmp_path / "former", NEW).encoded == 1
    assert hashes(tmp_path / "made") == hashes(tmp_path / "again")


class Pretrained:
    """An encoder that is no static one: nothing of it lies in the index."""

    def __init__(self, of: Encoder) -> None:
        self.of, self.name, self.dim = of, "acme/law", of.dim

    def encode_questions(self, questions: Sequence[str]) -> Floats:
        return self.of.encode_questions(questions)

    def encode_articles(self, articles: Sequence[Article]) -> Floats:
        return self.of.encode_articles(articles)


@pytest.mark.parametrize("same", [True, False], ids=["the same model", "another one of its name"])
def test_a_pretrained_encoder_is_kept_by_its_id(
    tmp_path: Path, encoder: EncoderChoice, monkeypatch: pytest.MonkeyPatch, same: bool
) -> None:
    model = Pretrained(encoder.encoder)
    options = {"model": "acme/law", "question_prompt": "query: "}
    entry = {"kind": "transformer", "name": "acme/law", "dim": 8, "sha256": "ab", "options": options}
    now = EncoderChoice(model, entry if same else {**entry, "sha256": "cd"})
    loaded: list[tuple[str, Mapping[str, object]]] = []

    def load(name: str, given: Mapping[str, object]) -> EncoderChoice:
        loaded.append((name, given))
        return now

    monkeypatch.setattr(reuse, "pretrained", load)
    built(tmp_path / "former", VILLAGE, BuildSettings(), EncoderChoice(model, entry))
    wanted = built(tmp_path / "again", NEW, BuildSettings(), now)
    with pytest.raises(BadInput, match="nobody has chosen on this machine"):  # no build of here named it
        updated(tmp_path / "refused", tmp_path / "former", NEW)
    assert not loaded
    monkeypatch.setenv("PANDECT_TRUST_MODEL", "acme/law")
    made = updated(tmp_path / "made", tmp_path / "former", NEW)
    assert loaded == [("acme/law", {"question_prompt": "query: "})]
    assert hashes(tmp_path / "made") == wanted
    assert manifest.read(tmp_path / "made", AGAIN).encoder == now.entry
    if same:
        assert (made.encoded, made.notes) == (1, ())
    else:
        assert made.encoded == 13
        assert made.notes == (
            "the model acme/law is another one than before: all articles are encoded again",
        )


def test_an_index_of_before_counts_were_kept_is_analysed_once(tmp_path: Path) -> None:
    former = fitted(tmp_path / "former", updatable=False)
    assert not (former / "counts").exists()
    made = updated(tmp_path / "made", former, NEW)
    assert made.notes == (
        "the version in use keeps no term counts, or not all: all articles are analysed once",
    )
    assert (made.analysed, made.encoded) == (13, 1)  # its vectors are as good as any
    again = updated(tmp_path / "again", tmp_path / "made", NEW)
    assert (again.analysed, again.notes) == (0, ())
    assert hashes(tmp_path / "again") == hashes(tmp_path / "made")


def test_rounded_vectors_alone_are_encoded_once(tmp_path: Path) -> None:
    former = fitted(tmp_path / "former", vectors="8bit", updatable=False)
    assert not (former / EXACT).exists()
    made = updated(tmp_path / "made", former, NEW)
    assert "the version in use keeps rounded vectors alone: all articles are encoded once" in made.notes
    assert made.encoded == 13
    again = updated(tmp_path / "again", tmp_path / "made", NEW)
    assert (again.encoded, again.notes) == (0, ())


def test_another_analyser_makes_everything_anew(tmp_path: Path) -> None:
    former = fitted(tmp_path / "former")
    change_manifest(former, analyser__id="fr:porter-0.1:00000000")
    made = updated(tmp_path / "made", former, NEW)
    assert made.notes[0].startswith("it was analysed by fr:porter-0.1:00000000, here it is fr:snowball")
    assert made.notes[1:] == ("the encoder is new: all articles are encoded again",)
    assert (made.analysed, made.encoded) == (13, 13)
    build_into(tmp_path / "again", NEW, "village", "again", FIT)
    assert hashes(tmp_path / "made") == hashes(tmp_path / "again")
    assert open_index(tmp_path / "made").ask("nager", mode="keyword").shown


def test_a_language_without_an_encoder_to_borrow(tmp_path: Path) -> None:
    build_into(tmp_path / "former", VILLAGE, "village", "former", BuildSettings(encoder="borrow"))
    dutch = replace(VILLAGE, card=replace(VILLAGE.card, language="nl"))
    made = updated(tmp_path / "made", tmp_path / "former", dutch)
    assert made.notes[1:] == ("no encoder that ships knows these words: keywords only from here",)
    assert open_index(tmp_path / "made").modes == ("keyword",)


@pytest.mark.parametrize(
    "name", ["corpus/articles.jsonl", "counts/text.data.npy", "encoder/codes.npy", "vectors.faiss"]
)
def test_what_is_damaged_is_not_built_on(tmp_path: Path, name: str) -> None:
    former = fitted(tmp_path / "former")
    whole = (former / name).read_bytes()
    (former / name).write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(DamagedIndex, match=rf"{Path(name).name} is not what was built.*run {AGAIN}"):
        updated(tmp_path / "made", former, NEW)


@pytest.mark.data
@pytest.mark.slow
def test_a_hundredth_of_real_law_is_a_build_from_nothing_too(data: Path, tmp_path: Path) -> None:
    whole, _ = registry.load("stard", data / "stard")
    articles = whole.articles[::7]
    there = {article.id for article in articles}
    asked = (replace(q, article_ids=tuple(there.intersection(q.article_ids))) for q in whole.questions)
    corpus = Corpus(whole.card, articles, tuple(asked))
    new = change(corpus, 0.01, seed=7)
    small = FitSettings(dim=16, passes=1, question_passes=1, random_negatives=64)
    build_into(tmp_path / "former", corpus, "village", "former", BuildSettings(encoder="fit", fit=small))
    kept = Start.at(tmp_path / "former", AGAIN)
    assert kept.manifest.encoder is not None
    cut = analyser("zh")
    encoder = EncoderChoice(StaticEncoder.load(tmp_path / "former/encoder", cut), kept.manifest.encoder)
    wanted = built(tmp_path / "again", new, BuildSettings(), encoder)
    made = updated(tmp_path / "made", tmp_path / "former", new)
    assert (made.analysed, made.encoded, made.notes) == (52, 52, ())
    assert hashes(tmp_path / "made") == wanted


def test_the_index_that_ships_explains_from_what_it_keeps() -> None:
    from indexes.store.paths import builtin

    assert (builtin() / "counts").is_dir()  # else the articles that are shown would be analysed first
    assert not (builtin() / EXACT).exists()
