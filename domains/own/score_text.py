"""The source of a problem's score and check and of what they call in its file, as proposers are told it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from dga2d.domains.own.problem import Problem

MOST_CHARACTERS = 6_000
"""Characters of sources that are told besides the score's and the check's own."""
LONGEST_CONSTANT = 200
"""Characters of a constant's value that is told."""


def score_and_check(problem: Problem) -> str:
    """Return the Python source of a problem's score and check, which older prompts tell."""
    return "\n".join(_source(part) for part in _own_parts(problem))


def score_text(problem: Problem) -> str:
    """Return the Python source of a problem's score and check, then that of the functions of the same module
    that they call, nearest first, and the constants that these name.

    Of functions for which there is no room the first line of the docstring is told. What the problem inherits
    from `Problem`, what stands in other modules, and sources that cannot be found are left out.
    """
    kind, own = type(problem), _own_parts(problem)
    told, left, constants = [_source(part) for part in own], MOST_CHARACTERS, dict[str, str]()
    seen, waiting = set(own), list(own)
    while waiting:
        for name, value in _named(waiting.pop(0), kind):
            if not isinstance(value, FunctionType):
                constants[name] = f"{name} = {value!r}"
            elif value not in seen and (source := _source(value)):
                seen.add(value)
                waiting.append(value)
                text = source if len(source) <= left else _summary(value)
                told.append(text)
                left -= len(text) if text is source else 0
    return "\n\n".join(filter(None, ["\n".join(constants.values()), *told]))


def _own_parts(problem: Problem) -> list[FunctionType]:
    parts = (_plain(getattr(type(problem), name)) for name in ("score", "check"))
    return [part for part in parts if part not in (Problem.score, Problem.check) and _source(part)]


def _plain(function: Any) -> Any:
    """Return the Python function that a compiled or wrapped one was made of."""
    return inspect.unwrap(getattr(function, "py_func", function))


def _named(function: FunctionType, kind: type[Problem]) -> Iterator[tuple[str, Any]]:
    """Yield the functions and constants of the problem's module, and the methods that are its own, which a
    function names, in the order of their first appearance."""
    for name in _names(function.__code__):
        method = None if hasattr(Problem, name) else getattr(kind, name, None)
        value = _plain(function.__globals__.get(name, method))
        if isinstance(value, FunctionType):
            if value.__module__ == kind.__module__:
                yield name, value
        elif name.isupper() and _can_be_told(value):
            yield name, value


def _can_be_told(value: Any) -> bool:
    return isinstance(value, int | float | str | tuple) and len(repr(value)) <= LONGEST_CONSTANT


def _names(code: CodeType) -> Iterator[str]:
    """Yield the global names and attributes of a function and of those that it defines."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _source(function: Any) -> str:
    """Return a function's text without what its indentation adds; empty where it is not to be found."""
    try:
        return inspect.cleandoc("\n" + inspect.getsource(function))
    except (OSError, TypeError):
        return ""


def _summary(function: FunctionType) -> str:
    about = (inspect.getdoc(function) or "its source is too long to be shown").partition("\n")[0]
    return f"def {function.__name__}{inspect.signature(function)}: ...  # {about}"
