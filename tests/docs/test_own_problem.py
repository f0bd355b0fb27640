"""The tutorial on a problem of one's own does what it says: every command is run, every change is made."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from tests.docs.following import TUTORIALS, Block, blocks, follow, substituted

from dga2d.domains.core.plugins import use_problem_file
from dga2d.domains.core.registry import get_domain
from dga2d.domains.own.claims import functions_claim
from dga2d.domains.own.domain import OwnDomain

PAGES = {"own-problem.md": "shops", "own-domain.md": "problems/knapsack"}
"""Tutorial → folder with what it changes."""


LITTLE = "--set race_contenders=2 --set validation_instances=4"
SMALLER = {
    "own-problem.md": {"--work 3000 --generations 6 ": f"--work 300 --generations 2 {LITTLE} "},
    "own-domain.md": {
        "--generations 5 --work 2000 ": f"--generations 2 --work 300 {LITTLE} ",
        "--generations 10 --work 2000 ": f"--generations 2 --work 300 {LITTLE} ",
    },
}
"""Tutorial → what takes minutes there, and what stands in its place; nothing of the outputs' form changes."""
REPEATED = r"```sh\ndga2d domains check knapsack\n```\n\n```text\n(?:ok .*\n)+```\n"
"""A check of half a minute in which all is well, as it is at the end of the tutorial."""


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("page", "is_smaller"),
    [
        pytest.param("own-problem.md", True, marks=pytest.mark.slow, id="own-problem.md, smaller"),
        pytest.param("own-domain.md", True, marks=pytest.mark.long, id="own-domain.md, smaller"),
        *(pytest.param(page, False, marks=pytest.mark.long, id=page) for page in PAGES),
    ],
)
def test_the_tutorial_works(
    tmp_path: Path, page: str, is_smaller: bool, record_property: Callable[[str, object], None]
) -> None:
    """Its time is recorded, not judged: that is up to whoever runs it on a machine of its own."""
    began = time.monotonic()
    text = substituted(TUTORIALS / page, SMALLER[page] if is_smaller else {})
    follow(re.sub(REPEATED, "", text) if is_smaller else text, tmp_path, package=PAGES[page])
    seconds = round(time.monotonic() - began)
    record_property("seconds", seconds)
    print(f"{page}: {seconds} s, load {os.getloadavg()[1]:.1f} on {os.cpu_count()} cores")


def test_the_decorated_problem_of_the_tutorial_is_sound(tmp_path: Path) -> None:
    page = (TUTORIALS / "own-problem.md").read_text(encoding="utf-8")
    parts = [block.text for block in blocks(page) if block.language == "python"]
    path = tmp_path / "clique.py"
    path.write_text("\n\n".join(parts), encoding="utf-8")
    domain = get_domain(use_problem_file(path))
    assert isinstance(domain, OwnDomain)
    assert list(functions_claim(domain, domain.generated()[:2])) == []
    assert [operator.id for operator in domain.own_operators] == ["weakest_out"]


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_the_tutorial_shows_what_it_prints(page: str) -> None:
    given = [*blocks((TUTORIALS / page).read_text(encoding="utf-8")), Block("", "")]
    shown = [following for block, following in pairwise(given) if block.language == "sh"]
    assert len(shown) > 5
    assert all(following.language == "text" and following.text.strip() for following in shown)
