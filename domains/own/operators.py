"""Operators that stand in a problem's file, beside those that its solution space brings."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from dga2d.domains.core.contract import Implementation, Operator, OperatorName, State, Tier
from dga2d.domains.core.errors import PluginError
from dga2d.domains.core.statements import Statement, parse_quietly, split_statements
from dga2d.domains.source_rules import check_source

Category = Literal["initialisation", "local_search", "perturbation", "intensification", "recombination"]


@dataclass(frozen=True)
class OwnOperator:
    """A function of a problem's file that is an operator; calling it calls the function."""

    function: Callable[..., State]
    category: Category
    title: str
    source: str
    complexity: str
    tier: Tier

    def __call__(self, env_data: Any, state: State, calc_makespan_fn: Any) -> State:
        return self.function(env_data, state, calc_makespan_fn)


def operator(
    category: Category,
    *,
    title: str | None = None,
    source: str = "the problem's author",
    complexity: str = "not stated",
    tier: Tier = "basic",
) -> Callable[[Callable[..., State]], OwnOperator]:
    """Make an operator of a function ``(env_data, state, calc_makespan_fn)`` at the top level of a file.

    It runs in the sandbox, as a text of its own: the function with all that it uses of its file, under the
    rules that a language model's code obeys (numpy, numba, math and the like; no files). The first line of
    its docstring says what it does. One of the category ``initialisation`` starts from nothing.

    Examples
    --------
    >>> import dga2d
    >>> @dga2d.operator("perturbation")
    ... def reversal(env_data, state, calc_makespan_fn):
    ...     '''The whole order is turned around.'''
    ...     state.sequence = state.sequence[::-1].copy()
    ...     env_data["budget"].charge(1)
    ...     return state
    """
    if category not in get_args(Category):
        raise ValueError(f"expected a category of {', '.join(get_args(Category))}; got {category!r}")

    def decorated(function: Callable[..., State]) -> OwnOperator:
        name = title or function.__name__.replace("_", " ").capitalize()
        return OwnOperator(function, category, name, source, complexity, tier)

    return decorated


@dataclass(frozen=True)
class OperatorInFile:
    """An operator as the program knows it, and where the lines of its text stand in the problem's file."""

    operator: Operator
    file: str
    lines: tuple[int, ...]

    def located(self, message: str) -> str:
        """Return a message on the text with the places in the file instead."""

        def place(match: re.Match[str]) -> str:
            line = int(match[1])
            known = 0 < line <= len(self.lines)
            return f"{self.file}:{self.lines[line - 1]}" if known else match[0]

        return re.sub(r"<operator>, line (\d+)", place, message)


def operators_of(found: Sequence[OwnOperator], file: Path) -> tuple[OperatorInFile, ...]:
    """Return the operators of a problem's file, each with the text that stands for it.

    Raises
    ------
    PluginError
        One is not at the top level of its file, says nothing of itself, or breaks a rule for operators.
    """
    if not found:
        return ()
    source = file.read_text(encoding="utf-8")
    statements = split_statements(source, parse_quietly(source))
    return tuple(_describe_operator(own, statements, file) for own in found)


def _describe_operator(own: OwnOperator, statements: Sequence[Statement], file: Path) -> OperatorInFile:
    name = own.function.__name__
    own_one = next(
        (s for s in statements if isinstance(s.node, ast.FunctionDef) and s.node.name == name), None
    )
    if own_one is None:
        raise PluginError(file, None, f"operator {name}: expected a function at the top level of the file")
    summary = (own.function.__doc__ or "").strip().partition("\n")[0]
    if not summary:
        reason = f"operator {name} has no docstring; its first line tells what it does"
        raise PluginError(file, own_one.node.lineno, reason)
    text, places = _text(own_one, statements)
    violations = check_source(text)
    if violations:
        first = violations[0]
        line = places[first.line - 1] if first.line else own_one.node.lineno
        raise PluginError(file, line, f"operator {name} may not run in the sandbox: {first.message}")
    identity = OperatorName(name)
    described = Operator(
        id=identity,
        title=own.title,
        summary=summary,
        category=own.category,
        requires="none" if own.category == "initialisation" else "complete",
        provides="complete",
        tier=own.tier,
        complexity=own.complexity,
        source=own.source,
        implementations=(Implementation(identity, text, f"{file.name}:{own_one.node.lineno}"),),
    )
    return OperatorInFile(described, file.name, tuple(places))


def _text(own: Statement, statements: Sequence[Statement]) -> tuple[str, list[int]]:
    """Return the text of an operator with all that it uses, and the line of the file of each of its lines."""
    by_name = {name: statement for statement in statements for name in statement.names}
    needed, waiting = set[int](), [own]
    while waiting:
        statement = waiting.pop()
        if statement.first in needed:
            continue
        needed.add(statement.first)
        reads = _body(statement).reads if statement is own else statement.reads
        waiting += [by_name[name] for name in reads if name in by_name]
    lines, places = list[str](), list[int]()
    for statement in statements:
        if statement.first not in needed:
            continue
        part = _body(statement) if statement is own else statement
        is_block = isinstance(part.node, ast.FunctionDef | ast.ClassDef)
        gap = 0 if not lines else 2 if is_block else 1 if not places or part.first > places[-1] + 1 else 0
        lines += [""] * gap + part.text.split("\n")
        places += [part.first] * gap + list(range(part.first, part.last + 1))
    return "\n".join(lines) + "\n", places


def _body(own: Statement) -> Statement:
    """Return an operator's function without its decorators, called ``run``."""
    lines = own.text.split("\n")[own.node.lineno - own.first :]
    lines[0] = re.sub(r"^def\s+\w+", "def run", lines[0])
    return Statement(own.node, own.above, own.node.lineno, own.last, "\n".join(lines))
