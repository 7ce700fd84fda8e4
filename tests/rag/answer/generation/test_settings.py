from __future__ import annotations

import copy
import json
import pickle
import re
from dataclasses import asdict, fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answer.generation.rate_limit import Rate
from rag.answer.generation.settings import (
    JUDGE_SETTINGS,
    SETTINGS,
    JudgeSettings,
    ModelSettings,
    Secret,
    read,
    read_judge,
)
from rag.answer.generation.writer import model_writer
from rag.errors import BadInput, MissingExtra
from tests.paths import ROOT

KEY = "sk-very-secret-0123456789"
MODEL = {"PANDECT_MODEL": "openai:gpt"}


@pytest.mark.parametrize(
    "environ", [{}, {"PANDECT_MODEL": ""}, {"PANDECT_MODEL": " "}, {"OPENAI_API_KEY": KEY}]
)
def test_it_is_off_by_default(environ: dict[str, str]) -> None:
    assert read(environ) is None


def test_defaults() -> None:
    assert read({"PANDECT_MODEL": "Ollama:llama3.1:8b"}) == ModelSettings("ollama:llama3.1:8b")


def test_provider_and_name() -> None:
    found = ModelSettings("ollama:llama3.1:8b")
    assert (found.provider, found.name) == ("ollama", "llama3.1:8b")


def test_every_setting_is_read() -> None:
    found = read(
        {
            "PANDECT_MODEL": "openai:my/model",
            "PANDECT_MODEL_URL": "http://127.0.0.1:8000/v1/",
            "PANDECT_MODEL_KEY": KEY,
            "PANDECT_MODEL_FORMAT": "schema",
            "PANDECT_MODEL_TOKENS": "32000",
            "PANDECT_MODEL_OUTPUT": "2048",
            "PANDECT_MODEL_ARTICLES": "auto",
            "PANDECT_MODEL_TEMPERATURE": "off",
            "PANDECT_MODEL_CONNECT": "1.5",
            "PANDECT_MODEL_FIRST_TOKEN": "60",
            "PANDECT_MODEL_BETWEEN": "20",
            "PANDECT_MODEL_TIMEOUT": "300",
            "PANDECT_MODEL_RETRIES": "0",
            "PANDECT_MODEL_PER_SESSION": "3/minute",
            "PANDECT_MODEL_PER_HOST": "off",
        }
    )

    assert found == ModelSettings(
        "openai:my/model", "http://127.0.0.1:8000/v1", Secret(KEY), "schema", 32000, 2048, None, None, 1.5,
        60.0,
        20.0, 300.0, 0, Rate(3, 60.0), None,
    )  # fmt: skip
    assert {setting.field for setting in SETTINGS} | {"variable"} == {f.name for f in fields(ModelSettings)}


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("PANDECT_MODEL", "gpt-4", "expected PROVIDER:MODEL"),
        ("PANDECT_MODEL", f"openai:{KEY}", "expected PROVIDER:MODEL"),
        ("PANDECT_MODEL", "a b:c", "expected PROVIDER:MODEL"),
        ("PANDECT_MODEL_URL", "127.0.0.1:8000", "expected an address"),
        ("PANDECT_MODEL_URL", "ftp://x/", "expected an address"),
        ("PANDECT_MODEL_URL", "http://x:99999999/", "expected an address"),
        ("PANDECT_MODEL_URL", f"https://me:{KEY}@host/v1", "got a value of 44 characters"),
        ("PANDECT_MODEL_URL", f"https://host/v1?key={KEY}", "without user name, password or query"),
        ("PANDECT_MODEL_KEY", f"{KEY} {KEY}", "got a value of 51 characters"),
        ("PANDECT_MODEL_KEY", f"{KEY}é", "without blanks"),
        ("PANDECT_MODEL_FORMAT", "json", "got 'json'; expected auto, lines or schema"),
        ("PANDECT_MODEL_FORMAT", KEY, "got a value of 25 characters"),
        ("PANDECT_MODEL_TOKENS", "1e4", "expected a whole number from 1024"),
        ("PANDECT_MODEL_TOKENS", "-5", "expected a whole number from 1024"),
        ("PANDECT_MODEL_OUTPUT", "63", "expected a whole number from 64"),
        ("PANDECT_MODEL_OUTPUT", "5000", "more than half"),
        ("PANDECT_MODEL_ARTICLES", "16", "expected a whole number from 1 to 15"),
        ("PANDECT_MODEL_TEMPERATURE", "3", "expected a number from 0 to 2"),
        ("PANDECT_MODEL_TIMEOUT", "nan", "expected a number from 0.1"),
        ("PANDECT_MODEL_TIMEOUT", "0", "expected a number from 0.1"),
        ("PANDECT_MODEL_RETRIES", "many", "got 'many'; expected a whole number from 0 to 10"),
        ("PANDECT_MODEL_PER_SESSION", "20", "expected a rate such as 20/hour"),
        ("PANDECT_MODEL_PER_HOST", "0/hour", "expected a rate such as 20/hour"),
        ("PANDECT_MODEL_TIMOUT", "3", "PANDECT_MODEL_TIMOUT is no setting: expected one of"),
    ],
)
def test_a_wrong_value_names_the_variable_what_came_and_what_was_expected(
    variable: str, value: str, expected: str
) -> None:
    with pytest.raises(BadInput) as caught:
        read({**MODEL, variable: value})

    message = str(caught.value)
    assert variable in message
    assert expected in message
    assert KEY not in message
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@given(st.sampled_from([setting.variable for setting in SETTINGS]), st.text(max_size=60))
def test_any_value_is_read_or_refused(variable: str, value: str) -> None:
    try:
        found = read({**MODEL, variable: value})
    except BadInput as refused:
        assert variable in str(refused)  # noqa: PT017 - either outcome is right
    else:
        assert found is None or isinstance(found, ModelSettings)


def test_secrets_are_read_too_and_the_environment_wins() -> None:
    secrets = {
        "PANDECT_MODEL": "ollama:a",
        "PANDECT_MODEL_KEY": KEY,
        "PANDECT_MODEL_RETRIES": 1,
        "table": {"a": 1},
    }

    found = read({"PANDECT_MODEL": "openai:b"}, secrets)

    assert found == ModelSettings("openai:b", key=Secret(KEY), retries=1)


def test_a_makers_key_goes_to_the_maker_only() -> None:
    environ = {**MODEL, "OPENAI_API_KEY": KEY}
    own, other = read(environ), read({**environ, "PANDECT_MODEL_URL": "http://127.0.0.1/v1"})

    assert own is not None
    assert other is not None
    assert own.key == Secret(KEY)
    assert other.key is None


def test_a_key_is_shown_by_nothing() -> None:
    secret = Secret(KEY)
    settings = replace(ModelSettings("openai:x"), key=secret)

    shown = [
        repr(secret), str(secret), f"{secret}", f"{secret:>40}", repr([secret]), repr(settings),
        str(asdict(settings)), json.dumps(asdict(settings), default=str), repr(copy.deepcopy(secret)),
    ]  # fmt: skip
    assert not [text for text in shown if KEY in text]
    assert secret.reveal() == KEY
    assert secret == Secret(KEY) != Secret("other")
    for made in (secret, settings):
        with pytest.raises(TypeError, match="not pickled"):
            pickle.dumps(made)
    with pytest.raises(TypeError):
        hash(secret)
    assert not hasattr(secret, "__dict__")


# --- the judge ---

WRITER = ModelSettings("openai:gpt", "http://127.0.0.1:8000/v1", Secret(KEY), whole=60.0)


@pytest.mark.parametrize("environ", [{}, {"PANDECT_JUDGE": ""}, {"PANDECT_JUDGE": "none"}])
def test_there_is_no_judge_by_default(environ: dict[str, str]) -> None:
    assert read_judge(WRITER, environ) == JudgeSettings()


def test_an_entailment_model_is_a_judge() -> None:
    environ = {"PANDECT_JUDGE": "nli:maker/model", "PANDECT_JUDGE_THRESHOLD": "0.8"}

    assert read_judge(WRITER, environ) == JudgeSettings("maker/model", 0.8)
    assert read_judge(WRITER, {**environ, "PANDECT_JUDGE_UNVERIFIED": "withhold"}).withhold
    assert not read_judge(WRITER, {**environ, "PANDECT_JUDGE_UNVERIFIED": "mark"}).withhold


def test_a_second_model_of_the_same_provider_is_asked_where_the_first_is() -> None:
    found = read_judge(WRITER, {"PANDECT_JUDGE": "OpenAI:judge"}).model

    assert found == replace(WRITER, model="openai:judge", variable="PANDECT_JUDGE")


def test_a_second_model_of_another_provider_has_an_address_and_a_key_of_its_own() -> None:
    environ = {"PANDECT_JUDGE": "anthropic:judge", "ANTHROPIC_API_KEY": KEY + "2"}
    usual = read_judge(WRITER, environ).model
    placed = read_judge(WRITER, {**environ, "PANDECT_JUDGE_URL": "http://127.0.0.1:9/v1"}).model
    keyed = read_judge(WRITER, {"PANDECT_JUDGE": "anthropic:judge"}, {"PANDECT_JUDGE_KEY": KEY + "3"}).model

    other = replace(WRITER, model="anthropic:judge", url=None, variable="PANDECT_JUDGE")
    assert usual == replace(other, key=Secret(KEY + "2"))
    assert placed == replace(other, url="http://127.0.0.1:9/v1", key=None)
    assert keyed == replace(other, key=Secret(KEY + "3"))


def test_the_writers_key_is_not_sent_to_another_address() -> None:
    environ = {"PANDECT_JUDGE": "openai:judge", "PANDECT_JUDGE_URL": "https://other.example/v1"}
    found = read_judge(WRITER, environ).model

    assert found is not None
    assert found.key is None


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("PANDECT_JUDGE", "nli", "expected none, nli:FOLDER_OR_HUB_ID or PROVIDER:MODEL"),
        ("PANDECT_JUDGE", "nli:", "expected none, nli:FOLDER_OR_HUB_ID or PROVIDER:MODEL"),
        ("PANDECT_JUDGE", "gpt", "got 'gpt'; expected none"),
        ("PANDECT_JUDGE", KEY, "got a value of 25 characters"),
        ("PANDECT_JUDGE", f"openai:{KEY}", "got a value of 32 characters"),
        ("PANDECT_JUDGE_URL", "127.0.0.1", "expected an address"),
        ("PANDECT_JUDGE_KEY", f"{KEY} é", "got a value of 27 characters"),
        ("PANDECT_JUDGE_THRESHOLD", "1.5", "expected a number from 0 to 1"),
        ("PANDECT_JUDGE_UNVERIFIED", "hide", "got 'hide'; expected mark or withhold"),
    ],
)
def test_a_wrong_value_of_the_judge_is_told_as_the_others(variable: str, value: str, expected: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_judge(WRITER, {"PANDECT_JUDGE": "openai:judge", variable: value})

    assert variable in str(caught.value)
    assert expected in str(caught.value)
    assert KEY not in str(caught.value)


def test_a_setting_of_the_judge_that_does_not_exist_is_refused() -> None:
    with pytest.raises(BadInput, match="PANDECT_JUDGE_MODEL is no setting: expected one of PANDECT_JUDGE, "):
        read({**MODEL, "PANDECT_JUDGE_MODEL": "openai:judge"})


@pytest.mark.parametrize(
    ("judge", "variable"),
    [
        ("", "PANDECT_JUDGE_URL"),
        ("none", "PANDECT_JUDGE_UNVERIFIED"),
        ("nli:maker/nli", "PANDECT_JUDGE_KEY"),
        ("openai:judge", "PANDECT_JUDGE_THRESHOLD"),
    ],
)
def test_what_a_judge_does_nothing_with_is_refused(judge: str, variable: str) -> None:
    value = {"URL": "http://x/v1", "KEY": KEY, "THRESHOLD": "0.7", "UNVERIFIED": "mark"}[
        variable.split("_")[2]
    ]
    with pytest.raises(BadInput, match=f"{variable} is set, which does nothing with PANDECT_JUDGE="):
        read_judge(WRITER, {"PANDECT_JUDGE": judge, variable: value})


def test_the_environment_makes_the_writer() -> None:
    environ = {**MODEL, "PANDECT_MODEL_URL": "http://127.0.0.1:8000/v1"}
    strict = model_writer(environ)
    judged = model_writer(
        {**environ, "PANDECT_JUDGE": "openai:judge", "PANDECT_JUDGE_UNVERIFIED": "withhold"}
    )

    assert model_writer({"PANDECT_JUDGE": "none"}) is None
    with pytest.raises(BadInput, match="PANDECT_JUDGE is set and PANDECT_MODEL is not: name a model"):
        model_writer({"PANDECT_JUDGE": "openai:judge"})
    assert strict is not None
    assert judged is not None
    assert (strict.name, strict.judge, strict.judge_local, strict.withholds) == ("gpt", "", True, False)
    assert (judged.name, judged.judge, judged.judge_local, judged.withholds) == ("gpt", "judge", True, True)


@pytest.mark.parametrize("there", [True, False])
def test_an_entailment_model_needs_its_packages(there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "rag.answer.generation.writer.find_spec",
        lambda name: None if name == "sentence_transformers" and not there else object(),
    )
    environ = {**MODEL, "PANDECT_JUDGE": "nli:maker/nli"}
    if there:
        made = model_writer(environ)
        assert made is not None
        assert made.judge == "maker/nli"
    else:
        with pytest.raises(MissingExtra, match="needs sentence-transformers"):
            model_writer(environ)


def test_the_table_in_the_docs_names_every_setting_and_its_default() -> None:
    docs = (ROOT / "docs" / "answers.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(PANDECT_MODEL\w*)` \| ([^|]*) \|", docs, re.MULTILINE)
    judges = re.findall(r"^\| `(PANDECT_JUDGE\w*)` \|", docs, re.MULTILINE)

    assert judges == [setting.variable for setting in JUDGE_SETTINGS]
    assert [name for name, _ in rows] == [setting.variable for setting in SETTINGS]
    default = ModelSettings("x:y")
    for (_, told), setting in zip(rows, SETTINGS, strict=True):
        value = getattr(default, setting.field)
        match value:
            case Rate():
                expected = f"{value.calls}/hour"
            case None | "x:y":
                expected = "none"
            case float():
                expected = f"{value:g}"
            case _:
                expected = str(value)
        assert told.strip(" `") == expected, setting.variable
