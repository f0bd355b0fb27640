"""The slider moves through the time of a run, and a run that goes on moves the page."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect
from tests.browser.conftest import FIFTY, LIVE, Recording, Served, Tab, panel_in_both

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.slow
async def test_a_run_of_fifty_generations_loads_at_its_end(tab: Tab, fifty: Recording) -> None:
    page = await tab.open("/runs/fifty")
    last = len(fifty.events)
    await tab.shows("overview", last)
    await expect(page.locator("label[for=slider]")).to_have_text(f"event {last} of {last}")
    await expect(page.locator(".budget")).to_contain_text("50 of 50")
    assert await page.locator("#marks option").count() == 50


@panel_in_both
async def test_each_step_of_the_slider_shows_the_state_of_its_event(tab: Tab, fifty: Recording) -> None:
    page = await tab.open("/runs/fifty?seq=700#checking")
    await page.locator("#slider").focus()
    for key, seq in (("ArrowLeft", 699), ("ArrowLeft", 698), ("ArrowRight", 699), ("Home", 1)):
        await page.keyboard.press(key)
        await tab.shows("checking", seq)
        await expect(page.locator("#panel")).to_contain_text(fifty.digest(seq))


@pytest.mark.slow
async def test_the_numbers_are_those_of_show(tab: Tab, served: Served, fifty: Recording) -> None:
    for seq in (400, len(fifty.events)):
        shown = show(served.url, FIFTY, seq)
        page = await tab.open(f"/runs/fifty?seq={seq}#progress")
        await tab.shows("progress", seq)
        figures = await page.locator(".figure").all_inner_texts()
        assert f"{shown['best']['gap_percent']:.2f} %" in figures[-2]
        assert f"{shown['checkpoint']['gap_percent']:.2f} %" in figures[-3]
        assert f"{shown['ledger']['used']} of {shown['ledger']['limit']}" in figures[-1]
        await page.locator("#generations summary").click()
        rows = page.locator("#generations tbody tr")
        await expect(rows.last).to_be_attached()
        assert await rows.count() == shown["completed_generations"] == len(shown["history"])
        last = await rows.last.locator("td").all_text_contents()
        assert last[0] == str(shown["history"][-1]["generation"])
        assert last[-1] == shown["history"][-1]["state_digest"][:16]
        await page.get_by_role("tab", name="graph").click()
        graph = shown["graph"]
        for name, count in (("operators", len(graph["operators"])), ("edges", len(graph["edges"]))):
            await expect(page.locator("#panel")).to_contain_text(f"{count} {name}")
        await expect(page.locator("#panel")).to_contain_text(f"{graph['pipelines']} pipelines of at most")


def show(url: str, run: str, seq: int) -> dict[str, Any]:
    """What the program prints of a place in time."""
    command = [sys.executable, "-P", "-m", "dga2d", "show", run, "--at", str(seq), "--json", "--store", url]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ})
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.slow
async def test_nodes_of_the_graph_stay_where_they_are(tab: Tab, fifty: Recording) -> None:
    page = await tab.open("/runs/fifty?seq=60#graph")
    places = [await placed(page)]
    for seq in (500, len(fifty.events)):
        page = await tab.open(f"/runs/fifty?seq={seq}#graph")
        places.append(await placed(page))
    assert places[0] == places[1] == places[2]
    assert len(places[0]) == 7  # five operators, START and END


async def placed(page: Page) -> dict[str, str]:
    """Name and place of every node."""
    found: dict[str, str] = await page.evaluate(
        "() => Object.fromEntries([...document.querySelectorAll('.node text')].map("
        "(t) => [t.textContent, `${t.getAttribute('x')} ${t.getAttribute('y')}`]))"
    )
    return found


@pytest.mark.slow
async def test_an_address_names_its_place_in_time(tab: Tab) -> None:
    page = await tab.open("/runs/fifty?seq=321#walks")
    await tab.shows("walks", 321)
    await page.keyboard.press("ArrowRight")
    await tab.shows("walks", 322)
    await page.wait_for_url("**/runs/fifty?seq=322#walks")
    await page.evaluate("() => { location.hash = 'checking'; }")  # as if written into the address
    await tab.shows("checking", 322)


QUICK_STEPS = """() => {
  window.addresses = 0;
  const replace = history.replaceState.bind(history);
  history.replaceState = (...given) => { window.addresses += 1; replace(...given); };
  const slider = document.getElementById("slider");
  for (let seq = 201; seq <= 450; seq += 1) {
    slider.value = String(seq);
    slider.dispatchEvent(new Event("input"));
  }
}"""


@pytest.mark.slow
async def test_many_quick_steps_show_the_last_and_name_it_once(tab: Tab) -> None:
    page = await tab.open("/runs/fifty?seq=200#overview")
    await page.wait_for_url("**/runs/fifty?seq=200#overview")
    await page.evaluate(QUICK_STEPS)
    await tab.shows("overview", 450)
    await page.wait_for_url("**/runs/fifty?seq=450#overview")
    # browsers warn of an address that changes hundreds of times within seconds, and stop changing it
    assert await page.evaluate("() => window.addresses") <= 2


@panel_in_both
async def test_a_new_event_appears_without_a_reload(tab: Tab, served: Served, fifty: Recording) -> None:
    page = await tab.open("/runs/live#events")
    length = int(await page.locator("#run").get_attribute("data-length") or "")  # other tests add to it, too
    new, last = length + 1, length + 60
    await tab.shows("events", length)
    await page.evaluate("() => { window.isTheSamePage = true; }")
    await fifty.append(served.url, LIVE, new, new)
    await tab.shows("events", new)
    await expect(page.locator("h3")).to_have_text(f"Event {new}, {fifty.events[length].type}")
    await page.keyboard.press("ArrowLeft")  # who looks at the past is left there
    await tab.shows("events", length)
    await fifty.append(served.url, LIVE, new + 1, last)
    await expect(page.locator("#length")).to_have_text(str(last))
    await tab.shows("events", length)
    await expect(page.locator("#slider")).to_have_attribute("max", str(last))
    assert await page.evaluate("() => window.isTheSamePage")


@pytest.mark.slow
async def test_the_list_of_runs_is_live_sorted_and_filtered_and_its_address_says_so(
    tab: Tab, served: Served, fifty: Recording
) -> None:
    page = await tab.open("/")
    names = page.locator("tbody tr:not([hidden]) th a")
    await page.get_by_role("button", name="events").click()
    await page.get_by_role("button", name="events").click()
    assert (await names.all_inner_texts())[0] == "fifty"
    await page.locator("#filter").fill("fif")
    assert await names.all_inner_texts() == ["fifty"]
    await page.wait_for_url("**/?filter=fif&sort=12&order=down")
    await page.locator("#filter").fill("improved")
    verdicts = page.locator("tbody tr:not([hidden]) [data-label=verdict]")
    assert set(await verdicts.all_inner_texts()) <= {"improved"}
    await page.locator("#filter").fill("simulated improved")
    assert await verdicts.count() <= 1
    await page.locator("#filter").fill("")
    before = int(await page.locator("tr[data-run=live] [data-label=events]").inner_text())
    await fifty.append(served.url, LIVE, before + 1, before + 40)
    await expect(page.locator("tr[data-run=live] [data-label=events]")).to_have_text(str(before + 40))
    assert (await names.all_inner_texts())[0] == "fifty"
    assert await page.locator("tr[data-run=fifty] .spark").count() == 1


@panel_in_both
async def test_the_filter_takes_conditions_on_figures_beside_words(tab: Tab) -> None:
    page = await tab.open("/")
    shown = page.locator("tbody tr:not([hidden])")

    async def figures(column: str) -> list[str]:
        return await page.locator(f"tbody tr:not([hidden]) [data-label={column}]").all_inner_texts()

    n_runs, n_tested = await shown.count(), sum(map(bool, await figures("held-out")))
    events = sorted(int(text) for text in await figures("events"))
    assert events[0] < events[-1]
    most = events[-1]
    for asked, kept in {
        f"events>={most}": [one for one in events if one == most],
        f"events < {most}": [one for one in events if one < most],
        f"events={events[0]}": [one for one in events if one == events[0]],
        "calls>=0 events>999999": [],
    }.items():
        await page.locator("#filter").fill(asked)
        assert sorted(int(text) for text in await figures("events")) == kept, asked
    await expect(page.locator("#none")).to_be_visible()
    await page.locator("#filter").fill("validation>=-999")
    assert await shown.count() == n_runs
    await page.locator("#filter").fill("held-out>=-999")
    assert await shown.count() == n_tested < n_runs  # what was not tested has no figure that fits
    await page.locator("#filter").fill(f"fif events>={most}")
    assert await shown.count() == await page.locator("tr[data-run=fifty]:not([hidden])").count() == 1
    await page.locator("#filter").fill("nosuch<1")  # no column: words as any others
    assert await shown.count() == 0


@pytest.mark.slow
@pytest.mark.parametrize("tab", [{"viewport": {"width": 390, "height": 800}}], indirect=True, ids=["phone"])
async def test_the_list_of_runs_is_whole_on_a_phone(tab: Tab) -> None:
    page = await tab.open("/")
    widths = await page.evaluate(
        "() => [...document.querySelectorAll('tbody td, tbody th')]"
        ".map((cell) => cell.getBoundingClientRect().right)"
    )
    assert max(widths) <= 390


@pytest.mark.slow
async def test_what_is_not_there_is_said_in_words(tab: Tab) -> None:
    page = await tab.open("about:blank")
    answer = await page.goto(f"{tab.base}runs/nosuch")
    assert answer is not None
    assert answer.status == 404
    await expect(page.get_by_role("alert")).to_have_text("there is no run 'nosuch' in this database")
    await expect(page.get_by_role("link")).to_have_attribute("href", "/")
    tab.complaints.clear()  # the browser logs every 404


@pytest.mark.slow
async def test_a_panel_that_takes_long_says_so(tab: Tab) -> None:
    page = await tab.open("/runs/fifty?seq=300#events")
    await page.evaluate(
        "() => { const quick = window.fetch; window.fetch = async (...given) => {"
        " await new Promise((done) => setTimeout(done, 600)); return quick(...given); }; }"
    )
    await page.keyboard.press("ArrowLeft")
    await expect(page.locator("#waiting")).to_be_visible()
    await expect(page.locator("#panel")).to_have_attribute("aria-busy", "true")
    await tab.shows("events", 299)
    await expect(page.locator("#waiting")).to_be_hidden()


@pytest.mark.slow
async def test_marks_of_edits_lead_to_their_differences(tab: Tab) -> None:
    page = await tab.open("/runs/fifty#overview")
    mark = page.locator(".plot a[aria-label*='added']").first
    seq = (await mark.get_attribute("href") or "").removeprefix("#code-of-")
    await mark.focus()
    await page.keyboard.press("Enter")
    await expect(page.locator("#tab-lineage")).to_have_attribute("aria-selected", "true")
    await expect(page.locator(f"#code-of-{seq}")).to_be_visible()
    await page.locator(f"a[data-panel=events][data-seq='{seq}']").click()
    await tab.shows("events", int(seq))


@pytest.mark.slow
@panel_in_both
async def test_the_overview_tells_the_story_on_one_screen(tab: Tab) -> None:
    page = await tab.open("/runs/fifty#overview")
    await expect(page.locator(".drawing")).to_contain_text("no domain is called")
    for part in (".verdict strong", ".facts", ".plot svg", ".drawing", ".budget progress", ".strip li"):
        box = await page.locator(part).first.bounding_box()
        assert box is not None, part
        assert box["y"] + box["height"] <= 900, part
    await expect(page.locator(".strip li").first).to_contain_text("% of the time")
    await expect(page.locator(".trust")).to_contain_text("events of the log held against their hashes")
    assert await page.locator(".strip .origin").count() == await page.locator(".strip li").count()
    await page.locator(".strip a").first.click()
    await expect(page.locator("#tab-algorithm")).to_have_attribute("aria-selected", "true")
    await expect(page.locator("#code-1")).to_have_attribute("open", "")


class Saved:
    """What buttons of a page, or of a chart on it, save. Playwright drives Debian's Firefox by WebDriver
    BiDi and hears of no download there: what the page made for one is read instead."""

    made = "() => { const url = URL.createObjectURL; window.made = []; " + (
        "URL.createObjectURL = (blob) => { window.made.push(blob); return url(blob); }; }"
    )
    bytes_of = "async (number) => [...new Uint8Array(await window.made[number].arrayBuffer())]"

    def __init__(self, place: Page | Locator, browser_name: str) -> None:
        self._place, self._is_heard = place, browser_name == "chromium"
        self._page = place.page if isinstance(place, Locator) else place
        self._count = 0

    async def by(self, button: str) -> bytes:
        """Press a button and return the file."""
        pressed = self._place.get_by_role("button", name=button)
        if self._is_heard:
            async with self._page.expect_download() as download:
                await pressed.click()
            return (await (await download.value).path()).read_bytes()
        if not self._count:
            await self._page.evaluate(self.made)
        await pressed.click()
        await self._page.wait_for_function("(count) => window.made.length > count", arg=self._count)
        self._count += 1
        return bytes(await self._page.evaluate(self.bytes_of, self._count - 1))


@pytest.mark.slow
@panel_in_both
async def test_the_chart_is_read_zoomed_and_saved_by_keyboard(tab: Tab, browser_name: str) -> None:
    page = await tab.open("/runs/fifty#overview")
    chart = page.locator(".plot")
    whole = await chart.locator("circle").count()
    await chart.focus()
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("ArrowRight")
    await expect(page.locator(".reading")).to_contain_text("generation 2, best so far")
    await expect(page.locator("label[for=slider]")).to_contain_text("event")  # time did not move
    await page.keyboard.press("+")
    await expect(chart.locator("circle")).not_to_have_count(whole)
    await page.keyboard.press("0")
    await expect(chart.locator("circle")).to_have_count(whole)
    await page.keyboard.press("l")
    await expect(page.get_by_role("button", name="log", exact=True)).to_have_attribute("aria-pressed", "true")
    saved = Saved(page, browser_name)
    lines = (await saved.by("Save as CSV")).decode().splitlines()
    assert lines[0].startswith("generation,calls,tokens,minutes,best")
    assert len(lines) == 51
    text = (await saved.by("Save as SVG")).decode()
    assert text.startswith("<svg ")
    assert "var(--" not in text
    assert (await saved.by("Save as PNG")).startswith(b"\x89PNG")


@pytest.mark.slow
@panel_in_both
async def test_dragging_over_the_chart_zooms_and_a_double_click_shows_all(
    tab: Tab, browser_name: str
) -> None:
    page = await tab.open("/runs/fifty#overview")
    chart = page.locator(".plot")
    whole = await chart.locator("circle").count()
    box = await chart.locator("svg").first.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    await page.mouse.move(box["x"] + 0.2 * box["width"], middle)
    await page.mouse.down()
    await page.mouse.move(box["x"] + 0.3 * box["width"], middle, steps=4)
    await expect(page.locator(".brush")).to_be_visible()
    await page.mouse.up()
    await expect(page.locator(".brush")).to_have_count(0)
    await expect(chart.locator("circle")).not_to_have_count(whole)
    assert 0 < await chart.locator("circle").count() < whole / 2
    await page.keyboard.press("ArrowLeft")  # the zoom outlives a step through time
    if browser_name == "chromium":
        await page.mouse.dblclick(box["x"] + 0.5 * box["width"], middle)
    else:  # by BiDi two clicks of Playwright's are two first ones
        await chart.locator("svg").first.dispatch_event("dblclick")
    await expect(chart.locator("circle")).to_have_count(whole)


async def test_a_step_replaces_only_what_changed(tab: Tab) -> None:
    page = await tab.open("/runs/fifty?seq=400#overview")
    await page.evaluate(
        "() => { for (const part of document.querySelectorAll('[data-part]')) part.isFirst = true; }"
    )
    kept = "() => [...document.querySelectorAll('#panel > [data-part]')].map((part) => part.isFirst === true)"
    await page.keyboard.press("ArrowRight")
    await tab.shows("overview", 401)
    assert (await page.evaluate(kept))[1:] == [True, True]  # chart and algorithm are those of the generation
    await page.keyboard.press("PageDown")
    await expect(page.locator("#panel")).not_to_have_attribute("data-shown", "overview?seq=401")
    assert not (await page.evaluate(kept))[1]


@pytest.mark.slow
async def test_links_find_what_is_listed_far_back(tab: Tab) -> None:
    page = await tab.open("/runs/fifty#lineage")
    await expect(page.locator("#earlier-edits summary")).to_contain_text("earlier edits")
    seq = (await page.locator(".family a").first.get_attribute("href") or "").removeprefix("#code-of-")
    await expect(page.locator(f"#edit-{seq}")).to_have_count(0)
    await page.locator(".family a").first.click()
    await expect(page.locator(f"#edit-{seq}")).to_have_attribute("open", "")
    await expect(page.locator(f"#code-of-{seq}")).to_be_visible()


@pytest.mark.slow
@panel_in_both
async def test_the_graph_lights_filters_and_tells_of_an_operator(tab: Tab) -> None:
    page = await tab.open("/runs/fifty#graph")
    links = page.locator(".link:visible")
    shown = await links.count()
    assert await page.locator(".link.incumbent").count() >= 2
    node = page.locator("a[data-operator]").nth(1)
    name = await node.get_attribute("data-operator") or ""
    pointed = await node.locator("title").text_content() or ""
    assert re.fullmatch(rf"{name}: credit [+-]\d\.\d{{4}}, \d+ implementations, visited \d+ times", pointed)
    await node.focus()
    near = await page.locator(".link.near").evaluate_all(
        "(all) => all.map((l) => [l.dataset.from, l.dataset.to])"
    )
    assert near
    assert all(name in pair for pair in near)
    await page.keyboard.press("Enter")
    await expect(page.locator("#operator h2")).to_have_text(name)
    await page.locator("#operator summary").first.click()
    await expect(page.locator("#operator pre").first).to_contain_text("def run")
    await page.locator("#least-use").fill(await page.locator("#least-use").get_attribute("max") or "")
    assert 1 <= await links.count() < shown
