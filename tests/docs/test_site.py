"""The site is built strictly: a page that nobody lists, a broken link or anchor is an error."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytestmark = (
    pytest.mark.slow
)  # a build takes seconds; tests/docs/test_pages.py looks at what can be seen without
ROOT = Path(__file__).parents[2]
LOADS = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "object": "data"}
"""Elements for which a browser asks a server, and where it asks."""


def build(root: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """Build as ``make docs`` does."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (options,) = re.findall(r"^\t\$\(BIN\)/sphinx-build (.*) \$\(SITE\)$", makefile, re.MULTILINE)
    return subprocess.run(
        [sys.executable, "-P", "-m", "sphinx", *options.split(), str(site)],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    built = build(ROOT, folder)
    assert (built.returncode, built.stderr) == (0, "")
    return folder


def test_every_page_of_the_repository_is_a_page_of_the_site(site: Path) -> None:
    pages = {page.relative_to(ROOT) for page in (ROOT / "docs").rglob("*.md")}
    pages |= {Path("README.md"), Path("BENCHMARKS.md")}
    assert {page for page in pages if not (site / page.with_suffix(".html")).is_file()} == set()


class Loaded(HTMLParser):
    """Addresses a page loads by itself."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in LOADS and (address := dict(attrs).get(LOADS[tag])):
            self.addresses.append(address)


def test_the_site_asks_nothing_of_the_network(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    addresses = {page: Loaded(page).addresses for page in pages}
    assert sum(map(len, addresses.values())) > 10 * len(pages) > 100
    assert [a for found in addresses.values() for a in found if re.match(r"\s*(\w+:)?//", a)] == []
    sheets = "\n".join(sheet.read_text(encoding="utf-8") for sheet in site.rglob("*.css"))
    assert re.findall(r"(?:url\(|@import)\s*[\"']?\s*(?:\w+:)?//[^)]*", sheets) == []


BROKEN = {
    "a link": ("[a page](tutorials/none.md)", "tutorials/none.md"),
    "an anchor of another page": ("[a place](../README.md#third)", "'README': 'third'"),
    "an anchor of the page": ("[a place](#fourth)", "fourth"),
    "an image": ("![a picture](images/none.png)", "images/none.png"),
    "a listed page": ("```{toctree}\ntutorials/fifth\n```", "tutorials/fifth"),
}


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """A build of a page on which everything leads nowhere."""
    folder = tmp_path_factory.mktemp("broken")
    texts = "\n\n".join(text for text, _ in BROKEN.values())
    small(folder, f"# Small\n\n[whole](../README.md#second)\n\n```{{toctree}}\n../README\n```\n\n{texts}\n")
    return build(folder, folder / "site")


@pytest.mark.parametrize("named", [named for _, named in BROKEN.values()], ids=BROKEN.keys())
def test_what_leads_nowhere_is_named_and_ends_the_build(
    broken: subprocess.CompletedProcess[str], named: str
) -> None:
    assert broken.returncode == 1
    (line,) = [line for line in broken.stderr.splitlines() if named in line]
    assert "docs/index.md" in line


def test_a_page_in_no_list_ends_the_build(tmp_path: Path) -> None:
    small(tmp_path, "# Small\n\n[whole](../README.md#second)\n")
    built = build(tmp_path, tmp_path / "site")
    assert built.returncode == 1
    assert "README.md: WARNING: document isn't included in any toctree" in built.stderr


def small(root: Path, index: str) -> None:
    """A repository of two pages with the settings of this one."""
    (root / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "conf.py", root / "docs")
    shutil.copytree(ROOT / "docs" / "site", root / "docs" / "site")
    (root / "README.md").write_text("# First\n\n## Second\n", encoding="utf-8")
    (root / "docs" / "index.md").write_text(index, encoding="utf-8")
