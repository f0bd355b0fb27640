"""Takes a library's texts apart into what they define and what they import, without running them."""

from __future__ import annotations

import ast
import builtins
import re
import symtable
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from dga2d.domains.core.errors import BundlingError

PARTS = "parts"
"""The module that texts take shared definitions from."""
TAKER = "taker"
"""The part that stands for the operator's file itself: others take from it what every file has its own of."""
_IMPORT = re.compile(r"^\s*(?:from|import)\b.*\bparts\b", flags=re.MULTILINE)
"""Matches each statement that imports from parts, and perhaps prose."""


@dataclass(frozen=True)
class Definition:
    """A function, class or constant of a text's top level."""

    names: tuple[str, ...]
    """What it binds: one name, several for ``A, B = 1, 2``."""
    text: str
    """Whole lines, from the comments directly above to a string below a constant; without a line end."""
    first: int
    """Line of the first comment or decorator, from 1."""
    line: int
    is_constant: bool

    @cached_property
    def needs(self) -> frozenset[str]:
        """Names of the module that it uses, without its own and the builtins."""
        used = _global_names(symtable.symtable(self.text, "", "exec"))
        return used.difference(self.names, dir(builtins))


@dataclass(frozen=True, order=True)
class Import:
    """One imported name."""

    module: str
    name: str
    """Empty where the module itself is imported."""
    alias: str
    """Empty where there is none."""

    @property
    def local(self) -> str:
        """The name it binds."""
        return self.alias or self.name or self.module.partition(".")[0]

    def clashes(self, other: Import) -> bool:
        """Whether both bind one name to different things; ``import a.b`` and ``import a.c`` do not."""
        are_roots = not (self.name or self.alias or other.name or other.alias)
        return self.local == other.local and self != other and not are_roots


@dataclass
class Text:
    """A library's file, taken apart."""

    path: str
    """For messages."""
    lines: list[str]
    definitions: list[Definition] = field(default_factory=list)
    """In the order of the text."""
    imports: list[Import] = field(default_factory=list)
    """All but those from parts."""
    taken: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Name taken from a part → the part's module, without ``parts.``, and the line that says so."""
    import_lines: list[int] = field(default_factory=list)
    """Lines of all import statements, from 1."""

    def definition_of(self, name: str) -> Definition | None:
        """What binds `name`; ``None`` if no definition does."""
        return next((definition for definition in self.definitions if name in definition.names), None)


def take_apart(path: str, source: str) -> Text:
    """The definitions and imports of a text's top level.

    Comments that stand by themselves are left out.

    Raises
    ------
    BundlingError
        The text is not Python, imports from parts otherwise than by ``from parts.MODULE import NAME`` at its
        top level, binds a name twice, has two statements on one line, or has other statements at its top
        level than imports, constants, functions, classes and strings.
    """
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise BundlingError(path, error.lineno or 1, f"is not Python: {error.msg}") from error
    text = Text(path, source.split("\n"))
    _refuse_nested(tree, text)
    end = 0
    for node in tree.body:
        if node.lineno <= end:
            raise BundlingError(path, node.lineno, "two statements on one line; give each a line of its own")
        end = node.end_lineno or node.lineno
        if isinstance(node, ast.Import | ast.ImportFrom):
            text.import_lines.extend(range(node.lineno, end + 1))
            _add_imports(node, text)
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            _add_definition(node, text)
        elif text.definitions and text.definitions[-1].is_constant:
            text.definitions[-1] = _prolonged(text.definitions[-1], text, end)
    return text


def takes_from_parts(source: str) -> bool:
    """Whether a text imports from parts in any way; no, if it is not Python."""
    if _IMPORT.search(source) is None:
        return False
    try:
        return any(map(_takes, ast.walk(ast.parse(source))))
    except SyntaxError:
        return False


def _takes(node: ast.AST) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom) and any(map(_is_of_parts, _modules(node)))


def _modules(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return ["." * node.level + (node.module or "")]
    return [alias.name for alias in node.names]


def _is_of_parts(module: str) -> bool:
    return module.partition(".")[0] == PARTS


def _refuse_nested(tree: ast.Module, text: Text) -> None:
    at_top = [node for node in tree.body if _takes(node)]
    if len(at_top) == len(_IMPORT.findall("\n".join(text.lines))):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and _takes(node) and node not in at_top:
            raise BundlingError(text.path, node.lineno, "take from parts at the top level of the file")


def _add_imports(node: ast.Import | ast.ImportFrom, text: Text) -> None:
    for alias in node.names:
        if isinstance(node, ast.Import):
            found = Import(alias.name, "", alias.asname or "")
        else:
            found = Import(_modules(node)[0], alias.name, alias.asname or "")
        if _is_of_parts(found.module):
            _refuse_odd(found, text, node.lineno)
            _refuse_bound(found.local, text, node.lineno)
            text.taken[found.local] = (found.module.partition(".")[2], node.lineno)
        else:
            text.imports.append(found)


def _refuse_odd(found: Import, text: Text, line: int) -> None:
    if found.module == PARTS or not found.name:
        fault = "expected `from parts.MODULE import NAME`"
    elif found.name == "*":
        fault = "name what is taken from a part instead of `*`"
    elif found.alias not in ("", found.name):
        fault = f"what is taken from a part keeps its name; write `import {found.name}`"
    else:
        return
    raise BundlingError(text.path, line, fault)


def _add_definition(node: ast.stmt, text: Text) -> None:
    names = _bound(node)
    if not names:
        reason = "only imports, constants, functions and classes may stand at the top level"
        raise BundlingError(text.path, node.lineno, reason)
    for name in names:
        _refuse_bound(name, text, node.lineno)
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    while first > 1 and text.lines[first - 2].startswith("#"):
        first -= 1
    body = "\n".join(text.lines[first - 1 : node.end_lineno])
    is_constant = isinstance(node, ast.Assign | ast.AnnAssign)
    text.definitions.append(Definition(names, body, first, node.lineno, is_constant))


def _prolonged(definition: Definition, text: Text, end: int) -> Definition:
    body = "\n".join(text.lines[definition.first - 1 : end])
    return Definition(definition.names, body, definition.first, definition.line, definition.is_constant)


def _refuse_bound(name: str, text: Text, line: int) -> None:
    other = text.definition_of(name)
    before = other.line if other else text.taken.get(name, ("", 0))[1]
    if before or any(found.local == name for found in text.imports):
        where = f"at line {before} already" if before else "by an import already"
        raise BundlingError(text.path, line, f"{name} is bound {where}; rename one of the two")


def _bound(node: ast.stmt) -> tuple[str, ...]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return (node.name,)
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return ()
    return tuple(_target_names(node.targets if isinstance(node, ast.Assign) else [node.target]))


def _target_names(targets: Sequence[ast.expr]) -> Iterator[str]:
    for target in targets:
        if isinstance(target, ast.Tuple | ast.List):
            yield from _target_names(target.elts)
        elif isinstance(target, ast.Name):
            yield target.id


def _global_names(table: symtable.SymbolTable) -> frozenset[str]:
    """Names that a scope and those within it read from the module."""
    is_module = table.get_type() == "module"
    own = {
        symbol.get_name()
        for symbol in table.get_symbols()
        if (symbol.is_referenced() if is_module else symbol.is_global())
    }
    return frozenset(own).union(*map(_global_names, table.get_children()))
