"""Exchangeable blocks: functions that may be swapped between implementations.

A line ``# exchangeable: NAME`` directly above a top-level function marks it. Functions marked with the
same name have the same signature and the same meaning, whatever they are called.
"""

from __future__ import annotations

import ast
import builtins
import re
from dataclasses import dataclass

from dga2d.agents.proposing.answers import parsed

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


def read_module(source: str) -> Module:
    """Take a source text apart.

    Raises
    ------
    ProposalError
        ``syntax``: the text is not Python.
    """
    lines = tuple(source.split("\n"))
    bindings: dict[str, str] = {}
    constants: dict[str, str] = {}
    blocks = []
    for node in parsed(source).body:
        for name, meaning in _bound(node):
            bindings[name] = meaning
            if isinstance(node, ast.Assign) and _is_literal(node.value) and node.lineno == node.end_lineno:
                constants[name] = lines[node.lineno - 1]
        if isinstance(node, ast.FunctionDef) and (block := _block(node, lines)):
            blocks.append(block)
    return Module(lines, bindings, constants, tuple(blocks))


def exchanged(target: Module, block: Block, donor: Module, replacement: Block) -> str | None:
    """`target`'s text with `block` replaced by a block of `donor`; ``None`` where that cannot work.

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
    return _replaced(target, block, brought, replacement)


def _replaced(target: Module, block: Block, brought: list[str], replacement: Block) -> str:
    marker_line = block.first_line - 1
    before, marker = target.lines[: marker_line - 1], target.lines[marker_line - 1]
    text = replacement.text
    if replacement.function != block.function:
        text = re.sub(rf"\bdef {re.escape(replacement.function)}\b", f"def {block.function}", text, count=1)
    return "\n".join((*before, *brought, marker, text, *target.lines[block.last_line :]))


def _block(node: ast.FunctionDef, lines: tuple[str, ...]) -> Block | None:
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    marker = _MARKER.fullmatch(lines[first - 2]) if first > 1 else None
    if marker is None or node.end_lineno is None:
        return None
    return Block(
        name=marker["name"],
        function=node.name,
        signature=_signature(node.args),
        text="\n".join(lines[first - 1 : node.end_lineno]),
        first_line=first,
        last_line=node.end_lineno,
        needs=_needs(node),
    )


def _signature(args: ast.arguments) -> str:
    names = [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    starred = [extra.arg for extra in (args.vararg, args.kwarg) if extra]
    defaults = [ast.dump(default) for default in (*args.defaults, *args.kw_defaults) if default]
    return f"{names} {starred} {defaults}"


def _needs(function: ast.FunctionDef) -> tuple[str, ...]:
    """Names a function reads and does not bind itself, without the builtins."""
    own = {arg.arg for arg in ast.walk(function.args) if isinstance(arg, ast.arg)}
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    own.update(node.id for node in names if not isinstance(node.ctx, ast.Load))
    own.update(
        inner.name
        for inner in ast.walk(function)
        if isinstance(inner, ast.FunctionDef) and inner is not function
    )
    read = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    return tuple(sorted(name for name in read - own if not hasattr(builtins, name)))


def _bound(node: ast.stmt) -> tuple[tuple[str, str], ...]:
    """Names a top-level statement binds, each with a text that is equal where the meaning is."""
    if isinstance(node, ast.Import):
        return tuple(
            (alias.asname or alias.name.split(".")[0], f"import {alias.name}") for alias in node.names
        )
    if isinstance(node, ast.ImportFrom):
        return tuple((alias.asname or alias.name, f"from {node.module} {alias.name}") for alias in node.names)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return ((node.name, ast.dump(node)),)
    stored = (n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    return tuple((name, ast.dump(node)) for name in stored)


def _is_literal(value: ast.expr) -> bool:
    try:
        ast.literal_eval(value)
    except ValueError:
        return False
    return True
