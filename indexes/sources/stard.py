"""STARD as rebuilt for measuring: Chinese national law of mid-2023 and 1,235 lay questions."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Unpack

from indexes.corpus.card import CardOptions
from indexes.corpus.corpus import Corpus
from indexes.formats.validation import ImportReport, Inspection
from indexes.sources.source import Source, load_folder
from rag.corpus.card import Contact, CorpusCard
from rag.types import Progress, no_progress

CONTACTS = (
    Contact(
        name="12348 中国法律服务网",
        url="http://www.12348.gov.cn",
        phone="12348",
        note="公共法律服务热线，可咨询法律援助。",
    ),
)
CARD = CorpusCard(
    name="stard",
    origin="stard",
    title="中国国家法律、行政法规与司法解释（2023 年年中）",
    language="zh",
    jurisdiction="CN",
    licence="问题与标注：MIT。法律文本：官方文件，不受著作权保护（《著作权法》第五条）；其汇编未声明许可",
    source="STARD（THUIR，2024）；答案：LeCoQA（2025）；法律文本：LawRefBook/Laws，2023年6月",
    law_date=date(2023, 6, 4),
    official_site="https://flk.npc.gov.cn",
    note="重建的语料：55,497条，公布的语料为55,348条。仅供评测：不含2023年年中以后的修改，请勿作为现行法律展示。",
    contacts=CONTACTS,
)
PUBLISHED = {"articles": 55_497, "codes": 1_261, "questions": 1_235, "questions (train)": 1_235}


def load(
    path: Path, *, lenient: bool = False, progress: Progress = no_progress, **card: Unpack[CardOptions]
) -> tuple[Corpus, ImportReport]:
    """Load the folder: articles.jsonl.gz and questions_train.jsonl.

    The column stard_id is kept with the extra columns, which nothing searches: it is filled for gold
    articles only, so it would give them away.
    """
    inspection = Inspection(lenient=lenient)
    asked = "questions_train.jsonl"
    return load_folder(path, CARD, card, inspection=inspection, questions=asked, progress=progress)


def _recognises(path: Path) -> bool:
    return path.name == "stard" and (path / "questions_train.jsonl").is_file()


SOURCE = Source("the measuring folder of STARD", load, PUBLISHED, recognises=_recognises)
