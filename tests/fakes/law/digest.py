"""Invented articles with their summaries, and what the check says of them."""

from __future__ import annotations

from indexes.digest.check import check
from indexes.digest.finding import Finding
from rag.types import Article


def article(text: str, number: str = "12", headings: tuple[str, ...] = ()) -> Article:
    return Article(f"X-{number}", "Code des moulins", number, text, headings)


def said(official: str, summary: str, *, number: str = "12", headings: tuple[str, ...] = ()) -> set[Finding]:
    return set(check(article(official, number, headings), article(summary, number)))


def kinds(official: str, summary: str, **more: str) -> list[str]:
    return sorted(finding.kind for finding in said(official, summary, **more))


def details(official: str, summary: str, kind: str, **more: str) -> set[str]:
    return {finding.detail for finding in said(official, summary, **more) if finding.kind == kind}
