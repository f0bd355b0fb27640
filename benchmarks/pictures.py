"""Takes the pictures of README: a run's page and its report, in a real browser.

    make demo
    python benchmarks/pictures.py --store sqlite+aiosqlite:///dga2d.db --run demo-20261123-090600

The run must be over. Written to ``docs/images``: ``page-dark.png`` (the first screen), ``page.png``
(its graph) and ``report.png`` (the report's first screen).

With ``--screens FOLDER`` the list of runs, the run, its graph and the comparison of all runs are taken
instead, as they come up at 1440 by 900 and on a phone, to be laid beside those of other tools.
"""

from __future__ import annotations

import argparse
import io
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
ARGUMENTS = ("--no-sandbox", "--disable-gpu")
Scheme = Literal["dark", "light"]
PAGES: tuple[tuple[str, str, Scheme, int], ...] = (
    ("page-dark.png", "overview", "dark", 960),
    ("page.png", "graph", "light", 870),
)
"""File, panel, colours, and height in pixels."""
SIZES = ((1440, 900), (390, 800))
SETTLED_MS = 1500
"""Time after which a page that follows a log is taken to show all of it."""


def save(picture: bytes, file: str) -> None:
    """Write a picture with 128 colours, which a page does not need more than."""
    with Image.open(io.BytesIO(picture)) as whole:
        whole.convert("RGB").quantize(128).save(IMAGES / file, optimize=True)


def take_page(browser: Browser, address: str, run: str, picture: tuple[str, str, Scheme, int]) -> None:
    """Take a picture of a panel once its drawings are there."""
    file, panel, scheme, height = picture
    page = browser.new_page(viewport={"width": 1440, "height": height}, color_scheme=scheme)
    page.goto(f"{address}runs/{run}#{panel}")
    page.wait_for_selector("#panel[data-shown]", state="attached")
    page.wait_for_selector(".drawing svg.drawn" if panel == "overview" else "svg.graph")
    page.wait_for_load_state("networkidle")
    save(page.screenshot(), file)


def take_report(browser: Browser, store: str, run: str) -> None:
    """Take a picture of a report's first screen."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        command = [sys.executable, "-P", "-m", "dga2d", "report", run, "--store", store, "-o", str(path)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        page = browser.new_page(viewport={"width": 1000, "height": 1080}, color_scheme="light")
        page.goto(path.as_uri())
        save(page.screenshot(), "report.png")


def take_screens(browser: Browser, address: str, run: str, folder: Path) -> None:
    """Take what comes up first at each address, at the two sizes."""
    folder.mkdir(parents=True, exist_ok=True)
    page = browser.new_page(color_scheme="light")
    page.goto(address)
    runs = page.locator("tr[data-run]").evaluate_all("(rows) => rows.map((row) => row.dataset.run)")
    together = "&".join(f"run={quote(name)}" for name in runs)
    screens = {
        "list": "",
        "run": f"runs/{run}#overview",
        "graph": f"runs/{run}#graph",
        "compare": f"compare?{together}",
    }
    for name, path in screens.items():
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            page.goto("about:blank")
            page.goto(f"{address}{path}")
            page.wait_for_selector("table.runs, .plot svg, svg.graph")
            page.wait_for_timeout(SETTLED_MS)
            page.screenshot(path=folder / f"{name}-{width}.png")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", required=True, metavar="URL")
    parser.add_argument("--run", required=True)
    parser.add_argument("--screens", type=Path, metavar="FOLDER", help="first screens, for a comparison")
    asked = parser.parse_args()
    serve = ("serve", "--port", "0", "--json", "--store", asked.store)
    command = [sys.executable, "-P", "-m", "dga2d", *serve]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server,
        sync_playwright() as playwright,
    ):
        assert server.stdout is not None
        text = ""
        while not text.endswith("}\n"):
            text += server.stdout.readline()
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(ARGUMENTS))
        address = json.loads(text)["address"]
        if asked.screens is not None:
            take_screens(browser, address, asked.run, asked.screens)
        else:
            for picture in PAGES:
                take_page(browser, address, asked.run, picture)
            take_report(browser, asked.store, asked.run)
        browser.close()
        server.terminate()


if __name__ == "__main__":
    main()
