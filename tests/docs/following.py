"""Does what a page says: shell blocks are run one after the other, changes are made, outputs are compared."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
TUTORIALS = ROOT / "docs" / "tutorials"
BLOCK_S = 900.0
"""Longest wait for a block; a run of a tutorial takes two minutes on two idle cores, many on busy ones."""
LEFT_OUT = "…"
"""A line of a shown output that stands for others."""

CARRY_ON = '{ export -p; printf "cd %q\\n" "$PWD"; } > "$TUTORIAL_STATE"'
"""Written after each block: the next one begins in the same folder with the same variables."""


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    text: str

    @property
    def is_whole(self) -> bool:
        """Whether a shown output shows every line."""
        return LEFT_OUT not in self.text.splitlines()


class Printed(NamedTuple):
    """What a block printed."""

    out: str
    err: str


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    return [Block(*match) for match in re.findall(r"^```(\w+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)]


def substituted(page: Path, changes: Mapping[str, str]) -> str:
    """Text of a page with `changes` made; each must apply."""
    text = page.read_text(encoding="utf-8")
    for old, new in changes.items():
        assert old in text, f"{page.name} no longer holds {old!r}"
        text = text.replace(old, new)
    return text


def run_shell(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a block as a reader types it in one shell after the others."""
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
        timeout=BLOCK_S,
        check=False,
    )


def change_file(text: str, folder: Path) -> None:
    """Make the change of a ``diff`` block, whose first line names a file below `folder`."""
    head, *lines = text.splitlines()
    path = folder / head.removeprefix("--- ")
    old = "".join(f"{line[1:]}\n" for line in lines if line[:1] != "+")
    new = "".join(f"{line[1:]}\n" for line in lines if line[:1] != "-")
    source = path.read_text(encoding="utf-8")
    assert source.count(old) == 1, f"{path.name} does not hold this once:\n{old}"
    path.write_text(source.replace(old, new), encoding="utf-8")


def masked(output: str) -> list[str]:
    """Lines without what changes from run to run or with the proposer: hashes, numbers, pipelines, names, and
    what came of a run.
    """
    text = re.sub(r"\b[0-9a-f]{64}\b", "HASH", output.replace(" (the safe baseline)", ""))
    text = re.sub(
        r"^  (held-out gap|improved|no clear improvement|not improved).*\n", "", text, flags=re.MULTILINE
    )
    text = re.sub(r"^  ([>*]|\+ operator) .*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^(verdict|held-out|incumbent|model calls) .*", r"\1", text, flags=re.MULTILINE)
    text = re.sub(r"^(Evolved|Nothing evolved) .*", "CONCLUSION", text, flags=re.MULTILINE)
    text = text.replace(": the safe baseline, nothing evolved was better", "")
    text = re.sub(r"interval -?[\d.]+ to -?[\d.]+", "INTERVAL", text)
    text = re.sub(r"\b\w+\.[0-9a-f]{12}\b", "IMPLEMENTATION", text)
    text = re.sub(r"\w+(?:→\w+)+", "EDGE", text)
    text = re.sub(r"(?<=\w) \(\d+%\)", "", text)  # parts of the time
    text = re.sub(r"\w+(?: → \w+)+|(?<=: )\w+$", "PIPELINE", text, flags=re.MULTILINE)
    text = re.sub(r"sequence [\d .-]+", "SEQUENCE", text)
    text = re.sub(r"-?\d+(?:\.\d+)?", "N", text)
    return [" ".join(line.split()) for line in text.strip().splitlines()]


def same_shape(expected: Block, printed: Printed) -> None:
    """A whole output has the same lines on stdout; of one with lines left out each stands somewhere."""
    if expected.is_whole:
        assert masked(printed.out) == masked(expected.text)
    else:
        shown = [line for line in masked(expected.text) if line != LEFT_OUT]
        there = masked(printed.out) + masked(printed.err)
        assert [line for line in shown if line not in there] == [], "\n".join(there)


def follow(
    page: str, folder: Path, compare: Callable[[Block, Printed], None] = same_shape, package: str = "."
) -> None:
    """Do what the page says in `folder`; files of ``diff`` blocks are in its folder `package`.

    A command that shows ``FAILED`` ends with 1, all others with 0.
    """
    given = blocks(page)
    printed = Printed("", "")
    for block, following in zip(given, [*given[1:], Block("", "")], strict=True):
        if block.language == "diff":
            change_file(block.text, folder / package)
        elif block.language == "sh":
            ended = run_shell(block.text, folder)
            expects_failure = following.language == "text" and "\nFAILED" in following.text
            assert ended.returncode == int(expects_failure), f"{block.text}\n{ended.stdout}\n{ended.stderr}"
            printed = Printed(ended.stdout, ended.stderr)
        elif block.language == "text":
            compare(block, printed)
