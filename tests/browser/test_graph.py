"""The operator graph at the size of a large problem: 20 operators and 80 edges."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import anyio
import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.async_api import Page, expect
from tests.agents.made_up_library import made_up_operator
from tests.agents.outside_world import Answers
from tests.agents.simulation import SMALL, Simulation
from tests.browser.conftest import Recording, Served, Tab, panel_in_both, record, serving
from tests.browser.test_access import faults

from dga2d.events import RunId
from dga2d.events.payloads import EdgeReplaced

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

LARGE = RunId("large")
EDGES = 80
CATEGORIES = ("initialisation", "local_search", "perturbation", "recombination", "intensification")
NAMES = [f"{category}_{place}" for category in CATEGORIES for place in range(4)]


def large_graph() -> dict[str, Any]:
    """Return a model's answer: 72 edges, of which many have their reverse, and 4 entries and exits."""
    first, others = NAMES[:4], NAMES[4:]
    chosen = [(a, others[(3 * place + k) % 16]) for place, a in enumerate(first) for k in range(3)]
    chosen += [(a, others[(place + k) % 16]) for place, a in enumerate(others) for k in (1, 15, 6)]
    chosen += [(a, others[(place + 3) % 16]) for place, a in enumerate(others[:12])]
    bounds = {"operator_limit": 20, "temperature": 0.7}
    return {
        "H": bounds,
        "operators": NAMES,
        "entry_nodes": first,
        "exit_nodes": NAMES[-4:],
        "edges": chosen,
    }


@pytest.fixture(scope="module")
def recording() -> Recording:
    """A run whose graph has 20 operators and 80 edges, and changes."""
    operators = tuple(
        made_up_operator(name, name[:-2], "none" if name in NAMES[:4] else "complete") for name in NAMES
    )
    model = Answers({"InitializeTask": [json.dumps(large_graph())]})
    simulation = replace(Simulation(SMALL), operators=operators, baseline=(NAMES[0], NAMES[4]), model=model)
    made = record(simulation.changed(generations=8, llm_calls=40, operator_limit=20))
    assert sum(isinstance(event.payload, EdgeReplaced) for event in made.events) >= 2
    return made


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, recording: Recording) -> Iterator[Served]:
    path = tmp_path_factory.mktemp("large") / "log.db"
    anyio.run(recording.append, f"sqlite+aiosqlite:///{path}", LARGE, 1, len(recording.events))
    with serving(path) as made:
        yield made


NODES = """() => [...document.querySelectorAll('.node')].map((node) => {
  const label = node.querySelector('text');
  const [box, text] = [node.querySelectorAll('rect')[1], label].map((one) => one.getBoundingClientRect());
  return {
    name: node.dataset.name, left: box.left, right: box.right, top: box.top, bottom: box.bottom,
    spare: Math.min(text.left - box.left, box.right - text.right), height: text.height,
    label: label.textContent,
  };
})"""
MIDDLES = """() => Object.fromEntries([...document.querySelectorAll('.link')].map((link) => {
  const path = link.querySelector('path');
  const middle = path.getPointAtLength(path.getTotalLength() / 2);
  return [`${link.dataset.from} ${link.dataset.to}`, [middle.x, middle.y]];
}))"""


async def nodes(page: Page) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = await page.evaluate(NODES)
    return found


@pytest.mark.parametrize(
    "tab", [{"viewport": {"width": width, "height": 1000}} for width in (1280, 3840)], indirect=True
)
async def test_labels_are_whole_and_legible_and_no_node_hides_another(tab: Tab) -> None:
    page = await tab.open("/runs/large#graph")
    drawn = await nodes(page)
    assert {node["name"] for node in drawn} == {*NAMES, "START", "END"}
    for node in drawn:
        assert node["label"] == node["name"]
        assert node["spare"] > 0
        assert node["height"] >= 9
    for a, b in combinations(drawn, 2):
        apart = a["right"] < b["left"] or b["right"] < a["left"]
        assert apart or a["bottom"] < b["top"] or b["bottom"] < a["top"], (a["name"], b["name"])


@panel_in_both
async def test_an_edge_and_its_reverse_are_two_lines(tab: Tab) -> None:
    page = await tab.open("/runs/large?seq=6#graph")
    middles = await page.evaluate(MIDDLES)
    assert len(middles) == EDGES
    pairs = [
        (middles[edge], middles[" ".join(reversed(edge.split()))])
        for edge in middles
        if " ".join(reversed(edge.split())) in middles
    ]
    assert len(pairs) >= 10
    assert all(abs(a[0] - b[0]) + abs(a[1] - b[1]) > 4 for a, b in pairs)


@panel_in_both
async def test_credit_and_use_choose_what_is_drawn(tab: Tab) -> None:
    page = await tab.open("/runs/large#graph")
    links = page.locator(".link:not(.filtered)")
    whole = await links.count()
    await page.locator("#credit-sign").select_option("negative")
    signs = await links.evaluate_all("(all) => all.map((link) => link.classList.contains('minus'))")
    assert signs
    assert all(signs)
    await page.locator("#credit-sign").select_option("any")
    assert await links.count() == whole
    await page.locator("#least-use").fill("2")
    uses = await links.evaluate_all("(all) => all.map((link) => Number(link.dataset.use))")
    assert 0 < len(uses) < whole
    assert min(uses) >= 2
    await expect(page.locator("#least-use-shown")).to_have_text("2")


@panel_in_both
async def test_the_graph_is_zoomed_and_moved_by_keyboard(tab: Tab) -> None:
    page = await tab.open("/runs/large#graph")
    stage = page.locator(".graph-panel .stage")
    await expect(page.locator(".graph-panel .hint")).to_contain_text("keys + − 0")
    width = "(svg) => svg.getBoundingClientRect().width"
    whole = await page.locator("svg.graph").evaluate(width)
    await stage.focus()
    assert await stage.evaluate("(one) => getComputedStyle(one).outlineStyle") != "none"
    await page.keyboard.press("+")
    await page.keyboard.press("+")
    assert await page.locator("svg.graph").evaluate(width) == pytest.approx(2.25 * whole, rel=0.02)
    before = await stage.evaluate("(one) => one.scrollTop")
    seq = await page.locator("#seq").inner_text()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowLeft")
    await page.wait_for_function(
        "(before) => document.querySelector('.graph-panel .stage').scrollTop > before", arg=before
    )
    assert await page.locator("#seq").inner_text() == seq  # arrows in the picture do not move through time
    await page.evaluate(AXE_SCRIPT)
    assert await faults(page) == []
    await page.locator("#live").press("ArrowLeft")
    await tab.shows("graph", int(seq) - 1)
    assert await page.locator("svg.graph").evaluate(width) == pytest.approx(2.25 * whole, rel=0.02)
    await stage.focus()
    await page.keyboard.press("0")
    assert await page.locator("svg.graph").evaluate(width) == pytest.approx(whole, rel=0.02)


async def test_an_edit_is_drawn_as_the_slider_passes_it(tab: Tab, recording: Recording) -> None:
    edit = next(event for event in recording.events if isinstance(event.payload, EdgeReplaced))
    assert isinstance(edit.payload, EdgeReplaced)
    page = await tab.open(f"/runs/large?seq={edit.seq - 1}#graph")
    added = page.locator(".link.added path")
    assert await added.count() == 0
    await page.keyboard.press("ArrowRight")
    await tab.shows("graph", edit.seq)
    await expect(added).to_have_count(1)
    name = await added.evaluate("(path) => getComputedStyle(path).animationName")
    assert name == "grow"
    link = page.locator(".link.removed")
    removed = await link.evaluate_all("(all) => all.map((link) => [link.dataset.from, link.dataset.to])")
    assert removed == [list(edge) for edge in edit.payload.removed]
    await page.keyboard.press("ArrowLeft")
    await expect(added).to_have_count(0)
