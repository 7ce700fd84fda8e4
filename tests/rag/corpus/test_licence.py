"""What licences are read as, in the spellings that people use."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.sources.source import card_of
from rag.corpus.card import CorpusCard
from rag.corpus.licence import RESTRICTED, Grant, Licence, classify, licence_of, provenance, strictest

KNOWN = {
    Grant.OPEN: (
        "CC0", "CC0-1.0", "cc0-1.0", "CC-0", "Public Domain", "domaine public", "Gemeinfrei (§ 5 UrhG)",
        "PDDL-1.0", "The Unlicense", "https://creativecommons.org/publicdomain/zero/1.0/", "0BSD",
        "dl-de/zero-2-0", "Creative Commons Zero", "官方文件，不受著作权保护",
    ),
    Grant.ATTRIBUTION: (
        "MIT", "mit", "MIT License", "The MIT License (MIT)", "采用MIT许可", "Apache-2.0",
        "Apache License, Version 2.0", "BSD-3-Clause", "CC BY 4.0", "CC-BY-4.0", "cc-by-4.0", "cc_by_4.0",
        "CCBY", "CC BY 3.0 FR", "Creative Commons Attribution 4.0 International",
        "https://creativecommons.org/licenses/by/4.0/", "Licence Ouverte 2.0 (Etalab)", "etalab-2.0",
        "Licence Ouverte / Open Licence", "IODL 2.0", "IODL-2.0", "Italian Open Data License v2.0",
        "OGL-UK-3.0", "ODC-By-1.0", "dl-de/by-2-0", "Datenlizenz Deutschland – Namensnennung – Version 2.0",
        "CC BY 4.0 (résumés et questions) ; Licence Ouverte 2.0 (numéros, titres, liens)",
        "Apache-2.0 AND CC-BY-4.0 AND etalab-2.0", "MIT OR GPL-3.0", "CC BY 4.0, see https://x.org/LICENSE",
    ),
    Grant.SHARE_ALIKE: (
        "CC BY-SA 4.0", "CC-BY-SA-3.0-IGO", "Creative Commons Attribution-ShareAlike 4.0", "ODbL-1.0",
        "GPL-3.0-or-later", "LGPLv3", "AGPL-3.0", "GNU General Public License v3", "MPL-2.0", "EUPL-1.2",
        "IODL", "IODL 1.0", "MIT AND CC-BY-SA-4.0", "MIT; CC BY-SA 4.0", "MIT OR Apache-2.0; CC BY-SA 4.0",
    ),
    Grant.NO_DERIVATIVES: ("CC BY-ND 4.0", "Creative Commons Attribution-NoDerivatives 4.0"),
    Grant.NON_COMMERCIAL: (
        "CC BY-NC-SA 4.0", "CC-BY-NC-SA", "cc-by-nc-sa-4.0", "CC BY-NC 4.0", "CC BY NC ND", "by-nc-sa",
        "CC BY\u2011NC\u2011SA 4.0", "https://creativecommons.org/licenses/by-nc-sa/4.0/",
        "Creative Commons Attribution-NonCommercial-ShareAlike 4.0 International",
        "Creative Commons Paternité - Pas d’Utilisation Commerciale - Partage dans les Mêmes Conditions 4.0",
        "Namensnennung - Nicht-kommerziell - Weitergabe unter gleichen Bedingungen",
        "Naamsvermelding-NietCommercieel", "Attribuzione - Non commerciale", "for research purposes only",
        "PolyForm-Noncommercial-1.0.0", "CC BY-NC-SA 4.0, with the data use agreement of LLeQA",
        "Apache-2.0 for the translation; MS MARCO: non-commercial research only", "MIT AND CC-BY-NC-4.0",
    ),
    Grant.NONE: (
        "", "   ", "other", "unknown", "All rights reserved", "Tous droits réservés. MIT",
        "mit Namensnennung", "nur mit Erlaubnis", "no licence", "Unlicensed", "proprietary",
        "none stated in the repo",
        "not public domain", "see the website", "CC BY 4.0; texts: terms of the publisher", "standby sales",
        "MIT。法律文本：不受著作权保护；其汇编未声明许可",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("grant", "text"), [(grant, text) for grant, texts in KNOWN.items() for text in texts]
)
def test_spellings(grant: Grant, text: str) -> None:
    assert classify(text) is grant


@pytest.mark.parametrize(
    ("card", "grant"),
    [
        (card_of("bsard"), Grant.NON_COMMERCIAL),
        (card_of("bbsard-nl"), Grant.NON_COMMERCIAL),
        (card_of("lleqa"), Grant.NON_COMMERCIAL),
        (card_of("jurifindit"), Grant.NON_COMMERCIAL),
        (card_of("mmarco-fr"), Grant.NON_COMMERCIAL),
        (card_of("stard-original"), Grant.ATTRIBUTION),
        (card_of("stard"), Grant.NONE),  # the collection of laws that it was rebuilt from has no licence
        (card_of("legi"), Grant.ATTRIBUTION),
        (card_of("fr"), Grant.ATTRIBUTION),
        (card_of("de"), Grant.OPEN),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_the_sources_we_know(card: CorpusCard, grant: Grant) -> None:
    assert licence_of(card).grant is grant
    assert licence_of(card).restricted is (grant in RESTRICTED)


@given(st.text(max_size=40))
def test_any_text_has_a_grant_and_what_is_unknown_has_none(text: str) -> None:
    assert classify(text) in Grant
    assert classify("ğ" + text.upper().translate({ord(c): "Ω" for c in text.upper()})) is Grant.NONE


@given(
    st.sampled_from([(g, t) for g, ts in KNOWN.items() for t in ts]), st.sampled_from(["; ", "\n", " AND "])
)
def test_a_part_more_never_frees(known: tuple[Grant, str], between: str) -> None:
    grant, text = known
    order = list(Grant)
    if " OR " not in text:
        assert order.index(classify(f"{text}{between}CC BY-SA 4.0")) >= order.index(Grant.SHARE_ALIKE)
    if grant is not Grant.NONE and not (between == " AND " and " OR " in text):
        assert order.index(classify(f"{text}{between}CC BY-SA 4.0")) >= order.index(grant)


def card(licence: str = "", url: str | None = None) -> CorpusCard:
    return CorpusCard("town", "Town law", "en", licence=licence, licence_url=url, source="Source: the town")


NC = "https://creativecommons.org/licenses/by-nc/4.0/"
BY = "https://creativecommons.org/licenses/by/4.0/"


def test_an_address_tells_only_where_words_do_not() -> None:
    assert licence_of(card("", NC)) == Licence(NC, Grant.NON_COMMERCIAL, NC)
    assert licence_of(card("see there", BY)).grant is Grant.ATTRIBUTION
    assert licence_of(card("CC BY-NC 4.0", BY)).grant is Grant.NON_COMMERCIAL
    assert licence_of(card("CC BY 4.0; texts: terms of the publisher", BY)).grant is Grant.NONE
    assert licence_of(card("no licence", BY)).grant is Grant.NONE
    terms = "https://town.example/terms"
    assert licence_of(card("", terms)) == Licence(terms, Grant.NONE, terms)


def test_what_is_said_of_it() -> None:
    assert licence_of(card("CC BY-NC 4.0")).named == "CC BY-NC 4.0 (non-commercial)"
    assert licence_of(card("CC BY-NC 4.0")).plain == "It may not be used commercially."
    assert licence_of(card("")).named == "none stated (no grant)"
    assert licence_of(card("")).plain.startswith("The publisher states no licence")
    assert licence_of(card("ask us\nfirst\x1b[2J")).named == "ask us first[2J (no grant)"
    assert provenance(card("CC0")) == {
        "name": "town", "licence": "CC0", "licence_url": None, "source": "Source: the town", "grant": "open",
    }  # fmt: skip


def test_the_strictest_of_several() -> None:
    free, bound = licence_of(card("CC0")), licence_of(card("CC BY-NC 4.0"))
    assert strictest([free, bound, free]) == bound
    assert strictest([]) is None
