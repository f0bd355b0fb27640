"""How fast the page is in a real browser, as a Markdown table: medians and 95th percentiles.

    python benchmarks/page.py                       # makes a run of 50 generations first, for minutes
    python benchmarks/page.py --simulated 360       # some 10,000 events: the real agents, evaluations made up
    python benchmarks/page.py --archive night.zip   # a run that `dga2d export` wrote

*first paint*: from asking for a run's address to the browser's own mark of its first paint with contents,
in a fresh browser profile. *load*: to the panel being painted, in the same one. *step*: from a
move of the slider to the panel of that event being painted, at events all over the log. *live*: from the
time an event bears to the page showing it, for a log that grows by an event every 100 ms.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import anyio
import synthetic_run
from playwright.sync_api import Browser, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.agents.simulation import SMALL, Simulation
from tests.browser.conftest import record

from dga2d.events import RunId
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.fold import fold_all
from dga2d.runtime.page.panels import PARTS
from dga2d.store import open_store

EVOLVE = (
    *("evolve", "tsp", "--preset", "none", "--work", "300", "--batch-size", "2", "--seed", "1"),
    *("--validation-instances", "2"),
    *("--evaluators", "1", "--no-report", "--quiet", "--llm-calls", "150"),
)
LIVE, SIMULATED = RunId("page-live"), RunId("simulated")
CALLS = 1000
"""Most model calls of a simulated run; it would end where they are used up."""
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
WATCH = """() => {
  window.seen = [];
  addEventListener("DOMContentLoaded", () => {
    new MutationObserver(() => requestAnimationFrame(() => setTimeout(() => {
      const shown = document.getElementById("panel").dataset.shown;
      window.seen.push([shown, performance.now(), Date.now()]);
    }))).observe(document.getElementById("panel"), { attributeFilter: ["data-shown"] });
  });
}"""
"""Notes every panel that was painted with the milliseconds since the navigation and since 1970."""
FIRST_PAINT = """() => new Promise((resolve) => {
  new PerformanceObserver((list) => {
    const painted = list.getEntriesByName("first-contentful-paint");
    if (painted.length) resolve(painted[0].startTime);
  }).observe({ type: "paint", buffered: true });
})"""
STEP = """([panel, seq]) => new Promise((resolve) => {
  const slider = document.getElementById("slider");
  const start = performance.now();
  const look = () => {
    const last = window.seen.at(-1);
    if (last !== undefined && last[0] === `${panel}?seq=${seq}`) resolve(last[1] - start);
    else setTimeout(look, 1);
  };
  slider.value = String(seq);
  slider.dispatchEvent(new Event("input"));
  look();
})"""


def program(url: str, *arguments: str) -> list[str]:
    """Command line of the program on a store."""
    return [sys.executable, "-P", "-m", "dga2d", *arguments, "--store", url]


@contextlib.contextmanager
def served(url: str) -> Iterator[str]:
    """Address of the running page."""
    with subprocess.Popen(
        program(url, "serve", "--port", "0", "--json"), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        text = ""
        while not text.endswith("}\n"):
            text += process.stdout.readline()
        try:
            yield str(json.loads(text)["address"])
        finally:
            process.terminate()


def watched(browser: Browser) -> Page:
    """A page in a fresh profile that notes when its panels were painted."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.add_init_script(f"({WATCH})()")
    return page


def seen(page: Page) -> list[tuple[str, float, float]]:
    """What the page noted, once it has noted something."""
    page.locator("#panel[data-shown]").wait_for()
    while not (noted := page.evaluate("() => window.seen")):
        page.wait_for_timeout(5)
    return [tuple(row) for row in noted]


def loads(browser: Browser, address: str, count: int) -> list[tuple[float, float]]:
    """Milliseconds from asking for the page to its first paint with contents, and to its painted panel."""
    found = []
    for _ in range(count):
        page = watched(browser)
        page.goto(address)
        found.append((page.evaluate(FIRST_PAINT), seen(page)[0][1]))
        page.context.close()
    return found


def steps(browser: Browser, address: str, panel: str, count: int) -> list[float]:
    """Milliseconds from a move of the slider to the painted panel."""
    page = watched(browser)
    page.goto(f"{address}?seq=2#{panel}")
    seen(page)
    last = int(page.locator("#slider").get_attribute("max") or "")
    found = [page.evaluate(STEP, [panel, 3 + (last - 3) * number // (count - 1)]) for number in range(count)]
    page.context.close()
    return found


def live(browser: Browser, url: str, base: str) -> list[float]:
    """Milliseconds from the time in each event of a growing log to the page that shows it."""
    begun = threading.Event()
    times: dict[int, float] = {}
    writer = threading.Thread(target=anyio.run, args=(write_slowly, url, begun, times))
    writer.start()
    begun.wait()
    page = watched(browser)
    page.goto(f"{base}runs/{LIVE}")
    seen(page)
    opened = page.evaluate("() => Date.now()")
    while writer.is_alive():
        page.wait_for_timeout(100)
    page.wait_for_timeout(3000)
    noted = [(int(shown.rpartition("=")[2]), at) for shown, _, at in seen(page)]
    return [
        next(painted for number, painted in noted if number >= seq) - at
        for seq, at in times.items()
        if at > opened
    ]


async def write_slowly(url: str, begun: threading.Event, times: dict[int, float]) -> None:
    """A made-up generation, an event every 100 ms; `times` gets the milliseconds since 1970 of each."""
    settings = RunSettings(pipelines=10, batch_size=5, generations=10_000)
    async with open_store(url) as store, store.write(LIVE, create=True) as writer:
        beginning = [synthetic_run.started(settings), synthetic_run.graph()]
        state = fold_all(await writer.append(beginning, [synthetic_run.SOURCE]))
        begun.set()
        for draft in synthetic_run.generation(state):
            await anyio.sleep(0.1)
            for event in await writer.append([draft]):
                times[event.seq] = event.recorded_at / 1000


def tell(name: str, goal: int, values: list[float]) -> None:
    """Print a line of the table."""
    ordered = sorted(values)
    median, high = statistics.median(ordered), ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    print(f"| {name} | {goal} ms | {median:.0f} ms | {high:.0f} ms | {len(ordered)} |", flush=True)


def measure(url: str, run: str) -> None:
    """Print all lines; the first loads, by a program that has read nothing yet, stand by themselves."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(ARGUMENTS))
        cold = []
        for _ in range(3):
            with served(url) as base:
                cold += loads(browser, f"{base}runs/{run}", 1)
        tell("first paint, program just started", 500, [first for first, _ in cold])
        tell("load, program just started", 500, [whole for _, whole in cold])
        with served(url) as base:
            address = f"{base}runs/{run}"
            warm = loads(browser, address, 10)
            tell("first paint", 500, [first for first, _ in warm])
            tell("load", 500, [whole for _, whole in warm])
            for panel in PARTS:
                tell(f"step, {panel}", 100, steps(browser, address, panel, 30))
            tell("live", 500, live(browser, url, base))
        browser.close()


def make_run(url: str, options: argparse.Namespace) -> str:
    """Put the run that is asked for into the database, and return its name."""
    if options.simulated is not None:
        made = record(Simulation(SMALL).changed(generations=options.simulated, llm_calls=CALLS))
        anyio.run(made.append, url, SIMULATED, 1, len(made.events))
        print(f"simulated, {len(made.events)} events")
        return SIMULATED
    evolving = (*EVOLVE, "--generations", str(options.generations))
    making = evolving if options.archive is None else ("import", str(options.archive))
    done = subprocess.run(program(url, *making, "--json"), check=True, stdout=subprocess.PIPE)
    return str(json.loads(done.stdout)["run"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--archive", type=Path, help="exported run to look at; a new one by default")
    parser.add_argument("--generations", type=int, default=50, help="length of the run that is made")
    parser.add_argument(
        "--simulated", type=int, metavar="GENERATIONS", help="look at a simulated run instead"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite+aiosqlite:///{Path(folder) / 'log.db'}"
        run = make_run(url, options)
        load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
        print(f"{platform.machine()}, {os.cpu_count()} cores, load {load}\n")
        print("| what | goal | median | 95th percentile | n |\n|---|---:|---:|---:|---:|")
        measure(url, run)


if __name__ == "__main__":
    main()
