"""What is known of published data sets beyond what can be counted: why, by whom, for what, what is missing.

In our own words, from the papers and the files that came with the data. What stands here goes into data
cards (`indexes.describing.datacard`); what does not is said there to be unknown, never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from indexes.facts import belgium, china, france, germany, italy, web

Facts = Mapping[str, str]  # a section of the data card -> what is known

# The sections that facts may fill, each with its heading on the data card.
SECTIONS: Facts = MappingProxyType(
    {
        "published": "Published as",
        "rationale": "Why it was made",
        "language_variety": "Language variety",
        "written_by": "Who wrote the texts",
        "asked_by": "Who asked the questions",
        "labelled_by": "Who labelled them, and how",
        "preparation": "How it was prepared",
        "intended_use": "Intended use",
        "out_of_scope": "Out of scope",
        "maintenance": "Maintenance",
        "known_gaps": "Known gaps and faults",
    }
)
# The origin on a card -> its facts. All but builtin are names of sources.
FACTS: Mapping[str, Facts] = MappingProxyType(
    {
        "bsard": belgium.BSARD,
        "bbsard": belgium.BBSARD,
        "lleqa": belgium.LLEQA,
        "stard": china.REBUILT,
        "stard-original": china.STARD,
        "jurifindit": italy.JURIFINDIT,
        "mmarco": web.MMARCO,
        "legi": france.LEGI,
        "fr": france.MEASURING,
        "builtin": france.BUILTIN,
        "de": germany.MEASURING,
    }
)
