"""The lineage: a tree of who descends from whom, and what became of each."""

from __future__ import annotations

import re

import pytest
from tests.browser.conftest import FIFTY, Tab, panel_in_both

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]


@panel_in_both
async def test_a_tree_says_how_each_came_and_whether_it_is_still_there(tab: Tab) -> None:
    page = await tab.open(f"/runs/{FIFTY}#lineage")
    folded = page.locator("details#families:not([open]) > summary")
    if await folded.count():  # more than are shown at once
        await folded.click()
    await page.locator("ul.family li").nth(10).wait_for()
    assert await page.locator("ul.family ul ul").count() > 0, "no child has a child"
    told = await page.locator("ul.family ul > li").all_inner_texts()
    assert all("generation" in text for text in told)
    fates = await page.locator("ul.family .fate").all_inner_texts()
    assert any(re.search("in its pool|in the algorithm", fate) for fate in fates)
    assert await page.locator("ul.family .fate.gone").count() > 0


@panel_in_both
async def test_the_two_sides_of_a_difference_stand_beside_each_other(tab: Tab) -> None:
    page = await tab.open(f"/runs/{FIFTY}#lineage")
    await page.evaluate("() => document.querySelectorAll('details').forEach(box => { box.open = true; })")
    row = page.locator("table.diff tr:has(td.del):has(td.add)").first
    taken_away, put = row.locator("td.del"), row.locator("td.add")
    left, right = await taken_away.bounding_box(), await put.bounding_box()
    assert left is not None
    assert right is not None
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] <= right["x"]
    assert await taken_away.inner_text() != await put.inner_text()
