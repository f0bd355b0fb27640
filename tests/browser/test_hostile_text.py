"""What a model wrote is shown as text, in the page and in the report, and runs nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Page
from tests.browser.conftest import HOSTILE_RUN, SHOWN, Served, Tab, in_both

from dga2d.runtime.page.panels import PARTS
from dga2d.runtime.report import read_report_data, render_html

pytestmark = pytest.mark.asyncio(loop_scope="session")

PLACES = ("graph", "lineage", "evaluations", "calls", "walks", "events")
"""Panels in which hostile text must be seen."""
OFTEN = ("calls",)
"""Those that are looked at in every run of the tests."""


async def assert_harmless(page: Page, where: str) -> None:
    """Nothing ran, and no element is there that the templates do not make."""
    assert await page.evaluate("() => window.hacked") is None
    for selector in ("script", "iframe", "style", "img[onerror]", "[onload]", "a[href^='javascript']"):
        assert await page.locator(f"{where} {selector}").count() == 0, selector
    assert await page.evaluate("() => getComputedStyle(document.body).display") == "block"


async def open_everything(page: Page) -> None:
    """Open all folded parts and wait for what they load."""
    await page.evaluate("() => document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    await page.wait_for_load_state("networkidle")


@pytest.mark.parametrize(
    "panel", [part if part in OFTEN else pytest.param(part, marks=pytest.mark.slow) for part in PARTS]
)
async def test_hostile_text_runs_nothing(tab: Tab, panel: str) -> None:
    first = "?seq=1" if panel == "events" else ""  # RunStarted names the operators
    page = await tab.open(f"/runs/hostile{first}#{panel}")
    await open_everything(page)
    await assert_harmless(page, "#panel")
    text = await page.locator("#panel").inner_text()
    assert not {"\u202e", "\u200b"} & set(text)
    assert SHOWN[:40] in text or panel not in PLACES


@in_both
async def test_prompts_and_answers_show_hostile_text_as_it_is(tab: Tab) -> None:
    page = await tab.open("/runs/hostile#calls")
    await page.locator("summary").nth(2).click()
    await page.locator("#panel pre").first.wait_for()
    assert SHOWN in await page.locator("#panel pre").nth(1).inner_text()


@in_both
async def test_a_report_of_hostile_text_runs_nothing(tab: Tab, served: Served, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(render_html(await read_report_data(served.url, HOSTILE_RUN)), encoding="utf-8")
    await tab.page.goto(path.as_uri())
    await open_everything(tab.page)
    await assert_harmless(tab.page, "main")
    text = await tab.page.locator("main").inner_text()
    assert SHOWN in text
    assert not {"\u202e", "\u200b"} & set(text)
