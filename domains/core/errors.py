"""Errors of the problem domains.

DomainError
├── UnknownDomainError        no domain of that name
├── PluginError               a plug-in domain cannot be used (file, line, reason)
│   └── PluginClashError      two domains have one name
├── BundlingError             an operator's file and the parts it takes do not fit (file, line, reason)
├── LibraryError              what a library declares does not fit its code
├── InstanceFormatError       a file does not follow its published format (file, line, reason)
├── InvalidSolutionError      raised by writers when asked to write a broken solution
├── NotOfferedError           the domain has no picture, or no model for OR-Tools
├── OracleRefusedError        an oracle answers no more questions, or none of that shape
└── DomainFaultError          code of a domain raised what its contract does not allow
"""

from __future__ import annotations

import difflib
import re
import traceback
from pathlib import Path

LONGEST_MESSAGE = 300
"""Characters of another's error message that are shown."""


class DomainError(Exception):
    """Root of the errors raised by :mod:`dga2d.domains`."""


class UnknownDomainError(DomainError, LookupError):
    """No domain is registered under `name`."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        self.name = name
        self.known = known
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}? " if near else ""
        if re.fullmatch(r"\w+", name) and Path(f"{name}.py").is_file():
            hint = f"did you mean the file {name}.py? "
        super().__init__(
            f"no domain is called {name!r}; {hint}known domains: {', '.join(known)}; "
            "--domain-path DIR adds others"
        )


class PluginError(DomainError, ImportError):
    """A plug-in domain cannot be used.

    `line` counts from 1; ``None`` where the fault belongs to the file or folder as a whole.
    """

    def __init__(self, path: Path | str, line: int | None, reason: str) -> None:
        self.file = str(path)
        self.line = line
        self.reason = reason
        where = self.file if line is None else f"{self.file}:{line}"
        super().__init__(f"{where}: {reason}")


class PluginClashError(PluginError):
    """Two domains have one name, so that nobody can say which is meant."""

    def __init__(self, name: str, first: str, second: str) -> None:
        self.name = name
        super().__init__(second, None, f"there is a domain {name!r} already ({first}); rename one of the two")


class BundlingError(DomainError, ImportError):
    """An operator's file and the parts it takes from do not make a text; `line` counts from 1."""

    def __init__(self, path: str, line: int, reason: str) -> None:
        self.file = path
        self.line = line
        self.reason = reason
        super().__init__(f"{path}:{line}: {reason}")


class LibraryError(DomainError, ValueError):
    """What a library declares does not fit its code."""


class InstanceFormatError(DomainError, ValueError):
    """An instance file breaks its published format.

    `line` counts from 1; ``None`` where the fault belongs to the file as a whole. A reason that quotes the
    file at length is cut off after `LONGEST_MESSAGE` characters.
    """

    def __init__(self, path: Path | str, line: int | None, reason: str) -> None:
        if len(reason) > LONGEST_MESSAGE:
            reason = f"{reason[: LONGEST_MESSAGE - 3]}..."
        self.path = str(path)
        self.line = line
        self.reason = reason
        where = self.path if line is None else f"{self.path}:{line}"
        super().__init__(f"{where}: {reason}")


class InvalidSolutionError(DomainError, ValueError):
    """A solution breaks its problem's constraints; the message names the first one."""


class NotOfferedError(DomainError, NotImplementedError):
    """A domain lacks an optional part, such as its picture; `part` names it."""

    def __init__(self, domain: str, part: str) -> None:
        self.domain = domain
        self.part = part
        super().__init__(f"the domain {domain!r} has no {part}")


class OracleRefusedError(DomainError, RuntimeError):
    """An oracle answers no more, or takes no questions of that shape; the message says why."""


class DomainFaultError(DomainError):
    """Code of a domain raised what its contract does not allow; the message says which part and where."""

    def __init__(self, domain: str, part: str, error: BaseException) -> None:
        self.domain = domain
        self.part = part
        super().__init__(f"the {part} of the domain {domain!r} failed: {describe_error(error)}")


def describe_error(error: BaseException) -> str:
    """Return an error's type, message and place on one line; of a group, those of the first error in it.

    Errors of this module say themselves what is wrong and where.
    """
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, DomainError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    message = " ".join(f"{type(error).__name__}: {error}".split())
    return (message if len(message) <= LONGEST_MESSAGE else f"{message[:LONGEST_MESSAGE]} ...") + where
