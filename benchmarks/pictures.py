"""Takes the pictures of README: a run's page and its report, in a real browser.

    make demo
    python benchmarks/pictures.py --store sqlite+aiosqlite:///dga2d.db --run demo-20261123-090600

The run must be over. Written to ``docs/images``: ``page-dark.png`` (the first screen), ``page.png``
(its graph) and ``report.png`` (the report's first screen).
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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", required=True, metavar="URL")
    parser.add_argument("--run", required=True)
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
        for picture in PAGES:
            take_page(browser, json.loads(text)["address"], asked.run, picture)
        take_report(browser, asked.store, asked.run)
        browser.close()
        server.terminate()


if __name__ == "__main__":
    main()
