"""The first screen of a run of a real problem: its picture explains itself, its figures say what they are."""

from __future__ import annotations

import anyio
import pytest
import pytest_asyncio
from axe_playwright_python.base import AXE_SCRIPT
from playwright.async_api import Route, expect
from tests.browser.conftest import Served, Tab, panel_in_both
from tests.browser.test_access import assert_accessible

from dga2d.store import open_store

pytestmark = pytest.mark.asyncio(loop_scope="session")
LEGIBLE = 9
"""Least height of letters in pixels: what a drawing's texts have at the size they are made for is 11."""
LETTERS = """() => [...document.querySelectorAll(".drawing svg.drawn text")].map((text) => {
  const { fontSize, display } = getComputedStyle(text);
  const { a, b } = text.getScreenCTM();
  const height = parseFloat(fontSize) * Math.hypot(a, b);
  return { words: text.textContent, height, isShown: display !== "none" };
})"""


@pytest.fixture(scope="module")
def served(recorded_tour: Served) -> Served:
    return recorded_tour


@pytest_asyncio.fixture(loop_scope="session")
async def run(served: Served) -> str:
    """The name of that run."""
    async with open_store(served.url, create=False, read_only=True) as store:
        (found,) = [summary.run_id for summary in await store.runs()]
    return str(found)


@panel_in_both
@pytest.mark.parametrize(
    "tab",
    [{"viewport": {"width": width, "height": 900}} for width in (390, 1280, 1920)],
    indirect=True,
    ids=lambda options: str(options["viewport"]["width"]),
)
async def test_the_picture_has_a_title_axes_and_a_key_that_can_be_read(tab: Tab, run: str) -> None:
    page = await tab.open(f"/runs/{run}")
    drawn = page.locator(".drawing svg.drawn")
    await expect(drawn.locator(".title")).to_contain_text("tour of length")
    letters = await page.evaluate(LETTERS)
    assert {"x", "y"} <= {one["words"] for one in letters}
    assert all(one["isShown"] and one["height"] >= LEGIBLE for one in letters), letters
    box = await page.locator(".drawing").bounding_box()
    assert box is not None
    rights = await drawn.locator("text").evaluate_all(
        "(all) => all.map((one) => one.getBoundingClientRect().right)"
    )
    assert max(rights) <= box["x"] + box["width"] + 1


@panel_in_both
async def test_the_figures_say_under_what_budget_and_why_nothing_was_paid(tab: Tab, run: str) -> None:
    page = await tab.open(f"/runs/{run}")
    await expect(page.locator(".verdict")).to_contain_text("Travelling salesman problem (TSP), seed")
    first = page.locator(".verdict p").first
    await expect(first.locator("a.word")).to_have_attribute("href", "#word-equal-work")
    await expect(page.locator(".budget div:has(dt:text-is('money'))")).to_contain_text("0.00 USD")
    await expect(page.locator(".budget div:has(dt:text-is('money'))")).to_contain_text("no prices")
    await page.evaluate(AXE_SCRIPT)
    await assert_accessible(page, "the first screen")


async def test_a_picture_that_is_being_drawn_says_so(tab: Tab, run: str) -> None:
    drawn = anyio.Event()

    async def later(route: Route) -> None:
        await drawn.wait()
        await route.continue_()

    await tab.page.route("**/solutions/**", later)
    page = await tab.open(f"/runs/{run}")
    sign = page.locator(".drawing").get_by_role("status")
    await expect(sign).to_have_text("Drawing the solution …")
    await expect(sign).to_be_visible()
    drawn.set()
    await expect(page.locator(".drawing svg.drawn")).to_be_visible()
    await expect(sign).to_have_count(0)
