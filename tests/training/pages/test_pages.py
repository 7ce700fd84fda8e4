"""What `python -m training.pages` makes of what it saw; of the measuring itself one small visit is tested."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from rag.errors import BadInput, PandectError
from tests.fakes.law.corpus import VILLAGE, install
from tests.fakes.pages.browser import CHROMIUM
from tests.paths import ROOT
from training.pages import faults, length, load
from training.pages.__main__ import main
from training.pages.faults import MARK, Event, LawRevision, law_revision
from training.pages.serving import RunningServer, served
from training.pages.users import Failure, UserLog, UserPlan, measure, memory, summary, times
from training.pages.visitor import Visitor, VisitorRun
from training.tables.pages import corpora, speed, users

QUESTION = "Mon voisin a planté un arbre contre ma clôture, que faire ?"
OTHER = "Puis-je exclure mon frère de la succession ?"


def test_times_are_told_in_milliseconds() -> None:
    found = {"n": 3, "median_ms": 200.0, "p95_ms": 290.0, "p99_ms": 298.0, "max_ms": 300.0}
    assert times([0.1, 0.2, 0.3]) == found
    assert times([]) == {"n": 0} | dict.fromkeys(("median_ms", "p95_ms", "p99_ms", "max_ms"))


def test_memory_is_flat_after_it_has_settled() -> None:
    fills = [(float(s), 100.0 + min(s, 30) * 2) for s in range(91)]
    assert memory(fills) == {
        "begin_mib": 100.0,
        "end_mib": 160.0,
        "most_mib": 160.0,
        "slope_mib_a_minute": 0.0,
        "interval_95": [0.0, 0.0],
    }
    leaks = [(float(s), 100.0 + s / 2) for s in range(91)]
    assert memory(leaks)["slope_mib_a_minute"] == pytest.approx(30.0)  # half a MiB a second
    assert memory([(0.0, 5.0)])["slope_mib_a_minute"] is None
    assert memory([])["end_mib"] is None
    noise = random.Random(4)
    noisy = memory([(float(s), 100.0 + s / 120 + noise.gauss(0, 3)) for s in range(1800)])
    low, high = noisy["interval_95"]
    assert low < 0.5 < high
    assert high - low < 0.2  # so that half an hour tells less than 0.2 MiB a minute from more


def test_what_went_wrong_is_counted_and_named_once() -> None:
    log = UserLog(
        answers=[VisitorRun(0.5, 0.2, 10), VisitorRun(0.7, None, 0)],
        errors=[Failure("PandectError: the page hung up", 1.0, 2.0)] * 2,
        asked=5,
    )
    said = summary(log, UserPlan(users=2, seconds=1.0))
    assert (said["errors"], said["silently_lost"]) == (2, 1)  # of five two were answered, two told as errors
    assert said["error_kinds"] == ["PandectError: the page hung up"]
    assert said["answers"]["without_a_card"] == 1
    assert said["answers"]["first_card"]["n"] == 1
    assert json.loads(json.dumps(said)) == said  # it is kept as it is


@pytest.mark.slow
def test_a_visitor_asks_shares_opens_an_article_and_comes_back() -> None:
    async def visit(page: RunningServer) -> None:
        visitor, came = await Visitor.arrive(page.port)
        assert came.cards == 0
        asked = await visitor.ask(QUESTION)
        assert asked.cards == 10
        assert asked.first_card is not None
        assert asked.first_card <= asked.seconds
        shared = await visitor.tick("told")
        assert shared is not None
        assert shared.cards == 0  # the part alone is drawn
        assert await visitor.tick("nothing") is None
        there = await visitor.go("browse", f"article={visitor.articles[0]}")
        assert there.cards == 0
        assert (await visitor.go("")).cards == 10
        await visitor.ask(OTHER)
        assert await visitor.tick("told") is not None  # the box of this question, not of the former
        await visitor.leave()

    with served() as page:
        assert page.memory() > 10  # MiB
        asyncio.run(visit(page))
        few = measure(page, [QUESTION], UserPlan(users=2, seconds=0.5))  # each does one thing, or none
        assert few["errors"] == 0
        assert few["arrivals"]["n"] == 2
        assert few["processor_s"] >= 0

        async def gone() -> int:
            visitor, _ = await Visitor.arrive(page.port)
            await visitor.vanish(QUESTION)
            other, _ = await Visitor.arrive(page.port)
            return (await other.ask(OTHER)).cards

        assert asyncio.run(gone()) == 10


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have programs ask on at once."""
    monkeypatch.setattr("training.pages.load.THINKS", (0.0, 0.02))
    monkeypatch.setattr("training.pages.load.REST", 0.0)


@pytest.mark.usefixtures("hasty")
def test_what_a_program_asks_is_counted_by_what_came_of_it() -> None:
    httpx = pytest.importorskip("httpx", reason="the API's packages are not installed: pip install '.[api]'")
    law = LawRevision("law", Path(), {"1": "Text"})
    former, new = ({"href": "/a", "id": "1", "text": text} for text in ("Text", f"Text{MARK}"))
    searches = [
        {"index": "law 1", "articles": [former]},
        {"index": "law 2", "articles": [new, new]},
        {"index": "law 2", "articles": []},
        {"index": "law 2", "articles": [former, new]},
    ]
    lost = {"index": "law 2"}  # called an answer, and none
    asked: Counter[str] = Counter()

    def answer(request: Any) -> Any:
        path, n = request.url.path, asked.total()
        asked[path] += 1
        if n % 5 < 3:
            found = searches[n % len(searches)] if n % 7 else lost
            return httpx.Response(200, json=found if path == "/v1/search" else {"article": new})
        if n % 5 == 3:
            raise httpx.ReadError("gone")
        return httpx.Response(429, json={"type": "rate"}) if n % 2 else httpx.Response(502)

    async def ask() -> load.ClientLog:
        log = load.ClientLog()
        async with httpx.AsyncClient(base_url="http://law", transport=httpx.MockTransport(answer)) as http:
            await load._client(
                http, [QUESTION], UserPlan(seconds=0.1), 0, log, lambda: asked.total() < 120, law
            )
        return log

    log = asyncio.run(ask())
    said = load.client_summary(log, 1, 1.0)
    assert {"/v1/search", "/v1/why/1", "/a"} == set(asked)
    assert set(log.refused) == {"429 rate", "502 by something else"}
    assert set(said["errors"]) == {"ReadError"}
    assert said["asked"] == asked.total()
    came = said["answers"]["all"]["n"] + log.refused.total() + len(log.errors)
    assert said["silently_lost"] == asked.total() - came > 0
    assert {index: set(found) for index, found in log.versions.items()} == {
        "law 1": {"former"}, "law 2": {"new", "mixed"}, "": {"new"}
    }  # fmt: skip
    assert log.without_an_article > 0


def test_errors_are_expected_from_a_signal_until_the_server_is_ready_again() -> None:
    events = [
        Event("update", "law", 10.0, 40.0, 40.0),
        Event("SIGTERM", "page", 50.0, 58.0, 60.0),
        Event("SIGKILL", "api", 70.0, 70.1, 75.0),
    ]
    errors = [
        Failure("before", 40.0, 49.9),
        Failure("refused", 51.0, 51.1),
        Failure("lost while somebody read", 57.0, 64.0),
        Failure("asked before", 49.0, 50.5),
        Failure("after", 60.1, 61.0),
        Failure("of the other", 71.0, 72.0),
    ]
    found = faults.errors_until_ready(errors, events, "page")
    assert set(found["errors_until_ready"]) == {"refused", "lost while somebody read", "asked before"}
    assert set(found["errors_at_other_times"]) == {"before", "after", "of the other"}
    assert set(faults.errors_until_ready(errors, events, "api")["errors_until_ready"]) == {"of the other"}


def test_one_request_that_is_lost_or_of_two_versions_fails_the_whole() -> None:
    def verdict(lost: int = 0, others: int = 0, last: float = 15.0, **texts: Any) -> tuple[str, bool]:
        events = [Event("rollback", "law", 12.0, 14.0, 14.0)]
        law, when = LawRevision("law", Path(), {}), dict.fromkeys(texts, (11.0, last))
        versions = {index: Counter(found) for index, found in texts.items()}
        told = faults.summary(law, events, 10.0, {}, versions, when)
        assert told["events"] == [{"event": "rollback", "of": "law", "at_s": 2.0, "ended_after_s": 2.0}]
        counts = {"asked": 9, "silently_lost": lost, "errors_at_other_times": {"x": others}}
        api = counts | {"answers_of_no_law": 0}
        return faults.verdict({"faults": told, "page": counts | {"silently_lost": 0}, "api": api})

    both: dict[str, dict[str, int]] = {"law_1": {"former": 3}, "law_2": {"new": 2}}
    line, well = verdict(**both)
    assert well
    assert line.startswith(
        "silently lost: 0 of 9 asked of the page, 0 of 9 asked of the API; errors at other"
    )
    assert not verdict(lost=1, **both)[1]
    assert not verdict(others=1, **both)[1]
    assert not verdict(last=13.9, **both)[1]  # the former law did not come back
    assert not verdict(law_1={"former": 3})[1]  # the new version was never seen
    assert not verdict(law_1={"former": 3}, law_2={"new": 2, "mixed": 1})[1]
    assert not verdict(law_1={"former": 3}, law_2={"former": 2})[1]


@pytest.mark.parametrize("index", [None, "builtin", "./a-folder"])
def test_only_an_installed_law_is_updated_under_load(index: str | None) -> None:
    with pytest.raises(BadInput, match="expected the name of an installed law"), law_revision(index, VILLAGE):
        pass


@pytest.mark.slow
@pytest.mark.usefixtures("hasty")
def test_people_and_programs_at_once() -> None:
    with served(None, "page", load.LIMITS) as page, served(None, "api", load.LIMITS) as api:
        found = load.measure(page, api, [QUESTION], 3, UserPlan(users=1, seconds=8.0))
    assert (found["api"]["errors"], found["api"]["refused"], found["page"]["errors"]) == ({}, {}, 0)
    assert all(took["n"] > 0 for took in (*found["api"]["answers"].values(), found["page"]["arrivals"]))
    assert (found["api"]["silently_lost"], found["page"]["silently_lost"]) == (0, 0)
    assert json.loads(json.dumps(found)) == found


@pytest.mark.slow
@pytest.mark.usefixtures("hasty")
def test_update_signals_and_the_way_back_lose_nothing_silently(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("training.pages.faults.AFTER", 4.0)
    version = install(VILLAGE)
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    command = ["load", "--faults", "--index", "village", "--users", "2", "--clients", "3", "--seconds", "10"]
    assert main([*command, "--output", str(tmp_path / "out.json")]) == 0, capsys.readouterr().err
    assert "silently lost: 0 of " in capsys.readouterr().err
    found = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    page, api, told = found["page"], found["api"], found["faults"]
    assert [(each["event"], each["of"]) for each in told["events"]] == [pair[1:] for pair in faults.EVENTS]
    assert not any(each.get("killed") for each in told["events"])
    assert all(each["errors"] for each in told["events"] if each["of"] == "api")
    for each in (page, api):
        assert (each["silently_lost"], each["errors_at_other_times"]) == (0, {})
    assert page["asked"] == page["arrivals"]["n"] + page["errors"] + sum(
        took["n"] for took in (page["answers"]["whole"], page["shares"], page["articles_opened"])
    )
    assert api["errors_until_ready"] == api["errors"]
    assert api["errors"]
    assert api["answers"]["all"]["n"] + sum((api["refused"] | api["errors"]).values()) == api["asked"]
    [first, second] = told["versions"]  # in the order in which they answered
    assert first == f"village {version.name}"
    assert list(told["versions"][first]["texts"]) == ["former"]
    assert list(told["versions"][second]["texts"]) == ["new"]
    assert sorted(str(path) for path in tmp_path.rglob("*")) == sorted([*before, str(tmp_path / "out.json")])


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")
def test_even_the_longest_answers_are_soon_read_and_five_screens_long() -> None:
    long = " ".join(f"Le {day} mai, j'ai encore écrit au propriétaire pour la fuite." for day in range(1, 29))
    asked = [
        QUESTION,
        OTHER,
        "divorce",
        f"{long} Puis-je garder une partie du loyer ?",
        "mon mari me frappe et dit qu'il va me tuer",
        "je subis un mariage forcé, ma famille me menace",
        "que risque l'auteur d'une agression sexuelle ?",
        "j'ai reçu hier une obligation de quitter la France",
        "on m'expulse : le commandement de quitter les lieux date de lundi",
        "des squatteurs occupent la maison de ma tante",
        "à Lausanne, le droit suisse protège-t-il le locataire ?",
        "combien de temps",
        "préavis pour une résidence secondaire",
        "que dit l'article 1382 du code civil ?",
        "wxyzq",
    ]
    with served() as page:
        found = length.measure(page, asked)
    assert found["without_an_article"] == 1
    assert 0 < found["words_before_the_first_useful_sentence"]["most"] <= 40
    assert 40 < found["words_before_the_first_article"]["most"] <= 90
    assert 1 < found["screens_of_a_phone"]["median"] <= found["screens_of_a_phone"]["most"] <= 5


def test_the_lengths_that_are_told_are_those_that_were_measured() -> None:
    found = json.loads((ROOT / "docs/results/everyday/pages-length.json").read_text(encoding="utf-8"))
    told = (ROOT / "docs/pages.md").read_text(encoding="utf-8")
    assert f"asks all {found['questions']} questions" in told
    wanted = {
        "words before the first useful sentence": 40,
        "words before the first article": 90,
        "screens of a phone": 5,
    }
    for name, most in wanted.items():
        of = found[name.replace(" ", "_")]
        assert f"| {name} | {of['median']} | {of['p90']} | {of['most']} |" in told
        assert of["most"] <= most


def test_what_is_told_of_faults_under_load_is_what_was_measured() -> None:
    found = json.loads((ROOT / "docs/results/everyday/load-faults.json").read_text(encoding="utf-8"))
    told = (ROOT / "docs/operate.md").read_text(encoding="utf-8")
    assert faults.verdict(found)[1]
    page, api, events = found["page"], found["api"], found["faults"]["events"]
    assert (page["plan"]["users"], api["clients"]) == (50, 200)
    assert f"| asked | {page['asked']:,} | {api['asked']:,} |" in told
    came = sum(page[kind]["n"] for kind in ("arrivals", "shares", "articles_opened"))
    came += page["answers"]["whole"]["n"]
    assert f"| answered | {came:,} | {api['answers']['all']['n']:,} |" in told
    refused = sum(api["refused"].values())
    assert f"| refused | – | {refused:,} |" in told
    assert (
        f"| told as errors, until ready again | {page['errors']:,} | {sum(api['errors'].values()):,} |"
        in told
    )
    for what in ("SIGTERM", "SIGKILL"):
        took = [each["ready_after_s"] for each in events if each["event"] == what]
        assert f"| ready again after {what} | {took[0]:.0f} s | {took[1]:.0f} s |" in told


def test_a_page_that_does_not_come_up_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.pages.serving.START_TIMEOUT", 0.0)
    with pytest.raises(PandectError, match="did not come up"), served():
        pass


def test_an_index_that_is_not_there_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path))
    assert main(["speed", "--index", "nowhere"]) == 1
    assert "no index named 'nowhere'" in capsys.readouterr().err


def test_tables_of_the_pages() -> None:
    took = {"n": 100, "median_ms": 120.4, "p95_ms": 299.6, "max_ms": 400.0}
    none = {"n": 0, "median_ms": None, "p95_ms": None, "max_ms": None}
    fast = {
        "server_up_ms": 510,
        "visits": {"first visitor": {"paint": 100.0, "masthead": 250.2, "ready": None}},
        "answers": {"card": took, "painted": took, "whole": took},
        "first_answer_ms": 210.0,
        "clicks": {"why": none},
    }
    assert "| first visitor | 100 ms | 250 ms | – |" in speed(fast)
    assert "| an answer: first article on the page | 100 | 120 ms | 300 ms |" in speed(fast)
    assert "| the slowest of them | 1 | 400 ms | 400 ms |" in speed(fast)
    assert "| the very first that the server answers | 1 | 210 ms | 210 ms |" in speed(fast)
    many = summary(
        UserLog(answers=[VisitorRun(0.5, 0.2, 10)], memory=[(float(s), 100.0) for s in range(6)]), UserPlan()
    )
    assert "| the answer, whole | 1 | 500 ms | 500 ms |" in users(many | {"processor_s": 3.0})
    slope = "| its slope after a third of the time | 0.0 MiB a minute | 0.0 to 0.0 (95 %) |  |"
    assert slope in users(many | {"processor_s": 3.0})
    assert "| 3 | 180 MiB |" in corpora({"memory_mib": [60.0, 120.0, 180.2, 180.4]})
