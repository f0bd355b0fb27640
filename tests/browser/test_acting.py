"""Commands begun from the page: shown, confirmed, and told of."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.async_api import Browser, Page, expect
from tests.browser.conftest import LIVE, WAIT_MS, in_both, serving
from tests.browser.test_access import assert_accessible

pytestmark = pytest.mark.asyncio(loop_scope="session")
SMALL = 'preset="none"\nbatch_size=2\nvalidation_instances=2\ntest_instances=2\nevaluators=1'
TAKEN = """async (link) => {
  const answer = await fetch(link.href);
  const first = [...new Uint8Array(await answer.arrayBuffer()).slice(0, 2)];
  return [answer.status, first, link.hasAttribute("download")];
}"""
"""What a link to take something away leads to: status, first bytes, whether the browser saves it."""


@pytest.mark.slow
@in_both
async def test_a_command_is_shown_before_it_begins_and_then_told_of(
    browser: Browser, original: Path, tmp_path: Path
) -> None:
    with serving(Path(shutil.copy(original, tmp_path)), "--act") as served:
        context = await browser.new_context(viewport={"width": 1280, "height": 1000})
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


async def confirm(page: Page, form: str, command: str) -> None:
    """Press a form's button, read the command that is shown, and begin it."""
    await page.click(f"form[data-action={form}] button")
    await expect(page.locator("#confirm-command")).to_contain_text(command)
    await page.click("#confirm-yes")
    await expect(page.locator("dialog[open]")).to_have_count(0)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("browser_name", ["chromium", pytest.param("firefox", marks=pytest.mark.long)])
async def test_a_run_is_begun_paused_extended_forked_and_taken_from_the_page(
    browser: Browser, tmp_path: Path
) -> None:
    with serving(tmp_path / "new.db", "--act") as served:  # there is no database yet
        context = await browser.new_context(viewport={"width": 1280, "height": 1000})
        context.set_default_timeout(WAIT_MS)
        page = await context.new_page()
        await page.goto(served.address)
        await page.click("#begin > summary")
        await page.select_option("form[data-action=evolve] [name=domain]", "tsp")
        for name, value in {"generations": "400", "time_limit": "", "work": "200", "run": "mine"}.items():
            await page.fill(f"form[data-action=evolve] [name={name}]", value)
        await page.fill("form[data-action=evolve] [name=settings]", SMALL)
        await page.uncheck("form[data-action=evolve] [name=test]")
        await confirm(page, "evolve", "--run-id=mine")
        await expect(page.locator("#activity [data-run=mine] .standing")).to_have_text("under way")
        await expect(page.locator("table.runs")).to_contain_text("mine")  # the list is live

        base = served.address.partition("?")[0]
        await page.goto(f"{base}runs/mine")
        await expect(page.locator(".plot svg")).to_be_visible()  # a generation was closed
        await page.click("#acting > summary")
        await confirm(page, "pause", "dga2d pause mine")
        await expect(page.locator(".verdict")).to_contain_text("paused")
        closed = int(await page.locator(".budget dd b").first.inner_text())
        assert 0 < closed < 400

        await page.fill("form[data-action=resume] [name=generations]", str(closed + 2))
        await confirm(page, "resume", f"--generations={closed + 2}")
        await expect(page.locator(".verdict")).to_contain_text(f"all {closed + 2} generations done")
        await expect(page.locator(".budget dd b").first).to_have_text(str(closed + 2))

        await page.locator("#earlier").click()
        await page.locator("#earlier").click()
        generation = int(await page.input_value("form[data-action=fork] [name=generation]"))
        assert 0 < generation < closed + 2
        await page.fill("form[data-action=fork] [name=run]", "other")
        await confirm(page, "fork", f"dga2d fork mine --generation={generation} --no-run --run-id=other")
        await expect(page.locator("#activity [data-run=other] .standing")).to_have_text("done")
        at = await page.locator("#slider").input_value()
        solver = page.locator(".takes a", has_text="Solver")
        assert await solver.get_attribute("href") == f"/runs/mine/take/solver.py?seq={at}"
        taken = [await link.evaluate(TAKEN) for link in await page.locator(".takes a").all()]
        assert [status for status, _, _ in taken] == [200, 200, 200]
        assert all(is_saved for _, _, is_saved in taken)
        assert bytes(taken[1][1]) == b"PK"
        await page.goto(f"{base}runs/other")
        await expect(page.locator(".verdict")).to_contain_text("seed 0")
        await context.close()


@in_both
async def test_without_the_token_nothing_is_shown(browser: Browser, original: Path, tmp_path: Path) -> None:
    with serving(Path(shutil.copy(original, tmp_path)), "--act") as served:
        context = await browser.new_context()
        answer = await (await context.new_page()).goto(served.address.partition("?")[0])
        assert answer is not None
        assert answer.status == 401
        await context.close()
