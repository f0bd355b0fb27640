"""Runs side by side: one chart that is read, zoomed and saved like those of a run, and what differs."""

from __future__ import annotations

import html
import json
import re

import pytest
from playwright.async_api import Route, expect
from tests.browser.conftest import Tab, panel_in_both
from tests.browser.test_time import Saved

pytestmark = pytest.mark.asyncio(loop_scope="session")
RUNS = "/compare?run=fifty&run=hostile&run=live"
BANDS = ".plot path[fill-opacity='0.16'], .plot g[fill-opacity='0.16'] > path"
LINES = ".plot path[stroke-width='2'], .plot g[stroke-width='2'] > path"


@panel_in_both
async def test_runs_are_compared_in_one_plot(tab: Tab) -> None:
    page = await tab.open(RUNS)
    await expect(page.locator(LINES)).to_have_count(3)
    differing = await page.locator("tr.differs th").all_inner_texts()
    assert {"generations", "llm_calls"} <= set(differing)
    assert "batch_size" not in differing
    assert "evolved, held-out" in await page.locator("tbody th").all_inner_texts()


@pytest.mark.slow
@panel_in_both
async def test_the_comparison_is_read_zoomed_and_saved_by_keyboard(tab: Tab, browser_name: str) -> None:
    page = await tab.open(RUNS)
    told = json.loads(await page.locator("[data-compared]").get_attribute("data-compared") or "{}")
    by_name = {one["name"]: {point[0]: point[1] for point in one["points"]} for one in told["series"]}
    chart = page.locator(".plot")
    await chart.focus()
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("ArrowRight")
    reading = page.locator(".reading")
    await expect(reading).to_contain_text("generation 2, ")
    await expect(reading).to_contain_text(f"fifty {by_name['fifty'][2]:.2f} %")
    line = page.locator(LINES).first
    whole = await line.get_attribute("d") or ""
    await page.keyboard.press("+")
    await expect(line).not_to_have_attribute("d", whole)
    await page.keyboard.press("0")
    await expect(line).to_have_attribute("d", whole)
    await page.keyboard.press("l")
    await expect(page.get_by_role("button", name="log", exact=True)).to_have_attribute("aria-pressed", "true")
    saved = Saved(page, browser_name)
    head, *lines = (await saved.by("Save as CSV")).decode().splitlines()
    assert head == "generation," + ",".join(f'"{one["name"]}"' for one in told["series"])
    assert len(lines) == 50
    text = (await saved.by("Save as SVG")).decode()
    assert text.startswith("<svg ")
    assert "var(--" not in text
    assert (await saved.by("Save as PNG")).startswith(b"\x89PNG")


@panel_in_both
async def test_a_comparison_leads_back_to_the_list_as_it_was(tab: Tab) -> None:
    page = await tab.open("/")
    await page.get_by_role("button", name="events").click()
    await page.get_by_role("button", name="events").click()
    await page.locator("#filter").fill("events>1")
    names = await page.locator("tbody tr:not([hidden]) th a").all_inner_texts()
    await page.locator("#choose-shown").click()
    await page.locator("#compare").click()
    await expect(page.locator("h1")).to_contain_text(names[0])
    await page.get_by_role("link", name="Runs of equal settings as one").click()
    await expect(page.locator("h1")).to_have_text(f"{len(names)} runs")
    await page.get_by_role("link", name="All runs").click()
    await expect(page.locator("#filter")).to_have_value("events>1")
    assert await page.locator("tbody tr:not([hidden]) th a").all_inner_texts() == names
    assert await page.locator("tbody input:checked").count() == len(names)


@panel_in_both
async def test_a_group_of_runs_is_a_line_in_a_band(tab: Tab, browser_name: str) -> None:
    """The runs here end alike: the band of one group is put into the answer."""

    async def with_band(route: Route) -> None:
        answer = await route.fetch()
        text = await answer.text()
        (found,) = re.findall(r"data-compared='([^']+)'", text)
        told = json.loads(html.unescape(found))
        told["series"][0]["points"] = [[x, v, v - 0.5, v + 90] for x, v, _, _ in told["series"][0]["points"]]
        await route.fulfill(response=answer, body=text.replace(found, json.dumps(told)))

    await tab.page.route(re.compile(r"/compare\?"), with_band)
    page = await tab.open(f"{RUNS}&grouped")
    told = json.loads(await page.locator("[data-compared]").get_attribute("data-compared") or "{}")
    assert any("(2 runs)" in one["name"] for one in told["series"])  # of equal settings
    await expect(page.locator(LINES)).to_have_count(len(told["series"]))
    await expect(page.locator(BANDS)).to_have_count(1)
    assert {name.split(" (")[0] for name in await page.locator("thead th").all_inner_texts()} == {
        one["name"].split(" (")[0] for one in told["series"]
    }
    frame, band = await page.locator(".plot svg").bounding_box(), await page.locator(BANDS).bounding_box()
    assert frame is not None
    assert band is not None
    assert band["y"] > frame["y"]  # all of it, however far a single run was off
    assert band["height"] > frame["height"] / 2
    await page.locator(".plot").focus()
    await page.keyboard.press("ArrowRight")
    name, points = told["series"][0]["name"], told["series"][0]["points"]
    words = f"{name} {points[0][1]:.2f} % ({points[0][1] - 0.5:.2f} % to {points[0][1] + 90:.2f} %)"
    await expect(page.locator(".reading")).to_contain_text(words)
    head, first, *_ = (await Saved(page, browser_name).by("Save as CSV")).decode().splitlines()
    assert head.startswith(f'generation,"{name}","{name}, lowest","{name}, highest"')
    assert [float(cell) for cell in first.split(",")[1:4]] == points[0][1:]
