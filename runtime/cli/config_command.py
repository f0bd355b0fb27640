"""``config``: the effective settings as an annotated TOML file."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import click

from dga2d.runtime.cli.options import json_option, settings_from, settings_options
from dga2d.runtime.cli.output import print_json

WIDTH = 100


@click.command(short_help="Print the effective settings as annotated TOML.")
@settings_options
@json_option
def config(config_file: Path | None, assignments: tuple[str, ...], as_json: bool, **flags: Any) -> None:
    """Print the settings a run would have; the output is a valid file for --config.

    \b
    Examples:
      dga2d config > night.toml
      dga2d config --config night.toml --generations 100
    """
    settings = settings_from(flags, config_file, assignments)
    if as_json:
        print_json(settings.model_dump())
    else:
        click.echo(annotated_toml(settings), nl=False)


def annotated_toml(settings: Any) -> str:
    """One key per paragraph under its description; keys without a value are commented out."""
    paragraphs = []
    for key, field in type(settings).model_fields.items():
        description = " ".join((field.description or "").split()).replace("``", "")
        lines = textwrap.wrap(description, WIDTH, initial_indent="# ", subsequent_indent="# ")
        value = getattr(settings, key)
        lines.append(f"# {key} =" if value is None else f"{key} = {json.dumps(value)}")
        paragraphs.append("\n".join(lines) + "\n")
    return "\n".join(paragraphs)
