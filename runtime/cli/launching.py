"""Launches the evaluation worker of ``solve`` before anything else is loaded, as both take half a second."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple, get_args

from dga2d.runtime.evaluation.launch import Zygote, dismiss, launch
from dga2d.runtime.evaluation.limits import SandboxMode
from dga2d.runtime.user_files import cache_dir

PIPELINES = ("safe", "basic", "ils")
"""Methods of ``solve`` that a worker runs; the others are the program's own code."""


class _Ahead(NamedTuple):
    sandbox: SandboxMode
    zygote: Zygote


_ahead: list[_Ahead] = []
"""The worker that was launched ahead and that no command has taken, if any."""


def launch_ahead(arguments: Sequence[str]) -> None:
    """Launch the worker that a command with these arguments will want, if any; `dismiss_ahead` ends it."""
    sandbox = sandbox_wanted(arguments)
    zygote = None if sandbox is None else _launch(sandbox)
    if sandbox is not None and zygote is not None:
        _ahead.append(_Ahead(sandbox, zygote))


def dismiss_ahead() -> None:
    """End the worker that was launched ahead where no command took it."""
    while _ahead:
        dismiss(_ahead.pop().zygote)


@contextmanager
def take_worker(sandbox: SandboxMode | None) -> Iterator[Zygote | None]:
    """Hand over an evaluation worker, if any is wanted, which gets ready while this process loads what it
    needs: the one that was launched ahead, or else a new one.
    """
    zygote = None
    if _ahead and _ahead[0].sandbox == sandbox:
        zygote = _ahead.pop().zygote
    elif sandbox is not None:
        zygote = _launch(sandbox)
    try:
        yield zygote
    finally:
        if zygote is not None:
            dismiss(zygote)


def sandbox_wanted(arguments: Sequence[str]) -> SandboxMode | None:
    """Return the sandbox of the worker that these arguments of ``dga2d`` ask for; ``None`` if they ask for
    none.

    It is a guess, by which nothing is lost but time: the command reads its arguments itself.
    """
    if arguments[:1] != ["solve"] or {"-h", "--help"}.intersection(arguments):
        return None
    if _value_of("--method", arguments, PIPELINES[0]) not in PIPELINES:
        return None
    named = _value_of("--sandbox", arguments, "best-effort")
    return next((mode for mode in get_args(SandboxMode) if mode == named), None)


def _value_of(option: str, arguments: Sequence[str], default: str) -> str:
    for argument, following in zip(arguments, [*arguments[1:], ""], strict=True):
        if argument == option:
            return following
        if argument.startswith(f"{option}="):
            return argument.partition("=")[2]
    return default


def _launch(sandbox: SandboxMode) -> Zygote | None:
    folder = cache_dir().resolve()
    with suppress(OSError):  # it is said where the folder is needed
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return launch(sandbox, folder)
    return None
