"""Facts about web pages that can be counted: bytes loaded, faults that axe finds, width on a narrow screen.

    dga2d serve --port 8010 --store STORE &
    python benchmarks/page_facts.py run=http://127.0.0.1:8010/runs/RUN#overview list=http://127.0.0.1:8010/

Any page that is served can be named, other tools' too: that is how the first table of
``docs/explanation/page.md`` was made. Each is opened in Chromium at 1440 × 900 where the system is dark, and
at 390 × 800; bytes are those of all responses, as they came over the wire uncompressed.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator
from urllib.parse import urlsplit

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Page, Response, ViewportSize, sync_playwright

ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage")
SETTLED_MS = 3000
WIDE: ViewportSize = {"width": 1440, "height": 900}
NARROW: ViewportSize = {"width": 390, "height": 800}
SERIOUS = ("critical", "serious")
FAULTS = f"""async () => (await axe.run()).violations
    .filter((found) => {list(SERIOUS)}.includes(found.impact))
    .reduce((count, found) => count + found.nodes.length, 0)"""
BACKGROUND = "() => getComputedStyle(document.body).backgroundColor"
WIDTH = "() => document.documentElement.scrollWidth"


def facts_of(browser: Browser, address: str) -> Iterator[str]:
    """Yield megabytes, elements with faults, width at 390 pixels, background in the dark, other hosts."""
    context = browser.new_context(viewport=WIDE, color_scheme="dark", bypass_csp=True)
    page = context.new_page()
    sizes: list[int] = []
    hosts: set[str] = set()

    def note(response: Response) -> None:
        hosts.add(urlsplit(response.url).netloc)
        sizes.append(_size(response))

    page.on("response", note)
    _open(page, address)
    yield f"{sum(sizes) / 1e6:.2f}"
    page.evaluate(AXE_SCRIPT)
    yield str(page.evaluate(FAULTS))
    background = str(page.evaluate(BACKGROUND))
    page.set_viewport_size(NARROW)
    page.wait_for_timeout(SETTLED_MS)
    yield str(page.evaluate(WIDTH))
    yield background
    yield ", ".join(sorted(hosts - {urlsplit(address).netloc})) or "none"
    context.close()


def _open(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_timeout(SETTLED_MS)


def _size(response: Response) -> int:
    """Return the bytes of a response; a stream that never ends, as of live events, counts as nothing."""
    if "text/event-stream" in response.headers.get("content-type", "") or response.status >= 300:
        return 0
    return len(response.body())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", nargs="+", metavar="NAME=URL")
    asked = parser.parse_args()
    print("| page | MB | critical or serious | width at 390 px | background in the dark | other hosts |")
    print("|---|--:|--:|--:|---|---|")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(ARGUMENTS))
        for page in asked.pages:
            name, _, address = page.partition("=")
            print(f"| {name} | {' | '.join(facts_of(browser, address))} |", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
