"""The wire: a tiny random model, served over the OpenAI protocol, streamed through LangChain."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.models import tiny_llama
from tests.fakes.process import answers, free_port, started
from training.answers.chat import replies
from training.answers.run import opened
from training.answers.writers import ModelSpec, chat

pytestmark = [pytest.mark.models, pytest.mark.slow]
PATIENCE = 300  # seconds for torch to be imported on a busy machine


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    # up to openai what `transformers serve` needs; it asks for accelerate only once it loads a model
    for package in (
        "transformers", "torch", "accelerate", "fastapi", "uvicorn", "openai", "langchain_openai",
    ):  # fmt: skip
        pytest.importorskip(package, reason=f"{package} is not installed: pip install '.[dev,llm,models]'")
    program = shutil.which("transformers", path=str(Path(sys.executable).parent)) or shutil.which(
        "transformers"
    )
    if program is None:
        pytest.skip("the command transformers is not on the path")
    folder = tiny_llama.make(tmp_path_factory.mktemp("wire") / "tiny")
    port = free_port()
    command = [program, "serve", str(folder), "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    log, url = folder.parent / "log", f"http://127.0.0.1:{port}"
    environ = {**os.environ, "HF_HUB_OFFLINE": "1"}
    with started(command, log, lambda: answers(f"{url}/health"), wait=PATIENCE, **environ):
        yield f"{url}/v1", str(folder)


def test_a_real_server_replies_streams_and_counts(served: tuple[str, str], tmp_path: Path) -> None:
    url, model = served
    asked = chat(ModelSpec(f"openai:{model}", url, max_tokens=8))
    first = asked.say("le locataire paie le loyer ?")
    assert first.text
    assert first.usage.input_tokens
    assert first.usage.output_tokens
    assert 1 <= first.usage.output_tokens <= 8
    assert asked.say("le locataire paie le loyer ?").text == first.text  # temperature 0
    with opened(tmp_path / "r.jsonl") as cache:
        kept = replies(asked, ["le bail"], cache)
        assert replies(asked, ["le bail"], cache) == kept
