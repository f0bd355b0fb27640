"""Exchangeable blocks: functions that may be swapped between implementations.

A line ``# exchangeable: NAME`` directly above a top-level function marks it. Functions marked with the
same name have the same signature and the same meaning, whatever they are called.
"""

from __future__ import annotations

import ast
import builtins
import re
from dataclasses import dataclass
from functools import lru_cache

from dga2d.agents.proposing.answers import parse_source
from dga2d.domains.core.statements import Statement, split_statements
from dga2d.domains.source_rules.declarations import is_literal

_MARKER = re.compile(r"#\s*exchangeable:\s*(?P<name>[\w-]+)\s*")


@dataclass(frozen=True)
class Block:
    """A marked function within its module."""

    name: str
    """The block's name, shared by everything it may be exchanged for."""
    function: str
    signature: str
    """Dump of the argument list without annotations."""
    text: str
    """Decorators and definition, without a line end."""
    first_line: int
    """Line of the first decorator, from 1; the marker stands directly above."""
    last_line: int
    needs: tuple[str, ...]
    """Names of the module that the function uses, sorted."""


@dataclass(frozen=True)
class Module:
    """What the top level of a source text binds, and its exchangeable blocks."""

    lines: tuple[str, ...]
    bindings: dict[str, str]
    """Name → what binds it, as a text that is equal where the meaning is."""
    constants: dict[str, str]
    """Name → its whole line, for one-line assignments of literals."""
    blocks: tuple[Block, ...]


@lru_cache(maxsize=512)
def read_module(source: str) -> Module:
    """Take a source text apart.

    Raises
    ------
    ProposalError
        ``syntax``: the text is not Python.
    """
    bindings: dict[str, str] = {}
    constants: dict[str, str] = {}
    blocks = []
    for statement in split_statements(source, parse_source(source)):
        bindings.update(_bindings(statement))
        if _is_constant(statement):
            constants.update(dict.fromkeys(statement.names, statement.text))
        if block := _block(statement):
            blocks.append(block)
    return Module(tuple(source.split("\n")), bindings, constants, tuple(blocks))


def exchange_block(target: Module, block: Block, donor: Module, replacement: Block) -> str | None:
    """Return `target`'s text with `block` replaced by a block of `donor`; ``None`` where that cannot work.

    The replacement must have the block's name and signature. What it uses of its own module must be
    bound the same way in `target`; missing one-line constants are brought along.
    """
    if (block.name, block.signature) != (replacement.name, replacement.signature):
        return None
    if replacement.function in replacement.needs and replacement.function != block.function:
        return None
    brought = []
    for name in replacement.needs:
        if name == replacement.function:
            continue
        if name not in target.bindings:
            if name not in donor.constants:
                return None
            brought.append(donor.constants[name])
        elif name not in target.constants and target.bindings[name] != donor.bindings.get(name):
            return None
    return _replace_block(target, block, brought, replacement)


def _replace_block(target: Module, block: Block, brought: list[str], replacement: Block) -> str:
    marker_line = block.first_line - 1
    before, marker = target.lines[: marker_line - 1], target.lines[marker_line - 1]
    text = replacement.text
    if replacement.function != block.function:
        text = re.sub(rf"\bdef {re.escape(replacement.function)}\b", f"def {block.function}", text, count=1)
    return "\n".join((*before, *brought, marker, text, *target.lines[block.last_line :]))


def _block(statement: Statement) -> Block | None:
    node = statement.node
    marker = _MARKER.fullmatch(statement.above[-1]) if statement.above else None
    if marker is None or not isinstance(node, ast.FunctionDef):
        return None
    return Block(
        name=marker["name"],
        function=node.name,
        signature=_signature(node.args),
        text=statement.text,
        first_line=statement.first,
        last_line=statement.last,
        needs=tuple(sorted(name for name in statement.reads if not hasattr(builtins, name))),
    )


def _signature(args: ast.arguments) -> str:
    names = [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    starred = [extra.arg for extra in (args.vararg, args.kwarg) if extra]
    defaults = [ast.dump(default) for default in (*args.defaults, *args.kw_defaults) if default]
    return f"{names} {starred} {defaults}"


def _bindings(statement: Statement) -> dict[str, str]:
    """Return the names that a statement binds, each with a text that is equal where the meaning is."""
    node = statement.node
    if isinstance(node, ast.Import):
        return {alias.asname or alias.name.partition(".")[0]: f"import {alias.name}" for alias in node.names}
    if isinstance(node, ast.ImportFrom):
        return {alias.asname or alias.name: f"from {node.module} {alias.name}" for alias in node.names}
    return dict.fromkeys(statement.names, statement.meaning)


def _is_constant(statement: Statement) -> bool:
    """Return whether the statement is a literal assigned on one line."""
    node = statement.node
    return isinstance(node, ast.Assign) and is_literal(node.value) and node.lineno == node.end_lineno
