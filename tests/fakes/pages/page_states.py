"""Every page in every state that a person may see: where it is, how one gets there, what must be on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.fakes.pages.browser import at_rest, choose
from tests.fakes.pages.ui_answers import FOLLOW_UP, PERSONAL, SPLIT
from tests.fakes.pages.ui_engine import QUESTION

if TYPE_CHECKING:
    from playwright.sync_api import Page

BRIDGED = "faute d'ortographe sur mon acte de naissance comment corriger"  # this law says "rectification"
PASSAGE = ".st-key-written .pd-quote"  # of an answer
TAX = "Combien d'impôt sur le revenu vais-je payer ?"  # of the Code général des impôts, which does not ship


def ask(page: Page, question: str) -> None:
    """Ask in the first box: where articles are shown already, a second one asks further."""
    box = page.locator(".st-key-question textarea")
    box.fill(question)
    box.press("Enter")


def _stay(page: Page) -> None:
    """Look at the page as its address shows it."""


def _asks(question: str) -> Callable[[Page], None]:
    return lambda page: ask(page, question)


def _opens_why(page: Page) -> None:
    ask(page, QUESTION)
    page.locator(".pd-card").nth(2).wait_for()
    for summary in page.locator(".pd-card").first.locator("summary").all():
        summary.click()


def _opens_row(page: Page) -> None:
    ask(page, QUESTION)
    page.locator(".pd-row > summary").first.click()


def _opens_around(page: Page) -> None:
    ask(page, QUESTION)
    page.locator(".pd-around summary").first.click()


def _says_something(page: Page) -> None:
    ask(page, QUESTION)
    page.locator(".stExpander summary", has_text="Dire ce que vous pensez").click()
    page.locator(".st-key-feedback_reason [data-testid=stRadioOption]").first.click()
    page.get_by_role("button", name="Envoyer").click()


def _opens_options(page: Page) -> None:
    at_rest(page)
    # by name: until the law is open another box is the last one
    page.locator(".stExpander summary", has_text="Options de recherche").click()
    page.get_by_role("radiogroup", name="Comment chercher").wait_for()


def _opens_laws(page: Page) -> None:
    page.locator(".pd-searched > summary").click()
    page.locator(".pd-laws summary").first.click()


def _opens_theme(page: Page) -> None:
    page.locator(".pd-laws summary").first.click()


def _opens_limits(page: Page) -> None:
    ask(page, QUESTION)
    page.locator(".pd-untold").wait_for(state="attached")
    page.locator(".pd-card .pd-limits summary").first.click()


def _opens_share(page: Page) -> None:
    ask(page, QUESTION)
    page.locator(".pd-card").nth(9).wait_for(state="attached")
    page.locator(".stExpander summary", has_text="Partager, garder ou imprimer ces articles").click()


def _has_it_written(page: Page) -> None:
    ask(page, QUESTION)
    page.locator(".st-key-write button").click()


def _stops_it(page: Page) -> None:
    _has_it_written(page)
    page.locator(PASSAGE).first.wait_for()
    page.get_by_role("button", name="Arrêter").click()


def _opens_what_carries_it(page: Page) -> None:
    _has_it_written(page)
    page.locator(".pd-said summary").first.click()


def _asks_further(page: Page) -> None:
    ask(page, QUESTION)
    page.locator(".st-key-further input").fill(FOLLOW_UP)
    page.get_by_role("button", name="Continuer").click()


def _reads_how(page: Page, question: str) -> None:
    ask(page, question)
    page.locator(".st-key-reading").wait_for()
    if not page.locator(".st-key-reading details[open]").count():  # it stays open from question to question
        page.locator(".st-key-reading summary").click()


def _is_told_three_things(page: Page) -> None:
    _reads_how(page, QUESTION + " Et son mur penche." * 120)
    for said in (
        ".pd-read-as",
        ".st-key-situated-chips button",
        ".pd-hint >> text=Votre question est longue",
    ):
        page.locator(said).first.wait_for()


def _filters_all_out(page: Page) -> None:
    page.locator(".stExpander summary", has_text="Options de recherche").click()
    box = page.get_by_role("combobox", name="Codes", exact=True)
    choose(page, box, page.get_by_role("option", name="Code rural"))
    page.keyboard.press("Escape")
    ask(page, QUESTION)


def _sends_nothing(page: Page) -> None:
    page.locator(".st-key-question textarea").fill("")  # of the state before
    page.get_by_role("button", name="Trouver les articles").click()


def _takes_a_word_out(page: Page) -> None:
    _reads_how(page, BRIDGED)
    page.locator(".st-key-bridged-chips button").first.click()


def _opens_advisers(page: Page) -> None:
    page.locator(".pd-advisers > summary").click()


def _adds_one(page: Page) -> None:
    ask(page, QUESTION)
    around = page.locator(".pd-around", has=page.locator("a[href*='add=1240']")).first
    around.locator("summary").click()
    around.locator("a[href*='add=1240']").click()


def _answers_back(page: Page) -> None:
    ask(page, SPLIT)
    page.locator(".st-key-clarifying-options button").first.click()


def _changes_what_is_sent(page: Page) -> None:
    ask(page, PERSONAL)
    page.locator(".st-key-sent_as [data-testid=stRadioOption]").nth(1).click()


def _takes_a_test_question(page: Page) -> None:
    box = page.get_by_role("combobox", name="Ou prenez une question de test")
    choose(page, box, page.get_by_role("option").first)


def _speaks(language: str) -> Callable[[Page], None]:
    """Ask, and then have the page in another language."""

    def reach(page: Page) -> None:
        ask(page, QUESTION)
        page.locator(".pd-card").nth(2).wait_for()
        page.locator(".st-key-languages button").click()
        page.get_by_text(language, exact=True).click()
        page.keyboard.press("Escape")

    return reach


def _names_a_code(page: Page) -> None:
    box = page.locator(".st-key-codes_named input")
    box.fill("code civil")
    box.press("Enter")


def _presses(key: str) -> Callable[[Page], None]:
    return lambda page: page.locator(f".st-key-{key} button").click()


def _types_another_password(page: Page) -> None:
    box = page.locator(".st-key-operator_password input")
    box.fill("another password")
    box.press("Enter")


def _opens_audit_and_versions(page: Page) -> None:
    for summary in page.locator(".st-key-law-of-mare summary").all():
        summary.click()


def _goes_back(page: Page) -> None:
    page.locator(".st-key-law-of-mare .stPopover button").click()


def _accepts_one(page: Page) -> None:
    _presses("law-look")(page)
    _presses("law-accept")(page)


def _names_a_table(place: str) -> Callable[[Page], None]:
    def reach(page: Page) -> None:
        box = page.locator(".st-key-law-path input")
        box.fill(place)
        box.press("Enter")

    return reach


def _searches_within(page: Page) -> None:
    box = page.get_by_role("textbox", name="Chercher dans ce code")
    box.fill("clôture")
    box.press("Enter")


@dataclass(frozen=True, slots=True)
class State:
    """One thing that a person may see."""

    address: str
    shown: str  # a selector: once it is there, so is the state
    reach: Callable[[Page], None] = _stay
    look: str = ""  # a selector: what a picture must hold, where it stands deep below
    ends: bool = True  # whether the page is drawn to its end: while an answer is written it is not


# over the law that ships
APP: dict[str, State] = {
    "start": State("", ".st-key-examples button"),
    "advisers": State("", ".pd-advisers[open] dd >> nth=0", _opens_advisers),
    "results": State("", ".pd-rest", _asks(QUESTION)),
    "why": State("", ".pd-card details[open] >> nth=0", _opens_why),
    "share": State("", ".pd-address code", _opens_share, ".pd-address"),
    "elsewhere": State("", ".pd-elsewhere", _asks(TAX)),
    "harassed": State("", ".pd-people", _asks("Mon chef me harcèle")),
    "nothing": State("", ".pd-box", _asks("zzxqy wvkpt")),
    "empty": State("", ".pd-box >> text=Écrivez d’abord votre question", _sends_nothing),
    "bridged": State("", ".st-key-bridged button", lambda page: _reads_how(page, BRIDGED)),
    "unbridged": State("", ".st-key-unbridged button", _takes_a_word_out),
    "foreign": State("", ".st-key-ask-terms button", _asks("My landlord won't give my rent deposit back")),
    "known": State("", ".pd-card >> nth=1 >> text=Article 1240", _asks("article 1382 du Code civil")),
    "shared": State("?articles=CC-671,CC-672,CC-000&index=old", ".pd-card >> nth=1"),
    "browse": State("browse", ".pd-laws details[open]", _opens_theme),
    "browse-named": State("browse", ".pd-shelf", _names_a_code),
    "browse-place": State("browse?code=Code+civil&at=2.1", ".pd-shelf"),
    "browse-article": State("browse?article=CC-671", ".pd-reading"),
    "browse-found": State("browse?code=Code+civil", ".pd-within", _searches_within),
    "browse-gone": State("browse?article=nowhere", ".pd-notice >> nth=0"),
    "compare": State("compare", ".st-key-systems"),
    "compared": State("compare", ".pd-column >> nth=2", _asks(QUESTION)),
    "compare-urgent": State("compare", ".pd-urgent", _asks("Mon mari me frappe")),
    "compare-known": State("compare", ".pd-metrics >> nth=2", _takes_a_test_question),
    "quality": State("quality", ".pd-plot"),
    "about": State("about", ".pd-about"),
    "sheet": State("sheet?articles=CC-671,CC-672,CC-1240", ".pd-sheet"),
    "sheet-empty": State("sheet", ".pd-found"),
}
# over the fake engine, whose models and failures do as they are told
FAKE: dict[str, State] = {
    "offered": State("?answers=written", ".st-key-write", _asks(QUESTION)),
    "personal": State("?answers=written", ".pd-sent", _asks("Jean Dupont, 06 12 34 56 78, a un arbre")),
    "personal-changed": State("?answers=written", ".st-key-sent_text textarea", _changes_what_is_sent),
    "writing": State("?answers=half", PASSAGE, _has_it_written, PASSAGE, ends=False),
    "written": State("?answers=trimmed", ".pd-machine", _has_it_written),
    "judging": State("?answers=judging", ".pd-progress >> text=2 phrases", _has_it_written, ends=False),
    "judged": State("?answers=judged", ".pd-said details[open]", _opens_what_carries_it),
    "unverified": State("?answers=unverified", PASSAGE, _has_it_written, PASSAGE),
    "unjudged": State("?answers=unjudged", PASSAGE, _has_it_written, PASSAGE),
    "model-dead": State("?answers=dead", ".st-key-written .pd-short", _has_it_written),
    "limited": State("?answers=limited", ".pd-short >> text=42 secondes", _has_it_written),
    "broken-off": State("?answers=broken", ".pd-short >> text=rompue", _has_it_written),
    "stopped": State("?answers=half", ".st-key-written >> text=Arrêté.", _stops_it),
    "model-missing": State("?answers=problem", ".pd-card >> nth=2", _asks(QUESTION)),
    "likely": State("?answers=quoted&engine=likely", ".pd-row[open] .pd-card", _opens_row, ".pd-rest"),
    "topic": State("?engine=topic", ".st-key-topic button", _asks("arbre voisin")),
    "doubtful": State("?answers=written&engine=doubtful", ".pd-short", _asks(QUESTION)),
    "other-country": State("", ".pd-doubt", _asks("droit belge : quel arbre planter ?")),
    "not-law": State("", ".pd-doubt", _asks("recette de tarte aux pommes avec un arbre")),
    "told": State("?engine=telling&situation=tenant", ".pd-card >> nth=0", _is_told_three_things),
    "asked-back": State("?answers=quoted&engine=sides", ".st-key-clarifying-options button", _asks(SPLIT)),
    "answered-back": State("?answers=quoted&engine=sides", ".st-key-unclarify button", _answers_back),
    "follow-up": State("?answers=quoted", ".pd-read-as", _asks_further),
    "urgent": State("?answers=quoted", ".pd-urgent", _asks("Mon voisin me frappe et menace de me tuer")),
    "urgent-nothing": State("", ".pd-urgent", _asks("Quiero suicidarme")),
    "laws": State("?engine=laws", ".pd-searched details[open]", _opens_laws),
    "limits": State("?answers=quoted&engine=laws", ".pd-limits details[open]", _opens_limits),
    "filters": State("?engine=many", ".stDateInput", _opens_options),
    "filtered-out": State("?engine=many", ".st-key-unfilter", _filters_all_out),
    "feedback": State("?kept=yes", ".stExpander >> text=Merci", _says_something, ".st-key-feedback_reason"),
    "search-failed": State("?engine=failing", ".pd-box", _asks(QUESTION)),
    "one-way": State("?page=compare&engine=one-way", ".pd-compare"),
    "browse-codes": State("?page=browse&engine=codes", ".st-key-codes_named input"),
    "browse-themes": State("?page=browse&engine=laws", ".pd-laws details[open]", _opens_theme),
    "browse-parts": State(
        "?page=browse&engine=codes&code=Loi+imaginaire+1&part=2", ".pd-parts", look=".pd-parts"
    ),
    "browse-references": State(
        "?page=browse&engine=referring&article=2", ".pd-with li", look=".pd-shelf mark.pd-refers"
    ),
    "references": State("?engine=referring", ".pd-around[open] .pd-refers", _opens_around, ".pd-refers"),
    "german": State("", "html[lang=de] .pd-card >> nth=2", _speaks("Deutsch")),
    "chinese": State("", "html[lang=zh-Hans] .pd-card >> nth=2", _speaks("中文")),
    "added": State("", ".st-key-unadd button", _adds_one, ".st-key-unadd"),
    "about-passages": State("?page=about&answers=written", ".pd-about >> nth=5"),
    "about-judge": State("?page=about&answers=withheld", ".pd-about >> nth=5"),
    "unmeasured": State("?page=quality", ".stCode"),
    "unreadable": State("?page=quality&broken=yes", ".pd-whole"),
    "law-login": State("?page=law&library=login", ".st-key-operator_password"),
    "law-password-wrong": State(
        "?page=law&library=login", ".pd-notice >> text=mot de passe", _types_another_password
    ),
    "law": State("?page=law", ".st-key-law-of-mare"),
    "law-new": State("?page=law&library=new", ".st-key-law-of-builtin"),
    "law-audit": State("?page=law", ".pd-table >> nth=1", _opens_audit_and_versions),
    "law-rollback": State("?page=law", ".st-key-law-rollback-of-mare", _goes_back),
    "law-refused": State("?page=law", ".pd-box[role=alert]", _presses("law-preview"), ".pd-box[role=alert]"),
    "law-removing": State("?page=law", ".st-key-law-keep", _presses("law-removing-of-neuf")),
    "law-columns": State("?page=law", ".st-key-law-columns", _names_a_table("/srv/law.csv")),
    "law-unmapped": State(
        "?page=law&library=unmapped", ".st-key-law-columns", _names_a_table("hf://datasets/us/law/law.csv")
    ),
    "law-preview": State("?page=law&library=previewed", ".st-key-law-install"),
    "law-running": State("?page=law&library=running", ".stProgress"),
    "law-failed": State("?page=law&library=failed", ".pd-whole[open]"),
    "law-stopped": State("?page=law&library=stopped", ".st-key-law-job .pd-box"),
    "law-gained": State("?page=law&library=gained", ".pd-whole[open]"),
    "law-accepted": State("?page=law", ".st-key-law-gain", _accepts_one, ".st-key-law-gain"),
    "law-said": State("?page=law", ".st-key-law-accept", _presses("law-look")),
    "no-index": State("?engine=missing", ".pd-box"),
}
OFFLINE = "offline"  # the server is killed for it: test_accessibility.py has a test of its own
