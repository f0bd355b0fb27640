"""Failures of candidates as texts that fit in a prompt: the candidate's own lines, no host paths."""

from __future__ import annotations

import errno
import re
import traceback
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # pydantic is not loaded in zygotes
    from dga2d.events.payloads import FailureKind

MAX_CHARACTERS = 1500
_MAX_FRAMES = 8
_PATH = re.compile(r"(?:/[\w.@+~-]+)+/([\w.@+~-]+)")
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_FORBIDDEN_ERRNOS = frozenset(
    {errno.EPERM, errno.EACCES, errno.EROFS, errno.EXDEV, errno.EFBIG, errno.ENOENT}
)
"""What the sandbox answers; no solver needs files, so one that is not there is one it may not ask for."""
_FORBIDDEN_MESSAGES = (
    (RuntimeError, "can't start new thread"),
    (ValueError, "not allowed to raise maximum limit"),
)
"""How Python reports a refused call without its errno."""


def kind_of(error: BaseException, is_loading: bool) -> FailureKind:
    """Return the failure kind of an exception; `is_loading` while the implementation is being imported."""
    if isinstance(error, MemoryError):
        return "out_of_memory"
    if isinstance(error, SystemExit):
        return "crashed"
    if isinstance(error, OSError) and error.errno in _FORBIDDEN_ERRNOS:
        return "forbidden"
    if any(isinstance(error, cls) and words in str(error) for cls, words in _FORBIDDEN_MESSAGES):
        return "forbidden"
    if is_loading or any(cls.__module__ == "numba.core.errors" for cls in type(error).__mro__):
        return "compile_error"
    return "runtime_error"


def describe(error: BaseException, sources: Mapping[str, str], place: str) -> str:
    """Return the text for `error`, raised at `place`; `sources` maps the candidate's file names to texts."""
    lines = [f"{place}:", *_own_frames(error.__traceback__, sources)]
    if isinstance(error, SyntaxError):
        lines.append(f"  {_OPERATOR}, line {error.lineno}: {(error.text or '').strip()}")
        lines.append(f"{type(error).__name__}: {error.msg}")
    else:
        lines.append("".join(traceback.format_exception_only(type(error), error)).strip())
    return shorten("\n".join(lines))


_OPERATOR = "<operator>"


def _own_frames(trace: TracebackType | None, sources: Mapping[str, str]) -> list[str]:
    frames = [
        (line, frame.f_code.co_name, sources[frame.f_code.co_filename].splitlines())
        for frame, line in traceback.walk_tb(trace)
        if frame.f_code.co_filename in sources
    ]
    shown = frames if len(frames) <= _MAX_FRAMES else [*frames[:2], *frames[2 - _MAX_FRAMES :]]
    return [
        f"  {_OPERATOR}, line {line}, in {name}: {text[line - 1].strip() if 0 < line <= len(text) else ''}"
        for line, name, text in shown
    ]


def shorten(text: str) -> str:
    """Return `text` without host paths and terminal colours, cut in the middle beyond 1,500 characters."""
    text = _PATH.sub(_file_name, _ANSI.sub("", text))
    if len(text) <= MAX_CHARACTERS:
        return text
    head = MAX_CHARACTERS // 3
    return f"{text[:head]}\n…\n{text[len(text) - (MAX_CHARACTERS - head - 3) :]}"


def _file_name(match: re.Match[str]) -> str:
    name = match.group(1)
    return _OPERATOR if name.startswith("impl_") else name
