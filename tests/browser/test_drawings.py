"""Pictures of solutions on the page: inline, stepped on equal axes, zoomed, in the light and in the dark."""

from __future__ import annotations

from typing import Literal

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.async_api import Browser, Locator, expect
from tests.browser.conftest import Served
from tests.browser.test_access import faults

from dga2d.store import open_store

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_solutions_are_stepped_played_and_zoomed(
    recorded_tour: Served, chromium: Browser, scheme: Literal["light", "dark"]
) -> None:
    context = await chromium.new_context(color_scheme=scheme)
    page = await context.new_page()
    complaints: list[str] = []
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    async with open_store(recorded_tour.url, create=False, read_only=True) as store:
        (run,) = [summary.run_id for summary in await store.runs()]
    await page.goto(f"{recorded_tour.address.partition('?')[0]}runs/{run}#incumbent")
    await expect(page.locator(".pair svg.drawn").first).to_be_visible()
    drawn, words = page.locator(".sheet svg.drawn"), page.locator(".viewer .words")
    await expect(drawn).to_be_visible()
    last = await words.inner_text()
    axes = await drawn.locator(".frame").first.get_attribute("d")
    title = await drawn.locator(".title").text_content() or ""
    await page.locator(".before").click()
    await expect(words).not_to_have_text(last)
    await expect(drawn.locator(".title")).not_to_have_text(title)
    assert await drawn.locator(".frame").first.get_attribute("d") == axes
    await expect(drawn.locator(".dots title").first).to_contain_text("city 1 at")

    before = await _width(drawn)
    await page.locator(".closer").click()
    closer = await _width(drawn)
    assert closer == pytest.approx(1.5 * before, rel=0.02)
    await page.locator(".run").click()
    await expect(words).to_have_text(last)
    await expect(drawn.locator(".title")).to_have_text(title)  # the words come before their picture
    assert await _width(drawn) == pytest.approx(closer, rel=0.02)
    await page.locator(".whole").click()

    await page.evaluate(AXE_SCRIPT)
    assert await faults(page) == []
    assert complaints == []
    await context.close()


async def _width(drawn: Locator) -> float:
    box = await drawn.bounding_box()
    assert box is not None
    return box["width"]
