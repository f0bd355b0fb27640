"""Where there is nothing yet the page says so in words, and what is missing to change that."""

from __future__ import annotations

from pathlib import Path

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.async_api import Browser, expect
from tests.browser.conftest import FIFTY, WAIT_MS, Recording, Tab, in_both, serving
from tests.browser.test_access import assert_accessible

from dga2d.store import open_store

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]


async def test_a_database_without_runs_says_how_to_begin_one(chromium: Browser, tmp_path: Path) -> None:
    path = tmp_path / "empty.db"
    async with open_store(f"sqlite+aiosqlite:///{path}"):
        pass
    with serving(path) as served:
        async with await chromium.new_context() as context:
            context.set_default_timeout(WAIT_MS)
            page = await context.new_page()
            await page.goto(served.address)
            await expect(page.locator("tr.empty")).to_contain_text("There are no runs yet.")
            await expect(page.locator("tr.empty code")).to_contain_text("dga2d evolve")
            await page.evaluate(AXE_SCRIPT)
            await assert_accessible(page, "no runs")


@in_both
async def test_a_run_that_has_only_begun_says_what_is_still_to_come(tab: Tab) -> None:
    page = await tab.open(f"/runs/{FIFTY}?seq=1#overview")
    panel = page.locator("#panel")
    for words in (
        "No verdict yet: nothing has been validated.",
        "The first generation is under way",
        "No candidate has solved the training batch yet.",
        "No algorithm has been scored yet.",
    ):
        await expect(panel).to_contain_text(words)
    for panel_name, words in (
        ("graph", "The graph is still being designed"),
        ("walks", "No pipeline was sampled in this generation yet."),
        ("algorithm", "No algorithm has been scored yet."),
        ("incumbent", "There is no solution yet."),
        ("lineage", "Nothing was changed."),
        ("evaluations", "None yet."),
    ):
        await page.locator(f"#tab-{panel_name}").click()
        await tab.shows(panel_name, 1)
        await expect(panel).to_contain_text(words)


@in_both
async def test_every_validation_lies_inside_its_chart(tab: Tab, fifty: Recording) -> None:
    page = await tab.open(f"/runs/{FIFTY}#overview")
    frame = await page.locator(".plot svg").first.bounding_box()
    assert frame is not None
    validated = sum(event.type == "ValidationScored" for event in fifty.events)
    diamonds = page.locator(".plot g[fill='var(--c3)'] path")
    await expect(diamonds).to_have_count(validated)
    assert validated > 1
    heights = await diamonds.evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().top)")
    assert all(frame["y"] + 20 < height < frame["y"] + frame["height"] - 44 for height in heights)
