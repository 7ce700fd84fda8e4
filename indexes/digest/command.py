"""`python -m indexes check-builtin`: every summary of a digest beside the official text."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from indexes.builtin_corpus import INDEX
from indexes.corpus.articles import read_articles
from indexes.corpus.corpus import articles_file
from indexes.corpus.digest import DIGEST, LAWS, read_card, read_digest, read_laws
from indexes.digest.accepted import FILE, AcceptedFindings, finding_record, read_accepted, settle
from indexes.digest.check import FRENCH, check
from indexes.digest.finding import KINDS, Finding
from indexes.sources import registry
from rag.errors import BadInput
from rag.types import Article, Progress


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The findings of a check of all summaries."""

    findings: tuple[Finding, ...]
    settled: AcceptedFindings
    summaries: Mapping[str, str]  # article id -> summary
    language: str = FRENCH

    def lines(self, *, listed: bool) -> Iterator[str]:
        """Yield what is said of it: counts, what is left if it shall be listed, acceptances to take out."""
        found = Counter(finding.kind for finding in self.findings)
        left = Counter(finding.kind for finding in self.settled.left)
        width = max(map(len, KINDS))
        if self.language != FRENCH:
            yield f"{self.language}: compared by numbers, copied words and lengths; the rest knows French"
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
    """Check every summary of a folder beside its law, which any source reads.

    The folder is one of a digest, or holds the index that ships; accepted.json lies in it. Articles without a
    summary are passed over.

    Raises:
        BadInput: a file cannot be used, or the law lacks an article that is summarised.
    """
    accepted = read_accepted(folder / FILE)
    written, language = _summaries(folder)
    found = registry.law(law, language=language).articles
    official = {(article.code, article.article_no.strip()): article for article in found}
    if more := [a for a in written if (a.code, a.article_no) not in official]:
        raise BadInput(
            f"the law at hand has no article {more[0].article_no} of {more[0].code} ({len(more):,} such). "
            "Give the edition that was summarised."
        )
    findings: list[Finding] = []
    for done, article in enumerate(written, start=1):
        findings += check(official[article.code, article.article_no], article, language)
        progress("summaries", done, len(written))
    summaries = {article.id: article.text for article in written}
    return CheckReport(tuple(findings), settle(findings, accepted, summaries), summaries, language)


def _summaries(folder: Path) -> tuple[list[Article], str]:
    """Return the articles that are summarised, with their summaries, and in which language."""
    if not (folder / DIGEST).is_file():
        file = articles_file(folder / INDEX / "corpus")
        return [article for article in read_articles(file, textless=True) if article.text], FRENCH
    laws, digest = read_laws(folder), read_digest(folder)
    if unknown := sorted({code for code, _ in digest.summaries} - laws.keys()):
        raise BadInput(f"{unknown[0]} has no prefix: give it one in {folder / LAWS}")
    written = [
        Article(laws[code].article_id(number), code, number, summary)
        for (code, number), summary in digest.summaries.items()
        if summary
    ]
    return written, read_card(folder).language
