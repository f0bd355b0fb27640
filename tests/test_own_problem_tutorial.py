"""The tutorial on a problem of one's own does what it says: every command is run, every change is made.

Numbers in the printed outputs depend on the proposer's choices and are not compared, everything else is.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "tutorials" / "own-problem.md"
CARRY_ON = '{ export -p; printf "cd %q\\n" "$PWD"; } > "$TUTORIAL_STATE"'
"""Written after each block: the next one begins in the same folder with the same variables."""


class Block(NamedTuple):
    """A fenced block of the page."""

    language: str
    text: str


def blocks(page: str) -> list[Block]:
    return [Block(*match) for match in re.findall(r"^```(\w+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)]


def run_shell(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a block as a reader types it in one shell after the others; stdout alone is kept."""
    state = folder / "state.sh"
    start = f". {state}\n" if state.exists() else f"cd {folder}\n"
    bin_folder = str(Path(sys.executable).parent)
    outside = {name: value for name, value in os.environ.items() if not name.startswith("DGA2D_")}
    environment = {
        **outside,
        "PATH": os.pathsep.join([bin_folder, os.environ["PATH"]]),
        "TUTORIAL_STATE": str(state),
    }
    return subprocess.run(
        ["bash", "-c", f"{start}set -e\ntrap '{CARRY_ON}' EXIT\n{text}"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def change_file(text: str, folder: Path) -> None:
    """Make the change of a ``diff`` block, whose first line names a file of the package."""
    head, *lines = text.splitlines()
    path = folder / "problems" / "knapsack" / head.removeprefix("--- ")
    old = "".join(f"{line[1:]}\n" for line in lines if line[:1] != "+")
    new = "".join(f"{line[1:]}\n" for line in lines if line[:1] != "-")
    source = path.read_text(encoding="utf-8")
    assert source.count(old) == 1, f"{path.name} does not hold this once:\n{old}"
    path.write_text(source.replace(old, new), encoding="utf-8")


def masked(output: str) -> list[str]:
    """Lines without what changes from run to run or with the proposer: hashes, numbers, pipelines."""
    text = re.sub(r"\b[0-9a-f]{64}\b", "HASH", output)
    text = re.sub(r"\w+(?: → \w+)+", "PIPELINE", text)
    text = re.sub(r"sequence [\d .-]+", "SEQUENCE", text)
    text = re.sub(r"\d+(?:\.\d+)?", "N", text)
    return [" ".join(line.split()) for line in text.strip().splitlines()]


def follow(page: str, folder: Path, compare: Callable[[Block, str], None]) -> None:
    """Do what the page says; `compare` gets each block of expected output with the real one."""
    given = blocks(page)
    printed = ""
    for number, block in enumerate(given):
        if block.language == "diff":
            change_file(block.text, folder)
        elif block.language == "sh":
            ended = run_shell(block.text, folder)
            following = given[number + 1] if number + 1 < len(given) else Block("", "")
            expects_failure = following.language == "text" and "\nFAILED" in following.text
            assert ended.returncode == int(expects_failure), f"{block.text}\n{ended.stdout}\n{ended.stderr}"
            printed = ended.stdout
        elif block.language == "text":
            compare(block, printed)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_tutorial_works_as_it_is_written(tmp_path: Path) -> None:
    def compare(expected: Block, printed: str) -> None:
        assert masked(printed) == masked(expected.text)

    follow(PAGE.read_text(encoding="utf-8"), tmp_path, compare)


def test_every_command_of_the_tutorial_shows_what_it_prints() -> None:
    given = blocks(PAGE.read_text(encoding="utf-8"))
    for block, following in pairwise(given):
        if block.language == "sh":
            assert following.language == "text"
            assert following.text.strip()
