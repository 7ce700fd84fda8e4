"""The small law of the tests, written in the formats that the published data sets have."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from rag.types import Question
from tests.fakes.models.neural import ASKED, LEGAL
from tests.paths import SHARED

SYNTHETIC = 3  # questions an article
OF_BSARD = 6  # the same there: one more than the recipe of DAR learns from
PUBLISHED = SHARED / "published"  # the tables of the papers


def _gold(question: Question) -> list[int]:
    return [int(id_[1:]) for id_ in question.article_ids]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def jurifindit(at: Path) -> Path:
    """40 questions to learn from, 20 of the validation, three synthetic ones an article."""

    def parquet(name: str, rows: list[dict[str, Any]]) -> None:
        (at / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows), at / name)

    def asked(questions: Sequence[Question]) -> list[dict[str, Any]]:
        return [
            {"question": q.text, "relevant_doc_ids": _gold(q), "topics": ["x"], "normative_area": "Civile"}
            for q in questions
        ]

    parquet("corpus/corpus.parquet", [
        {"id": n, "content": a.text, "file_name": "a.xml", "path": f"Codice__LIBRO I__Art. {n}",
         "reference": [0]}
        for n, a in enumerate(LEGAL)
    ])  # fmt: skip
    parquet("questions/train.parquet", asked(ASKED[:40]))
    parquet("questions/validation.parquet", asked(ASKED[40:]))
    written = [Question(f"s{n}", f"domanda {n} {m}", (f"l{n}",)) for m in range(SYNTHETIC) for n in range(40)]
    parquet("synth_questions/synth.parquet", asked(written))
    return at


def lleqa(at: Path) -> Path:
    """Articles and three splits of questions, as JSON."""

    def asked(questions: Sequence[Question]) -> str:
        return json.dumps([
            {"id": int(q.id[1:]), "question": q.text, "answer": "", "regions": [], "topics": ["x"],
             "article_ids": _gold(q), "paragraph_ids": []}
            for q in questions
        ])  # fmt: skip

    _write(at / "articles.json", json.dumps([
        {"id": n, "article": a.text, "description": "", "authority": "", "code": a.code,
         "reference": f"Art. {n}, {a.code}", "article_no": str(n), "paragraphs": {"1": a.text}}
        for n, a in enumerate(LEGAL)
    ]))  # fmt: skip
    for name, questions in (("train", ASKED[:40]), ("dev", ASKED[40:50]), ("test", ASKED[50:])):
        _write(at / f"questions_{name}.json", asked(questions))
    return at


def mmarco(at: Path) -> Path:
    """Passages in everyday words, training queries by triples, judged ones of dev."""
    topics = ["pain", "four", "vélo", "pluie", "chat", "train"]
    passages = [f"{topics[n % 6]} {topics[n % 6]} texte {n}" for n in range(24)]
    _write(at / "collections/french_collection.tsv", "".join(f"{n}\t{p}\n" for n, p in enumerate(passages)))
    train = "".join(f"{100 + n}\tquoi {topics[n % 6]} {n}\n" for n in range(24))
    _write(at / "queries/train/french_queries.train.tsv", train)
    _write(
        at / "triples.train.ids.small.tsv", "".join(f"{100 + n}\t{n}\t{(n + 1) % 24}\n" for n in range(24))
    )
    _write(at / "queries/dev/french_queries.dev.tsv", "".join(f"{n}\toù {topics[n]}\n" for n in range(6)))
    _write(at / "qrels.dev.small.tsv", "".join(f"{n}\t0\t{n}\t1\n" for n in range(6)))
    return at


def stard(at: Path) -> Path:
    """The authors' two files, and their example that says which questions are dev ones."""
    names = [f"村庄法第{n}条" for n in range(len(LEGAL))]
    lines = [
        json.dumps({"id": n, "name": name, "content": article.text + "\n"}, ensure_ascii=False)
        for n, (name, article) in enumerate(zip(names, LEGAL, strict=True))
    ]
    _write(at / "data/corpus.jsonl", "\n".join(lines) + "\n")
    asked = [
        {"query_id": n, "问题": q.text, "相关法规": {names[g]: LEGAL[g].text for g in _gold(q)},
         "match_id": _gold(q), "match_name": [names[g] for g in reversed(_gold(q))]}
        for n, q in enumerate(ASKED)
    ]  # fmt: skip
    _write(at / "data/queries.json", json.dumps(asked, ensure_ascii=False, indent=4))
    for split, numbered in (("train", range(50)), ("dev", range(50, 60))):
        lines = [f"{n}\t{ASKED[n].text}\n" for n in numbered]
        _write(at / f"data/example/{split}.query.txt", "".join(lines))
    return at


def bsard(at: Path) -> Path:
    """Articles, 40 questions to learn from, 20 of the test, six written ones an article; BM25's negatives."""
    rows = ["id,reference,article,description,law_type,code,book,part,act,chapter,section,subsection"]
    rows += [f"{n},Art. {n} {a.code},{a.text},Titre {n % 3},national,{a.code},,,,,,"
             for n, a in enumerate(LEGAL, 1)]  # fmt: skip
    _write(at / "articles.csv", "\n".join(rows) + "\n")
    written = [Question(f"s{n}", f"question {n} {m}", (f"l{n}",)) for m in range(OF_BSARD) for n in range(40)]
    every = {"train": list(enumerate(ASKED))[:40], "test": list(enumerate(ASKED))[40:],
             "synthetic": list(enumerate(written, 1))}  # fmt: skip
    for split, asked in every.items():
        lines = ["id,category,subcategory,question,extra_description,article_ids"]
        for n, question in asked:
            gold = ",".join(str(g + 1) for g in _gold(question))
            lines.append(f'{n},Housing,Rent,{question.text},,"{gold}"')
        _write(at / f"questions_{split}.csv", "\n".join(lines) + "\n")
    _write(at / "negatives/bm25_negatives_train.json", json.dumps({str(n): [40, 39] for n in range(40)}))
    return at
