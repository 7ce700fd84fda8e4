from __future__ import annotations

from dataclasses import replace

from any_page_driver import open_page
from page_driver import body, headings
from page_fakes import CARD, HOSTILE_CARD, FakeEngine, FakeInfo

from rag.errors import BadInput
from rag.measured import Bin, Measured, Rate, System, Topic

SYSTEM = System(
    {"R@10": Rate(0.8, 0.7, 0.9), "R@100": Rate(0.95, 0.9, 1.0), "Success@10": Rate(0.9, 0.8, 1.0)},
    12.4,
    30.2,
)
MEASURED = Measured(
    "abc", 40, "hybrid",
    {"bm25": System({"R@10": Rate(0.3, 0.2, 0.4)}, 0.4, 1.2), "hybrid": SYSTEM},
    {"housing": Topic(20, 16), "<b>family</b>": Topic(10, 10), "rare": Topic(9, 9)},
    (Bin(0.0, 0.1, 5, 0.05, 0.0), Bin(0.9, 1.0, 20, 0.95, 0.9)),
)  # fmt: skip


def rows(app: object, caption: str) -> list[list[str]]:
    [table] = [t for t in body(app).all("table") if t.one("caption").text == caption]  # type: ignore[arg-type]
    return [[c.text for c in row.children] for row in table.one("tbody").all("tr")]


def test_the_numbers_of_the_index_that_is_open() -> None:
    app = open_page("quality", results=MEASURED)

    assert headings(app)[0] == "Quality"
    assert [d.text for d in body(app).one(class_="pd-figures").all("dd")] == ["90%", "80%", "12 ms"]
    assert "Nothing here has learnt from them" in body(app).text
    assert "another version" not in body(app).text
    assert rows(app, "Measures and times, by way to search") == [
        ["all together", "80% (70–90%)", "95% (90–100%)", "12 ms", "30 ms"],
        ["words of the law", "30% (20–40%)", "–", "< 1 ms", "1 ms"],
    ]
    assert rows(app, "Answering articles found, by how many articles are looked at")[0] == [
        "all together", "80%", "95%",
    ]  # fmt: skip


def test_topics_with_too_few_questions_get_no_rate() -> None:
    app = open_page("quality", results=MEASURED)

    assert rows(app, "Answered among the first ten, by topic") == [
        ["<b>family</b>", "10 times in 10", "10/10", "72–100%"],
        ["housing", "8 times in 10", "16/20", "58–92%"],
    ]
    assert "Too few questions to tell: rare." in body(app).text


def test_calibration_is_a_table_and_a_picture_with_a_name() -> None:
    app = open_page("quality", results=MEASURED)

    assert rows(app, "How sure the page was, and how often it was right") == [
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

    assert "Each was asked of a system that had not learnt from it" in body(app).text
    assert "another version of this law" in body(app).text
    assert len(body(app).all("img")) == 1


def test_no_result_file_says_what_to_type() -> None:
    app = open_page("quality")

    assert "Nothing was measured of this index yet." in body(app).text
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


# --- about ---


def about(engine: FakeEngine | None = None, **query: str) -> str:
    return body(open_page("about", engine, **query)).text


def test_about_says_what_it_is_and_lacks() -> None:
    said = about()

    assert "It is not a lawyer" in said
    assert "decrees and orders" in said
    assert "court decisions" in said
    assert "The texts are those of 1 January 2025." in said
    assert "summaries in plain words" in said
    assert "It lets you use the texts again" in said
    assert "artificial intelligence" in said
    assert "Point-justice" in said


def test_about_tells_what_the_encoder_learnt_from() -> None:
    assert "learnt from texts of law (pandect-static-fr)" in about()
    assert "general language model (minilm)" in about(FakeEngine(info=FakeInfo(encoder="minilm")))
    assert "It compares words only" in about(FakeEngine(info=FakeInfo(encoder=None, questions=0)))
    assert "questions that were answered before" not in about(FakeEngine(info=FakeInfo(questions=0)))


def test_about_says_plainly_what_a_licence_forbids() -> None:
    forbidden = replace(CARD, licence="CC BY-NC-SA 4.0", law_date=None, text_kind="official")
    said = about(FakeEngine(card=forbidden))

    assert "may not be used commercially" in said
    assert "It lets you use the texts again" not in said
    assert "does not say of which day" in said
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


def test_about_in_french() -> None:
    assert "Ce n’est pas un avocat" in about(lang="fr")
