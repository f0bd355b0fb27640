"""Arguments and options that several commands share, what a shell offers for them after Tab, and help in
groups: first the options that people need first, then all others by what they are about.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, TypeVarTuple, cast, get_args, get_origin

import click
from click.shell_completion import CompletionItem

from dga2d.domains.core.errors import DomainError
from dga2d.events import Dga2dError
from dga2d.runtime.errors import UsageError
from dga2d.store import DEFAULT_URL, database_url

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

Command = TypeVar("Command", bound=Callable[..., Any])
Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")

LARGEST_INTEGER = 2**63 - 1
"""The largest integer that a log and its database hold."""


def run_async(work: Callable[[*Arguments], Awaitable[Result]], *arguments: *Arguments) -> Result:
    """Return what `work` returns, carried out in an event loop."""
    import anyio  # `dga2d --help` does without

    return anyio.run(work, *arguments)


def file_option(*names: str, **attributes: Any) -> Callable[[Command], Command]:
    """Return an option that takes the path of a file."""
    kind = click.Path(path_type=Path, dir_okay=False)
    return click.option(*names, type=kind, metavar="FILE", **attributes)


def folder_option(*names: str, **attributes: Any) -> Callable[[Command], Command]:
    """Return an option that takes the path of a folder."""
    return click.option(*names, **{"type": click.Path(path_type=Path), "metavar": "DIR", **attributes})


store_option = click.option(
    "--store",
    "url",
    default=DEFAULT_URL,
    show_default=True,
    envvar="DGA2D_STORE",
    metavar="URL|PATH",
    callback=lambda context, parameter, value: database_url(value),
    help="Database that holds the logs: the path of an SQLite file, or a URL, also of a PostgreSQL server's "
    "(postgresql+asyncpg://USER@HOST/DATABASE).",
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print the result as JSON on stdout (see docs/reference/cli.md)."
)
_data_option = click.option(
    "--data",
    "data_dir",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="DGA2D_DATA",
    metavar="DIR",
    help="Folder of published instances; without it the program generates real benchmark instances.",
)


def _use_domain_path(context: click.Context, parameter: click.Parameter, folders: tuple[Path, ...]) -> None:
    """Let the registry look for plug-ins there; a subcommand without the option keeps its group's."""
    from dga2d.domains.core.plugins import use_domain_path, use_problem_file

    context.meta[GIVEN_PATHS_KEY] = (*context.meta.get(GIVEN_PATHS_KEY, ()), *folders)
    for file in (folder for folder in folders if folder.suffix == ".py"):
        use_problem_file(file)
    folders = tuple(folder for folder in folders if folder.suffix != ".py")
    if folders or _DOMAIN_PATH_KEY not in context.meta:
        use_domain_path(folders)
        context.meta[_DOMAIN_PATH_KEY] = folders


_DOMAIN_PATH_KEY = "dga2d.domain_path"
GIVEN_PATHS_KEY = "dga2d.given_domain_paths"
"""Where a command's context keeps what ``--domain-path`` named, for commands that start others."""
domain_path_option = folder_option(
    "--domain-path",
    envvar="DGA2D_DOMAIN_PATH",
    multiple=True,
    is_eager=True,
    expose_value=False,
    callback=_use_domain_path,
    help="Folder with domains of your own, one package folder each, or a problem's file; may be given "
    "several times.",
)


def data_option(command: Command) -> Command:
    """Add ``--data DIR`` and, since instances belong to domains, ``--domain-path DIR``."""
    return _data_option(domain_path_option(command))


_report_file_option = file_option(
    "--report",
    "report_file",
    help="Where the HTML report goes; RUN.html in the working directory by default.",
)
_no_report_option = click.option("--no-report", is_flag=True, help="Write no report.")


def report_option(command: Command) -> Command:
    """Add ``--report FILE`` and ``--no-report``."""
    return _report_file_option(_no_report_option(command))


quiet_option = click.option("--quiet", "-q", is_flag=True, help="No progress on stderr.")
_verbose_option = click.option(
    "-v", "--verbose", count=True, help="Log lines on stderr; -vv tells of every event."
)
_log_json_option = click.option("--log-json", is_flag=True, help="Log lines as JSON.")


def log_options(command: Command) -> Command:
    """Add ``--verbose`` and ``--log-json`` and set logging up before the command runs."""

    @functools.wraps(command)
    def configured(*args: Any, verbose: int, log_json: bool, **kwargs: Any) -> Any:
        from dga2d.runtime.terminal.diagnostics import configure

        configure(verbose, log_json)
        return command(*args, **kwargs)

    return cast("Command", _verbose_option(_log_json_option(configured)))


accept_code_option = click.option(
    "--accept-code-change",
    is_flag=True,
    help="Continue although another version of the program wrote the log; the log will say so.",
)


rebuild_policy_option = click.option(
    "--rebuild-policy",
    is_flag=True,
    help="Repeat the policy's updates from the log instead of loading its saved files.",
)
seed_option = click.option("--seed", type=click.IntRange(0, LARGEST_INTEGER), default=0, show_default=True)
set_option = click.option(
    "--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Any setting, in TOML notation."
)


def thread_count(cores: str) -> int:
    """Return the number of threads that ``--cores`` asks for.

    Raises
    ------
    UsageError
        It is neither a number from 1 on nor ``all``.
    """
    if cores == "all":
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not cores.isdecimal() or int(cores) < 1:
        raise UsageError(f"--cores: expected a number from 1 on, or all, got {cores!r}")
    return int(cores)


def settings_options(command: Command) -> Command:
    """Add one flag per setting of :class:`RunSettings`, and ``--config`` and ``--set``."""
    from dga2d.replay.settings import RunSettings

    for name, field in reversed(RunSettings.model_fields.items()):
        command = _setting_option(name, field)(command)
    command = set_option(command)
    return file_option("--config", "config_file", help="TOML file of settings; flags win over it.")(command)


def _setting_option(name: str, field: FieldInfo) -> Callable[[Command], Command]:
    flag, annotation = "--" + name.replace("_", "-"), field.annotation
    from dga2d.runtime.runs.config import DEFAULT

    value = {"preset": "default", **DEFAULT}.get(name, field.default)
    default = "none" if value is None else value
    shown = f"{' '.join((field.description or '').split()).replace('``', '')}  [default: {default}]"
    if annotation is bool:
        return click.option(f"{flag}/--no-{flag[2:]}", name, default=None, help=shown)
    if get_origin(annotation) is Literal:
        return click.option(flag, name, type=click.Choice(get_args(annotation)), help=shown)
    if name == "llm":
        return click.option(flag, name, multiple=True, help=f"{shown} May be given several times.")
    if get_origin(annotation) is tuple:
        return click.option(flag, name, multiple=True, help=shown)
    kinds = [kind for kind in (get_args(annotation) or (annotation,)) if kind is not type(None)]
    return click.option(flag, name, type=kinds[0] if len(kinds) == 1 else str, help=shown)


def settings_from(
    flags: dict[str, Any], config_file: Path | None, assignments: tuple[str, ...], domain: str | None = None
) -> Any:
    """Return the effective :class:`RunSettings` of a command line, for a run on `domain` where one is
    named."""
    given = given_settings(flags, config_file, assignments)
    if domain is None:
        from dga2d.runtime.runs.config import make_settings

        return make_settings({}, given)
    from dga2d.runtime.runs.problem import settings_for

    return settings_for(domain, {}, given)


def given_settings(
    flags: dict[str, Any], config_file: Path | None, assignments: tuple[str, ...]
) -> dict[str, Any]:
    """Return what the user set: in a file, by ``--set`` or by flags."""
    from dga2d.runtime.runs.config import parse_assignments, read_settings_file

    from_file = {} if config_file is None else read_settings_file(config_file)
    from_flags = {key: value for key, value in flags.items() if value not in (None, ())}
    if named := from_flags.pop("llm", ()):
        from_flags["llm"] = named[0]
        if more := (*named[1:], *from_flags.get("llm_others", ())):
            from_flags["llm_others"] = more
    return {**from_file, **parse_assignments(list(assignments)), **from_flags}


def complete_domains(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the domains whose names begin with `incomplete`; none where a plug-in cannot be used."""
    from dga2d.domains.core.registry import domain_names

    try:
        return [name for name in domain_names() if name.startswith(incomplete)]
    except DomainError:
        return []


def complete_instances(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the instances of the domain given before that begin with `incomplete`; the shell adds files."""
    from dga2d.runtime.runs.problem import Problem

    files = CompletionItem(incomplete, type="file")
    data = context.params.get("data_dir") or os.environ.get("DGA2D_DATA")
    try:
        splits = Problem.open(context.params["domain"], None if data is None else Path(data)).splits
    except (DomainError, Dga2dError, KeyError):
        return [files]
    keys = sorted(ref.key for part in splits for ref in part)
    return [*(CompletionItem(key) for key in keys if key.startswith(incomplete)), files]


def complete_runs(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the runs whose names begin with `incomplete`, latest first; none where there is no database."""
    return _runs(context, incomplete, None)


def complete_runs_of_domain(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the same for an option behind a domain: only the runs of that domain."""
    before_the_option = context.args  # unread, since the value the option needs is not there yet
    return _runs(context, incomplete, before_the_option[0] if before_the_option else None)


def _runs(context: click.Context, incomplete: str, domain: str | None) -> list[str]:
    import anyio

    from dga2d.runtime.inspection.runs import run_names

    url = database_url(context.params.get("url") or os.environ.get("DGA2D_STORE") or DEFAULT_URL)
    try:
        names = anyio.run(run_names, url, domain)
    except Dga2dError:
        return []
    return [name for name in reversed(names) if name.startswith(incomplete)]


run_argument = click.argument("run", shell_complete=complete_runs)


def domain_name(context: click.Context, parameter: click.Parameter, given: str) -> str:
    """Return the name of the domain that is meant: a name, or the path of a problem's file."""
    if not given.endswith(".py"):
        return given
    from dga2d.domains.core.plugins import use_problem_file

    return use_problem_file(Path(given))


domain_argument = click.argument("domain", shell_complete=complete_domains, callback=domain_name)


FIRST = (
    *("generations", "time_limit", "work", "llm", "llm_calls"),
    *("seed", "and_test", "max_hours", "notify", "data_dir"),
)
GROUPS: Mapping[str, Sequence[str]] = {
    "What people need first": FIRST,
    "The run and its settings": ("run_id", "config_file", "assignments", "url", "domain_path"),
    "What is shown and written": (
        *("report_file", "no_report", "quiet", "as_json", "verbose", "log_json", "help"),
    ),
    "Going on": ("accept_code_change", "rebuild_policy"),
}
"""Title → parameters, in their order."""
BY_PREFIX: Mapping[str, Sequence[str]] = {
    "Language model": ("llm", "bank"),
    "Policy": (
        "policy",
        "learning_rate",
        "max_gradient_norm",
        "lora",
        "gradient_checkpointing",
        "prior",
        "entropy",
    ),
    "Validation and test": ("validation", "checkpoint", "test", "beam"),
    "Racing": ("race",),
    "Evaluation and sandbox": (
        *("evaluators", "sandbox", "memory_", "cpu_", "grace_", "work", "import_", "compile_", "process_"),
        *("open_file", "file_size", "answer_", "calibration"),
    ),
}
"""Title → beginnings of the names of settings; what fits nowhere is the method's."""
METHOD = "Method"


class GroupedCommand(click.Command):
    """A command whose help shows its options in groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows: dict[str, list[tuple[int, tuple[str, str]]]] = {}
        for number, parameter in enumerate(self.get_params(ctx)):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                title, place = _place(parameter.name or "", number)
                rows.setdefault(title, []).append((place, record))
        for title in (*GROUPS, METHOD, *BY_PREFIX):
            if title in rows:
                with formatter.section(title):
                    formatter.write_dl([record for _, record in sorted(rows[title], key=lambda row: row[0])])


def _place(name: str, number: int) -> tuple[str, int]:
    """Return the group of a parameter and its place there."""
    for title, names in GROUPS.items():
        if name in names:
            return title, names.index(name)
    for title, prefixes in BY_PREFIX.items():
        if name.startswith(tuple(prefixes)):
            return title, number
    return METHOD, number
