"""Replies are kept whole or not at all, and answers come back as they were."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answer.types import (
    Answer,
    ClaimPart,
    Ending,
    Fault,
    GapPart,
    LinePart,
    Passage,
    PassagePart,
    Quote,
    RejectedSentence,
    Statement,
    Trimmed,
    Usage,
    Verdict,
)  # fmt: skip
from rag.errors import BadInput
from tests.paths import ROOT
from training.answers.run import from_json, key, opened, to_json


def test_what_was_put_is_there_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "replies.jsonl"
    with opened(path) as cache:
        assert cache.get("k") is None
        cache.put("k", {"text": "é\ud800\u2028"})
        assert cache.get("k") == {"text": "é\ud800\u2028"}
    with opened(path) as cache:
        assert cache.get("k") == {"text": "é\ud800\u2028"}
        cache.put("l", {"n": 1})
        assert len(cache) == 2
    assert len(path.read_bytes().splitlines()) == 2


@pytest.mark.parametrize("cut", range(1, 30))
def test_a_half_written_last_line_is_cut_off(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "replies.jsonl"
    with opened(path) as cache:
        cache.put("a", {"n": 1})
        whole = path.stat().st_size
        cache.put("b", {"n": 2})
    os.truncate(path, max(path.stat().st_size - cut, whole))
    with opened(path) as cache:
        assert (cache.get("a"), cache.get("b")) == ({"n": 1}, None)
        cache.put("b", {"n": 3})
    with opened(path) as cache:
        assert (cache.get("a"), cache.get("b")) == ({"n": 1}, {"n": 3})


@pytest.mark.parametrize("line", ["", "{", "[]", '{"key": "a"}', "\0\0"])
def test_another_file_is_refused_by_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text(f'{{"key": "a", "value": 1}}\n{line}\n', encoding="utf-8")
    with pytest.raises(BadInput, match=r"replies\.jsonl:2: not a kept reply"), opened(path):
        pass
    assert path.read_text(encoding="utf-8").endswith(f"{line}\n")  # nothing of it is lost


def test_two_measurements_do_not_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    with opened(path), pytest.raises(BadInput, match="another measurement is writing it"), opened(path):
        pass
    with opened(path):  # free again
        pass


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be written"), opened(tmp_path):
        pass


def test_a_killed_process_leaves_what_it_had_put(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    code = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom training.answers.run import opened\n"
        "with opened(Path(sys.argv[1])) as cache:\n    cache.put('a', {'n': 1})\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    run = subprocess.run([sys.executable, "-c", code, str(path)], cwd=ROOT, check=False)
    assert run.returncode == -signal.SIGKILL
    with opened(path) as cache:  # the lock went with the process
        assert cache.get("a") == {"n": 1}


def test_a_key_is_of_everything_and_of_no_order() -> None:
    assert key(a=1, b=["x"]) == key(b=["x"], a=1)
    assert len({key(a="1", b="2"), key(a="12", b=""), key(a=1, b=2), key(a="1", b="2", c=None)}) == 4
    assert len(key(question="\ud800")) == 64


texts = st.text(max_size=20)
ids = st.lists(texts, max_size=3).map(tuple)
quotes = st.lists(st.builds(Quote, texts, texts), max_size=2).map(tuple)
statements = st.builds(Statement, texts, ids, quotes)
passages = st.lists(st.builds(Passage, texts, st.integers(0, 9), st.integers(0, 9)), max_size=2).map(tuple)
tokens = st.none() | st.integers(0, 99)
spans = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=2).map(tuple)
answers = st.builds(
    Answer,
    ending=st.sampled_from(Ending),
    parts=st.lists(
        st.builds(LinePart, texts)
        | st.builds(PassagePart, texts, spans, spans)
        | st.builds(ClaimPart, texts, ids, passages, st.booleans())
        | st.builds(GapPart, st.booleans()),
        max_size=3,
    ).map(tuple),
    removed=st.lists(
        st.builds(
            RejectedSentence,
            statements,
            st.lists(st.sampled_from(Fault), max_size=2).map(tuple),
            st.none() | st.sampled_from(Verdict),
        ),
        max_size=2,
    ).map(tuple),
    trimmed=st.lists(st.builds(Trimmed, texts, st.integers(0, 9), st.integers(0, 9)), max_size=2).map(tuple),
    left_out=ids,
    model=texts,
    prompt_version=texts,
    usage=st.builds(Usage, st.floats(0, 9), tokens, tokens),
    reason=texts,
)


@given(answers)
def test_an_answer_comes_back_as_it_was(answer: Answer) -> None:
    assert from_json(json.loads(json.dumps(to_json(answer)))) == answer


def test_an_answer_of_another_form_is_refused() -> None:
    old = {"ending": "written", "sentences": [], "missing": [], "removed": [], "usage": {}}
    with pytest.raises(BadInput, match=r"a kept answer has ending, sentences, .* give another --replies"):
        from_json(old)
