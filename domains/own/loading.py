"""The problem in a module: the class that it defines, the object, or the decorated functions."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType

from dga2d.domains.core.errors import PluginError
from dga2d.domains.own.domain import OwnDomain
from dga2d.domains.own.functions import FunctionProblem
from dga2d.domains.own.operators import OwnOperator, operators_of
from dga2d.domains.own.problem import Problem
from dga2d.domains.own.scoring import ProblemFaultError

NEEDED = ("instances", "encoding", "score")


def domain_of(module: ModuleType, name: str, file: str) -> OwnDomain:
    """Return the domain called `name` that a problem's file defines.

    Raises
    ------
    PluginError
        It defines no problem, several, or one that lacks a part; or an operator of it is not sound.
    """
    values = list(vars(module).values())
    found = [value for value in values if isinstance(value, Problem)]
    found += [value.problem for value in values if isinstance(value, FunctionProblem)]
    if not found:
        own = [v for v in values if isinstance(v, type) and issubclass(v, Problem)]
        classes = {v for v in own if v.__module__ == module.__name__}
        leaves = [v for v in classes if not any(issubclass(o, v) and o is not v for o in classes)]
        found = [_make_problem(leaf, file) for leaf in leaves]
    if len(found) != 1:
        names = ", ".join(sorted(type(problem).__name__ for problem in found)) or "none"
        reason = f"expected one subclass of dga2d.Problem, or one function with @dga2d.problem; found {names}"
        raise PluginError(file, None, reason)
    (problem,) = found
    missing = [part for part in NEEDED if getattr(type(problem), part) is getattr(Problem, part)]
    if missing:
        line = _line(type(problem))
        raise PluginError(file, line, f"{type(problem).__name__} defines no {', '.join(missing)}")
    operators = [value for value in values if isinstance(value, OwnOperator)]
    try:
        return OwnDomain(problem, name, operators_of(operators, Path(file)))
    except ProblemFaultError as error:
        raise PluginError(file, error.line, f"{error.part} {error.reason}") from error


def _make_problem(kind: type[Problem], file: str) -> Problem:
    try:
        return kind()
    except (Exception, SystemExit) as error:
        reason = f"{kind.__name__}() failed with {type(error).__name__}: {error}"
        raise PluginError(file, _line(kind), reason) from error


def _line(kind: type[Problem]) -> int | None:
    try:
        made_of = kind if kind.score is Problem.score else kind.score
        return inspect.getsourcelines(made_of)[1]
    except (OSError, TypeError):
        return None
