"""Recipes: read strictly, refused with a cure, and with the hyper-parameters of the papers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rag.errors import BadInput
from rag.types import Article, Question
from tests.fakes.models.published import PUBLISHED
from training.neural.data.batches import Batches
from training.neural.recipe.recipe import names, read_recipe
from training.neural.recipe.settings import ArticleTransformer, Contrastive, Pairwise
from training.neural.systems import registry
from training.neural.trainer.loop import _optimiser
from training.neural.trainer.resources import FACTOR, Hardware, cost

SMALL = """
name = "small"
system = "biencoder"
[model.scratch]
width = 16
heads = 2
positions = 600
[training]
batch = 4
steps = 3
"""


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "small.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", names())
def test_every_recipe_that_ships_can_be_read(name: str) -> None:
    recipe = read_recipe(name)
    assert recipe.name == name
    assert recipe.about


def test_what_is_left_out_has_defaults(tmp_path: Path) -> None:
    recipe = read_recipe(written(tmp_path, SMALL))
    assert recipe.training.learning_rate == 2e-5
    assert recipe.loss == Contrastive("cosine", 0.05)
    assert recipe.model.scratch is not None
    assert recipe.model.scratch.layers == 2


def test_settings_are_changed_from_the_command_line(tmp_path: Path) -> None:
    changes = ["training.batch=8", "model.pooling=mean", "model.scratch.layers = 1", "text.fields=['text']"]
    recipe = read_recipe(written(tmp_path, SMALL), changes)
    assert recipe.training.batch == 8
    assert recipe.model.pooling == "mean"
    assert recipe.model.scratch is not None
    assert recipe.model.scratch.layers == 1
    assert recipe.text.fields == ("text",)
    assert recipe.source["training"] == {"batch": 8, "steps": 3}  # what the result folder will say


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            "training.leaning_rate=1e-4",
            "[training] has no key 'leaning_rate' (did you mean 'learning_rate'?)",
        ),
        ("training.batch=true", "batch is True: expected a whole number"),
        ("training.batch=2.0", "batch is 2.0: expected a whole number"),
        ("training.batch=0", "batch is 0: expected 1 to 1,000,000"),
        ("training.learning_rate=nan", "learning_rate is nan: expected a finite number"),
        ("training.learning_rate=fast", "learning_rate is 'fast': expected a number"),
        ("training.schedule=stepwise", "expected one of 'linear', 'constant', 'cosine'"),
        ("training.epochs=2", "needs either steps or epochs"),
        ("model.backbone=camembert-base", "needs either backbone"),
        ("model.scratch.width=15", "width 15 is no multiple of its 2 heads"),
        ("model.scratch.positions=64", "set positions to 512"),
        ("text.article_tokens=700", "set positions to 700"),
        ("text.fields=[]", "name one or more of code, headings, text"),
        ("text.fields=text", "expected a list"),
        ("text.chunk_overlap=300", None),
        ("text={chunk_tokens=20, chunk_overlap=20}", "cannot overlap by 20"),
        ("text.chunks=4", "chunks = 4 and no chunk_tokens"),
        ("model.articles={}", "[text] needs chunk_tokens, such as 200, and chunks"),
        ("model.articles={pooling='cls'}", "expected one of 'mean', 'max'"),
        ("model.articles.layer=1", "[model] articles has no key 'layer' (did you mean 'layers'?)"),
        ("system=bienkoder", "did you mean 'biencoder'?"),
        ("loss.temperature=0", "expected 0.0001 to 1,000"),
        ("negatives.stages=[{begins=0.5}]", "stages begin at [0.5]: expected 0 first"),
        ("negatives.stages=[{mix={bm52=1.0}}]", "did you mean 'bm25'?"),
        ("negatives.stages=[{mix={random=0.0}}]", "no share above 0"),
        ("negatives.stages=[{mix={model=1.0}}]", "belong together"),
        ("negatives.in_batch=false", "none to learn from"),
        ("evaluation.measure=R", "no measure 'R'"),
        ("training", "expected TABLE.KEY=VALUE"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, change: str, said: str | None) -> None:
    path = written(tmp_path, SMALL)
    if said is None:
        read_recipe(path, [change])  # no chunks, so the overlap says nothing
        return
    with pytest.raises(BadInput) as refused:
        read_recipe(path, [change])
    assert said in str(refused.value)


def test_a_file_that_is_no_recipe_is_refused(tmp_path: Path) -> None:
    for text, said in (("name = ", "not TOML"), ("system = 'biencoder'", "needs the key 'name'")):
        with pytest.raises(BadInput, match=said):
            read_recipe(written(tmp_path, text))
    (tmp_path / "bytes.toml").write_bytes(b"name = '\xff'")
    with pytest.raises(BadInput, match="not UTF-8"):
        read_recipe(str(tmp_path / "bytes.toml"))
    with pytest.raises(BadInput, match=r"no recipe 'nowhere'.*bsard-siamese"):
        read_recipe("nowhere")
    with pytest.raises(BadInput, match="is a folder"):
        read_recipe(str(tmp_path))


# --- the papers ---

ABOUT = "configuration, hyper-parameters and energy of the learned models"


@pytest.mark.data
def test_the_factor_of_emission_gives_the_figures_that_were_printed() -> None:
    rows = _published("know_when_to_fuse.json", ABOUT)
    for system, kwh in rows["Power consumption (kWh)"].items():
        printed = rows["Carbon emission (kgCO2eq)"][system]
        digits = 1 if printed >= 0.1 else 2
        assert round(kwh * FACTOR, digits) == pytest.approx(printed)
    spent = cost(2.0, Hardware("a box", 250.0, "given"))
    assert (spent["kwh"], spent["kgco2eq"]) == (0.5, 0.216)


def _published(file: str, about: str) -> dict[str, dict[str, Any]]:
    tables = json.loads((PUBLISHED / file).read_text(encoding="utf-8"))
    [table] = [t for t in tables if t["about"] == about]
    return {row["system"]: row["values"] for row in table["rows"]}


@pytest.mark.data
@pytest.mark.parametrize(("name", "towers"), [("bsard-siamese", 1), ("bsard-two-tower", 2)])
def test_bsard_is_trained_as_printed(name: str, towers: int) -> None:
    rows = _published("bsard.json", "training settings of the bi-encoders and BM25")
    said = {system: values["value"] for system, values in rows.items()}
    recipe = read_recipe(name)
    training, text = recipe.training, recipe.text
    assert isinstance(recipe.loss, Contrastive)
    assert recipe.model.towers == towers
    assert (training.batch, training.epochs) == (said["batch size, pairs"], said["epochs"])
    # printed: about 20,500 steps, so about 205 an epoch; as many epochs of pairs to fill them come to that
    pairs = round(said["steps, about"] / said["epochs"]) * said["batch size, pairs"]
    asked = [Question(f"q{n}", f"{n}", ("a",)) for n in range(pairs)]
    batches = Batches(asked, [Article("a", "", "", "x")], training, recipe.negatives, None, 1)
    assert (training.steps, batches.steps) == (0, said["steps, about"])
    assert recipe.loss.temperature == said["temperature"]
    assert training.learning_rate == said["learning rate"]
    assert (training.beta1, training.beta2) == (said["AdamW beta1"], said["AdamW beta2"])
    assert training.weight_decay == said["weight decay"]
    assert (training.warmup_steps, training.schedule) == (said["warm-up steps"], said["decay"])
    assert (text.chunk_tokens, text.chunk_overlap) == (said["chunk tokens"], said["chunk overlap tokens"])
    assert text.article_cut == said["article cut, words as printed"]
    assert (recipe.model.pooling, recipe.loss.similarity) == ("cls", "dot")


def test_dsr_joins_chunks_by_a_second_transformer() -> None:
    recipe = read_recipe("bsard-dsr")
    assert recipe.model.articles == ArticleTransformer(2, pooling="max")
    assert (recipe.text.chunks, recipe.negatives.per_question) == (9, 1)
    changes = ["system=splade", "model.towers=1", "text.chunk_tokens=0", "text.chunks=0"]
    with pytest.raises(BadInput, match=r"\[model.articles\] are for system = \"biencoder\" alone"):
        read_recipe("bsard-dsr", [*changes, "loss={}"])


@pytest.mark.data
@pytest.mark.models
def test_dsr_has_as_many_parameters_as_printed() -> None:
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    tables = json.loads((PUBLISHED / "jurifindit.json").read_text(encoding="utf-8"))
    [printed] = {row["params"] for table in tables for row in table["rows"] if row["system"] == "DSR"}
    model = read_recipe("bsard-dsr").model
    assert model.articles is not None
    with torch.device("meta"):  # shapes alone: of CamemBERT, and of what is put on it
        camembert = transformers.CamembertConfig(
            vocab_size=32_005, max_position_embeddings=514, type_vocab_size=1
        )
        first = transformers.CamembertModel(camembert, add_pooling_layer=False)
        layer = torch.nn.TransformerEncoderLayer(
            camembert.hidden_size, camembert.num_attention_heads, camembert.intermediate_size
        )
    one, other = (sum(p.numel() for p in module.parameters()) for module in (first, layer))
    assert f"{round((model.towers * one + model.articles.layers * other) / 1e6)}M" == printed


FUSED = {"dpr": "DPR", "splade": "SPLADE", "colbert": "ColBERT", "monobert": "monoBERT"}


@pytest.mark.data
@pytest.mark.parametrize("system", FUSED)
@pytest.mark.parametrize(("base", "set_"), [("lleqa", "FR-LEX"), ("mmarco", "FR-BASE")])
def test_know_when_to_fuse_is_trained_as_printed(system: str, base: str, set_: str) -> None:
    rows = _published("know_when_to_fuse.json", ABOUT)
    said = {row: values.get(f"{FUSED[system]} {set_}") for row, values in rows.items()}
    recipe = read_recipe(f"{base}-{system}")
    training, loss = recipe.training, recipe.loss
    if isinstance(loss, Pairwise):
        assert said["Max article length"] == f"{recipe.text.article_tokens} - |q|"
        assert (said["Softmax temperature"], said["Similarity function"]) == (None, None)
    else:
        assert recipe.text.question_tokens == said["Max query length"]
        assert recipe.text.article_tokens == said["Max article length"]
        assert loss.similarity == {"cos": "cosine"}[said["Similarity function"]]
        assert loss.temperature == said["Softmax temperature"]
        assert (recipe.negatives.shared, recipe.negatives.in_batch) == (True, True)
    if system == "colbert":
        assert said["Pooling strategy"] is None  # a vector a token
    else:
        assert recipe.model.pooling == said["Pooling strategy"]
    assert (training.steps, training.batch) == (said["Steps"], said["Batch size"])
    assert training.weight_decay == said["Weight decay"]
    assert training.learning_rate == said["Peak learning rate"]
    assert training.schedule == said["Learning rate decay"]
    assert (training.warmup_share, training.warmup_steps) == (said["Warm-up ratio"], 0)
    assert training.clip == said["Gradient clipping"]
    assert recipe.negatives.per_question == 1


@pytest.mark.data
@pytest.mark.parametrize("name", [n for n in names() if "-dar" in n])
def test_dar_is_trained_as_printed(name: str) -> None:
    rows = _published("jurifindit.json", "training settings")
    said = {system: values.get("DAR") for system, values in rows.items()}
    recipe = read_recipe(name)
    training = recipe.training
    assert isinstance(recipe.loss, Contrastive)
    assert (training.batch, training.learning_rate) == (said["batch size"], said["learning rate"])
    assert (training.warmup_steps, training.schedule) == (said["warm-up steps"], said["scheduler"])
    assert training.mini_batch > 0  # gradient caching
    assert recipe.evaluation.patience == said["early stopping patience on mAP, epochs"]
    assert (recipe.evaluation.measure, recipe.evaluation.every) == ("MAP", 0)
    assert (recipe.model.pooling, recipe.loss.similarity) == ("mean", "cosine")
    assert recipe.text.chunk_tokens == 0
    of_dataset = {  # five stand in the protocol of Table 4, in words; of LLeQA nothing is said
        "jurifindit": said["synthetic questions an article"],
        "bsard": 5
        if "five synthetic questions an article" in _protocol("jurifindit.json", "BSARD")
        else None,
        "lleqa": None,
    }
    assert training.synthetic == of_dataset[name.partition("-")[0]]
    [encoder] = {
        row["encoder"]
        for table in json.loads((PUBLISHED / "jurifindit.json").read_text(encoding="utf-8"))
        for row in table["rows"]
        if row["system"].startswith("DAR: ") and (recipe.model.backbone or "").endswith(str(row["encoder"]))
    }
    assert encoder


def _protocol(file: str, dataset: str) -> str:
    tables = json.loads((PUBLISHED / file).read_text(encoding="utf-8"))
    [said] = [t["protocol"] for t in tables if t["about"] == f"comparison on {dataset}"]
    return str(said)


@pytest.mark.data
@pytest.mark.models
def test_the_optimiser_is_the_one_that_was_printed() -> None:
    torch = pytest.importorskip("torch")
    module = torch.nn.Linear(2, 2)

    def of(name: str) -> Any:
        return _optimiser(module, read_recipe(name).training)

    fused = _published("know_when_to_fuse.json", ABOUT)["Optimizer"]
    printed = {
        f"{base}-{system}": fused[f"{FUSED[system]} {set_}"]
        for base, set_ in (("lleqa", "FR-LEX"), ("mmarco", "FR-BASE"))
        for system in FUSED
    }
    dar = _published("jurifindit.json", "training settings")["optimizer"]["DAR"]
    printed |= {name: dar for name in names() if "-dar" in name}
    assert {name: type(of(name)).__name__ for name in printed} == printed
    bsard = _published("bsard.json", "training settings of the bi-encoders and BM25")
    for name in ("bsard-siamese", "bsard-two-tower"):
        made = of(name)
        betas = tuple(bsard[f"{type(made).__name__} {beta}"]["value"] for beta in ("beta1", "beta2"))
        assert made.param_groups[0]["betas"] == betas
        assert made.param_groups[0]["weight_decay"] == bsard["weight decay"]["value"]


@pytest.mark.data
@pytest.mark.parametrize("name", ["stard-dense", "stard-dense-gpt4", "stard-dense-cail"])
def test_stard_draws_its_negatives_as_printed(name: str) -> None:
    rows = _published("stard.json", "annotation and splits")
    recipe = read_recipe(name)
    assert isinstance(recipe.loss, Contrastive)
    printed = rows["random negatives a question, Dense-GPT4"]["value"]
    assert recipe.negatives.per_question == printed
    assert [dict(stage.mix) for stage in recipe.negatives.stages] == [{"random": 1.0}]
    assert (recipe.model.pooling, recipe.loss.similarity) == ("cls", "dot")
    assert recipe.training.synthetic == (1 if name == "stard-dense-gpt4" else None)
    known = json.loads((PUBLISHED / "stard.json").read_text(encoding="utf-8"))
    rows = {row["system"]: row for table in known for row in table["rows"]}
    lsi = read_recipe("stard-lsi")
    assert (lsi.system, lsi.model.pooling) == ("lsi", "cls")
    dense = {"stard-dense": "STARD", "stard-dense-gpt4": "GPT4", "stard-dense-cail": "CAIL"}[name]
    for each, system in ((recipe, f"Dense-{dense}"), (lsi, "LSI-STARD")):
        assert (each.model.backbone or "").endswith(rows[system]["encoder"].lower())


@pytest.mark.parametrize(
    ("name", "changed"),
    [("yes-no", {}), ("biencoder", {"remote_code": True}), ("colbert", {"remote_code": True})],
)
def test_a_result_of_somebody_else_chooses_no_model_and_runs_none_of_its_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, changed: dict[str, Any]
) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    recipe = read_recipe(written(tmp_path, SMALL))
    model = replace(recipe.model, scratch=None, backbone="acme/law", **changed)
    handed = replace(recipe, system=name, model=model)
    loaded: list[Path] = []
    kind = SimpleNamespace(load=lambda _, folder: loaded.append(folder))
    monkeypatch.setitem(registry.KINDS, name, kind)  # type: ignore[arg-type]

    with pytest.raises(BadInput, match="names the model 'acme/law', which nobody has chosen on this machine"):
        registry.load(handed, tmp_path)
    assert loaded == []
    monkeypatch.setenv("PANDECT_TRUST_MODEL", "acme/law")
    registry.load(handed, tmp_path)
    assert loaded == [tmp_path]
