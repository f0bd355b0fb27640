"""The page is readable in light and dark, on a narrow screen, and usable by keyboard alone."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.async_api import Page, expect
from tests.browser.conftest import Tab, in_both

from dga2d.runtime.page.panels import PARTS

pytestmark = pytest.mark.asyncio(loop_scope="session")

LEAST_CONTRAST = 4.5
"""WCAG 2.2, success criterion 1.4.3, for text of any size."""
DRAWN_TEXT = """(least) => {
  const channels = (c) => c.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const paper = channels(getComputedStyle(document.body).backgroundColor);
  return [...document.querySelectorAll("svg text")].flatMap((text) => {
    let behind = paper;
    for (const rect of text.parentElement.matches("g") ? text.parentElement.querySelectorAll("rect") : []) {
      const style = getComputedStyle(rect);
      const share = Number(style.fillOpacity);
      behind = channels(style.fill).slice(0, 3).map((v, i) => share * v + (1 - share) * behind[i]);
    }
    const [a, b] = [light(behind), light(channels(getComputedStyle(text).fill))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    return contrast < least ? [`${text.textContent}: ${contrast.toFixed(2)}`] : [];
  });
}"""
"""Texts of drawings, which axe leaves out, whose contrast to what is drawn below them is too small."""


AT = 150
"""Event of the looks: some generations are closed, and nothing is so long that checking it takes long."""
LISTS = ("/", "/compare?run=fifty&run=hostile&run=live")


async def faults(page: Page, *rules: str) -> list[str]:
    """What axe-core, which must have been injected, finds: rule and element."""
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = list(rules)
    found = (await page.evaluate("(options) => axe.run(options)", options))["violations"]
    drawn: list[str] = await page.evaluate(DRAWN_TEXT, LEAST_CONTRAST)
    return [f"{rule['id']}: {node['html']}" for rule in found for node in rule["nodes"]] + drawn


async def assert_accessible(page: Page, what: str) -> None:
    """Structure and contrast of what is shown, in light and in dark."""
    await page.emulate_media(color_scheme="light")
    assert await faults(page) == [], what
    await page.emulate_media(color_scheme="dark")
    assert await faults(page, "color-contrast") == [], what


@pytest.mark.slow
@pytest.mark.parametrize("panel", PARTS)
async def test_every_panel_is_accessible_in_light_and_dark(tab: Tab, panel: str) -> None:
    page = await tab.open(f"/runs/fifty?seq={AT}#{panel}")
    await page.evaluate(AXE_SCRIPT)
    await tab.shows(panel, AT)
    await assert_accessible(page, panel)


@pytest.mark.parametrize("address", [LISTS[0], *(pytest.param(a, marks=pytest.mark.slow) for a in LISTS[1:])])
async def test_runs_and_comparison_are_accessible_in_light_and_dark(tab: Tab, address: str) -> None:
    page = await tab.open(address)
    await page.evaluate(AXE_SCRIPT)
    await assert_accessible(page, address)


@pytest.mark.slow
@pytest.mark.parametrize("tab", [{"viewport": {"width": 360, "height": 700}}], indirect=True, ids=["narrow"])
async def test_a_narrow_window_never_scrolls_sideways(tab: Tab) -> None:
    for address in LISTS:
        page = await tab.open(address)
        assert await page.evaluate("() => document.documentElement.scrollWidth") <= 360, address
    page = await tab.open(f"/runs/fifty?seq={AT}")
    for panel in PARTS:
        await page.locator(f"#tab-{panel}").click()
        await tab.shows(panel, AT)
        assert await page.evaluate("() => document.documentElement.scrollWidth") <= 360, panel


SIZES = {"phone": {"width": 390, "height": 844}, "4K": {"width": 3840, "height": 2160}}


@pytest.mark.slow
@pytest.mark.parametrize(
    "tab", [{"viewport": size} for size in SIZES.values()], indirect=True, ids=list(SIZES)
)
async def test_the_first_screens_are_accessible_on_a_phone_and_in_4k(tab: Tab) -> None:
    for address in ("/", f"/runs/fifty?seq={AT}#overview", f"/runs/fifty?seq={AT}#graph"):
        page = await tab.open(address)
        await page.evaluate(AXE_SCRIPT)
        await assert_accessible(page, address)
        width = await page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
        assert width <= 0, address


@pytest.mark.slow
async def test_printed_it_is_what_it_shows_without_its_controls(tab: Tab) -> None:
    page = await tab.open(f"/runs/fifty?seq={AT}#overview")
    await page.emulate_media(media="print", color_scheme="dark")
    for control in (".time", "[role=tablist]", "#acting", ".chart-buttons"):
        await expect(page.locator(control).first).to_be_hidden()
    for part in (".verdict", ".facts", ".plot svg", ".legends", ".strip"):
        await expect(page.locator(part).first).to_be_visible()
    paper = await page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert paper == "rgb(255, 255, 255)"  # nobody prints dark paper


LINES = """() => [...document.querySelectorAll("#panel p")]
  .filter((line) => line.checkVisibility()).map((line) => {
  const letters = document.createElement("span");
  letters.textContent = "0".repeat(100);
  line.append(letters);
  const reach = letters.getBoundingClientRect().width;
  letters.remove();
  return line.getBoundingClientRect().width / reach;
})"""
"""Widths of the paragraphs of a panel, in hundreds of their letters."""


@pytest.mark.slow
@pytest.mark.parametrize("tab", [{"viewport": SIZES["4K"]}], indirect=True, ids=["4K"])
async def test_a_wide_screen_is_used_and_its_lines_stay_readable(tab: Tab) -> None:
    page = await tab.open(f"/runs/fifty?seq={AT}#overview")
    boxes = [
        await page.locator(part).first.bounding_box() for part in (".verdict", ".plot", ".drawing", ".strip")
    ]
    verdict, chart, picture, strip = (box for box in boxes if box is not None)
    assert strip["x"] + strip["width"] - verdict["x"] > 0.9 * SIZES["4K"]["width"]
    assert chart["x"] + chart["width"] <= picture["x"]
    assert picture["x"] + picture["width"] <= strip["x"]  # three columns
    assert chart["height"] > 500
    widths = await page.evaluate(LINES)
    assert max(widths) < 1.05


FOCUS = """() => {
  const one = document.activeElement;
  const style = getComputedStyle(one);
  const isOutlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
  return [one.id || one.dataset.operator || one.getAttribute("class") || one.textContent.trim(), isOutlined];
}"""


async def test_the_tab_key_reaches_everything_and_shows_where_it_is(tab: Tab) -> None:
    page = await tab.open("/runs/fifty#graph")
    order = []
    for _ in range(24):
        await page.keyboard.press("Tab")
        name, is_outlined = await page.evaluate(FOCUS)
        assert is_outlined, name
        order.append(name)
    controls = ["play", "back", "forth", "earlier", "later", "best", "live", "slider"]
    filters = ["least-use", "credit-sign", "show-ends"]
    words = ["word"] * 3  # credit, incumbent, walk
    zoom = ["closer", "farther", "whole"]
    assert order[:-3] == ["All runs", *controls, "Download", "tab-graph", "panel", *filters, *words, *zoom]
    assert order[-3] == "wide stage"


@pytest.mark.slow
@in_both
async def test_keys_move_through_time_and_panels(tab: Tab) -> None:
    page = await tab.open("/runs/fifty?seq=100#overview")
    marks = (await page.locator("#run").get_attribute("data-marks") or "").split(",")
    before, after = (int(m) for m in marks[2:4])
    assert before < 100 < after
    best = int(await page.locator("#run").get_attribute("data-best") or "")
    last = int(await page.locator("#run").get_attribute("data-length") or "")
    presses = (
        *(("ArrowRight", 101), ("ArrowLeft", 100), ("PageDown", after), ("PageUp", before)),
        *(("Home", 1), ("b", best), ("End", last)),
    )
    for key, seq in presses:
        await page.keyboard.press(key)
        await tab.shows("overview", seq)
    await page.locator("#tab-overview").focus()
    await page.keyboard.press("ArrowRight")
    await tab.shows("progress", last)
    await page.keyboard.press("ArrowLeft")
    await page.keyboard.press("ArrowLeft")
    await tab.shows(list(PARTS)[-1], last)
    await expect(page.locator("[role=tab][aria-selected=true]")).to_have_count(1)


@pytest.mark.slow
async def test_space_plays_and_stops(tab: Tab) -> None:
    page = await tab.open("/runs/fifty?seq=50#events")
    await page.keyboard.press("Space")
    await expect(page.locator("#play")).to_have_attribute("aria-pressed", "true")
    await expect(page.locator("#seq")).not_to_have_text("50")
    await page.keyboard.press("Space")
    await expect(page.locator("#play")).to_have_attribute("aria-pressed", "false")
    await tab.shows("events", int(await page.locator("#seq").inner_text()))


@pytest.mark.slow
async def test_space_at_the_end_plays_from_the_start(tab: Tab) -> None:
    page = await tab.open("/runs/fifty#events")
    last = int(await page.locator("#run").get_attribute("data-length") or "")
    await tab.shows("events", last)
    await page.keyboard.press("Space")
    await expect(page.locator("#play")).to_have_attribute("aria-pressed", "true")
    await page.wait_for_function("() => Number(document.getElementById('seq').textContent) < 100")
    await page.keyboard.press("Space")
    await expect(page.locator("#play")).to_have_attribute("aria-pressed", "false")


@pytest.mark.slow
async def test_folded_texts_open_by_keyboard_and_stay_open_through_time(tab: Tab) -> None:
    page = await tab.open("/runs/fifty?seq=200#calls")
    summary = page.locator("#call-2 summary")  # one of those listed at once
    await summary.focus()
    await page.keyboard.press("Space")
    await expect(page.locator("#call-2 pre")).to_have_count(2)
    await expect(page.locator("#play")).to_have_attribute("aria-pressed", "false")
    await page.keyboard.press("ArrowLeft")
    await tab.shows("calls", 199)
    await expect(page.locator("#call-2 pre").first).to_be_visible()
    await expect(summary).to_be_focused()


@pytest.mark.slow
async def test_any_number_of_runs_are_chosen_for_comparison_by_keyboard(tab: Tab) -> None:
    page = await tab.open("/")
    for run in ("fifty", "live", "hostile"):
        await page.get_by_label(f"Compare {run}").focus()
        await page.keyboard.press("Space")
    await expect(page.locator("#chosen")).to_have_text("3 chosen")
    await page.locator("#compare").focus()
    await page.keyboard.press("Enter")
    await expect(page.locator("h1")).to_have_text("hostile, live, fifty")
