"""Commands that the page began: processes of their own, which outlive it."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dga2d.runtime.runs.own_processes import own_command, own_environment

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
