"""Recipes of pretrained models: those that ship, the strict reader, and what they do to a tiny model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rag.encoders import model_recipes
from rag.encoders.model_recipes import HubRecipe, find_recipe, parse, recipes
from rag.encoders.transformer import load_model
from rag.errors import BadInput
from rag.types import Article
from tests.fakes.models import tiny_model

# what the authors of each say: how a text's vector is made, what stands in front of questions and articles
NAMED = {
    "intfloat/multilingual-e5-small": ("mean", "query: ", "passage: "),
    "intfloat/multilingual-e5-base": ("mean", "query: ", "passage: "),
    "intfloat/multilingual-e5-large": ("mean", "query: ", "passage: "),
    "BAAI/bge-m3": ("cls", "", ""),
    "Snowflake/snowflake-arctic-embed-m-v2.0": ("cls", "query: ", ""),
    "Snowflake/snowflake-arctic-embed-l-v2.0": ("cls", "query: ", ""),
    "almanach/camembert-base": ("mean", "", ""),
    "hfl/chinese-roberta-wwm-ext": ("cls", "", ""),
    "CSHaitao/SAILER_zh": ("cls", "", ""),
    "thunlp/Lawformer": ("cls", "", ""),
    "dlicari/Italian-Legal-BERT": ("mean", "", ""),
    "maastrichtlawtech/dpr-legal-french": ("mean", "", ""),
}
TABLE = """
[mine]
model = "me/mine"
kind = "dense"
pooling = "max"
window = 64
source = "made up"
"""


def test_the_recipes_that_ship_are_those_of_the_reference() -> None:
    by_model = {r.model: r for r in recipes().values()}
    for model, told in NAMED.items():
        recipe = by_model[model]
        assert (recipe.pooling, recipe.question_prompt, recipe.passage_prompt) == told, model
    kinds = {r.kind for r in recipes().values() if r.model.endswith("-legal-french")}
    assert kinds == {"dense", "sparse", "late-interaction", "cross-encoder"}
    jina = recipes()["jina-embeddings-v3"]
    assert (jina.question_task, jina.passage_task, jina.remote_code) == (
        "retrieval.query",
        "retrieval.passage",
        True,
    )
    for size in ("0.6b", "4b", "8b"):
        qwen = recipes()[f"qwen3-embedding-{size}"]
        assert (qwen.pooling, qwen.passage_prompt) == ("last", "")
        assert qwen.question_prompt.endswith("\nQuery:")
    for recipe in recipes().values():
        assert recipe.source
        assert (recipe.chunk, recipe.overlap) in ((200, 20), (0, 0))
        assert (recipe.chunk == 0) == (recipe.window > 512 or recipe.model.endswith("-legal-french"))


def test_a_recipe_is_read() -> None:
    [recipe] = parse(TABLE.replace("64", "256"), "t").values()
    assert recipe == HubRecipe("mine", "me/mine", "dense", 256, "made up", "max")


@pytest.mark.parametrize(("change", "told"), [
    (('kind = "dense"', 'kind = "dense"\nkinds = 1'), "no key 'kinds'"),
    (('source = "made up"', ""), "source lacks"),
    (('kind = "dense"', 'kind = "thick"'), "kind 'thick'"),
    (('"max"', '"middle"'), "pooling 'middle'"),
    (('pooling = "max"', ""), "needs its pooling"),
    (("window = 256", "window = true"), "window = True; expected int"),
    (("window = 256", "window = 100"), "chunks of 200"),
    (("window = 256", "window = 256\nchunk = 0"), "overlapping by 20"),
    (("[mine]", "[mine"), "not TOML"),
    (("[mine]", 'mine = "x"\n[other]'), "expected a table"),
])  # fmt: skip
def test_a_wrong_recipe_is_refused(change: tuple[str, str], told: str) -> None:
    source = TABLE.replace("64", "256")
    assert change[0] in source
    with pytest.raises(BadInput, match=told):
        parse(source.replace(*change), "t")


def test_names_ids_and_folders() -> None:
    assert find_recipe("bge-m3") is find_recipe("BAAI/bge-m3")
    assert find_recipe("camembert-base").bare
    typed = find_recipe("someone/encoder")
    assert (typed.model, typed.pooling, typed.chunk, typed.bare) == ("someone/encoder", None, 200, False)
    assert find_recipe("someone/encoder", pooling="cls").bare
    assert find_recipe("bge-m3", pooling="mean") == replace(find_recipe("bge-m3"), pooling="mean", bare=True)
    assert find_recipe("bge-m3", pooling="cls") == find_recipe("bge-m3")


@pytest.mark.parametrize(("name", "told"), [
    ("splade-legal-french", "of the kind 'sparse'"),
    ("monobert-legal-french", "of the kind 'cross-encoder'"),
    ("jina-embeddings-v3", "add --remote-code"),
])  # fmt: skip
def test_what_cannot_be_loaded_is_told_before(name: str, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        model_recipes.load(find_recipe(name))


# --- on a tiny model ---


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch")
    pytest.importorskip("sentence_transformers")
    return tiny_model.make(tmp_path_factory.mktemp("model")).parent / "bare"


@pytest.mark.slow
@pytest.mark.models
def test_pooling_of_the_last_hidden_states(bare: Path) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    texts = ["le bailleur et le locataire", "le mur"]  # of two lengths: padding must not count
    tokenizer, model = AutoTokenizer.from_pretrained(bare), AutoModel.from_pretrained(bare).eval()
    expected: dict[str, list[np.ndarray[tuple[int, ...], np.dtype[np.float32]]]] = {}
    for text in texts:
        with torch.no_grad():
            states = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].numpy()
        made = {"mean": states.mean(axis=0), "cls": states[0], "max": states.max(axis=0), "last": states[-1]}
        for name, vector in made.items():
            expected.setdefault(name, []).append(vector / np.linalg.norm(vector))
    for name, vectors in expected.items():
        recipe = HubRecipe("tiny", str(bare), "dense", 64, "", name, bare=True, chunk=40)  # type: ignore[arg-type]
        encoder = model_recipes.load(recipe, device="cpu")
        assert encoder.encode_questions(texts) == pytest.approx(np.array(vectors), abs=1e-5), name
        assert (encoder.name, encoder.model.max_seq_length) == ("tiny", 64)
    assert load_model(bare, device="cpu", window=10_000).max_seq_length == 256  # no more than it can read
    for wrong, told in (({"pooling": "middle"}, "pooling"), ({"window": 0}, "window")):
        with pytest.raises(BadInput, match=told):
            load_model(bare, **wrong)  # type: ignore[arg-type]


@pytest.mark.models
def test_the_first_token_of_a_longformer_sees_the_whole_text(bare: Path, tmp_path: Path) -> None:
    import torch
    from transformers import AutoTokenizer, LongformerConfig, LongformerModel

    tokenizer = AutoTokenizer.from_pretrained(bare)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = LongformerConfig(
            vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
            intermediate_size=16, attention_window=[4], max_position_embeddings=130, initializer_range=0.3,
        )  # fmt: skip
        LongformerModel(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    long = "le bailleur et le locataire et la dette et le mur et le loyer "
    texts = [long + "chaque mois", long + "après le mariage", "le mur"]  # the ends stand far from the first
    recipe = HubRecipe("long", str(tmp_path), "dense", 128, "", "cls", bare=True, chunk=0, overlap=0)
    encoder = model_recipes.load(recipe, device="cpu")
    found = encoder.encode_questions(texts)
    assert found == pytest.approx(
        np.concatenate([encoder.encode_questions([text]) for text in texts]), abs=1e-5
    )  # padding does not count
    assert np.abs(found[0] - found[1]).max() > 1e-3
    blind = load_model(tmp_path, device="cpu", pooling="mean")  # every token sees two on either side alone
    states = [blind.encode(text, output_value="token_embeddings")[0].numpy() for text in texts[:2]]
    assert states[0] == pytest.approx(states[1], abs=1e-6)


@pytest.mark.models
def test_prompts_and_chunks_of_a_recipe(bare: Path) -> None:
    plain = HubRecipe("tiny", str(bare), "dense", 256, "", "cls", bare=True)
    prompted = model_recipes.load(
        replace(plain, question_prompt="query: ", passage_prompt="passage: ", chunk=20, overlap=5),
        device="cpu",
    )
    encoder = model_recipes.load(plain, device="cpu")
    assert prompted.encode_questions(["le loyer"]) == pytest.approx(
        encoder.encode_questions(["query: le loyer"]), abs=1e-5
    )
    assert (prompted.chunk, prompted.overlap) == (20, 5)
    article = Article("1", "", "1", " ".join(tiny_model.SENTENCES))
    pieces = prompted._chunks(f" {article.text}")
    assert len(pieces) > 3
    mean = encoder.encode_questions([f"passage: {p}" for p in pieces]).mean(axis=0)
    assert prompted.encode_articles([article])[0] == pytest.approx(mean / np.linalg.norm(mean), abs=1e-5)


@pytest.mark.models
def test_the_adapter_of_a_task_is_named(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = HubRecipe(
        "t", str(bare), "dense", 256, "", "cls", bare=True, question_task="q", passage_task="p"
    )
    encoder = model_recipes.load(recipe, device="cpu")
    named: list[str | None] = []
    encode = type(encoder.model).encode

    def noted(self: object, *given: object, task: str | None = None, **options: object) -> object:
        named.append(task)
        return encode(self, *given, **options)  # type: ignore[arg-type, call-overload]

    monkeypatch.setattr(type(encoder.model), "encode", noted)
    encoder.encode_questions(["le loyer"])
    encoder.encode_articles([Article("1", "", "1", "le mur")])
    model_recipes.load(replace(recipe, question_task=None), device="cpu").encode_questions(["le loyer"])
    assert named == ["q", "p", None]
