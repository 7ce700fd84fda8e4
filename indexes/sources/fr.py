"""Eight French codes for measuring, and 70 questions of citizens from service-public.fr."""

from __future__ import annotations

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
        name="Service-Public.fr, Allô Service Public",
        url="https://www.service-public.fr",
        phone="3939",
        note="Renseignements administratifs et juridiques.",
    ),
    Contact(
        name="Point-justice",
        url="https://www.justice.fr",
        phone="3039",
        note="Accueil gratuit et confidentiel : information et consultations juridiques.",
    ),
    Contact(
        name="France services",
        url="https://www.france-services.gouv.fr",
        note="Aide aux démarches, près de chez soi.",
    ),
)
CARD = CorpusCard(
    name="fr",
    origin="fr",
    title="Huit codes français",
    language="fr",
    jurisdiction="FR",
    licence="Licence Ouverte 2.0 (Etalab)",
    licence_url="https://www.etalab.gouv.fr/licence-ouverte-open-licence",
    source="DILA, LEGI; questions : service-public.fr / DILA",
    # no law_date: one day would be false of some codes; the note says which code is of when
    official_site="https://www.legifrance.gouv.fr",
    note="Code civil de janvier 2025 ; les sept autres codes, du début de 2015 environ. Pour mesurer : ne "
    "pas présenter comme le droit en vigueur. Les articles attendus sont des sections entières d’un code : "
    "larges, et pas complets.",
    contacts=CONTACTS,
)
PUBLISHED = {
    "articles": 14_894,
    "codes": 8,
    "questions": 70,
    "relevant articles": 790,
    "most articles of one question": 61,
}


def load(
    path: Path, *, lenient: bool = False, progress: Progress = no_progress, **card: Unpack[CardOptions]
) -> tuple[Corpus, ImportReport]:
    """Load the folder: articles.jsonl.gz and questions_dev.jsonl."""
    inspection = Inspection(lenient=lenient)
    asked = "questions_dev.jsonl"
    return load_folder(path, CARD, card, inspection=inspection, questions=asked, progress=progress)


def _recognises(path: Path) -> bool:
    return path.name == "fr" and (path / "questions_dev.jsonl").is_file()


SOURCE = Source("the measuring folder of French codes", load, PUBLISHED, recognises=_recognises)
