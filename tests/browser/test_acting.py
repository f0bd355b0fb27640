"""Commands begun from the page: shown, confirmed, and told of."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.async_api import Browser, expect
from tests.browser.conftest import LIVE, serving
from tests.browser.test_access import assert_accessible

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.slow
async def test_a_command_is_shown_before_it_begins_and_then_told_of(
    chromium: Browser, original: Path, tmp_path: Path
) -> None:
    with serving(Path(shutil.copy(original, tmp_path)), "--act") as served:
        context = await chromium.new_context(viewport={"width": 1280, "height": 1000})
        page = await context.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url) if request.method == "POST" else None)

        await page.goto(served.address)
        await page.click("#begin > summary")
        await page.fill("form[data-action=evolve] [name=llm]", "openai:some-model")
        await page.click("form[data-action=evolve] button")
        dialog = page.locator("dialog[open]")
        await expect(dialog.locator("pre")).to_contain_text("dga2d evolve jsp --generations=10")
        await expect(dialog.locator("#confirm-yes")).to_be_disabled()  # it may cost money
        await page.evaluate(AXE_SCRIPT)
        await assert_accessible(page, "the confirmation")
        await dialog.locator("#confirm-no").click()
        assert len(asked) == 1  # the question; nothing was begun

        base = served.address.partition("?")[0]
        await page.goto(f"{base}runs/{LIVE}")
        await page.click("#acting > summary")
        await page.evaluate(AXE_SCRIPT)
        await assert_accessible(page, "the forms")
        await page.click("form[data-action=pause] button")
        await page.click("#confirm-yes")
        await expect(page.locator("#activity .standing")).to_have_text("ended with exit code 2")
        await page.click("#activity summary")
        await expect(page.locator("#activity pre")).to_contain_text(f"run {LIVE} is not under way")
        await context.close()


async def test_without_the_token_nothing_is_shown(chromium: Browser, original: Path, tmp_path: Path) -> None:
    with serving(Path(shutil.copy(original, tmp_path)), "--act") as served:
        context = await chromium.new_context()
        answer = await (await context.new_page()).goto(served.address.partition("?")[0])
        assert answer is not None
        assert answer.status == 401
        await context.close()
