"""BSARD as published: Belgian law in French and citizens' questions, in CSV (Louis and Spanakis 2022).

And bBSARD, the same law and questions in French and in Dutch (Lotfi et al. 2025).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from indexes.corpus.corpus import SYNTHETIC, Corpus
from indexes.formats.csv import rows
from indexes.formats.jsonl import Record, decode
from indexes.formats.validation import Inspection, SourceLocation
from indexes.sources import source
from indexes.sources.source import Reading, Records, Source, chosen, first_file
from indexes.sources.tags import NO_TAGS, chosen_tags, tagged
from rag.errors import BadInput

CARD = source.card_of("bsard")
BILINGUAL_CARDS = {language: source.card_of(f"bbsard-{language}") for language in ("fr", "nl")}
HEADINGS = ("book", "part", "act", "chapter", "section", "subsection")
_USED = ("id", "article", "code", "article_no", "reference", "law_type", "description", *HEADINGS)
# Codes of a region, by the word in their title that tells, in French and in Dutch; ISO 3166-2.
_REGIONS = {
    "wallon": "BE-WAL",
    "waals": "BE-WAL",
    "bruxellois": "BE-BRU",
    "brussels": "BE-BRU",
    "flamand": "BE-VLG",
    "vlaams": "BE-VLG",
    "code de la démocratie locale et de la décentralisation": "BE-WAL",
    "wetboek van de plaatselijke democratie en de decentralisatie": "BE-WAL",
}
_ARTICLE = re.compile(r"\s*(?:art(?:icles?)?\b\.?)\s*", re.IGNORECASE)
_TAGS = ("extra_description",)  # the situation of the asker
_TAG_COLUMNS = ("category", "subcategory", *_TAGS)


def read(
    path: Path, reading: Reading, *, splits: str = "train,test", tags: str = NO_TAGS, negatives: bool = False
) -> Corpus:
    """Read the folder of CSV files, with the names of today or those of 2021 (articles_fr.csv ...).

    `splits` names train, test and synthetic, with commas; the ids of synthetic questions begin with
    "synthetic-", for they are numbered from 1 again. `tags`, if true, puts the situation of the asker ("I am
    a tenant in Brussels", extra_description) in front of the question, or else the columns that it names, of
    category, subcategory and that. `negatives` keeps with each question, as the extra column "negatives", the
    articles that the published files of BM25's hard negatives list for it; the test questions have none.
    """

    def file(stem: str, of_2021: str) -> Path:
        return first_file(path, (f"{stem}.csv", of_2021), "Give the folder of CSV files")

    law = file("articles", "articles_fr.csv")
    found = rows(law, reading.inspection, required=("id", "article", "code"), progress=reading.progress)
    wanted = chosen(splits, ("train", "test", SYNTHETIC))
    files = {split: file(f"questions_{split}", f"questions_fr_{split}.csv") for split in wanted}
    articles = ((place, article_record(row)) for place, row in found)
    in_front = chosen_tags(tags, _TAGS, _TAG_COLUMNS)
    questions = _questions(files, in_front, reading.inspection, path if negatives else None)
    return reading.corpus(CARD, articles, questions, path=law)


def read_bilingual(
    path: Path, reading: Reading, *, splits: str = "train,test", tags: str = NO_TAGS
) -> Corpus:
    """Read one language of bBSARD: the folder fr or nl, or the folder of both with the language given.

    The options are as those of `read`; there are no synthetic questions.
    """
    here, language = (path / "corpus.csv").is_file(), reading.card.get("language")
    wanted = language or (path.resolve().name if here else None)
    if wanted is None or wanted not in BILINGUAL_CARDS:
        got = f"the language is {language!r}" if language else f"{path} does not tell the language"
        raise BadInput(f"{got}. Pass --language fr or --language nl.")
    folder = path if here else path / wanted
    law = folder / "corpus.csv"
    if not law.is_file():
        cure = "Give the folder that holds fr and nl, or one of them"
        raise BadInput(f"{folder}: no corpus.csv in it. {cure}.")
    found = rows(law, reading.inspection, required=("id", "article"), progress=reading.progress)
    articles = ((place, article_record({**row, "code": _code(row)})) for place, row in found)
    files = {split: folder / f"{split}.csv" for split in chosen(splits, ("train", "test"))}
    questions = _questions(files, chosen_tags(tags, _TAGS, _TAG_COLUMNS), reading.inspection)
    return reading.corpus(BILINGUAL_CARDS[wanted], articles, questions, path=law)


def _code(row: Record) -> str:
    """Return the code of a row; where no column names it, the reference does, behind its first comma."""
    reference = str(row.get("reference") or row.get("description") or "")
    return str(row.get("code") or "").strip() or reference.partition(",")[2].strip()


def classify_law(code: str, law_type: str = "") -> tuple[str, str | None]:
    """Return law type and region of a code: the published type if there is one, else by its title."""
    title = code.casefold()
    region = next((region for word, region in _REGIONS.items() if word in title), None)
    kind = law_type.strip().casefold() or ("regional" if region else "national")
    return kind, region if kind == "regional" else None


def article_number(reference: str, code: str) -> str:
    """Return the article number of a reference such as "Art. 1.1.1, Code ... (Livre 1er)"."""
    at = reference.casefold().find(code.casefold()) if code else -1
    numbered = reference[:at] if at > 0 else reference.partition(",")[0]
    return _ARTICLE.sub("", numbered, count=1).strip(" ,")


def parse_ids(value: object) -> list[str]:
    """Return the ids of "123,456", "[123, 456]", [123, 456] or 123, each once."""
    parts = value if isinstance(value, list) else str(value).strip("[] ").split(",")
    ids = (str(part).strip(" '\"") for part in parts)
    return list(dict.fromkeys(id_ for id_ in ids if id_))


def hard_negatives(path: Path, split: str) -> Mapping[str, list[str]]:
    """Return question id, as `read` has it -> ids of articles that BM25 finds and that do not answer.

    They are of the folder that `read` takes, and of its split train or synthetic.

    Raises:
        BadInput: the file is not there, or is not one JSON object of lists of ids.
    """
    name = f"bm25_negatives_{split}.json"
    file = first_file(path, (f"negatives/{name}", name), "Fetch the folder negatives, or import without them")
    try:
        found = json.loads(decode(file.read_bytes(), SourceLocation(file, 1), Inspection()) or "")
        json.dumps(found, ensure_ascii=False).encode()  # half a surrogate pair could not be written again
    except BadInput:
        raise
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{file}: not JSON ({error}). Fetch the file again.") from None
    listed = isinstance(found, dict) and all(isinstance(ids, list) for ids in found.values())
    if not listed or not all(isinstance(id_, int | str) for ids in found.values() for id_ in ids):
        cure = 'Give the file as published: {"1": [2, 3]}'
        raise BadInput(f"{file}: an object of lists of ids was expected. {cure}.")
    return {_id(question, split): parse_ids(ids) for question, ids in found.items()}


def _id(question: str, split: str) -> str:
    return f"{split}-{question}" if split == SYNTHETIC else question


def article_record(row: Record) -> Record:
    """Return a row of articles.csv as a record of the project's own keys."""
    values = {key: str(value).strip() for key, value in row.items()}
    code = values["code"]
    law_type, region = classify_law(code, values.get("law_type", ""))
    headings = [values[key] for key in HEADINGS if values.get(key)]
    if not headings and values.get("description"):
        headings = [values["description"]]  # the headings run together, as in the files of 2021
    return {
        **{key: value for key, value in values.items() if key not in _USED},
        "id": values["id"],
        "code": code,
        "article_no": values.get("article_no") or article_number(values.get("reference", ""), code),
        "text": values["article"],
        "headings": headings,
        "law_type": law_type,
        "region": region,
    }


def _questions(
    files: Mapping[str, Path], tags: Sequence[str], inspection: Inspection, negatives: Path | None = None
) -> Records:
    """Yield the questions of each split, with the hard negatives that lie in a folder if it is told."""
    for split, file in files.items():
        listed = hard_negatives(negatives, split) if negatives and split != "test" else {}
        for place, row in rows(file, inspection, required=("id", "question", "article_ids")):
            values = {key: str(value).strip() for key, value in row.items()}
            id_, gold = _id(values["id"], split), parse_ids(values["article_ids"])
            record = {**values, "id": id_, "question": tagged(values, tags), "article_ids": gold}
            more = {"negatives": listed.get(id_, [])} if negatives else {}
            yield place, {**record, "split": split, **more}


def _recognises(path: Path) -> bool:
    either = (("articles.csv", "articles_fr.csv"), ("questions_test.csv", "questions_fr_test.csv"))
    return all(any((path / name).is_file() for name in names) for names in either)


def _recognises_bilingual(path: Path) -> bool:
    names = ("corpus.csv", "train.csv", "test.csv")
    folders = (path, path / "fr", path / "nl")
    return any(all((folder / name).is_file() for name in names) for folder in folders)


SOURCE = Source(
    "the folder of BSARD's CSV files",
    read,
    source.published("bsard"),
    counts=source.published_counts,
    recognises=_recognises,
)
BILINGUAL = Source(
    "the folder of bBSARD, with --language fr or nl",
    read_bilingual,
    source.published("bbsard"),
    recognises=_recognises_bilingual,
)
