"""The documentation says what the program does."""

from __future__ import annotations

import re
from pathlib import Path

from click.testing import CliRunner

from dga2d.domains.jsp.reader import read_instance
from dga2d.runtime.cli.app import app
from dga2d.runtime.config import make_settings, read_settings_file

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"


def test_configuration_reference_holds_every_setting_with_its_default() -> None:
    printed = CliRunner().invoke(app, ["config"]).output
    assert printed in (REFERENCE / "configuration.md").read_text(encoding="utf-8")


def test_every_command_is_in_the_command_line_reference() -> None:
    text = (REFERENCE / "cli.md").read_text(encoding="utf-8")
    headings = " ".join(re.findall(r"^## (.*)$", text, re.MULTILINE))
    assert {name for name in app.commands if not re.search(rf"\b{name}\b", headings)} == set()


def test_links_between_pages_lead_somewhere() -> None:
    broken = []
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if "://" not in target and not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert broken == []


def test_the_examples_settings_are_valid() -> None:
    for path in (ROOT / "examples").glob("*.toml"):
        make_settings(read_settings_file(path), {})


def test_the_examples_instance_can_be_read() -> None:
    data = read_instance(ROOT / "examples" / "four-jobs.txt")
    assert data.machines.shape == (4, 3)
