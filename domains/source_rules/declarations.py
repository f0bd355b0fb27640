"""What a text binds and declares itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from dga2d.domains.source_rules import tables

WORD = re.compile(r"[A-Za-z]\w*", re.ASCII)
"""A name without underscores in front."""


class Declarations:
    """What a text binds and declares itself, wherever it does so."""

    def __init__(self, tree: ast.Module) -> None:
        self.modules: dict[str, str] = {}
        """Local name → dotted origin, for modules and what was taken from them."""
        self.bound: set[str] = set()
        """Names bound otherwise: variables, arguments, functions, classes."""
        self.attributes: set[str] = set()
        """Fields and methods of classes, and fields of named tuples."""
        self.keywords: set[str] = set()
        """Parameters of functions, and fields."""
        self.classes: set[str] = set()
        self.methods: set[str] = set()
        """Methods that need an instance."""
        self.module_level: set[str] = set()
        for node in ast.walk(tree):
            self._bind(node)
        for statement in tree.body:
            if isinstance(statement, ast.FunctionDef | ast.ClassDef):
                self.module_level.add(statement.name)
            else:
                names = (n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and is_stored(n))
                self.module_level.update(names)

    def _bind(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                name, origin = imported_name(node, alias)
                self.modules.setdefault(name, origin)
        elif isinstance(node, ast.Name) and is_stored(node):
            self.bound.add(node.id)
        elif isinstance(node, ast.arg):
            self.bound.add(node.arg)
            self.keywords.add(node.arg)
        elif isinstance(node, ast.FunctionDef):
            self.bound.add(node.name)
        elif isinstance(node, ast.ClassDef):
            self.bound.add(node.name)
            self._declare(node)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            self.bound.add(node.name)
        elif isinstance(node, ast.Call) and _last(node.func) == "namedtuple":
            self.attributes.update(fields := named_tuple_fields(node) or ())
            self.keywords.update(fields)

    def _declare(self, node: ast.ClassDef) -> None:
        self.classes.add(node.name)
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef):
                self.attributes.add(statement.name)
                if not {_last(decorator) for decorator in statement.decorator_list} & tables.FIXED_FORMS:
                    self.methods.add(statement.name)
                self.attributes.update(_fields_set_by(statement))
            elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                self.attributes.add(statement.target.id)
                self.keywords.add(statement.target.id)
            elif isinstance(statement, ast.Assign):
                self.attributes.update(
                    target.id for target in statement.targets if isinstance(target, ast.Name)
                )
                if is_slots(statement):
                    self.attributes.update(texts(statement.value))


def is_stored(node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)


def imported_name(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> tuple[str, str]:
    """Return the local name that an import binds and what it stands for."""
    if isinstance(node, ast.ImportFrom):
        return alias.asname or alias.name, f"{node.module}.{alias.name}"
    root = alias.name.partition(".")[0]
    return (alias.asname, alias.name) if alias.asname else (root, root)


def _fields_set_by(method: ast.FunctionDef) -> Iterator[str]:
    if method.args.args:
        own = method.args.args[0].arg
        for node in ast.walk(method):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.ctx, ast.Store)
                and is_name(node.value, own)
            ):
                yield node.attr


def is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def is_slots(statement: ast.Assign) -> bool:
    return any(is_name(target, "__slots__") for target in statement.targets)


def texts(node: ast.expr) -> list[str]:
    """Return the strings of a literal: one, or a list or tuple of them."""
    items = node.elts if isinstance(node, ast.List | ast.Tuple) else [node]
    return [item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str)]


def _last(node: ast.AST) -> str:
    """Return the last name of ``a.b.c`` or of a call of it."""
    if isinstance(node, ast.Call):
        return _last(node.func)
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def named_tuple_fields(call: ast.Call) -> list[str] | None:
    """Return the fields of ``namedtuple("Name", "a b")``, which runs their text; None for another form."""
    if len(call.args) != 2 or call.keywords or not all(is_literal(argument) for argument in call.args):
        return None
    name, fields = texts(call.args[0]), texts(call.args[1])
    words = " ".join(fields).replace(",", " ").split()
    is_plain = len(name) == 1 and all(WORD.fullmatch(word) for word in (*name, *words))
    return words if is_plain else None


def is_literal(node: ast.expr) -> bool:
    """Return whether an expression is a literal; a set of lists, or thousands of signs, is none."""
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError):
        return False
    return True
