"""The eight German codes for measuring."""

from __future__ import annotations

from collections.abc import Mapping

MEASURING: Mapping[str, str] = {
    "published": "Eight codes from bundestag/gesetze, which holds gesetze-im-internet.de as Markdown.",
    "rationale": "To test importing, analysing and searching German law; there are no questions to "
    "measure with.",
    "language_variety": "German of Germany, statutory language.",
    "written_by": "The German federal legislator.",
    "preparation": "Paragraphs and list items one a line; marks of Markdown and official footnotes taken "
    "out; annexes left out, and headings of repealed or empty sections. Held against another collection "
    "of the BGB: 2,339 ids are shared, and the texts differ in 94, most of them in the guardianship "
    "reform.",
    "intended_use": "Tests and measurements of speed and memory.",
    "out_of_scope": "Legal advice; being shown to people as the law in force; measuring retrieval.",
    "maintenance": "None: it is kept as it is.",
    "known_gaps": "Later law is missing, such as the guardianship reform of 1 January 2023 and the new "
    "names in SGB II. There are no questions and no addresses of the official text.",
}
