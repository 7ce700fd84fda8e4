"""The law of a village that is not on any map, with the questions of those who live there."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

from indexes.build.build import BuildSettings, build
from indexes.build.fit_settings import FitSettings
from indexes.corpus.corpus import Corpus, write
from indexes.store.versions import DEFAULT_VERSIONS, new_corpus
from rag.corpus.card import CorpusCard
from rag.types import Article, Question

CODE = "Code du village"
TINY = FitSettings(dim=8, min_count=1, passes=1, question_passes=2, batch=8, random_negatives=4)
FIT = BuildSettings(encoder="fit", fit=TINY)
NONE = BuildSettings(encoder="none")

_ARTICLES = (
    ("1", "Du puits", "Celui qui tire de l'eau referme le couvercle du puits avant de partir."),
    ("2", "Du puits", "Nul ne lave son linge à moins de dix pas du puits commun."),
    ("3", "Du four", "Le four commun est chauffé le mardi et le samedi, à la charge de tous les foyers."),
    ("4", "Du four", "Qui laisse brûler le pain d'un autre lui en doit un semblable."),
    (
        "5",
        "Des bêtes",
        "Une chèvre trouvée dans un jardin est rendue à son maître, qui paie les légumes mangés.",
    ),
    ("6", "Des bêtes", "Le chien qui a mordu est attaché jusqu'à la décision du conseil."),
    ("7", "Des bêtes", "Les poules ne passent pas la nuit sur le chemin."),
    ("8", "Des chemins", "Chaque voisin taille la haie qui borde le chemin devant sa maison."),
    ("9", "Des chemins", "La charrette qui monte cède le passage à celle qui descend chargée."),
    ("10", "Des fêtes", "La musique cesse quand la lune passe derrière le clocher."),
    ("11", "Des fêtes", "Celui qui invite tout le village fournit les bancs et les remet en place."),
    ("12", "Du conseil", "Le conseil se réunit sous le tilleul et décide à la majorité des foyers."),
)
_QUESTIONS = (
    ("q1", "Ma voisine a oublié de fermer le puits, est-ce permis ?", ("v-1",), None),
    ("q2", "La chèvre du voisin a mangé mes salades, qui paie ?", ("v-5",), "train"),
    ("q3", "Jusqu'à quelle heure peut-on jouer du violon à une fête ?", ("v-10", "v-11"), "train"),
    ("q4", "Mon pain a brûlé à cause d'un autre", ("v-4",), "test"),
    ("q5", "Quel temps fera-t-il demain ?", (), None),
)
VILLAGE = Corpus(
    CorpusCard(name="village", title="Le droit du village", language="fr", jurisdiction="XX", licence="CC0"),
    tuple(
        Article(f"v-{number}", CODE, number, text, headings=("Livre I", section), language="fr")
        for number, section, text in _ARTICLES
    ),
    tuple(Question(id_, text, gold, split=split) for id_, text, gold, split in _QUESTIONS),
)
GOAT = "Une chèvre est entrée dans mon jardin"  # article 5 answers


def edition(n: int) -> Corpus:
    """The same law with one more article, which tells the editions apart."""
    added = Article(f"v-ed-{n}", CODE, f"13-{n}", f"Ceci est la version numérotée {n} du droit du village.")
    extras = {added.id: {"edition": n}}  # which no index holds
    return replace(VILLAGE, articles=(*VILLAGE.articles, added), extras=extras)


def install(
    corpus: Corpus = VILLAGE,
    name: str = "village",
    settings: BuildSettings | None = NONE,
    keep: int = DEFAULT_VERSIONS,
) -> Path:
    """Put a corpus under PANDECT_HOME and, unless settings is None, build its index; return the index."""
    with new_corpus(name, replace=True) as place:
        write(corpus, place)
    return build(corpus, name, settings, keep=keep) if settings else Path(os.environ["PANDECT_HOME"])


def first(engine: object, question: str = GOAT) -> str:
    """Ask, and return the id of the first article."""
    shown = engine.ask(question, k=3).shown  # type: ignore[attr-defined]
    return str(shown[0].article.id)


def change_manifest(folder: Path, **entries: object) -> None:
    """Write other values over entries of a manifest; a name with dots goes down into it."""
    path = folder / "manifest.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    record.pop("checksum", None)  # as an earlier release wrote it
    for name, value in entries.items():
        *above, last = name.split("__")
        at = record
        for key in above:
            at = at[key]
        at[last] = value
    path.write_text(json.dumps(record), encoding="utf-8")
