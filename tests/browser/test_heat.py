"""Heat maps are charts as the others: read by pointer and keyboard, zoomed, saved, whole at every width."""

from __future__ import annotations

import csv
import json
from statistics import fmean
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect
from tests.browser.conftest import FIFTY, HOSTILE_RUN, Tab, panel_in_both
from tests.browser.test_time import Saved

pytestmark = pytest.mark.asyncio(loop_scope="session")
CREDIT, TRANSITIONS = "#credit-heat", "#transition-heat"
TEXTS = """(id) => { const frame = document.querySelector(`${id} .plot`).getBoundingClientRect();
  return [...document.querySelectorAll(`${id} .plot svg text`)].filter((text) => text.textContent)
    .map((text) => [text, text.getBoundingClientRect()]).map(([text, box]) => ({
      words: text.textContent, left: box.left - frame.left, right: frame.right - box.right,
      above: box.top - frame.top, below: frame.bottom - box.bottom,
  })); }"""
"""Texts of a heat map with their distances from the four sides of its frame."""


async def told(page: Page, chart: str = CREDIT) -> dict[str, Any]:
    """What the program told a heat map."""
    return dict(json.loads(await page.locator(chart).get_attribute("data-heat") or "{}"))


def bars(page: Page, chart: str = CREDIT) -> Locator:
    """The cells of a heat map, row by row within a column."""
    return page.locator(f"{chart} .cells rect")


async def opened(tab: Tab, run: str, chart: str = CREDIT, seq: str = "") -> Page:
    """Open the panel with a heat map and wait until that is drawn, which may be below the screen."""
    page = await tab.open(f"/runs/{run}{seq}#graph")
    await expect(page.locator(f"{chart} .plot svg")).to_be_attached()
    return page


def words(value: float) -> str:
    return f"{'−' if value < 0 else '+'}{abs(value):.4f}" if value else "0"


@panel_in_both
async def test_a_heat_map_is_read_zoomed_and_saved_by_keyboard(tab: Tab, browser_name: str) -> None:
    page = await opened(tab, FIFTY)
    values = await told(page)
    chart = page.locator(f"{CREDIT} .plot")
    n_cells = await bars(page).count()
    assert n_cells == sum(value is not None for row in values["values"] for value in row)
    await chart.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowDown"):
        await page.keyboard.press(key)
    reading = page.locator(f"{CREDIT} .reading")
    await expect(reading).to_have_text(
        f"operator {values['rows'][1]}, generation {values['columns'][2]}, "
        f"credit {words(values['values'][1][2])}"
    )
    await expect(page.locator(f"{CREDIT} .chosen")).to_have_count(1)
    await expect(page.locator("label[for=slider]")).to_contain_text("event")  # time did not move
    await page.keyboard.press("+")
    await expect(bars(page)).not_to_have_count(n_cells)
    await page.keyboard.press("0")
    await expect(bars(page)).to_have_count(n_cells)
    faint = await bars(page).nth(0).get_attribute("fill-opacity")
    await page.keyboard.press("l")
    linear = page.locator(CREDIT).get_by_role("button", name="linear")
    await expect(linear).to_have_attribute("aria-pressed", "true")
    assert await bars(page).nth(0).get_attribute("fill-opacity") != faint
    saved = Saved(page.locator(CREDIT), browser_name)
    head, *lines = csv.reader((await saved.by("Save as CSV")).decode().splitlines())
    assert head == ["operator", "generation", "credit"]
    assert {(name, int(generation)): float(value) for name, generation, value in lines} == {
        (name, generation): value
        for name, row in zip(values["rows"], values["values"], strict=True)
        for generation, value in zip(values["columns"], row, strict=True)
        if value is not None
    }
    text = (await saved.by("Save as SVG")).decode()
    assert text.startswith("<svg ")
    assert "var(--" not in text
    assert all(name in text for name in values["rows"])
    assert (await saved.by("Save as PNG")).startswith(b"\x89PNG")


@panel_in_both
async def test_pointing_at_a_cell_says_its_figure_and_dragging_zooms(tab: Tab, browser_name: str) -> None:
    page = await opened(tab, FIFTY)
    values = await told(page)
    chart = page.locator(f"{CREDIT} .plot")
    await chart.scroll_into_view_if_needed()
    n_cells = await bars(page).count()
    box = await bars(page).nth(1).bounding_box()  # of the first column
    assert box is not None
    names = [name for name, row in zip(values["rows"], values["values"], strict=True) if row[0] is not None]
    row = values["values"][values["rows"].index(names[1])]
    across, middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    await page.mouse.move(across, middle)
    tip = page.locator(f"{CREDIT} .pointed")
    await expect(tip).to_contain_text(f"operator {names[1]}")
    await expect(tip).to_contain_text(f"credit {words(row[0])}")
    await page.mouse.down()
    await page.mouse.move(across + 8 * box["width"], middle, steps=4)
    await expect(page.locator(f"{CREDIT} .brush")).to_be_visible()
    await page.mouse.up()
    await expect(bars(page)).not_to_have_count(n_cells)
    zoomed = await bars(page).count()
    assert 0 < zoomed < n_cells / 2
    await chart.locator("svg").first.dispatch_event("dblclick")
    await expect(bars(page)).to_have_count(n_cells)


async def test_a_step_within_a_generation_leaves_heat_maps_alone_and_zoom_outlives_a_generation(
    tab: Tab,
) -> None:
    page = await opened(tab, FIFTY, seq="?seq=400")
    await page.evaluate("(id) => { document.querySelector(id).isFirst = true; }", CREDIT)
    await page.locator(f"{CREDIT} .plot").focus()
    await page.keyboard.press("+")
    zoomed = await bars(page).count()
    await page.locator("#slider").focus()
    await page.keyboard.press("ArrowRight")
    await tab.shows("graph", 401)
    assert await page.evaluate("(id) => document.querySelector(id).isFirst === true", CREDIT)
    assert await bars(page).count() == zoomed
    await page.locator("#later").click()
    await page.wait_for_function("(id) => document.querySelector(id).isFirst !== true", arg=CREDIT)
    await expect(bars(page)).not_to_have_count(0)
    values = await told(page)
    assert await bars(page).count() < sum(value is not None for row in values["values"] for value in row)


@pytest.mark.parametrize("tab", [{"viewport": {"width": 390, "height": 800}}], indirect=True, ids=["phone"])
async def test_where_columns_would_be_too_narrow_one_is_the_mean_of_several_until_one_zooms(tab: Tab) -> None:
    page = await opened(tab, FIFTY)
    values = await told(page)
    columns = len(values["columns"])
    assert await bars(page).count() < columns * len(values["rows"])
    await expect(page.locator(f"{CREDIT} .plot svg")).to_contain_text("mean of 2 generations")
    first = next(row for row in values["values"] if row[0] is not None)
    largest = max(abs(value) for row in values["values"] for value in row if value is not None)
    opacity = float(await bars(page).nth(0).get_attribute("fill-opacity") or "")
    assert opacity == pytest.approx(0.06 + 0.94 * (abs(fmean(first[:2])) / largest) ** 0.5, abs=1e-6)
    chart = page.locator(f"{CREDIT} .plot")
    await chart.focus()
    await page.keyboard.press("+")
    await expect(chart.locator("svg")).not_to_contain_text("mean of")


@panel_in_both
@pytest.mark.parametrize(
    "tab",
    [{"viewport": {"width": width, "height": 900}} for width in (390, 1280, 1920)],
    indirect=True,
    ids=lambda options: str(options["viewport"]["width"]),
)
@pytest.mark.parametrize("chart", [CREDIT, TRANSITIONS])
async def test_names_are_whole_at_every_width(tab: Tab, chart: str) -> None:
    page = await opened(tab, FIFTY, chart)
    values = await told(page, chart)
    texts = await page.evaluate(TEXTS, chart)
    shown = [one["words"] for one in texts]
    assert set(values["rows"]) <= set(shown)
    if chart == TRANSITIONS:
        assert set(values["columns"]) <= set(shown)
    for one in texts:
        assert min(one["left"], one["right"], one["above"], one["below"]) >= -0.5, one


@pytest.mark.parametrize("tab", [{"viewport": {"width": 390, "height": 800}}], indirect=True, ids=["phone"])
async def test_a_name_that_no_screen_has_room_for_is_cut_and_said_whole(tab: Tab) -> None:
    page = await opened(tab, HOSTILE_RUN)
    values = await told(page)
    longest = max(values["rows"], key=len)
    assert len(longest) > 200
    for one in await page.evaluate(TEXTS, CREDIT):
        assert min(one["left"], one["right"]) >= -0.5, one
    await page.locator(f"{CREDIT} .plot").focus()
    await page.keyboard.press("ArrowRight")
    for _ in range(values["rows"].index(longest)):
        await page.keyboard.press("ArrowDown")
    await expect(page.locator(f"{CREDIT} .reading")).to_contain_text(longest)


async def test_signs_have_two_colours_in_light_and_dark(tab: Tab) -> None:
    page = await opened(tab, FIFTY)
    fills = "(all) => [...new Set(all.map((one) => getComputedStyle(one).fill))].sort()"
    light = await bars(page).evaluate_all(fills)
    assert light == ["rgb(11, 98, 168)", "rgb(200, 90, 20)"]
    await page.emulate_media(color_scheme="dark")
    dark = await bars(page).evaluate_all(fills)
    assert dark == ["rgb(235, 140, 75)", "rgb(80, 160, 235)"]


async def test_transitions_are_a_table_too(tab: Tab) -> None:
    page = await opened(tab, FIFTY, TRANSITIONS)
    values = await told(page, TRANSITIONS)
    assert values["sides"] == ["from", "to"]
    n_edges = sum(value is not None for row in values["values"] for value in row)
    assert await bars(page, TRANSITIONS).count() == n_edges
    await page.locator("#transition-table > summary").click()
    cells = await page.locator("#transition-table tbody td").all_inner_texts()
    assert sum(text != "" for text in cells) == n_edges
