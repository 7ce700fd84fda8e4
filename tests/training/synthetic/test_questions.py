"""Questions that a model writes: what is asked, what is taken, what is paid for twice (nothing)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexes.corpus.corpus import to_learn_from, write
from indexes.corpus.questions import read_questions
from rag.answer.types import Usage
from rag.errors import BadInput
from rag.text.analysers import analyser
from rag.types import Article, Question
from tests.fakes.answers import openai_server
from tests.fakes.ranking.benchmark import ARTICLES, CORPUS
from training.answers.chat import Reply
from training.answers.run import opened
from training.neural.data.task import read_data, tasks
from training.neural.recipe.recipe import read_recipe
from training.synthetic.__main__ import main
from training.synthetic.questions import accept_replies, estimate, fault, names_article, plans, same, texts

KNOWN = [Question(f"k{n}", f"Une question annotée numéro {n} ?", (f"a{n}",)) for n in range(6)]


def reply(text: str, *, failed: bool = False) -> Reply:
    return Reply(text, Usage(0.1, 10, 5), failed)


@pytest.mark.parametrize(("said", "count", "found"), [
    ('["Une ?", "Deux ?"]', 2, ["Une ?", "Deux ?"]),
    ('["Une ?", "Deux ?"]', 1, ["Une ?"]),
    ('Here they are:\n```json\n["Une\\n ?"]\n```', 1, ["Une ?"]),
    ('[{"question": "Une ?"}]', 1, ["Une ?"]),
    ("<think>[\"non\"]</think>[\"oui ?\"]", 1, ["oui ?"]),
    ("- Puis-je partir ?", 1, ["Puis-je partir ?"]),
    ("Une ?\nDeux ?", 2, None), ("Une ?\nDeux ?", 1, None), ("[broken", 1, None), ("", 1, None),
    ("[1, 2]", 2, []),
])  # fmt: skip
def test_replies_are_read(said: str, count: int, found: list[str] | None) -> None:
    assert texts(said, count) == found


@settings(max_examples=40)
@given(st.text(max_size=40), st.integers(1, 3))
def test_any_reply_is_read(said: str, count: int) -> None:
    found = texts(said, count)
    assert found is None or len(found) <= count


@pytest.mark.parametrize(("text", "language", "reason"), [
    ("Que dit l'article 1728 ?", "fr", "names an article"),
    ("Selon l'art. L121-1, puis-je ?", "fr", "names an article"),
    ("Was gilt nach § 5 BGB?", "de", "names an article"), ("第十五条是什么意思？", "zh", "names an article"),
    ("Quoi ?", "fr", "too short"), ("怎么办啊", "zh", None), ("x" * 601, "fr", "too long"),
    ("Le bailleur peut-il garder ma caution ?", "fr", None),
    ("Un article de presse me diffame, que faire ?", "fr", None),
])  # fmt: skip
def test_faults_are_told(text: str, language: str, reason: str | None) -> None:
    assert fault(text, language) == reason
    assert names_article(text) == (reason == "names an article")


def test_what_is_taken_and_what_is_left_out() -> None:
    asked = plans(ARTICLES[:5], "fr", way="person", count=2, seed=1)
    said = [
        '["Puis-je couper la haie du voisin ?", "PUIS-JE couper la haie du voisin"]',
        '["Puis je couper la haie du voisin", "Que dit l\'article 3 ?"]',
        '["Qui entretient le mur entre deux jardins ?", "Qui donc entretient le mur entre deux jardins ?"]',
        "I cannot help with that\nor anything.",
        "",
    ]
    replies = [reply(text, failed=not text) for text in said]
    known = [Question("k", "Une question annotée ?", ("a1",))]
    written = accept_replies(replies, asked, analyser("fr"), count=2, known=known)
    assert [(q.id, q.text, q.article_ids, q.split) for q in written.questions] == [
        ("synthetic-a0-1", "Puis-je couper la haie du voisin ?", ("a0",), "synthetic"),
        ("synthetic-a2-1", "Qui entretient le mur entre deux jardins ?", ("a2",), "synthetic"),
    ]
    assert dict(written.left_out) == {"asked before": 3, "names an article": 1, "reply without a list": 1}
    assert written.failed == 1
    assert same("Puis-je ?") == same("PUIS JE")
    assert to_learn_from(written.questions) == list(written.questions)


def test_prompts_show_the_article_and_examples_of_others() -> None:
    [plan] = plans(ARTICLES[2:3], "fr", way="detail", count=3, seed=7, known=KNOWN)
    assert "bail loyer disposition" in plan.prompt
    assert "Titre 2" in plan.prompt
    assert "in French" in plan.prompt
    assert "Write 3 different" in plan.prompt
    examples = re.findall(r"annotée numéro (\d)", plan.prompt)
    assert len(examples) == 4
    assert "2" not in examples  # its own question would give the answer away
    many = plans(ARTICLES, "fr", way="detail", count=3, seed=7, known=KNOWN)
    assert many[2] == plan  # an article's prompt does not depend on the other articles
    [plain] = plans(ARTICLES[2:3], "fr", way="detail", count=3, seed=7)
    assert "So do people ask" not in plain.prompt
    [person] = plans(ARTICLES[2:3], "xx", way="person", count=1, seed=7, known=KNOWN)
    assert "annotée" not in person.prompt
    long = Article("l", "Code", "1", "mot " * 5000)
    assert len(plans([long], "fr", way="person", count=1, seed=1)[0].prompt) < 8000
    for wrong in ({"way": "magic", "count": 1}, {"way": "person", "count": 0}):
        with pytest.raises(BadInput, match=r"--(way|count)"):
            plans(ARTICLES, "fr", seed=1, **wrong)  # type: ignore[arg-type]


class Model:
    name = "fake:model"
    settings: Mapping[str, object] = MappingProxyType({})

    def say(self, prompt: str) -> Reply:
        return reply('["Une question sur la haie ?"]')


def test_an_estimate_counts_what_is_left_alone(tmp_path: Path) -> None:
    from training.answers.chat import replies

    asked = plans(ARTICLES[:10], "fr", way="person", count=1, seed=1)
    with opened(tmp_path / "r.jsonl") as cache:
        whole = estimate(Model(), asked, cache, 1)
        replies(Model(), [p.prompt for p in asked[:4]], cache)
        rest = estimate(Model(), asked, cache, 1)
    assert (whole.articles, whole.cached, rest.cached, rest.written) == (10, 0, 4, 6 * 40)
    assert rest.read == pytest.approx(0.6 * whole.read, rel=0.02)
    assert whole.cost(None, 1.0) is None
    assert rest.cost(2.0, 5.0) == pytest.approx((2 * rest.read + 5 * 240) / 1e6)


@pytest.mark.slow
def test_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("langchain_openai")
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    corpus = write(CORPUS, tmp_path / "corpus")
    broken = {"5"}

    def script(prompt: str) -> str | int:
        number = re.findall(r"numéro(\d+)", prompt)[-1]
        if number in broken:
            return 500
        return json.dumps([f"Que puis-je faire dans le cas {number} ?"])

    out = tmp_path / "new" / "synthetic.jsonl"
    with openai_server.serving(script) as (url, asked):
        words = ["--corpus", str(corpus), "--model", "openai:scripted", "--base-url", url, "--timeout", "30"]
        priced = [*words, "--limit", "12", "--seed", "3", "--price-in", "1", "--price-out", "2"]
        assert main([*priced, "--estimate"]) == 0
        assert not asked
        assert "12 articles, 0 of them replied to before" in capsys.readouterr().out
        assert main([*words, "--output", str(out)]) == 0
        first = len(asked)
        said = capsys.readouterr().out
        assert "29 questions of 30 articles; left out: none" in said
        assert "1 replies failed" in said
        broken.clear()
        assert main([*words, "--output", str(tmp_path / "again.jsonl")]) == 0
        assert len(asked) == first + 1  # what failed alone
        assert "30 questions of 30 articles" in capsys.readouterr().out
        assert main([*words, "--output", str(out)]) == 2
        assert "there already" in capsys.readouterr().err
        assert main(words) == 2
        assert "--estimate" in capsys.readouterr().err
    questions = read_questions(tmp_path / "again.jsonl", CORPUS.articles)
    assert len(questions) == 30
    assert {q.split for q in questions} == {"synthetic"}
    # and a retriever learns from them, alone or beside real ones, which dev questions are taken from
    recipe = read_recipe("scratch-siamese")
    both = tmp_path / "both.jsonl"
    files = (corpus / "questions.jsonl", tmp_path / "again.jsonl")
    both.write_text("".join(file.read_text(encoding="utf-8") for file in files), encoding="utf-8")
    for asked_file, learnt, dev in ((files[1], 27, 3), (both, 46, 2)):  # 30; 30 and 18; a tenth is dev
        [task] = tasks(recipe, read_data(recipe, corpus, asked_file, None, ()))
        assert (len(task.learn), len(task.dev), len(task.held)) == (learnt, dev, 0)
    assert {q.split for q in task.dev} == {None}
    about = json.loads((tmp_path / "new" / "synthetic.jsonl.about.json").read_text(encoding="utf-8"))
    assert (about["model"], about["prompts"], about["questions"]) == ("openai:scripted", "synthetic-1", 29)
    assert not [p for p in out.parent.iterdir() if p.name.startswith(".")]
