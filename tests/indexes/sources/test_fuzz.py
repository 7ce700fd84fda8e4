"""Every importer against damaged files: what comes is a corpus or BadInput, never anything else."""

from __future__ import annotations

import csv
import gzip
import io
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

from indexes.corpus.corpus import Corpus
from indexes.corpus.export import export
from indexes.download.archive import unpack
from indexes.formats.jsonl import dump
from indexes.formats.validation import ImportReport
from indexes.sources.registry import SOURCES, load
from rag.errors import BadInput
from tests.fakes.law.corpus import VILLAGE
from tests.fakes.law.damage import PLANS, Files, Plan, damaged, packed
from tests.indexes.sources.test_akoma_ntoso import act as akn_act
from tests.indexes.sources.test_akoma_ntoso import article as akn_article
from tests.indexes.sources.test_gesetze_im_internet import ACT as GII_ACT
from tests.indexes.sources.test_jurifindit import ASKED as JURI_ASKED
from tests.indexes.sources.test_jurifindit import CORPUS as JURI_CORPUS
from tests.indexes.sources.test_legi import article as legi_article
from tests.indexes.sources.test_lleqa import ARTICLES as LLEQA_ARTICLES
from tests.indexes.sources.test_lleqa import ASKED as LLEQA_ASKED

EXAMPLES = 30  # drawn anew by each run of CI; `python -m tests.faults` draws many more from the same plans
QUESTIONS = [
    ["id", "category", "question", "extra_description", "article_ids"],
    ["1", "c", "Le four ?", "x", "1,2"],
]
LAW = [
    ["id", "reference", "article", "law_type", "code", "book"],
    ["1", "Art. 1, Code A", 'Le "four".', "national", "Code A", "Livre"],
    ["2", "Art. 2, Code A", "Le\npain.", "regional", "Code A", ""],
]


def table(rows: list[list[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def lines(records: list[dict[str, object]]) -> bytes:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


def parquet(rows: list[dict[str, object]]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out, compression="none")
    return out.getvalue()


def exported(to: str, at: Path) -> Files:
    folder = export(VILLAGE, at / "village", to)
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


OWN: list[dict[str, object]] = [
    {"id": "1", "code": "A", "article_no": "1", "text": "Le four.", "headings": ["x"]}
]
ASKED: list[dict[str, object]] = [{"id": "q", "question": "four ?", "article_ids": ["1"], "split": "train"}]
CARD = json.dumps({"name": "x", "title": "X", "language": "fr"}).encode()
STARD = [{"id": 1, "name": "村庄水井法第三条", "content": "盖好井盖。"}]
STARD_ASKED = [{"query_id": 0, "问题": "谁？", "match_id": [1], "match_name": ["村庄水井法第三条"]}]

Made: TypeAlias = tuple[Files, Mapping[str, object], str]  # files, options, what to load in the folder


def made(source: str, at: Path) -> Made:  # noqa: C901  # one case a source
    """Good files of a source."""
    match source:
        case "pandect":
            return {"articles.jsonl": lines(OWN), "questions.jsonl": lines(ASKED), "card.json": CARD}, {}, "."
        case "stard":
            files = {"articles.jsonl.gz": gzip.compress(lines(OWN)), "questions_train.jsonl": lines(ASKED)}
            return files, {}, "."
        case "fr" | "fr-everyday":
            files = {"articles.jsonl.gz": gzip.compress(lines(OWN)), "questions_dev.jsonl": lines(ASKED)}
            return files, {}, "."
        case "de":
            return {"articles.jsonl.gz": gzip.compress(lines(OWN))}, {}, "."
        case "stard-original":
            queries = json.dumps(STARD_ASKED, ensure_ascii=False).encode()
            return {"corpus.jsonl": lines(STARD), "queries.json": queries}, {}, "."  # type: ignore[arg-type]
        case "bsard":
            names = ("questions_train.csv", "questions_test.csv")
            files = {"articles.csv": table(LAW), names[0]: table(QUESTIONS), names[1]: table(QUESTIONS[:1])}
            files["negatives/bm25_negatives_train.json"] = b'{"1": [2]}'
            return files, {"negatives": True}, "."
        case "bbsard":
            files = {
                "nl/corpus.csv": table(LAW),
                "nl/train.csv": table(QUESTIONS),
                "nl/test.csv": table(QUESTIONS[:1]),
            }
            return files, {"language": "nl"}, "."
        case "lleqa":
            splits = {f"questions_{split}.json": json.dumps([]).encode() for split in ("dev", "test")}
            train = json.dumps([LLEQA_ASKED]).encode()
            articles = json.dumps(LLEQA_ARTICLES, ensure_ascii=False, indent=1).encode()
            return {"articles.json": articles, "questions_train.json": train, **splits}, {}, "."
        case "jurifindit":
            asked = {f"questions/{split}.parquet": parquet(JURI_ASKED) for split in ("train", "validation")}
            return {"corpus/corpus.parquet": parquet(JURI_CORPUS), **asked}, {}, "."
        case "mmarco":
            return (
                {
                    "collections/french_collection.tsv": b"0\tLe four.\n1\tLe pain.\n",
                    "queries/dev/french_queries.dev.tsv": b"9\tfour ?\n",
                    "queries/train/french_queries.train.tsv": b"5\tpain ?\n",
                    "qrels.dev.small.tsv": b"9\t0\t0\t1\n",
                    "triples.train.ids.small.tsv": b"5\t1\t0\n",
                },
                {"splits": "dev,train"},
                ".",
            )
        case "legi":
            return {"a.xml": legi_article().encode(), "b.xml": legi_article("LEGIARTI2").encode()}, {}, "."
        case "akoma-ntoso":
            act = akn_act(
                akn_article("1", "Pane.", "art_1") + akn_article("2", "<ref href='#art_1'>1</ref>", "art_2")
            )
            return {"a.xml": act.encode(), "b/b.akn": akn_act(akn_article("3", "Sale.")).encode()}, {}, "."
        case "gesetze-im-internet":
            return (
                {"BJNR1.xml": GII_ACT.encode(), "b/BJNR2.xml": GII_ACT.replace("BrotG", "SalzG").encode()},
                {},
                ".",
            )
        case "digest":
            law = at / "law.jsonl"
            law.parent.mkdir(parents=True, exist_ok=True)
            law.write_bytes(lines(OWN))
            laws = json.dumps({"A": {"prefix": "A", "url": "https://example.org", "aliases": ["a"]}}).encode()
            summary = {"code": "A", "article_no": "1", "summary": "Un four.", "note": "x"}
            asked = {"id": "q", "question": "four ?", "code": "A", "article_no": "1"}
            files = {"digest.jsonl": lines([{**summary}]), "questions.jsonl": lines([{**asked}])}
            files |= {"card.json": CARD, "laws.json": laws, "contacts.json": b'[{"name": "y"}]'}
            return files, {"official": str(law)}, "."
        case "table":
            rows = [["nr", "loi", "corps", "titres"], ["1", "Code", "Le four.", "a > b"]]
            column = ["id=nr", "code=loi", "text=corps", "headings=titres"]
            return {"law.csv": table(rows)}, {"language": "fr", "column": column}, "law.csv"
        case _:
            return exported(source, at), {}, "."


def put(folder: Path, files: Files) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def attack(source: str, good: Made, folder: Path, plan: Plan) -> bool:
    """Damage one file and load; tell whether a corpus came."""
    files, options, what = good
    victim = sorted(files)[plan.victim % len(files)]
    files = {**files, victim: damaged(victim, files[victim], plan)}
    put(folder, files)
    try:
        path = folder / what
        if plan.archive is not None:
            path = packed(files, folder, plan)
            if source not in ("legi", "akoma-ntoso"):  # which read the archive itself
                shutil.rmtree(folder / "unpacked", ignore_errors=True)
                path = unpack(path, folder / "unpacked") / what
        corpus, report = load(source, path, lenient=plan.lenient, **options)
    except BadInput as error:
        assert str(error)  # noqa: PT017
        return False
    assert isinstance(corpus, Corpus)
    check_corpus(corpus, report)
    return True


def check_corpus(corpus: Corpus, report: ImportReport) -> None:
    """Everything in it can be written again."""
    assert len(corpus.sha256 + corpus.questions_sha256) == 128
    for extras in (corpus.extras, corpus.question_extras):
        assert all(json.loads(dump(columns), parse_constant=int) for columns in extras.values())  # no NaN
    assert report.lines()


@dataclass(frozen=True)
class Target:
    """A source, good files of it, and a place for bad ones."""

    source: str
    good: Made = field(repr=False)  # pages of bytes, which no report of a failure needs
    at: Path = field(repr=False)


@pytest.fixture(scope="module", autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PANDECT_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="module", params=sorted(SOURCES))
def target(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Target:
    at = tmp_path_factory.mktemp(request.param)
    good = made(request.param, at)
    put(at / "good", good[0])
    corpus, _ = load(request.param, at / "good" / good[2], **good[1])
    assert corpus.articles  # undamaged it loads
    return Target(request.param, good, at)


@pytest.mark.slow
@settings(max_examples=EXAMPLES, deadline=None)
@given(plan=PLANS)
def test_a_damaged_file_is_bad_input(target: Target, plan: Plan) -> None:
    attack(target.source, target.good, target.at / "bad", plan)
