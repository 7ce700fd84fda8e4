"""Cutting a corpus into numbered terms: whatever processes do it, it is what the analyser says."""

from __future__ import annotations

import io
import multiprocessing
import threading
from concurrent.futures.process import BrokenProcessPool

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tqdm import tqdm
from tqdm._monitor import TMonitor

from indexes.build import tokenise
from indexes.build.tokenise import TokenisedTexts, cores, in_texts, tokenise_texts
from rag.text.analysers import analyser

FR = analyser("fr")
TEXT = st.text(alphabet="abcdefé  ,.", max_size=40)


def read_back(found: TokenisedTexts) -> list[list[str]]:
    return [[found.terms[i] for i in ids] for ids in found.texts]


@given(texts=st.lists(TEXT, max_size=8))
@settings(max_examples=60, deadline=None)
def test_numbers_stand_for_the_terms_of_each_text(texts: list[str]) -> None:
    found = tokenise_texts(FR, texts)
    assert read_back(found) == [FR.terms(text) for text in texts]
    assert len(set(found.terms)) == len(found.terms)
    assert all(ids.dtype == np.int32 for ids in found.texts)


@pytest.mark.parametrize("language", ["fr", "zh"])
@pytest.mark.parametrize("processes", [2, 3, 5, 20])
def test_several_processes_give_what_one_gives(
    language: str, processes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokenise, "may_fork", lambda: True)
    texts = ["", "Le bail est écrit. 租赁合同", "le loyer du bail", "", "用人单位解除劳动合同", "voisin", ""]
    by = analyser(language)
    one, several = tokenise_texts(by, texts, 1), tokenise_texts(by, texts, processes)
    assert several.terms == one.terms
    assert [ids.tolist() for ids in several.texts] == [ids.tolist() for ids in one.texts]
    assert all(ids.dtype == np.int32 for ids in several.texts)


def refused(*_: object) -> None:
    raise AssertionError("forked")


def test_beside_another_thread_it_does_not_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenise, "ProcessPoolExecutor", refused)
    done = threading.Event()
    other = threading.Thread(target=done.wait)
    other.start()
    try:
        assert read_back(tokenise_texts(FR, ["un bail", "un loyer"], 2)) == [
            FR.terms("un bail"),
            FR.terms("un loyer"),
        ]
    finally:
        done.set()
        other.join()


def test_what_watches_a_progress_bar_is_no_other_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    with tqdm(total=2, file=io.StringIO()):  # begins a thread that outlives the bar
        pass
    watching = [each for each in threading.enumerate() if isinstance(each, TMonitor)]
    monkeypatch.setattr(threading, "enumerate", lambda: [threading.current_thread(), *watching])
    monkeypatch.setattr(tokenise, "ProcessPoolExecutor", refused)
    assert watching
    with pytest.raises(AssertionError, match="forked"):
        tokenise_texts(FR, ["un bail", "un loyer"], 2)


def test_one_of_several_processes_has_none_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: object())
    monkeypatch.setattr(tokenise, "ProcessPoolExecutor", refused)
    assert read_back(tokenise_texts(FR, ["un bail", "un loyer"], 2)) == [
        FR.terms("un bail"),
        FR.terms("un loyer"),
    ]


def test_where_a_process_is_ended_it_is_cut_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    class Ended:
        def __init__(self, *_: object) -> None:
            raise BrokenProcessPool("ended")

    monkeypatch.setattr(tokenise, "may_fork", lambda: True)
    monkeypatch.setattr(tokenise, "ProcessPoolExecutor", Ended)
    assert read_back(tokenise_texts(FR, ["un bail", "un loyer"], 2)) == [
        FR.terms("un bail"),
        FR.terms("un loyer"),
    ]


def test_as_many_processes_as_may_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    there = cores()
    assert there >= 1
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert cores() == 1
    monkeypatch.setenv("OMP_NUM_THREADS", str(there + 5))
    assert cores() == there
    monkeypatch.setenv("OMP_NUM_THREADS", "0")
    assert cores() == there


def test_in_how_many_texts_a_term_stands() -> None:
    texts = [np.array(ids, np.int32) for ids in ([0, 2, 0], [], [2])]
    assert in_texts(texts, 4).tolist() == [1, 0, 2, 0]
    assert in_texts([], 2).tolist() == [0, 0]
