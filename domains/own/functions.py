"""A problem made of decorated functions, for those who would rather not write a class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Literal, TypeVar, overload

from dga2d.domains.own.problem import Problem

Part = TypeVar("Part", bound=Callable[..., Any])


class FunctionProblem:
    """A problem whose score is a function; each method is a decorator that adds one more part of it.

    The parts are those of `Problem`, without ``self``. The score's docstring tells a language model what the
    problem is about.
    """

    def __init__(
        self, score: Callable[..., Any], sense: Literal["min", "max"], fields: Mapping[str, str]
    ) -> None:
        self.parts: dict[str, Callable[..., Any]] = {"score": score}
        self._about: dict[str, Any] = {"sense": sense, "fields": fields}

    def __call__(self, instance: Any, solution: Any) -> Any:
        """Return the score of a solution."""
        return self.parts["score"](instance, solution)

    def instances(self, function: Part) -> Part:
        """Add what returns the instances."""
        return self._add("instances", function)

    def encoding(self, function: Part) -> Part:
        """Add what returns the solution space of an instance."""
        return self._add("encoding", function)

    def check(self, function: Part) -> Part:
        """Add what says by how much a solution breaks constraints."""
        return self._add("check", function)

    def verify(self, function: Part) -> Part:
        """Add what proves an answer, or says in a sentence what is wrong with it."""
        return self._add("verify", function)

    def delta(self, function: Part) -> Part:
        """Add what says by how much a move changes the score."""
        return self._add("delta", function)

    def reference(self, function: Part) -> Part:
        """Add what returns a good known score of an instance."""
        return self._add("reference", function)

    def read(self, function: Part) -> Part:
        """Add what reads an instance from a file."""
        return self._add("read", function)

    def write(self, function: Part) -> Part:
        """Add what returns the text of a solution file."""
        return self._add("write", function)

    def picture(self, function: Part) -> Part:
        """Add what draws a solution."""
        return self._add("picture", function)

    def _add(self, name: str, function: Part) -> Part:
        if "problem" in vars(self):
            raise ValueError(f"{name} comes too late: the problem is in use already")
        if name in self.parts:
            raise ValueError(f"the problem has two functions for {name}")
        self.parts[name] = function
        return function

    @cached_property
    def problem(self) -> Problem:
        """The problem as an object of a class; all parts must be there."""
        score = self.parts["score"]
        parts = {name: staticmethod(function) for name, function in self.parts.items()}
        about = {**self._about, "__doc__": score.__doc__, "__module__": score.__module__}
        kind: type[Problem] = type(score.__name__, (Problem,), {**about, **parts})
        return kind()


@overload
def problem(score: Callable[..., Any], /) -> FunctionProblem: ...


@overload
def problem(
    *, sense: Literal["min", "max"] = "min", fields: Mapping[str, str] | None = None
) -> Callable[[Callable[..., Any]], FunctionProblem]: ...


def problem(
    score: Callable[..., Any] | None = None,
    /,
    *,
    sense: Literal["min", "max"] = "min",
    fields: Mapping[str, str] | None = None,
) -> FunctionProblem | Callable[[Callable[..., Any]], FunctionProblem]:
    """Make a problem of its score function; a decorator, with or without arguments.

    Examples
    --------
    >>> import dga2d
    >>> @dga2d.problem(sense="max")
    ... def knapsack(instance, chosen):
    ...     '''Choose items of great value that together are not too heavy.'''
    ...     return (instance.values * chosen).sum()
    >>> @knapsack.instances
    ... def draw():
    ...     return [{"values": [60, 100, 120], "weights": [1, 2, 3], "capacity": 5}] * 5
    >>> @knapsack.encoding
    ... def items(instance):
    ...     return dga2d.Subset(len(instance.values))
    >>> @knapsack.check
    ... def excess(instance, chosen):
    ...     return max(0, (instance.weights * chosen).sum() - instance.capacity)
    """
    if score is not None:
        return FunctionProblem(score, sense, fields or {})
    return lambda function: FunctionProblem(function, sense, fields or {})
