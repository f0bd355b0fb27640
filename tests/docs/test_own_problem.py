"""The tutorial on a problem of one's own does what it says: every command is run, every change is made."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from tests.docs.following import TUTORIALS, Block, blocks, follow

PAGES = {"own-problem.md": "shops", "own-domain.md": "problems/knapsack"}
"""Tutorial → folder with what it changes."""


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("page", PAGES)
def test_the_tutorial_works_as_it_is_written(tmp_path: Path, page: str) -> None:
    follow((TUTORIALS / page).read_text(encoding="utf-8"), tmp_path, package=PAGES[page])


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_the_tutorial_shows_what_it_prints(page: str) -> None:
    given = [*blocks((TUTORIALS / page).read_text(encoding="utf-8")), Block("", "")]
    shown = [following for block, following in pairwise(given) if block.language == "sh"]
    assert len(shown) > 5
    assert all(following.language == "text" and following.text.strip() for following in shown)
