"""A run of a domain with a score of its own is told in scores, nowhere in gaps."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.async_api import expect
from tests.browser.conftest import SCORES, Tab

pytestmark = pytest.mark.asyncio(loop_scope="session")
GAP = re.compile(r"\bgaps?\b|\bpercentage points\b", re.IGNORECASE)


@pytest.mark.slow
async def test_the_page_of_a_run_says_score_and_draws_it_upwards(tab: Tab) -> None:
    page = await tab.open(f"/runs/{SCORES}")
    panel = page.locator("#panel")
    await expect(panel.locator(".convergence .scale")).to_have_text(
        "Score of the domain's own: higher is better; with 95 % intervals."
    )
    chart = panel.locator(".plot")
    await expect(chart.locator("svg")).to_be_attached()
    assert (await chart.get_attribute("aria-label") or "").startswith("Score.")
    told = json.loads(await panel.locator("[data-gaps]").get_attribute("data-gaps") or "{}")
    assert told["rows"][0][told["columns"].index("best")] > 100.0
    await chart.focus()
    await page.keyboard.press("ArrowRight")
    await expect(panel.locator(".reading")).to_contain_text(re.compile(r"best so far 1\d\d\.\d{4}, "))
    for name in ("overview", "progress", "evaluations", "lineage"):
        if name != "overview":
            await page.get_by_role("tab", name=name).click()
            await expect(panel).to_have_attribute("data-shown", re.compile(f"^{name}"))
        assert not GAP.search(await panel.inner_text()), name


async def test_the_list_of_runs_shows_scores_beside_gaps(tab: Tab) -> None:
    page = await tab.open("/")
    best = page.locator(f"tr[data-run={SCORES}] td[data-label=best]")
    await expect(best).to_have_text(re.compile(r"^1\d\d\.\d{4}$"))
    await expect(page.locator("tr[data-run=fifty] td[data-label=best]")).to_have_text(
        re.compile(r"^-?\d+\.\d\d %$")
    )


@pytest.mark.slow
async def test_a_chart_is_saved_with_columns_of_scores(tab: Tab, tmp_path: Path) -> None:
    page = await tab.open(f"/runs/{SCORES}")
    async with page.expect_download() as saved:
        await page.get_by_role("button", name="Save as CSV").first.click()
    await (await saved.value).save_as(tmp_path / "chart.csv")
    head, first, *_ = (tmp_path / "chart.csv").read_text().splitlines()
    assert head == "generation,calls,tokens,minutes,best_score,own_score,validation_score,failed"
    assert float(first.split(",")[4]) > 100.0
