"""Which module holds which command: a command is imported when somebody asks for it."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from importlib import import_module

import click

PLACES = {
    "evolve": "run_commands:evolve",
    "resume": "run_commands:resume",
    "fork": "run_commands:fork",
    "test": "run_commands:hold_out",
    "runs": "inspect_commands:runs",
    "show": "inspect_commands:show",
    "replay": "inspect_commands:replay",
    "audit": "inspect_commands:audit",
    "log": "log_commands:log",
    "diff": "log_commands:diff",
    "gc": "log_commands:gc",
    "verify-store": "log_commands:verify_store",
    "export": "archive_commands:export_command",
    "import": "archive_commands:import_command",
    "solve": "solve_command:solve",
    "solver": "solver_command:solver",
    "report": "report_command:report",
    "serve": "serve_command:serve",
    "config": "config_command:config",
    "prompt": "prompt_command:prompt",
    "data": "data_command:data",
    "domains": "domains_command:domains",
    "doctor": "doctor_command:doctor",
}
"""Name of a command → module of this package, and the command's name in it."""


class CommandTable(MutableMapping[str, click.Command]):
    """The commands of a group by name; looking one up imports it, listing the names imports none."""

    def __init__(self) -> None:
        self._found: dict[str, click.Command] = {}
        self._places = dict(PLACES)

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._found:
            module, _, attribute = self._places[name].partition(":")
            command = getattr(import_module(f"dga2d.runtime.cli.{module}"), attribute)
            assert isinstance(command, click.Command)
            self._found[name] = command
        return self._found[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._places[name], self._found[name] = "", command

    def __delitem__(self, name: str) -> None:
        del self._places[name]
        self._found.pop(name, None)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
