"""The ``dga2d`` command: a table of its commands, its error line and its exit codes."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, MutableMapping
from importlib import import_module

import click

from dga2d import __version__
from dga2d.domains.core.errors import DomainError
from dga2d.events import Dga2dError
from dga2d.runtime.errors import ExitCode
from dga2d.runtime.evaluation.errors import EvaluationError

PLACES = {
    "evolve": "run_commands:evolve",
    "resume": "run_commands:resume",
    "pause": "run_commands:pause",
    "fork": "run_commands:fork",
    "test": "run_commands:hold_out",
    "study": "study_commands:study",
    "runs": "inspect_commands:runs",
    "show": "inspect_commands:show",
    "compare": "compare_commands:compare",
    "replay": "inspect_commands:replay",
    "audit": "inspect_commands:audit",
    "log": "log_commands:log",
    "diff": "log_commands:diff",
    "gc": "log_commands:gc",
    "verify-store": "log_commands:verify_store",
    "export": "log_commands:export_command",
    "import": "log_commands:import_command",
    "solve": "solve_commands:solve",
    "solver": "solve_commands:solver",
    "train": "train_commands:train",
    "report": "report_commands:report",
    "serve": "report_commands:serve",
    "bank": "bank_commands:bank",
    "config": "setup_commands:config",
    "prompt": "domain_commands:prompt",
    "data": "domain_commands:data",
    "domains": "domain_commands:domains",
    "doctor": "setup_commands:doctor",
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


@click.group(
    commands=CommandTable(),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="dga2d")
def app() -> None:
    """Evolve complete solver programs for optimisation problems, with an audited, replayable log.

    \b
    A first run, from nothing to a solver:
      dga2d evolve jsp --generations 10 --time-limit 1 --seed 1
      dga2d runs
      dga2d show RUN
      dga2d solve jsp ta/ta01 --run RUN
    """


def main() -> None:
    """Run the command line; a user's mistake is one line on stderr and exit code 2."""
    gc.set_threshold(100_000, 50, 100)  # reading a log makes many objects and no cycles
    try:
        code = app(standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        code = ExitCode.STOPPED
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        code = ExitCode.USAGE
    except click.ClickException as error:
        click.echo(f"error: {error.format_message()}", err=True)
        code = ExitCode.USAGE
    except (Dga2dError, DomainError, EvaluationError) as error:
        click.echo(f"error: {error}", err=True)
        code = getattr(error, "exit_code", ExitCode.USAGE)
    except BrokenPipeError:
        sys.stderr.close()
        code = ExitCode.OK
    sys.exit(int(code or 0))
