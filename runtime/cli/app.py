"""The ``dga2d`` command, its error line and its exit codes."""

from __future__ import annotations

import gc
import sys

import click

from dga2d import __version__
from dga2d.domains.core.errors import DomainError
from dga2d.events import Dga2dError
from dga2d.runtime.cli.command_table import CommandTable
from dga2d.runtime.errors import ExitCode
from dga2d.runtime.evaluation.errors import EvaluationError


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
