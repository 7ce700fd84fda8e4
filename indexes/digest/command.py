"""`python -m indexes check-builtin`: every summary that ships beside the official text."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from indexes.builtin_corpus import CODE, INDEX
from indexes.corpus.articles import read_articles
from indexes.corpus.corpus import articles_file
from indexes.digest.accepted import FILE, AcceptedFindings, finding_record, read_accepted, settle
from indexes.digest.check import check
from indexes.digest.finding import KINDS, Finding
from rag.errors import BadInput
from rag.types import Progress


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The findings of a check of all summaries."""

    findings: tuple[Finding, ...]
    settled: AcceptedFindings
    summaries: Mapping[str, str]  # article number -> summary

    def lines(self, *, listed: bool) -> Iterator[str]:
        """Yield what is said of it: counts, what is left if it shall be listed, acceptances to take out."""
        found = Counter(finding.kind for finding in self.findings)
        left = Counter(finding.kind for finding in self.settled.left)
        width = max(map(len, KINDS))
        yield f"{'':{width}}  found   left"
        for kind, meaning in KINDS.items():
            yield f"{kind:{width}}  {found[kind]:>5}  {left[kind]:>5}   {meaning}"
        articles = len({finding.article_no for finding in self.settled.left})
        yield (
            f"{len(self.settled.left):,} findings left on {articles:,} of {len(self.summaries):,} summaries, "
            f"{len(self.settled.accepted):,} accepted, {len(self.settled.lapsed):,} lapsed"
        )
        if listed:
            for finding in self.settled.left:
                record = finding_record(finding, self.summaries[finding.article_no])
                yield json.dumps(record, ensure_ascii=False)
        elif self.settled.left:
            yield "to see them: --list"
        for each in self.settled.unfit:
            place = f"article {each.finding.article_no}, {each.finding.kind}: {each.finding.detail}"
            yield f"accepted, but no longer found ({place}): take it out of {FILE}"


def check_builtin(law: Path, folder: Path, progress: Progress) -> CheckReport:
    """Check every summary that ships in `folder` beside the law, JSON Lines of official articles.

    The folder holds the index and accepted.json; articles of other codes than the Code civil are passed over.

    Raises:
        BadInput: a file cannot be used, or the two do not hold the same articles.
    """
    accepted = read_accepted(folder / FILE)
    official = [article for article in read_articles(law) if article.code == CODE]
    shipped = {
        article.article_no: article for article in read_articles(articles_file(folder / INDEX / "corpus"))
    }
    if missing := [article.article_no for article in official if article.article_no not in shipped]:
        raise BadInput(f"no summary ships of article {missing[0]} ({len(missing):,} such). Write one.")
    known = {article.article_no for article in official}
    if more := [number for number in shipped if number not in known]:
        raise BadInput(
            f"the {CODE} at hand has no article {more[0]} ({len(more):,} such). Give the edition that was "
            "summarised."
        )
    findings: list[Finding] = []
    for done, article in enumerate(official, start=1):
        findings += check(article, shipped[article.article_no])
        progress("summaries", done, len(official))
    summaries = {number: article.text for number, article in shipped.items()}
    return CheckReport(tuple(findings), settle(findings, accepted, summaries), summaries)
