"""Notifications: a message to a URL or a command when a run ends, pauses or fails."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from dga2d.runtime.errors import UsageError
from dga2d.runtime.terminal.output import printable

WAIT_S = 30.0
"""Longest time that a message may take."""


def check_targets(targets: Sequence[str]) -> None:
    """Refuse a target that no message could be sent to, before anything is done.

    Raises
    ------
    UsageError
        It is empty, a URL of another kind than http and https, or a command that is not there.
    """
    for target in targets:
        if not target.strip() or ("://" in target.split()[0] and not _is_url(target)):
            raise UsageError(f"--notify {target!r}: expected http://…, https://… or a command")
        if not _is_url(target):
            _check_command(target)


def _check_command(target: str) -> None:
    try:
        program = shlex.split(target)[0]
    except ValueError as error:
        raise UsageError(f"--notify {target!r}: {error}") from error
    if shutil.which(program) is None:
        raise UsageError(f"--notify {target!r}: there is no command {program!r} that can be started")


def notify(targets: Sequence[str], facts: Mapping[str, Any]) -> list[str]:
    """Send what happened to every target; return what went wrong, a line each.

    A URL gets it as JSON, with a sentence as ``text`` and ``content``, which chat services show. A command
    gets the sentence on its standard input and every fact in its environment, in capitals behind ``DGA2D_``;
    no shell is involved, since reasons may quote what a model wrote.
    """
    told = {key: None if value is None else printable(str(value)) for key, value in facts.items()}
    because = f": {told['reason']}" if told.get("reason") else ""
    verdict = f". {told['verdict']}" if told.get("verdict") else ""
    sentence = f"dga2d run {told['run']} {told['status']}{because}{verdict}"
    problems = []
    for target in targets:
        try:
            (_post if _is_url(target) else _start)(target, sentence, told)
        except Exception as error:  # a message that is lost must not lose the run's own outcome
            problems.append(f"--notify {target}: {type(error).__name__}: {error}")
    return problems


def _is_url(target: str) -> bool:
    return target.startswith(("http://", "https://"))


def _post(url: str, sentence: str, facts: Mapping[str, str | None]) -> None:
    import httpx

    document = {"text": sentence, "content": sentence, **facts}
    httpx.post(url, json=document, timeout=WAIT_S).raise_for_status()


def _start(command: str, sentence: str, facts: Mapping[str, str | None]) -> None:
    given = {f"DGA2D_{key.upper()}": value for key, value in facts.items() if value is not None}
    subprocess.run(
        shlex.split(command),
        input=sentence,
        env={**os.environ, **given},
        text=True,
        stdout=subprocess.DEVNULL,
        timeout=WAIT_S,
        check=True,
    )
