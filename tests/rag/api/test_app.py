"""The REST interface: what programs are told, and what they are refused."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import httpx
import jsonschema
import pytest
from anyio.to_thread import current_default_thread_limiter
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("fastapi", reason="the API's packages are not installed: pip install '.[api]'")

import indexes
from indexes.__main__ import main
from rag.answer.extractive import Extractor
from rag.answer.generation.rate_limit import Rate, RateLimits
from rag.answer.types import Answer, Ending, PassagePart
from rag.api import app as app_module
from rag.api import guard, result
from rag.api.access import Caller, access
from rag.api.answer import Answering
from rag.api.app import Routes, _stream
from rag.api.client import Client, NoSuchArticle, TooMany, Unreachable
from rag.api.guard import LARGEST, JsonLines
from rag.api.law import Law
from rag.api.metrics import Metrics
from rag.api.result import Found, href
from rag.corpus.card import Contact
from rag.engine.receipt import as_json
from rag.engine.result import MAX_CHARS, Level
from rag.errors import BadInput, BadSetting
from rag.types import Article, Filter
from tests.fakes.law.corpus import CODE, GOAT, install
from tests.fakes.pages.api import Served, Shelf, served
from tests.fakes.pages.ask_page_driver import ask, page
from tests.fakes.pages.ui_engine import ARTICLES, CARD, ENGINES, MOVED, QUESTION, TENANCY, FakeEngine

ASKED = "mon voisin Barnabé a planté un arbre"
KEY = "k" * 20


@pytest.fixture(scope="module")
def plain() -> Iterator[Served]:
    with served() as app:
        yield app


def kinds(found: Found) -> list[str]:
    return [notice.kind for notice in found.notices]


def test_a_search_is_the_engine_s(plain: Served) -> None:
    found, result = plain.client().search(QUESTION, k=2), ENGINES["plain"].ask(QUESTION, k=2)
    assert [(a.id, a.rank, a.score) for a in found.articles] == [
        (s.article.id, s.rank, s.score) for s in result.shown
    ]
    first = found.articles[0]
    assert (first.code, first.headings, first.text) == ("Code civil", ARTICLES[1].headings, ARTICLES[1].text)
    assert (first.text_kind, first.url, first.law_date) == ("summary", ARTICLES[1].url, CARD.law_date)
    assert first.reason == tuple(sorted(result.shown[0].why.terms))
    assert (found.status, found.confidence, found.level, found.index) == ("found", None, None, "civil 3")
    assert found.may_answer


def test_a_filter_is_handed_on() -> None:
    engine = FakeEngine(offers=ENGINES["many"].offers)
    where = Filter(frozenset({"Code civil"}), in_force_on=CARD.law_date)
    with served(engine) as app:
        found = app.client().search("arbre", k=3, where=where, method="keyword")
        assert (found.method, found.day) == ("keyword", CARD.law_date)
        with pytest.raises(
            BadInput, match=r"codes: this law has no such value\. got: Code des jeux\. expected"
        ):
            app.client().search("arbre", where=Filter(frozenset({"Code des jeux"})))
    assert engine.asked == [("arbre", 3, where, "keyword")]


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4))
@settings(max_examples=15)
def test_every_id_of_a_search_opens(plain: Served, ids: list[str]) -> None:
    try:
        ids = [id_ for id_ in dict.fromkeys((*ids, "..", "a/../b?c#d%2F", "\n")) if id_.encode()]
    except UnicodeEncodeError:  # half a character is no id: no corpus is read with one
        return
    plain.shelf.now = FakeEngine(articles=tuple(Article(i, "Code", i, "un arbre") for i in ids))
    client = plain.client()
    found = client.search("arbre", k=10).articles
    assert {article.id for article in found} == set(ids)
    for article in found:
        assert client.article(article.id).article.id == article.id  # by its href
    plain.shelf.now = ENGINES["plain"]


def test_an_article_comes_with_what_stands_around_it() -> None:
    with served("referring") as app:
        law = app.client()
        first, third = law.article("1"), law.article("3")
    assert (first.previous, first.next and first.next.id) == (None, "2")
    assert [(n.id, n.role) for n in first.refers_to] == [("2", "definition")]
    assert first.article.text[first.refers_to[0].start : first.refers_to[0].end] == "article 2"
    assert [n.id for n in first.referred_by] == ["3"]
    assert (first.refers_to_total, first.referred_by_total) == (1, 1)
    assert [(n.id, n.role) for n in first.read_with] == [("2", "definition"), ("3", "departure")]
    assert [n.id for n in third.refers_to] == ["1", "2"]


def test_why_adds_up(plain: Served) -> None:
    why, found = plain.client().why(QUESTION, 2), plain.client().search(QUESTION)
    assert (why.rank, why.article.id, why.score) == (2, found.articles[1].id, found.articles[1].score)
    assert why.bm25 == sum(word.share for word in why.explanation.words) > 0
    with pytest.raises(BadInput, match=r"no article of this rank\. got: 9\. expected: a rank from 1 to 3"):
        plain.client().why(QUESTION, 9)


def test_a_receipt_is_what_the_command_verifies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path))
    install()
    file, where = tmp_path / "receipt.json", Filter(frozenset({CODE}))
    with served(indexes.open("village")) as app:
        found = app.client().search(GOAT, k=1, where=where, method="keyword", receipt=True)
        assert app.client().search(GOAT).receipt is None
    with served("partial") as app:
        assert app.client().search(QUESTION, receipt=True).receipt is None  # a part did not answer
    assert found.receipt is not None
    assert [each.id for each in found.receipt.articles] == [article.id for article in found.articles]
    file.write_text(as_json(found.receipt), encoding="utf-8")
    assert main(["verify", str(file)]) == 0
    assert f"{found.receipt.code}: 1 articles, their texts and scores are those" in capsys.readouterr().out


def test_topics_say_what_is_here_and_what_is_not() -> None:
    with served(FakeEngine(card=replace(CARD, elsewhere=(TENANCY,)))) as app:
        topics = app.client().topics()
    assert [(code.code, code.articles) for code in topics.codes] == [("Code civil", 5)]
    assert topics.other_laws[0].title["en"] == "Renting a home"
    assert (topics.first_law_date, topics.methods) == (CARD.law_date, ("hybrid", "keyword", "meaning"))


def test_who_is_in_danger_is_told_whom_to_call_and_nothing_beside() -> None:
    with served() as app:
        found = app.client().search("Mon mari me frappe, un arbre est planté", language="fr")
    assert kinds(found) == ["danger"]
    assert found.notices[0].grave
    assert "3919" in {person.phone for person in found.notices[0].people}
    assert found.steps == ()


NOTICES = [
    ("plain", " ", ["empty"]),
    ("plain", "article 9999", ["number", "nothing found"]),
    ("plain", "article 1382", ["number"]),
    ("plain", "dépôt de garantie et arbre", ["other law"]),
    ("plain", "Welchen Baum darf mein Nachbar hier nicht pflanzen, voisin arbre", ["language"]),
    ("plain", "La recette d'un arbre de Noël en chocolat au four", ["not law"]),
    ("plain", "En Belgique, le voisin peut-il planter un arbre ?", ["other country"]),
    ("plain", "Je suis convoqué au tribunal demain pour un arbre", ["time limit"]),
    ("plain", "Mon mari me frappe, un arbre est planté", ["danger"]),
    ("plain", "Que dit la loi sur les violences conjugales et un arbre ?", ["help"]),
    ("doubtful", "un arbre", ["answer unlikely"]),
    ("doubtful", "Mon mari me frappe, un arbre est planté", ["danger"]),
    ("doubtful", "Welchen Baum darf mein Nachbar hier nicht pflanzen, voisin arbre", ["language"]),
    ("plain", "arbre " * 400, ["cut"]),
    ("laws", "un arbre voisin", ["no text"]),
    ("telling", "un abre planté, un arbre", ["read as"]),
    ("partial", "un arbre voisin", ["part missing"]),
]
ON_THE_PAGE = {  # kind -> how the page marks the same; what it says on a card or in other words is left out
    "danger": "pd-urgent", "help": "pd-people", "time limit": "pd-running", "other law": "pd-elsewhere",
    "number": "pd-moved", "language": "pd-asked-in", "not law": "pd-doubt", "other country": "pd-doubt",
    "answer unlikely": "pd-doubt", "read as": "pd-read-as",
    "part missing": "pd-missing",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "question", "expected"), NOTICES)
def test_the_page_says_the_same(engine: str, question: str, expected: list[str]) -> None:
    said = ask(page(ENGINES[engine]), question)
    classes = " ".join(re.findall(r'class="([^"]*)"', "".join(block.body for block in said.html))).split()
    marks = set(ON_THE_PAGE.values())
    assert marks & set(classes) == {ON_THE_PAGE[kind] for kind in expected if kind in ON_THE_PAGE}


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "question", "expected"), NOTICES)
def test_notices(engine: str, question: str, expected: list[str]) -> None:
    with served(engine) as app:
        assert kinds(app.client().search(question)) == expected


def test_what_the_notices_say() -> None:
    with served() as app:
        [moved] = app.client().search("article 1382").notices
        [other] = app.client().search("dépôt et arbre", language="fr").notices
    assert moved.text == f"Code civil 1382: what bore that number before now stands in {MOVED.new[0]}."
    assert other.text.startswith(
        "Another law governs Louer son logement: Loi du 6 juillet 1989. Elle est rendue"
    )
    assert other.url == TENANCY.url
    told = replace(TENANCY, deadline={"fr": "Trois ans."}, contact=Contact("Bureau", phone="12"))
    with served(FakeEngine(other_law=told)) as app:
        [other] = app.client().search("dépôt et arbre", language="fr").notices
    assert "Trois ans. See " in other.text
    assert [(person.name, person.phone) for person in other.people] == [("Bureau", "12")]
    with served("likely") as app:
        found = app.client().search(QUESTION)
    assert (found.level, found.answer_set, found.steps) == (Level.SURE, 1, ("Écrivez au voisin. " + _SITE,))
    with served("topic") as app:
        assert app.client().search("branches").topic[0] == "qui coupe les branches ?"


_SITE = ARTICLES[0].url.removesuffix("671") if ARTICLES[0].url else ""


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "said"),
    [
        ("POST", "/v1/search", {"question": 5}, 422, "body.question"),
        ("POST", "/v1/search", {}, 422, "body.question"),
        ("POST", "/v1/search", {"question": "x", "k": 0}, 422, "body.k"),
        ("POST", "/v1/search", {"question": "x", "k": True}, 422, "body.k"),
        ("POST", "/v1/search", {"question": "x", "k": "3"}, 422, "body.k"),
        ("POST", "/v1/search", {"question": "x", "receipt": "yes"}, 422, "body.receipt"),
        ("POST", "/v1/search", {"question": "x", "day": 0}, 422, "a day such as"),
        ("POST", "/v1/search", {"question": "x", "mode": "hybrid"}, 422, "body.mode"),
        ("POST", "/v1/why/0", {"question": "x"}, 422, "path.rank"),
        ("GET", "/v1/articles/nowhere", None, 404, "No article of the law in use"),
        ("GET", "/v1/search", None, 405, "Method Not Allowed"),
        ("GET", "/nowhere", None, 404, "Not Found"),
        ("POST", "/v1/search", {"question": "x" * LARGEST}, 413, "too large"),
    ],
)
def test_a_refusal_says_what_came_what_was_expected_and_what_to_do(
    plain: Served, method: str, path: str, body: Any, status: int, said: str
) -> None:
    answer = plain.http().request(method, path, json=body)
    problem = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.status_code, problem["status"]) == (status, status)
    assert said in problem["detail"]
    assert all(problem[name] for name in ("type", "title", "got", "expected", "cure"))


def test_a_body_without_a_length_has_an_end_too(plain: Served) -> None:
    assert plain.http().post("/v1/search", content=iter([b" " * LARGEST, b"{}"])).status_code == 413


def test_a_body_that_trickles_is_not_waited_for(plain: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "SECONDS", 0.1)

    async def trickle() -> AsyncIterator[bytes]:
        for _ in range(200):
            yield b" "
            await anyio.sleep(0.02)

    async def send() -> httpx.Response:
        async with httpx.AsyncClient(
            base_url="http://law", transport=httpx.ASGITransport(plain.app)
        ) as client:
            return await client.post("/v1/search", content=trickle())

    answer = anyio.run(send)
    assert (answer.status_code, answer.json()["type"]) == (408, "slow")
    assert answer.headers["connection"] == "close"


def test_a_store_that_does_not_answer_keeps_only_its_own_requests_waiting() -> None:
    asked, answers, in_time = threading.Event(), threading.Event(), []

    class Silent:
        def take(self, limits: Any, calls: int) -> None:
            asked.set()
            in_time.append(answers.wait(5))

    visits = access({}).visits
    searches = RateLimits(per_address=Rate(9, 1.0), shared=("searches", Silent()))  # type: ignore[arg-type]
    with served(visits=replace(visits, searches=searches)) as app:
        counted = threading.Thread(target=app.client(address="192.0.2.7").topics)
        counted.start()
        assert asked.wait(5)
        app.http().get("/v1/ready")
        answers.set()
        counted.join()
    assert in_time == [True]


def test_keys_limits_and_addresses(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text(f"# whose\ndesk {KEY}\nother {KEY}2\n", encoding="utf-8")
    limits = {"PANDECT_API_KEYS": str(file), "PANDECT_API_PER_KEY": "2/hour"}
    with served(environ=limits) as app:
        for key in (None, KEY[:-1], KEY + "3"):
            with pytest.raises(BadSetting, match="This interface asks for a key"):
                app.client(key).topics()
        assert app.http().get("/v1/topics").headers["www-authenticate"] == "Bearer"
        for _ in range(2):
            app.client(KEY, "192.0.2.7").topics()
        with pytest.raises(TooMany, match="with this key") as refused:
            app.client(KEY, "192.0.2.8").topics()
        assert 3590 < refused.value.wait <= 3600
        app.client(KEY + "2").topics()  # another's
        assert app.client().healthy()
        file.write_text(f"new {KEY}4\n", encoding="utf-8")
        app.client(KEY + "4").topics()
        with pytest.raises(BadSetting):
            app.client(KEY + "2").topics()  # a key that was withdrawn
        file.write_text("new short\n", encoding="utf-8")  # cannot be used: the keys from before are
        app.client(KEY + "4").topics()
        file.unlink()
        with pytest.raises(BadSetting):
            app.client().topics()
    with served(environ={"PANDECT_SEARCHES_PER_ADDRESS": "1/hour"}) as app:
        app.client(address="192.0.2.7").topics()
        answer = app.http("192.0.2.7").get("/v1/topics")
        assert (answer.status_code, answer.json()["type"]) == (429, "rate")
        assert int(answer.headers["retry-after"]) == answer.json()["wait"] > 0
        app.client(address="192.0.2.8").topics()
        for _ in range(3):
            app.client().topics()  # this machine is not limited


def test_an_address_has_a_limit_of_its_own_whatever_key_comes_from_it(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text(f"desk {KEY}\nother {KEY}2\n", encoding="utf-8")
    one, two = "192.0.2.7", "192.0.2.8"

    def refusal(app: Served, address: str, key: str) -> tuple[int, str]:
        headers = {"Authorization": f"Bearer {key}"}
        answer = app.http(address).get("/v1/topics", headers=headers)
        return answer.status_code, answer.json().get("detail", "")

    from_address = 429, "Too many requests came from this address."
    limits = {"PANDECT_API_KEYS": str(file), "PANDECT_API_PER_ADDRESS": "3/hour"}
    with served(environ=limits) as app:
        app.client(KEY, one).topics()
        app.client(KEY + "2", one).topics()  # another's key, the same address
        assert refusal(app, one, "guessed")[0] == 401  # counts too
        assert refusal(app, one, KEY) == refusal(app, one, "guessed") == from_address
        app.client(KEY, two).topics()
        for _ in range(4):
            app.client(KEY).topics()  # this machine is not limited
    with served(environ={**limits, "PANDECT_API_PER_ADDRESS": "off"}) as app:
        for _ in range(4):
            app.client(KEY, one).topics()
    both = {**limits, "PANDECT_API_PER_ADDRESS": "2/hour", "PANDECT_API_PER_KEY": "1/hour"}
    with served(environ=both) as app:
        app.client(KEY, one).topics()
        assert refusal(app, one, KEY) == (429, "Too many requests came with this key.")
        assert refusal(app, one, KEY + "2") == from_address  # what was refused has come, too
        app.client(KEY + "2", two).topics()  # and was not counted for the key
    searches = {"PANDECT_API_PER_ADDRESS": "9/hour", "PANDECT_SEARCHES_PER_ADDRESS": "1/hour"}
    with served(environ=searches) as app:
        app.client(address=one).topics()
        assert refusal(app, one, "") == from_address  # without keys the limit of searches holds beside it


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"PANDECT_API_KEYS": "{}/none"}, "cannot be read"),
        ({"PANDECT_API_KEYS": "{}/short"}, "line 2 of .* expected lines"),
        ({"PANDECT_API_KEYS": "{}/empty"}, "holds no key"),
        ({"PANDECT_API_PER_KEY": "many"}, "got 'many'; expected a rate"),
        ({"PANDECT_API_PER_ADDRESS": "0/hour"}, "got '0/hour'; expected a rate"),
        ({"PANDECT_API_SECONDS": "0"}, "got '0'; expected a whole number"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(settings: dict[str, str], said: str, tmp_path: Path) -> None:
    (tmp_path / "short").write_text("# keys\nname tooshort\n", encoding="utf-8")
    (tmp_path / "empty").write_text("# nobody\n", encoding="utf-8")
    [(name, value)] = settings.items()
    with pytest.raises(BadSetting, match=f"{name}: .*{said}") as told:
        access({name: value.format(tmp_path)})
    assert "tooshort" not in str(told.value)


def test_neither_log_nor_metrics_hold_a_question(plain: Served, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    plain.client().search(ASKED)
    plain.http().get(f"/v1/articles/{ASKED}")
    plain.http().post("/v1/search", json={"question": {"Barnabé": 1}})
    list(plain.client().answer(ASKED))
    with served(FakeEngine(error=ValueError(ASKED))) as failing:
        answer = failing.http().post("/v1/search", json={"question": ASKED})
    assert (answer.status_code, "Barnabé" in answer.text) == (500, False)
    lines = [JsonLines().format(record) for record in caplog.records]
    told = [json.loads(line) for line in lines if '"route"' in line]
    assert "Barnabé" not in "\n".join(lines)
    assert {"method": "GET", "route": "/v1/articles/{id:any}", "status": 404}.items() <= told[1].items()
    assert any("ValueError" in line for line in lines)
    text = plain.http().get("/metrics").text
    assert "Barnab" not in text
    assert 'pandect_requests_total{route="/v1/search",status="422"}' in text
    assert 'pandect_seconds_count{part="screening"}' in text
    assert 'pandect_refusals_total{reason="article"}' in text


def test_metrics_count_what_is_refused_by_route_and_status_and_show_no_path() -> None:
    with served(environ={"PANDECT_SEARCHES_PER_ADDRESS": "5/hour"}) as app:
        http, asked = app.http(), f"/{ASKED.replace(' ', '-')}"
        http.get(asked)
        http.post(f"/v1/search{asked}", json={"question": ASKED})
        http.get("/v1/articles/..%2F" + asked)
        http.post(f"/v1/why{asked}", json={"question": ASKED})
        http.post("/v1/search", json={"question": ASKED, "k": 0})
        http.post("/v1/answer", content=b"{" + ASKED.encode())
        http.post("/v1/search", json={"question": "x" * LARGEST})
        http.post("/v1/why/1", content=iter([b" " * LARGEST, b"{}"]))
        http.put("/v1/search", json={"question": ASKED})
        http.get("/openapi.json")
        for _ in range(6):
            app.http("192.0.2.7").get("/v1/topics")
        text = http.get("/metrics").text
    counted = dict(re.findall(r"^pandect_requests_total\{(.*)\} (\d+)\.0$", text, re.MULTILINE))
    assert counted == {
        'route="other",status="404"': "2",
        'route="/v1/articles/{id:any}",status="404"': "1",
        'route="/v1/why/{rank}",status="422"': "1",
        'route="/v1/search",status="422"': "1",
        'route="/v1/answer",status="422"': "1",
        'route="/v1/search",status="413"': "1",
        'route="/v1/why/{rank}",status="413"': "1",
        'route="/v1/search",status="405"': "1",
        'route="/openapi.json",status="200"': "1",
        'route="/v1/topics",status="200"': "5",
        'route="/v1/topics",status="429"': "1",
    }
    reasons = dict(re.findall(r'^pandect_refusals_total\{reason="(.*)"\} (\d+)\.0$', text, re.MULTILINE))
    assert reasons == {"request": "6", "article": "1", "size": "2", "rate": "1"}
    assert "Barnab" not in text


@pytest.mark.slow
def test_a_part_that_does_not_answer_makes_it_not_ready_and_is_no_reason_to_end_it() -> None:
    engine = replace(ENGINES["partial"])
    law = Law(Shelf(engine), access({}), Metrics())
    law.warm()
    routes = Routes(law, access({}), None)
    assert anyio.run(routes.health).status_code == 200
    assert anyio.run(routes.ready).status_code == 503
    engine.missing = ()
    assert anyio.run(routes.ready).status_code == 200


def test_what_cannot_be_reached_is_never_told_as_missing() -> None:
    with served(None) as app:
        for ask in (lambda c: c.article("671"), lambda c: c.search("x"), lambda c: list(c.answer("x"))):
            with pytest.raises(Unreachable, match="says nothing of what it holds") as told:
                ask(app.client())
            assert "/home" not in str(told.value)  # paths of the server
        assert not app.client().healthy()
        assert app.http().get("/v1/ready").status_code == 503
        app.shelf.now = ENGINES["plain"]
        assert app.client().article("671").article.id == "671"
        with pytest.raises(NoSuchArticle):
            app.client().article("nowhere")
    nobody = Client("http://127.0.0.1:1", seconds=5)
    for ask in (Client.topics, Client.healthy, lambda c: c.article("671"), lambda c: list(c.answer("x"))):
        with pytest.raises(Unreachable, match="nothing is known"):
            ask(nobody)


def test_a_search_that_takes_too_long_is_ended() -> None:
    held = threading.Event()

    class Slow(FakeEngine):
        def ask(self, question: str, **options: Any) -> Any:
            held.wait(10)
            return super().ask(question, **options)

    with served(Slow(), seconds=0.1) as app:
        with pytest.raises(Unreachable, match=r"No answer was ready in 0\.1 s\. This says nothing"):
            app.client().search("arbre")
        held.set()
        assert app.client().search("arbre").articles


def test_what_the_end_of_the_process_cuts_is_refused_and_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    held, begun = threading.Event(), threading.Event()

    class Slow(FakeEngine):
        def ask(self, question: str, **options: Any) -> Any:
            begun.set()
            held.wait(10)
            return super().ask(question, **options)

    async def cut(app: Served) -> httpx.Response:
        async with httpx.AsyncClient(base_url="http://law", transport=httpx.ASGITransport(app.app)) as client:
            asking = asyncio.create_task(client.post("/v1/search", json={"question": ASKED}))
            await asyncio.to_thread(begun.wait, 10)
            asking.cancel()  # as uvicorn does with what is under way when its time is over
            return await asking

    with served(Slow()) as app:
        with pytest.raises(asyncio.CancelledError):  # nothing ends: the client has gone
            asyncio.run(cut(app))
        monkeypatch.setattr(guard.WORK, "ending", True)
        begun.clear()
        answer = asyncio.run(cut(app))
        assert (answer.status_code, answer.json()["type"], answer.headers["retry-after"]) == (
            503,
            "ending",
            "5",
        )
        assert answer.headers["connection"] == "close"
        counted = app.http().get("/metrics").text
        held.set()
    assert 'pandect_refusals_total{reason="ending"} 1.0' in counted
    assert 'pandect_requests_total{route="/v1/search",status="503"} 1.0' in counted


class Writer:
    """Chooses the first sentence, and remembers what it was sent."""

    articles = 10

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.sessions: list[Any] = []
        self.drafts: list[Any] = []

    def for_session(self, session: Any, say: Any, as_of: str, address: str | None) -> Writer:
        self.sessions.append((session, as_of, address))
        return self

    def write(self, question: str, articles: list[Article], language: str) -> Any:
        self.sent.append(question)
        self.drafts.append(
            self._Draft([p := PassagePart(articles[0].id, ((0, 8),)), Answer(Ending.WRITTEN, (p,))])
        )
        return self.drafts[-1]

    class _Draft(list[Any]):
        def close(self) -> None:
            self.clear()


def test_an_answer_is_streamed_from_the_law() -> None:
    with served() as app:
        found, *parts, whole = app.client().answer(QUESTION)
    assert isinstance(found, Found)
    assert tuple(parts) == whole.parts  # type: ignore[union-attr]
    passage = whole.parts[0].passages[0]  # type: ignore[union-attr]
    assert passage.text == ARTICLES[1].text[passage.start : passage.end]
    assert (whole.ending, whole.model) == ("written", "extractive")  # type: ignore[union-attr]


def test_where_the_page_asks_no_model_none_is_asked() -> None:
    for engine, question, reason in (
        ("doubtful", "un arbre", "doubtful"),
        ("plain", "9999", "nothing found"),
    ):
        writer = Writer()
        with served(engine, writer) as app:
            found, whole = app.client().answer(question)
        assert (whole.ending, whole.reason) == ("not asked", reason)  # type: ignore[union-attr]
        assert found.refusal == reason  # type: ignore[union-attr]
        assert writer.sent == []


def test_personal_data_is_taken_out_before_a_model_is_asked() -> None:
    pytest.importorskip("phonenumbers", reason="the packages of [llm] are not installed")
    writer, question = Writer(), "Un arbre est planté, répondez à anne@example.org"
    with served("plain", writer) as app:
        whole = list(app.client(address="192.0.2.7").answer(question))[-1]
        list(app.client().answer(question, remove=False))
        metrics = app.http().get("/metrics").text
    assert "anne@" not in writer.sent[0]
    assert (writer.sent[1], whole.sent) == (question, writer.sent[0])  # type: ignore[union-attr]
    assert writer.sessions[0] == ("192.0.2.7", "2025-01-01", "192.0.2.7")
    assert 'pandect_model_calls_total{ending="written"} 2.0' in metrics


def test_a_client_that_goes_ends_the_request_to_the_model_and_is_counted() -> None:
    writer, metrics, engine = Writer(), Metrics(), ENGINES["plain"]
    asked, extractor = result.ask(engine, QUESTION), Extractor.of(engine)
    answering = Answering(engine, asked, {"text": "a\u2028b"}, extractor, writer, metrics)

    async def begin_and_go() -> list[str]:
        stream = _stream(answering.events(Caller(), remove=False), answering.close)
        came = [await anext(stream), await anext(stream)]
        await stream.aclose()  # type: ignore[attr-defined]
        return came

    found, part = asyncio.run(begin_and_go())
    assert found == 'event: found\ndata: {"text": "a\\u2028b"}\n\n'
    assert part.startswith("event: part")
    assert writer.drafts == [[]]
    assert 'pandect_model_calls_total{ending="stopped"} 1.0' in metrics.text(None).decode()


def test_a_client_that_goes_while_a_draft_is_made_ends_it() -> None:
    class Leaving(Writer):
        def write(self, question: str, articles: list[Article], language: str) -> Any:
            answering.close()
            return super().write(question, articles, language)

    writer, engine = Leaving(), ENGINES["plain"]
    asked, extractor = result.ask(engine, QUESTION), Extractor.of(engine)
    answering = Answering(engine, asked, {}, extractor, writer, Metrics())  # type: ignore[arg-type]
    assert [name for name, _ in answering.events(Caller(), remove=False)] == ["found"]
    assert writer.drafts == [[]]


def test_answers_that_stall_keep_nobody_else_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_module, "STREAMS", 2)
    go, stalled = threading.Event(), threading.Semaphore(0)

    class Stalling(Writer):
        def write(self, question: str, articles: list[Article], language: str) -> Any:
            stalled.release()
            go.wait(5)
            return super().write(question, articles, language)

    async def one_thread() -> None:
        current_default_thread_limiter().total_tokens = 1

    with served(writer=Stalling()) as app:
        app._portal.call(one_thread)
        clients = [threading.Thread(target=lambda: list(app.client().answer(QUESTION))) for _ in range(2)]
        for each in clients:
            each.start()
        assert all(stalled.acquire(timeout=5) for _ in clients)
        well, third = app.client().healthy(), app.http().post("/v1/answer", json={"question": QUESTION})
        assert all(each.is_alive() for each in clients)
        go.set()
        for each in clients:
            each.join()
        assert len(list(app.client().answer(QUESTION))) == 3  # there is room again
    assert well
    assert (third.status_code, third.headers["retry-after"], third.json()["type"]) == (503, "5", "answers")


def test_no_age_is_told_of_a_law_that_is_not_open() -> None:
    text = Metrics().text(None).decode()
    assert {"pandect_index_age_seconds NaN", "pandect_law_age_seconds NaN"} <= set(text.splitlines())


def test_the_interface_describes_itself(plain: Served) -> None:
    described = plain.http().get("/openapi.json").json()
    assert {"/v1/search", "/v1/why/{rank}", "/v1/articles/{id}", "/v1/topics", "/v1/answer"} <= set(
        described["paths"]
    )
    assert described["components"]["schemas"]["SearchRequest"]["examples"][0]["question"] == QUESTION
    problem = "application/problem+json"
    assert problem in described["paths"]["/v1/search"]["post"]["responses"]["503"]["content"]
    shown = [  # an example each, of its own kind
        (answer["content"][kind]["schema"], answer["content"][kind]["example"])
        for path in ("/v1/search", "/v1/why/{rank}", "/v1/articles/{id}", "/v1/topics")
        for route in described["paths"][path].values()
        for status, answer in route["responses"].items()
        for kind in ("application/json" if status == "200" else problem,)
    ]
    assert len(shown) > 20
    for schema, example in shown:
        jsonschema.validate(example, schema | {"components": described["components"]})


def test_a_client_stands_where_langchain_takes_an_engine(plain: Served) -> None:
    pytest.importorskip("langchain_core", reason="langchain-core is not installed: pip install '.[llm]'")
    from rag.langchain import PandectRetriever, tool

    near, far = (PandectRetriever(engine=e, k=2).invoke(QUESTION) for e in (ENGINES["plain"], plain.client()))
    assert near == far
    assert [document.id for document in far] == ["672", "671"]
    tools = [tool(each, k=2) for each in (plain.client(), ENGINES["plain"])]  # type: ignore[arg-type]
    assert tools[0].description == tools[1].description
    assert tools[0].invoke({"question": QUESTION}) == tools[1].invoke({"question": QUESTION})


def test_an_address_of_dots_is_no_step() -> None:
    assert (href(".."), href("a/b c")) == ("/v1/articles/%2E%2E", "/v1/articles/a%2Fb%20c")
    assert MAX_CHARS == 2000  # as SearchRequest and docs/host.md say
