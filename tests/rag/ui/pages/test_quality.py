from __future__ import annotations

import json
import os
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from rag.corpus.quality import QualityResults, ReliabilityBin, SystemQuality, Topic, TopicRate
from rag.errors import BadInput
from rag.ui.components.charts import ROWS, Published
from rag.ui.pages.quality import SYSTEMS
from rag.ui.search import Answers
from tests.fakes.pages.any_page_driver import open_page
from tests.fakes.pages.ask_page_driver import body, headings
from tests.fakes.pages.ui_answers import FakeModel, judged
from tests.fakes.pages.ui_engine import CARD, HOSTILE_CARD, FakeEngine, FakeInfo, many_laws
from tests.paths import ROOT

PUBLISHED = Path(os.environ.get("PANDECT_SHARED", ROOT.parent / "shared")) / "published"  # papers' tables
SYSTEM_NAMES = {"BM25 + DPR + ColBERT": "NSF z-score: BM25 + DPR + ColBERT"}

SYSTEM = SystemQuality(
    {
        "R@10": TopicRate(0.8, 0.7, 0.9),
        "R@100": TopicRate(0.95, 0.9, 1.0),
        "Success@10": TopicRate(0.9, 0.8, 1.0),
    },
    12.4,
    30.2,
)
MEASURED = QualityResults(
    "abc", 40, "hybrid",
    {"bm25": SystemQuality({"R@10": TopicRate(0.3, 0.2, 0.4)}, 0.4, 1.2), "hybrid": SYSTEM},
    {"housing": Topic(20, 16), "<b>family</b>": Topic(10, 10), "rare": Topic(9, 9)},
    (ReliabilityBin(0.0, 0.1, 5, 0.05, 0.0), ReliabilityBin(0.9, 1.0, 20, 0.95, 0.9)),
)  # fmt: skip


def rows(app: object, caption: str) -> list[list[str]]:
    [table] = [t for t in body(app).all("table") if t.one("caption").text == caption]  # type: ignore[arg-type]
    return [[c.text for c in row.children] for row in table.one("tbody").all("tr")]


def test_what_a_machine_wrote_is_called_so() -> None:
    said = "A machine wrote these questions; people asked none of them."
    machine = FakeEngine(card=replace(CARD, question_origin="machine"))

    assert said in body(open_page("quality", machine, results=MEASURED)).text
    assert said not in body(open_page("quality", results=MEASURED)).text


def test_the_numbers_of_the_index_that_is_open() -> None:
    app = open_page("quality", results=MEASURED)

    assert headings(app)[0] == "Quality"
    assert [d.text for d in body(app).one(class_="pd-figures").all("dd")] == ["90%", "80%", "12 ms"]
    assert "Nothing here has learnt from them." in body(app).text
    assert "another version" not in body(app).text
    assert rows(app, "Measures and times, by way to search") == [
        ["all together", "80% (70–90%)", "95% (90–100%)", "12 ms", "30 ms"],
        ["words of the law", "30% (20–40%)", "–", "< 1 ms", "1 ms"],
    ]
    assert rows(app, "Answering articles found, by how many articles are looked at")[0] == [
        "all together", "80%", "95%",
    ]  # fmt: skip


def test_every_system_of_the_index_that_ships_has_a_name_that_a_person_reads() -> None:
    shipped = json.loads((ROOT / "indexes" / "builtin" / "results.json").read_text("utf-8"))

    assert set(shipped["systems"]) <= SYSTEMS.keys()
    names = [e for e in body(open_page("quality", results=MEASURED)).all("span") if "title" in e.attributes]
    assert [(e.text, e.attributes["title"]) for e in names] == [
        ("all together", "hybrid"),
        ("words of the law", "bm25"),
    ]


def test_a_time_keeps_its_unit_beside_it() -> None:
    times = [e.text for e in body(open_page("quality", results=MEASURED, lang="zh")).all(class_="pd-time")]

    assert times == ["12 毫秒", "30 毫秒", "< 1 毫秒", "1 毫秒"]
    assert ".pd-time { white-space: nowrap; }" in files("rag.ui").joinpath("style.css").read_text("utf-8")


def test_topics_with_too_few_questions_get_no_rate() -> None:
    app = open_page("quality", results=MEASURED)

    assert rows(app, "Answered among the first ten, by topic") == [
        ["<b>family</b>", "10 times in 10", "10/10", "72–100%"],
        ["housing", "8 times in 10", "16/20", "58–92%"],
    ]
    assert "Too few questions to tell: rare." in body(app).text
    named = {e.text for e in body(app).all("span") if e.attributes.get("lang") == CARD.language}
    assert {"<b>family</b>", "housing", "rare"} <= named  # a screen reader says them as the law does


def test_calibration_is_a_table_and_a_picture_with_a_name() -> None:
    app = open_page("quality", results=MEASURED)

    assert rows(app, "How sure the page estimated it could be, and how often it was right") == [
        ["0%–10%", "5%", "0%", "5"],
        ["90%–100%", "95%", "90%", "20"],
    ]
    assert all(
        i.attributes["alt"] and i.attributes["src"].startswith("data:image/svg+xml")
        for i in body(app).all("img")
    )
    assert len(body(app).all("img")) == 2


def test_cross_validated_numbers_and_those_of_another_corpus_say_so() -> None:
    told = replace(MEASURED, learnt_from="the other folds", reliability=(), topics={})
    app = open_page("quality", FakeEngine(info=FakeInfo(corpus_sha256="other")), results=told)

    assert "Each was asked of a system that had not learnt from it." in body(app).text
    assert "another version of this law" in body(app).text
    assert len(body(app).all("img")) == 1


def test_no_result_file_says_what_to_type() -> None:
    app = open_page("quality")

    assert "Nothing has been measured for this index yet." in body(app).text
    [command] = app.code
    assert "python -m indexes results civil measured/metrics.json" in command.value
    assert not body(app).all("img")


def test_a_file_that_cannot_be_read_is_told_calmly() -> None:
    app = open_page("quality", results=BadInput("results.json: <b>odd</b>"))

    assert "The result file of this index cannot be read." in body(app).text
    assert body(app).one("pre").text == "results.json: <b>odd</b>"


def test_published_rows_stand_apart_whatever_was_measured() -> None:
    for results in (None, MEASURED):
        app = open_page("quality", results=results)
        assert "cannot be compared" in body(app).text
        assert ["STARD (Su et al. 2024)", "BM25", "no", "39%", "65%"] in rows(app, "Published results")


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="needs shared/published")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.corpus}, {row.system}")
def test_published_rows_are_as_their_papers_print_them(row: Published) -> None:
    tables = [table for path in PUBLISHED.glob("*.json") for table in json.loads(path.read_text("utf-8"))]
    printed = [
        {m: round(v if table["unit"].startswith("percent") else 100 * v, 2) for m, v in r["values"].items()}
        for table in tables
        if table["dataset"] == row.corpus and table["split"] in ("test", "5-fold")
        for r in table["rows"]
        if r["system"].replace(" ", "").startswith(SYSTEM_NAMES.get(row.system, row.system).replace(" ", ""))
        and r["trained"] is row.trained and row.measures.keys() <= r["values"].keys()
    ]  # fmt: skip

    assert [{m: told[m] for m in row.measures} for told in printed] == [dict(row.measures)]


# --- about ---


def about(engine: FakeEngine | None = None, answers: Answers | None = None, **query: str) -> str:
    return body(open_page("about", engine, answers=answers, **query)).text


def test_about_says_what_it_is_and_lacks() -> None:
    said = about()

    assert "It is not a lawyer" in said
    assert "decrees and orders" in said
    assert "court decisions" in said
    assert "The texts are those of 1 January 2025." in said
    assert "summaries in plain words" in said
    assert "It allows the texts to be reused" in said
    assert "artificial intelligence" in said
    assert "Point-justice" in said


@pytest.mark.slow
def test_about_tells_what_the_encoder_learnt_from() -> None:
    assert "learnt from texts of law (pandect-static-fr)" in about()
    general = FakeInfo(encoder="static-looking", encoder_knows="unknown")  # a name proves nothing
    assert "general language model (static-looking)" in about(FakeEngine(info=general))
    trained = FakeInfo(encoder="siamese", encoder_knows="trained")
    assert "trained further on texts of law (siamese)" in about(FakeEngine(info=trained))
    assert "It compares words only" in about(FakeEngine(info=FakeInfo(encoder=None, questions=0)))
    assert "questions that were answered before" not in about(FakeEngine(info=FakeInfo(questions=0)))


@pytest.mark.slow
def test_a_card_says_itself_what_its_law_lacks() -> None:
    decrees = replace(CARD, lacks={"en": "Local rules <b>are not here.", "fr": "Ni les règles locales."})
    said = about(FakeEngine(card=decrees))
    assert "Local rules <b>are not here." in said
    assert "decrees and orders" not in said
    assert "court decisions" not in said
    assert "Ni les règles locales." in about(FakeEngine(card=decrees), lang="fr")
    assert "Local rules" in about(FakeEngine(card=decrees), lang="de")  # English where a language lacks
    assert "decrees and orders" not in about(FakeEngine(card=replace(CARD, lacks={})))


def test_about_says_plainly_what_a_licence_forbids() -> None:
    forbidden = replace(CARD, licence="CC BY-NC-SA 4.0", law_date=None, text_kind="official")
    said = about(FakeEngine(card=forbidden))

    assert "may not be used commercially" in said
    assert "It allows the texts to be reused" not in said
    assert "does not say what date" in said
    assert "The publisher states no licence" in about(
        FakeEngine(card=replace(CARD, licence="", licence_url=None))
    )


def test_about_of_a_hostile_corpus_stays_text() -> None:
    elements = body(open_page("about", FakeEngine(card=HOSTILE_CARD))).all()

    assert not {e.name for e in elements} & {"img", "script", "iframe", "svg", "b"}
    assert not [
        e
        for e in elements
        if e.name == "a" and not e.attributes["href"].startswith(("http", "./", "#pd-content"))
    ]


def test_about_without_a_model_speaks_of_none() -> None:
    said = about()

    assert "Written answers" not in said
    assert "Nothing you type leaves the machine" in said


def test_about_says_what_a_model_that_chooses_passages_shows() -> None:
    said = about(answers=Answers(model=FakeModel(name="Scribe 2")))

    assert "Written answers" in said
    assert "Used here: Scribe 2, to choose passages of law." in said
    assert "it cannot make anything up. It can still choose badly" in said
    assert "Scribe 2. Another machine may run it" in said
    assert "not verified" not in said


@pytest.mark.parametrize(
    ("model", "goes", "becomes"),
    [
        (judged(), "Juge 1 checks what it writes, on the machine", "is marked “not verified” or left out"),
        (judged(judge_local=False), "these articles go to Juge 1. Another machine", "“not verified”"),
        (judged(withholds=True), "on the machine of this page", "is left out, and the gap is marked"),
    ],
)
def test_about_says_which_judge_is_used_and_what_it_lets_through(
    model: FakeModel, goes: str, becomes: str
) -> None:
    said = about(answers=Answers(model=model))

    assert "Used here: Scribe 1 to write, Juge 1 to check." in said
    assert "Juge 1 can be wrong. It may let through a sentence that drops a condition" in said
    assert "more than half of the answer is not confirmed, none of it is shown" in said
    assert goes in said
    assert becomes in said
    assert "cannot make anything up" not in said


def test_about_in_french() -> None:
    assert "Ce n’est pas un avocat" in about(lang="fr")


def test_about_lists_the_laws_before_what_is_not_searched() -> None:
    [section] = [
        each
        for each in body(open_page("about", many_laws())).all("section", "pd-about")
        if each.all(class_="pd-laws")
    ]
    order = [each.attributes.get("class") or each.text[:12] for each in section.children]

    assert order[1:] == [
        "Searched her", "The texts ar", "The texts sh", "pd-laws", "Not searched", "Nor are cour",
    ]  # fmt: skip
    assert "(10 March 2024 to 15 March 2025)" in section.children[2].text
