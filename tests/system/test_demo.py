"""`make demo`, shrunken: the commands of the Makefile themselves, with less of everything."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.system.conftest import Program

ROOT = Path(__file__).parents[2]
SMALLER = {"--work": ("--work", "300"), "--generations": ("--generations", "1")}


def commands() -> list[list[str]]:
    """What `make demo` runs, without the program's path."""
    made = subprocess.run(
        ["make", "--dry-run", "-C", str(ROOT), "demo"], capture_output=True, check=True, text=True
    )
    lines = made.stdout.replace("\\\n", " ").splitlines()
    return [shlex.split(line)[1:] for line in lines if "/dga2d " in line]


@pytest.mark.long
@pytest.mark.timeout(600)
def test_the_demo_ends_with_what_was_gained_and_verifies_its_log(program: Program) -> None:
    evolve, replay = commands()
    assert evolve[evolve.index("--run-id") + 1] == replay[1]
    for option, smaller in SMALLER.items():
        place = evolve.index(option)
        evolve[place : place + 2] = smaller
    evolve[evolve.index("--test-instances") + 1] = "2"
    told = program.run(*evolve, wait_s=500.0)
    assert told.code == 0, told
    sentence = told.out.splitlines()[-1]
    distance = r"start.*, and stands \d+\.\d\d ± \d+\.\d\d points (ahead of|behind) the hand-tuned baseline"
    assert re.search(distance, sentence), sentence
    replayed = program.run(*replay)
    assert replayed.code == 0, replayed
    assert " decisions repeated; head " in replayed.out
