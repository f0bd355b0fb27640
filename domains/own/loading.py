"""The problem in a module: the class that it defines, or the object."""

from __future__ import annotations

import inspect
from types import ModuleType

from dga2d.domains.core.errors import PluginError
from dga2d.domains.own.domain import OwnDomain
from dga2d.domains.own.problem import Problem

NEEDED = ("instances", "encoding", "score")


def domain_of(module: ModuleType, name: str, file: str) -> OwnDomain:
    """Return the domain called `name` that a problem's file defines.

    Raises
    ------
    PluginError
        It defines no problem, several, or one that lacks a part.
    """
    found = [value for value in vars(module).values() if isinstance(value, Problem)]
    if not found:
        own = [v for v in vars(module).values() if isinstance(v, type) and issubclass(v, Problem)]
        classes = {v for v in own if v.__module__ == module.__name__}
        leaves = [v for v in classes if not any(issubclass(o, v) and o is not v for o in classes)]
        found = [_made(leaf, file) for leaf in leaves]
    if len(found) != 1:
        names = ", ".join(sorted(type(problem).__name__ for problem in found)) or "none"
        raise PluginError(file, None, f"expected one subclass of dga2d.Problem, found {names}")
    (problem,) = found
    missing = [part for part in NEEDED if getattr(type(problem), part) is getattr(Problem, part)]
    if missing:
        line = _line(type(problem))
        raise PluginError(file, line, f"{type(problem).__name__} defines no {', '.join(missing)}")
    return OwnDomain(problem, name)


def _made(kind: type[Problem], file: str) -> Problem:
    try:
        return kind()
    except Exception as error:
        reason = f"{kind.__name__}() failed with {type(error).__name__}: {error}"
        raise PluginError(file, _line(kind), reason) from error


def _line(kind: type[Problem]) -> int | None:
    try:
        return inspect.getsourcelines(kind)[1]
    except (OSError, TypeError):
        return None
