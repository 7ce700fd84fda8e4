"""The page for operators in a browser: from a password to a law that is searched, and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.fakes.law.odd_server import serving
from tests.fakes.pages.browser import CHROMIUM, Server, ask, at_rest, choose, served, visit
from tests.fakes.pages.law_library import PASSWORD
from tests.indexes.download.test_hub import the_hub
from tests.paths import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the PATH: apt-get install chromium"),
]
HUB = {  # a data set as BSARD is published, of twelve articles
    "articles.csv": "id,article,code,reference\n"
    + "1,La pêche est permise.,Code de la mare,Art. 1\n"
    + "".join(f"{n},Les canards passent {n} fois.,Code de la mare,Art. {n}\n" for n in range(2, 13)),
    "questions_train.csv": "id,question,article_ids\n1,Puis-je attraper des grenouilles ?,1\n",
    "questions_test.csv": "id,question,article_ids\n2,Et des canards ?,2\n",
}
LAW = "nr,loi,contenu\n1,Code de la mare,La pêche est permise.\n2,Code de la mare,Les canards passent.\n"


def press(page: Page, key: str) -> None:
    page.locator(f".st-key-law-{key} button").click()


def done(page: Page, title: str) -> None:
    """Wait until a command has ended well."""
    box = page.locator(".st-key-law-job .pd-box", has_text=title)
    box.filter(has_text="C’est fait.").wait_for()
    at_rest(page)


def _chooses_columns(page: Page) -> None:
    page.locator(".st-key-law-columns").wait_for()
    for field, column in (("id", "nr"), ("code", "loi"), ("text", "contenu")):
        box = page.locator(f".st-key-law-column-{field} input")
        choose(page, box, page.get_by_role("option", name=column, exact=True))
    choose(page, page.locator(".st-key-law-language input"), page.get_by_role("option", name="Français"))
    at_rest(page)


def _uploads(page: Page, law: Path) -> None:
    law.write_text(LAW, encoding="utf-8")
    page.locator(".st-key-law-upload input").set_input_files(law)
    _chooses_columns(page)


def _names_the_hub(page: Page, law: Path) -> None:
    page.locator(".st-key-law-path input").fill("bsard")


@contextmanager
def operating(browser: Browser, tmp_path: Path) -> Iterator[tuple[Page, Server]]:
    """The page of an operator who has logged in, beside a hub."""
    settings = {"PANDECT_HOME": str(tmp_path / "home"), "PANDECT_INDEX": "mare"}
    with (
        serving() as hub,
        served(ROOT / "app.py", tmp_path, PANDECT_OPERATOR_PASSWORD=PASSWORD, HF_ENDPOINT=hub.address,
               **settings) as server,
        visit(browser, f"{server.url}/law") as page,
    ):  # fmt: skip
        files = {name: text.encode() for name, text in {**HUB, "other.csv": LAW}.items()}
        hub.answer = the_hub(files, hub.address, name="maastrichtlawtech/bsard")
        page.get_by_label("Mot de passe").fill(PASSWORD)
        page.keyboard.press("Enter")
        yield page, server


def test_the_columns_of_a_file_of_the_hub_are_chosen_once_it_was_fetched(
    browser: Browser, tmp_path: Path
) -> None:
    with operating(browser, tmp_path) as (page, _):
        page.locator(".st-key-law-path input").fill("hf://datasets/maastrichtlawtech/bsard/other.csv")
        page.locator(".st-key-law-name input").fill("mare")
        press(page, "preview")
        _chooses_columns(page)
        press(page, "preview")
        page.locator(".st-key-law-job pre", has_text="[2] Code de la mare").wait_for()


@pytest.mark.parametrize("brings_in", [_uploads, _names_the_hub])
def test_an_operator_brings_law_in_opens_it_goes_back_and_removes_it(
    browser: Browser, tmp_path: Path, brings_in: Callable[[Page, Path], None]
) -> None:
    with operating(browser, tmp_path) as (page, server):
        brings_in(page, tmp_path / "law.csv")
        page.locator(".st-key-law-name input").fill("mare")  # and pressed at once
        press(page, "preview")
        preview = page.locator(".st-key-law-job pre", has_text="[1] Code de la mare")
        preview.wait_for()
        if brings_in is _names_the_hub:
            shown = re.findall(r"^\[(\d+)\]", preview.inner_text(), re.MULTILINE)
            assert shown == [str(n) for n in range(1, 11)]
        assert not (tmp_path / "home" / "corpora").exists()
        press(page, "install")
        done(page, "Importation de mare")
        press(page, "build-of-mare")
        done(page, "Construction de mare")
        assert page.locator(".st-key-law-of-mare .pd-more", has_text="2 versions").locator("tr").count() == 2
        assert page.locator(".st-key-law-of-mare .pd-more", has_text="Ce que dit l’audit").count() == 1
        page.locator(".st-key-law-of-mare .stPopover button").click()
        press(page, "rollback-of-mare")
        done(page, "Changement de version de mare")
        with visit(browser, server.url) as visitor:
            at_rest(visitor)
            ask(visitor, "Puis-je pêcher ?")
            visitor.locator(".pd-card", has_text="La pêche est permise").first.wait_for()
        press(page, "removing-of-mare")
        press(page, "remove")
        done(page, "Suppression de mare")
        assert page.locator(".st-key-law-of-mare").count() == 0
        assert [each.name for each in (tmp_path / "home" / "indexes").iterdir()] == []
        assert PASSWORD not in server.said()


def test_without_the_setting_the_address_is_like_any_that_is_not_there(
    browser: Browser, tmp_path: Path
) -> None:
    with served(ROOT / "app.py", tmp_path) as server:
        shown = []
        for name in ("law", "no-such-page"):
            with visit(browser, f"{server.url}/{name}") as page:
                page.locator(".st-key-examples button").first.wait_for()
                at_rest(page)
                shown.append(page.locator("body").inner_text())
        assert shown[0].replace("/law", "") == shown[1].replace("/no-such-page", "")
