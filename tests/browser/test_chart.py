"""The convergence chart explains itself: why a curve moved, and which name belongs to which line."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from playwright.async_api import Page, expect
from tests.browser.conftest import FIFTY, Tab, panel_in_both

pytestmark = pytest.mark.asyncio(loop_scope="session")
TEXTS = """() => [...document.querySelectorAll(".plot svg text")].map((text) => {
  const { left, right, top, bottom } = text.getBoundingClientRect();
  return { words: text.textContent, left, right, top, bottom };
})"""
LEADERS = """() => {
  const at = (path, length) => path.getPointAtLength(length).matrixTransform(path.getScreenCTM()).y;
  const dashed = ".plot svg line[stroke-dasharray], .plot svg g[stroke-dasharray] line";
  const rules = [...document.querySelectorAll(dashed)]
    .map((line) => line.getBoundingClientRect().top);
  return [...document.querySelectorAll(".plot .leader")].map((path) => ({
    start: at(path, 0), end: at(path, path.getTotalLength()), rules,
  }));
}"""
"""Heights on the screen at which the lines to the names begin and end, and those of all dashed lines."""


async def told(page: Page) -> dict[str, Any]:
    """What the program told the chart, its rows by column."""
    values = json.loads(await page.locator("#panel [data-gaps]").get_attribute("data-gaps") or "{}")
    values["rows"] = [dict(zip(values["columns"], row, strict=True)) for row in values["rows"]]
    return dict(values)


@panel_in_both
async def test_every_fall_of_the_best_has_a_mark_that_says_why_and_leads_there(tab: Tab) -> None:
    page = await tab.open(f"/runs/{FIFTY}#overview")
    rows = (await told(page))["rows"]
    falls = [b["generation"] for a, b in itertools.pairwise(rows) if b["best"] < a["best"]]
    assert falls
    for generation in falls:
        mark = page.locator(f".plot a[aria-label^='generation {generation}: best so far']")
        await expect(mark).to_have_count(1)
        words = await mark.get_attribute("aria-label") or ""
        assert " instead of " in words
        assert ", by " in words
        assert await mark.locator("title").text_content() == words
    coded = page.locator(".plot a[aria-label*='by new code']").first
    await coded.focus()
    seq = (await coded.get_attribute("href") or "").removeprefix("#code-of-")
    await page.keyboard.press("Enter")
    await expect(page.locator(f"#code-of-{seq}")).to_be_visible()


async def test_the_reading_by_keyboard_says_why_the_best_fell(tab: Tab) -> None:
    page = await tab.open(f"/runs/{FIFTY}#overview")
    turn = next(one for one in (await told(page))["turns"] if one[0] == "best")
    _, generation, _, text, _ = turn
    await page.locator(".plot").focus()
    for _ in range(generation):
        await page.keyboard.press("ArrowRight")
    await expect(page.locator(".reading")).to_contain_text(f"generation {generation}, best so far")
    await expect(page.locator(".reading")).to_contain_text(text)


@pytest.mark.slow
async def test_a_new_best_without_new_code_leads_to_its_walk_and_a_checkpoint_to_its_comparison(
    tab: Tab,
) -> None:
    page = await tab.open(f"/runs/{FIFTY}#overview")
    turns = (await told(page))["turns"]
    led = {"best": "walks", "checkpoint": "progress"}
    for kind in {turn[0] for turn in turns if turn[4] is None}:
        _, generation, seq, text, _ = next(t for t in turns if t[0] == kind and t[4] is None)
        mark = page.locator(f'.plot a[aria-label="generation {generation}: {text}"]')
        await mark.focus()
        await page.keyboard.press("Enter")
        await expect(page.locator(f"#tab-{led[kind]}")).to_have_attribute("aria-selected", "true")
        if kind == "best":
            await tab.shows("walks", seq)
            await expect(page.locator("#panel h3").first).to_contain_text(f"of generation {generation}")
        await page.locator("#tab-overview").click()
    assert {turn[0] for turn in turns} == {"best", "checkpoint"}


@panel_in_both
@pytest.mark.parametrize(
    "tab",
    [{"viewport": {"width": width, "height": 900}} for width in (390, 900, 1280, 1920)],
    indirect=True,
    ids=lambda options: str(options["viewport"]["width"]),
)
async def test_texts_are_whole_and_names_stand_at_their_lines(tab: Tab) -> None:
    page = await tab.open(f"/runs/{FIFTY}#overview")
    await expect(page.locator(".plot svg")).to_be_visible()
    frame = await page.locator(".plot").bounding_box()
    assert frame is not None
    texts = await page.evaluate(TEXTS)
    assert any(one["words"] == "generation →" for one in texts)
    for one in texts:
        assert one["left"] >= frame["x"] - 0.5, one
        assert one["right"] <= frame["x"] + frame["width"] + 0.5, one
        assert one["bottom"] <= frame["y"] + frame["height"] + 0.5, one
    levels = {level["name"]: level for level in (await told(page))["levels"]}
    names = [one for one in texts if any(one["words"].startswith(name) for name in levels)]
    leaders = await page.evaluate(LEADERS)
    if await page.locator(".plot .leader").count() == 0:  # named below the chart instead
        below = await page.locator(".plot + p").inner_text()
        assert all(name in below for name in levels)
        return
    assert len(names) == len(leaders) == len(levels)
    assert all(a["bottom"] <= b["top"] + 3 for a, b in itertools.pairwise(names))
    for name, leader in zip(names, leaders, strict=True):
        middle = (name["top"] + name["bottom"]) / 2
        assert abs(leader["end"] - middle) <= 3, name
        assert abs(leader["start"] - min(leader["rules"], key=lambda y: abs(y - leader["start"]))) <= 1, name
