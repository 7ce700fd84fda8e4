"""`python -m training.references`: how well references are read in plain text.

    python -m training.references --labels fr it de zh --data ../shared/data --half dev --errors 20
    python -m training.references --akn ../shared/data/akn

Labels are passages that were labelled twice apart, differences decided by a third reading
(`tests/rag/graph/labels/README.md`); `--akn` compares with the `<ref>` elements of acts in Akoma Ntoso, read
in the text without them.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from indexes.cli.terminal import guarded
from indexes.sources import registry
from rag.corpus.card import CorpusCard
from rag.errors import BadInput
from rag.types import Article
from training.eval.report import commit
from training.references import labels as labels_
from training.references import marked as marked_
from training.references.scores import PUBLISHED, Claim, Difference, Reader, measured
from training.tables.references import reference_kinds, references

LABELS = Path(__file__).resolve().parents[2] / "tests" / "rag" / "graph" / "labels"

Make = Callable[[Sequence[Article], CorpusCard], Reader]  # ReferenceReader, or what is measured like it


def against_labels(
    language: str, data: Path, make: Make, half: str | None = None, folder: Path = LABELS
) -> tuple[dict[str, Any], list[Difference]]:
    """Return the measures of one language by half, and what differs, in the order of the passages.

    Raises:
        BadInput: no labels of the language, no data, or data that is not what was labelled.
    """
    passages = labels_.read_passages(folder / f"references-{language}.jsonl")
    passages = [passage for passage in passages if half in (None, passage.half)]
    claims: list[Claim] = []
    differences: list[Difference] = []
    for source in dict.fromkeys(passage.source for passage in passages):
        path = data / source
        if not path.exists():
            raise BadInput(f"{path}: not there. --data names the folder that the labels' law is in.")
        corpus = registry.law(path)
        articles = {article.id: article for article in corpus.articles}
        reader = make(corpus.articles, corpus.card)
        for passage in (each for each in passages if each.source == source):
            if passage.article not in articles:
                raise BadInput(f"{path}: no article {passage.article!r}, of which passage {passage.n} is.")
            article = articles[passage.article]
            passage.check(article.text, path)
            new, told = labels_.compare(passage, article, reader.read(article))
            claims += new
            differences += told
    numbers: dict[str, Any] = {"passages": len(passages)}
    for part in ("all", *labels_.HALVES) if half is None else (half,):
        numbers[part] = measured(claim for claim in claims if part in ("all", claim.half))
    return numbers, differences


def against_markup(path: Path, make: Make) -> tuple[dict[str, Any], list[Difference]]:
    """Return language -> measures of the acts of a path, and what differs.

    Raises:
        BadInput: no act there, or one that cannot be used.
        MissingExtra: lxml is not installed.
    """
    numbers = {}
    differences: list[Difference] = []
    for law in marked_.read_marked(path):
        claims, told, counts = marked_.compare(law, make(law.corpus.articles, law.corpus.card))
        differences += told
        if counts["elements"]:
            numbers[law.corpus.card.language or ""] = {
                "articles": len(law.corpus.articles),
                "counts": dict(counts),
                "all": measured(claims),
            }
    return numbers, differences


@guarded
def main(arguments: Sequence[str] | None = None, make: Make | None = None) -> int:
    """Measure, print, write."""
    raw = argparse.RawDescriptionHelpFormatter
    top = argparse.ArgumentParser(
        prog="python -m training.references", description=__doc__, formatter_class=raw
    )
    top.add_argument("--labels", nargs="+", metavar="LANGUAGE", default=[], help="fr, it, de, zh")
    top.add_argument("--data", type=Path, help="the folder of the law that was labelled")
    top.add_argument("--half", choices=labels_.HALVES, help="this half of the labels alone")
    top.add_argument("--akn", nargs="+", type=Path, default=[], metavar="PATH", help="acts in Akoma Ntoso")
    top.add_argument("--errors", type=int, default=0, metavar="N", help="print so many differences of each")
    top.add_argument("--output", type=Path, help="write the numbers there as JSON")
    parsed = top.parse_args(arguments)
    found = _measure(parsed, make or _reader())
    typed = sys.argv[1:] if arguments is None else arguments
    command = shlex.join(["python", "-m", "training.references", *typed])
    entry = {"kind": "references", "command": command, "commit": commit(), **found}
    print("\n".join(["", references(entry), "", reference_kinds(entry)]))
    if parsed.output is not None:
        parsed.output.write_text(json.dumps(entry, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


def _measure(parsed: argparse.Namespace, make: Make) -> dict[str, Any]:
    if not parsed.labels and not parsed.akn:
        raise BadInput("nothing to measure: give --labels fr --data FOLDER, or --akn FILE")
    if parsed.labels and parsed.data is None:
        raise BadInput("--labels needs the law that was labelled: --data ../shared/data")
    if parsed.labels and parsed.errors and parsed.half is None:
        raise BadInput("differences are read of one half: add --half dev (test is for measuring alone)")
    found: dict[str, Any] = {"labels": {}, "akn": {}, "published": PUBLISHED}
    for language in parsed.labels:
        found["labels"][language], told = against_labels(language, parsed.data, make, parsed.half)
        _print(language, told, parsed.errors)
    for path in parsed.akn:
        for language, numbers in (of := against_markup(path, make))[0].items():
            found["akn"][f"{path.name} ({language})"] = numbers
            print(
                f"{path.name} ({language}): " + "; ".join(f"{k} {v:,}" for k, v in numbers["counts"].items())
            )
        _print(str(path), of[1], parsed.errors)
    if parsed.akn and not found["akn"]:
        names = ", ".join(map(str, parsed.akn))
        raise BadInput(
            f"{names}: no article with a reference in <ref>. Give acts whose publisher marks them."
        )
    return found


def _print(of: str, differences: Sequence[Difference], most: int) -> None:
    for each in differences[:most]:
        print(f"{of}: {each.where}, {each.start}-{each.end}: {each.what}")
    if most and len(differences) > most:
        print(f"{of}: {len(differences) - most:,} more")


def _reader() -> Make:
    from rag.graph.references.reader import ReferenceReader

    return ReferenceReader


if __name__ == "__main__":
    sys.exit(main())
