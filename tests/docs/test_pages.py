"""The documentation says what the program does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner

from dga2d.domains.jsp.reader import read_instance
from dga2d.replay.settings import RunSettings
from dga2d.runtime.cli.app import app
from dga2d.runtime.runs.config import make_settings, read_settings_file

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
ROOMS = ("agents", "domains", "events", "replay", "runtime", "store")


def test_configuration_reference_holds_every_setting_with_its_default() -> None:
    printed = CliRunner().invoke(app, ["config"]).output
    assert printed in (REFERENCE / "configuration.md").read_text(encoding="utf-8")


def test_every_command_is_in_the_command_line_reference() -> None:
    text = (REFERENCE / "cli.md").read_text(encoding="utf-8")
    headings = " ".join(re.findall(r"^## (.*)$", text, re.MULTILINE))
    assert {name for name in app.commands if not re.search(rf"\b{name}\b", headings)} == set()


def options(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Option]]:
    """Every option with the command it belongs to."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from options(command, f"{before}{name} ")
        yield from ((before + name, p) for p in command.params if isinstance(p, click.Option))


def test_every_option_that_is_no_setting_is_in_the_command_line_reference() -> None:
    words = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", (REFERENCE / "cli.md").read_text(encoding="utf-8")))
    given = [
        (command, option) for command, option in options(app) if option.name not in RunSettings.model_fields
    ]
    assert len(given) > 100
    assert [f"{command} {option.opts}" for command, option in given if not words & set(option.opts)] == []


def test_every_environment_variable_of_the_program_is_told() -> None:
    sources = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    read = {
        name for path in sources for name in re.findall(r"\bDGA2D_[A-Z_]+", path.read_text(encoding="utf-8"))
    }
    assert len(read) >= 6
    page = (REFERENCE / "configuration.md").read_text(encoding="utf-8")
    assert {name for name in read if f"| `{name}` |" not in page} == set()


def test_the_examples_settings_are_those_a_run_would_have() -> None:
    paths = list((ROOT / "examples").glob("*.toml"))
    assert paths
    for path in paths:
        given = read_settings_file(path)
        settings = make_settings(given, {}).model_dump()
        assert given, path
        assert {name: settings[name] for name in given} == given, path


def test_every_difference_between_the_presets_is_explained() -> None:
    """The table in ``method.md`` has each with both values, and nothing else."""
    paper, default = (make_settings({}, {"preset": name}).model_dump() for name in ("paper", "default"))
    differing = {
        name: (shown(value), shown(default[name])) for name, value in paper.items() if value != default[name]
    }
    page = (ROOT / "docs" / "explanation" / "method.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+?) \| .{20,} \|$", page, re.MULTILINE)
    assert {name: (ours, theirs) for name, ours, theirs in rows} == {
        name: pair for name, pair in differing.items() if name != "preset"
    }


def shown(value: Any) -> str:
    """A value as the table has it."""
    return "–" if value is None else json.dumps(value).strip('"')


def test_the_examples_instance_can_be_read() -> None:
    data = read_instance(ROOT / "examples" / "four-jobs.txt")
    assert data.machines.shape == (4, 3)


def test_decisions_are_numbered_from_top_to_bottom() -> None:
    page = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8")
    numbers = [int(n) for n in re.findall(r"^(\d+)\. ", page, re.MULTILINE)]
    assert numbers == list(range(1, len(numbers) + 1))
