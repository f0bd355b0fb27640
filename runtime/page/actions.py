"""What can be done from the page: each action is a command of ``dga2d``, shown before it begins.

An action is asked for twice. The first time the answer is the command with what it may cost; it begins when
the same command comes back as confirmed. What would run is then what was read, and nothing that costs money
begins unasked.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anyio import to_thread

from dga2d.domains.core.registry import domain_names, get_domain
from dga2d.events import RunId
from dga2d.runtime.errors import RunStateError, UsageError
from dga2d.runtime.runs.config import make_settings, parse_assignments
from dga2d.runtime.runs.estimate import RunEstimate, estimate_run
from dga2d.runtime.runs.own_processes import own_command, own_environment
from dga2d.runtime.runs.problem import settings_for
from dga2d.runtime.runs.start import checked_run_id, new_run_id
from dga2d.runtime.runs.states import load_state
from dga2d.store import EventStore, shown_url

LAST_BYTES = 2000
"""End of a command's messages that is shown."""


@dataclass(frozen=True)
class Begun:
    """A command under way, or ended."""

    command: str
    run: str
    process: subprocess.Popen[bytes]
    messages: Path
    """What it writes on both of its outputs."""

    @property
    def standing(self) -> str:
        """Return ``under way``, ``done``, or how it ended otherwise."""
        code = self.process.poll()
        if code is None:
            return "under way"
        return {0: "done", 3: "stopped before its end"}.get(code, f"ended with exit code {code}")

    def last_lines(self) -> str:
        """Return the end of its messages."""
        with self.messages.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - LAST_BYTES))
            text = file.read().decode(errors="replace")
        return "\n".join(text.splitlines()[-8:])


class Processes:
    """The commands that were begun since the page was served, on the database at `url`."""

    def __init__(self, url: str) -> None:
        self._environment = own_environment(url)
        self._begun: list[Begun] = []
        self._folder: Path | None = None

    def begin(self, command: str, run: str, arguments: Sequence[str]) -> Begun:
        """Start ``dga2d`` with `arguments`, which read as `command`.

        There is no shell, and the process has a session of its own: neither Ctrl-C on the page's terminal nor
        the page's end stops it.
        """
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="dga2d-page-"))
        messages = self._folder / f"{len(self._begun) + 1}.txt"
        with messages.open("wb") as out:
            process = subprocess.Popen(
                own_command(arguments),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=self._environment,
            )
        begun = Begun(command, run, process, messages)
        self._begun.append(begun)
        return begun

    def latest(self) -> list[Begun]:
        """Return all commands, the latest first."""
        return self._begun[::-1]


Fields = Mapping[str, str]

SETTING_FIELDS = (
    *("generations", "time_limit", "work", "work_seconds", "library", "bank", "method"),
    *("llm", "llm_calls", "llm_money_usd"),
)
"""Fields of the form that are settings of the run; an empty one is not given."""


@dataclass(frozen=True)
class Proposed:
    """A command that may be begun."""

    run: str
    """The run that it is about, or makes."""
    arguments: tuple[str, ...]
    """Without the database, which may hold a password and goes through the environment."""
    store: str
    """The database as people may see it."""
    estimate: RunEstimate | None = None
    """``None`` where nothing is bought."""

    @property
    def command(self) -> str:
        """The command as one would type it, but for a password."""
        return shlex.join(["dga2d", *self.arguments, f"--store={self.store}"])

    def view(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        lines = [] if self.estimate is None else self.estimate.lines()
        costs = self.estimate is not None and not self.estimate.is_free
        return {"run": self.run, "command": self.command, "estimate": lines, "costs_money": costs}


class Actions:
    """Proposes and begins commands on the runs of one database."""

    def __init__(self, store: EventStore, url: str) -> None:
        self._store = store
        self._shown = shown_url(url)
        self.processes = Processes(url)
        self._known: dict[str, Callable[[Fields], Any]] = {
            "evolve": self._evolve,
            "pause": self._pause,
            "resume": self._resume,
            "fork": self._fork,
            "test": self._test,
        }

    @staticmethod
    def domains() -> list[str]:
        """Return the domains that a run can be begun in."""
        return list(domain_names())

    async def act(self, name: str, fields: Fields, confirmed: str) -> dict[str, Any]:
        """Return the command that `name` and `fields` stand for, and begin it if it is the one `confirmed`.

        Keys: ``run``, ``command``, ``estimate`` (lines), ``costs_money``, ``begun``.

        Raises
        ------
        UsageError
            There is no such action, a field is wrong, or the run is not in a state for it.
        """
        if name not in self._known:
            raise UsageError(f"there is no action {name!r}; expected one of {', '.join(self._known)}")
        proposed: Proposed = await self._known[name](fields)
        begun = confirmed == proposed.command
        if begun:
            self.processes.begin(proposed.command, proposed.run, proposed.arguments)
        return {**proposed.view(), "begun": begun}

    async def _evolve(self, fields: Fields) -> Proposed:
        domain = fields.get("domain", "")
        await to_thread.run_sync(get_domain, domain)  # raises UnknownDomainError
        run = checked_run_id(fields["run"]) if fields.get("run") else new_run_id(domain)
        values, options = _read_settings(fields, SETTING_FIELDS)
        settings = await to_thread.run_sync(settings_for, domain, {}, values)
        seed = fields.get("seed") or "0"
        tested = ["--test"] if fields.get("test") else []
        arguments = ("evolve", domain, *options, f"--seed={seed}", *tested, f"--run-id={run}", "--no-report")
        return Proposed(run, arguments, self._shown, estimate_run(settings))

    async def _pause(self, fields: Fields) -> Proposed:
        run = _run(fields)
        return Proposed(run, ("pause", run), self._shown)

    async def _resume(self, fields: Fields) -> Proposed:
        run = _run(fields)
        state = await load_state(self._store, run)
        values, options = _read_settings(fields, ("generations", "llm_calls"))
        settings = make_settings({}, {**state.settings.model_dump(), **values})
        if state.status == "completed" and settings.generations <= state.completed:
            raise RunStateError(
                f"run {run} has completed its {state.completed} generations; ask for more to extend it"
            )
        left = estimate_run(settings, state.ledger.used, state.completed)
        return Proposed(run, ("resume", run, *options, "--no-report"), self._shown, left)

    async def _fork(self, fields: Fields) -> Proposed:
        parent, generation = checked_run_id(fields.get("of", "")), fields.get("generation", "")
        if not generation.isdecimal():
            raise UsageError(f"generation {generation!r}: expected the number of a closed generation")
        state = await load_state(self._store, parent)
        if int(generation) > state.completed:
            raise RunStateError(f"run {parent} has closed {state.completed} generations, not {generation}")
        run = checked_run_id(fields["run"]) if fields.get("run") else new_run_id(state.header.domain)
        values, options = _read_settings(fields, ())
        settings = make_settings({}, {**state.settings.model_dump(), **values})
        only = ["--no-run"] if fields.get("only_create") else []
        whence = f"--generation={generation}"
        arguments = ("fork", parent, whence, *options, *only, f"--run-id={run}", "--no-report")
        estimate = None if only else estimate_run(settings, state.ledger.used, int(generation))
        return Proposed(run, arguments, self._shown, estimate)

    async def _test(self, fields: Fields) -> Proposed:
        run = _run(fields)
        hand_tuned = ["--hand-tuned"] if fields.get("hand_tuned") else []
        return Proposed(run, ("test", run, *hand_tuned, "--no-report"), self._shown)


def _run(fields: Fields) -> RunId:
    return checked_run_id(fields.get("run", ""))


def _read_settings(fields: Fields, names: tuple[str, ...]) -> tuple[dict[str, Any], list[str]]:
    """Return the settings that a form asks for, and the flags of the command that ask for the same.

    `names` have a field each; all others stand as lines ``KEY=VALUE`` in the field ``settings``. An empty
    field asks for nothing.
    """
    given = {name: fields[name].strip() for name in names if fields.get(name, "").strip()}
    lines = [line.strip() for line in fields.get("settings", "").splitlines() if line.strip()]
    values = parse_assignments([*(f"{name}={_toml_value(value)}" for name, value in given.items()), *lines])
    options = [f"--{name.replace('_', '-')}={value}" for name, value in given.items()]
    return values, [*options, *(f"--set={line}" for line in lines)]


def _toml_value(value: str) -> str:
    """Return a value of the form in TOML's notation: numbers as they are, text in quotes."""
    try:
        float(value)
    except ValueError:
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return value
