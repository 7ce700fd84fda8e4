"""Eight German codes for measuring; no questions."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Unpack

from indexes.corpus.card import CardOptions
from indexes.corpus.corpus import ARTICLES, Corpus
from indexes.formats.validation import ImportReport, Inspection
from indexes.sources.source import Source, load_folder
from rag.corpus.card import Contact, CorpusCard
from rag.types import Progress, no_progress

CARD = CorpusCard(
    name="de",
    origin="de",
    title="Acht deutsche Gesetze",
    language="de",
    jurisdiction="DE",
    licence="Gemeinfrei (§ 5 UrhG)",
    licence_url="https://www.gesetze-im-internet.de/urhg/__5.html",
    source="gesetze-im-internet.de, über das Markdown von bundestag/gesetze",
    law_date=date(2022, 3, 1),
    official_site="https://www.gesetze-im-internet.de",
    note="Stand März 2022, ohne Anlagen. Zum Messen: Spätere Änderungen fehlen (etwa das Betreuungsrecht von "
    "2023); nicht als geltendes Recht zeigen.",
    contacts=(
        Contact(
            name="Behördennummer 115",
            url="https://www.115.de",
            phone="115",
            note="Auskunft zu Leistungen der Verwaltung.",
        ),
        Contact(
            name="Verbraucherzentrale",
            url="https://www.verbraucherzentrale.de",
            note="Beratung für Verbraucherinnen und Verbraucher.",
        ),
        Contact(
            name="Beratungshilfe",
            url="https://justiz.de",
            note="Rechtsberatung bei geringem Einkommen: Antrag beim Amtsgericht am Wohnort.",
        ),
    ),
)
PUBLISHED = {"articles": 4_392, "codes": 8}


def load(
    path: Path, *, lenient: bool = False, progress: Progress = no_progress, **card: Unpack[CardOptions]
) -> tuple[Corpus, ImportReport]:
    """Load the folder: articles.jsonl.gz."""
    inspection = Inspection(lenient=lenient)
    return load_folder(path, CARD, card, inspection=inspection, progress=progress)


def _recognises(path: Path) -> bool:
    return path.name == "de" and (path / ARTICLES[0]).is_file()


SOURCE = Source("the measuring folder of German codes", load, PUBLISHED, recognises=_recognises)
