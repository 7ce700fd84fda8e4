"""`python -m indexes check-builtin`: every summary that ships beside the official text."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from indexes.builtin_corpus import INDEX
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
    summaries: Mapping[str, str]  # article id -> summary

    def lines(self, *, listed: bool) -> Iterator[str]:
        """Yield what is said of it: counts, what is left if it shall be listed, acceptances to take out."""
        found = Counter(finding.kind for finding in self.findings)
        left = Counter(finding.kind for finding in self.settled.left)
        width = max(map(len, KINDS))
        yield f"{'':{width}}  found   left"
        for kind, meaning in KINDS.items():
            yield f"{kind:{width}}  {found[kind]:>5}  {left[kind]:>5}   {meaning}"
        articles = len({finding.article for finding in self.settled.left})
        yield (
            f"{len(self.settled.left):,} findings left on {articles:,} of {len(self.summaries):,} summaries, "
            f"{len(self.settled.accepted):,} accepted, {len(self.settled.lapsed):,} lapsed"
        )
        if listed:
            for finding in self.settled.left:
                record = finding_record(finding, self.summaries[finding.article])
                yield json.dumps(record, ensure_ascii=False)
        elif self.settled.left:
            yield "to see them: --list"
        for each in self.settled.unfit:
            place = f"{each.finding.article}, {each.finding.kind}: {each.finding.detail}"
            yield f"accepted, but no longer found ({place}): take it out of {FILE}"


def check_builtin(law: Path, folder: Path, progress: Progress) -> CheckReport:
    """Check every summary that ships in `folder` beside the law, JSON Lines of official articles.

    The folder holds the index and accepted.json. Articles of the law without a summary are passed over.

    Raises:
        BadInput: a file cannot be used, or the law lacks an article that is summarised.
    """
    accepted = read_accepted(folder / FILE)
    official = {(article.code, article.article_no.strip()): article for article in read_articles(law)}
    file = articles_file(folder / INDEX / "corpus")
    shipped = [article for article in read_articles(file, textless=True) if article.text]
    if more := [a for a in shipped if (a.code, a.article_no) not in official]:
        raise BadInput(
            f"the law at hand has no article {more[0].article_no} of {more[0].code} ({len(more):,} such). "
            "Give the edition that was summarised."
        )
    findings: list[Finding] = []
    for done, article in enumerate(shipped, start=1):
        findings += check(official[article.code, article.article_no], article)
        progress("summaries", done, len(shipped))
    summaries = {article.id: article.text for article in shipped}
    return CheckReport(tuple(findings), settle(findings, accepted, summaries), summaries)
