"""Every word of the page is explained once, for eyes, keyboards and screen readers; a thing has one name."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Page, expect
from tests.browser.conftest import FIFTY, Tab, panel_in_both

from dga2d.runtime.page.panels import PARTS, TAB_WORDS
from dga2d.runtime.report.render import WORDS

pytestmark = pytest.mark.asyncio(loop_scope="session")
LINKS = "() => [...document.querySelectorAll('a.word')].map((one) => one.getAttribute('href').slice(6))"
MOVE = """async () => {
  const frame = () => new Promise((seen) => requestAnimationFrame(seen));
  const before = scrollY;
  scrollBy(0, scrollY > 0 ? -30 : 30);
  await frame();
  await frame();
  return scrollY - before;
}"""
"""Moves the page a little; tells by how much, once it has been drawn there."""
PHONE = {"viewport": {"width": 390, "height": 800}}


async def reach(page: Page, word: str) -> None:
    """Press the tab key until a word is focused."""
    at = "(word) => document.activeElement.getAttribute('href') === `#word-${word}`"
    for _ in range(80):
        await page.keyboard.press("Tab")
        if await page.evaluate(at, word):
            return
    raise AssertionError(f"the tab key does not reach {word}")


@panel_in_both
@pytest.mark.parametrize("tab", [{}, PHONE], indirect=True, ids=["desktop", "phone"])
async def test_a_word_is_explained_where_it_stands_and_leads_to_the_list(tab: Tab) -> None:
    page = await tab.open(f"/runs/{FIFTY}#overview")
    means = WORDS["checkpoint"].means
    word, tip = page.locator("#panel a.word[href='#word-checkpoint']").first, page.locator(".tip")
    await expect(word).to_have_accessible_description(means)
    await expect(tip).to_be_hidden()
    await reach(page, "checkpoint")
    await expect(tip).to_have_text(means)
    box, window = await tip.bounding_box(), await page.evaluate("() => [innerWidth, innerHeight]")
    assert box is not None
    assert box["x"] >= 0
    assert box["y"] >= 0
    assert box["x"] + box["width"] <= window[0]
    assert box["y"] + box["height"] <= window[1]
    await page.keyboard.press("Escape")
    await expect(tip).to_be_hidden()
    await page.keyboard.press("Enter")
    await expect(page.locator("#word-checkpoint")).to_be_focused()
    await expect(page.locator("#means-checkpoint")).to_be_in_viewport()


@panel_in_both
@pytest.mark.parametrize("tab", [PHONE], indirect=True, ids=["phone"])
async def test_an_explanation_goes_along_when_the_page_moves_and_stays_away_once_closed(tab: Tab) -> None:
    page = await tab.open(f"/runs/{FIFTY}#overview")
    tip = page.locator(".tip")
    await reach(page, "checkpoint")
    await expect(tip).to_be_visible()
    assert await page.evaluate(MOVE) != 0
    bottom = await page.evaluate("() => document.activeElement.getBoundingClientRect().bottom")
    await expect(tip).to_be_visible()
    box = await tip.bounding_box()
    assert box is not None
    assert abs(box["y"] - bottom) <= 1 or box["y"] + box["height"] <= bottom
    await page.keyboard.press("Escape")
    await page.evaluate(MOVE)
    await expect(tip).to_be_hidden()


async def test_a_word_is_explained_to_a_mouse_and_its_tip_can_be_pointed_at(tab: Tab) -> None:
    page = await tab.open(f"/runs/{FIFTY}#overview")
    await page.locator("#panel a.word[href='#word-training']").first.hover()
    tip = page.locator(".tip")
    await expect(tip).to_have_text(WORDS["training"].means)
    await tip.hover()
    await expect(tip).to_be_visible()
    await page.locator("h1").hover()
    await expect(tip).to_be_hidden()
    tabs = {panel: page.locator(f"#tab-{panel}") for panel in TAB_WORDS}
    for panel, word in TAB_WORDS.items():
        await tabs[panel].hover()
        await expect(tip).to_have_text(WORDS[word].means)
        await expect(tabs[panel]).to_have_accessible_description(WORDS[word].means)


@panel_in_both
async def test_an_address_leads_to_a_word(tab: Tab) -> None:
    page = await tab.open(f"/runs/{FIFTY}#word-bank")
    await expect(page.locator("#word-bank")).to_be_focused()
    await expect(page.locator("#means-bank")).to_be_in_viewport()
    await expect(page.locator("#means-bank")).to_have_text(WORDS["bank"].means)


@pytest.mark.slow
async def test_all_words_that_are_linked_are_in_the_list_and_the_start_has_one_name(tab: Tab) -> None:
    page = await tab.open(f"/runs/{FIFTY}#overview")
    found: set[str] = set()
    for panel in PARTS:
        await page.locator(f"#tab-{panel}").click()
        await expect(page.locator("#panel")).to_have_attribute("data-shown", re.compile(f"^{panel}\\?"))
        linked = set(await page.evaluate(LINKS))
        assert linked <= set(WORDS), panel
        found |= linked
        assert "baseline" not in (await page.locator("#panel").inner_text()).lower(), panel
    assert {"start", "checkpoint", "validation", "training", "incumbent", "walk", "credit"} <= found
    entries = await page.locator("#words dt").all_text_contents()
    assert entries == [word.word for word in WORDS.values()]
    assert WORDS["start"].means.startswith("The safe baseline the run began with")
