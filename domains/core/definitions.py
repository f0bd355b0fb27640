"""Takes a library's texts apart into what they define and what they import, without running them."""

from __future__ import annotations

import ast
import builtins
import re
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile

from dga2d.domains.core.errors import BundlingError
from dga2d.domains.core.statements import Statement, parse_quietly, split_statements

PARTS = "parts"
"""The module that texts take shared definitions from."""
TAKER = "taker"
"""The part that stands for the operator's file itself: others take from it what every file has its own of."""
_IMPORT = re.compile(r"^\s*(?:from|import)\b.*\bparts\b", flags=re.MULTILINE)
"""Matches each statement that imports from parts, and perhaps prose."""


@dataclass(frozen=True)
class Definition:
    """A function, class or constant of a text's top level."""

    statement: Statement
    first: int
    """Line of the first comment directly above or, without one, of the first decorator or the statement."""
    text: str
    """Whole lines from `first` on, to a string below a constant; without a line end."""

    @property
    def names(self) -> tuple[str, ...]:
        """What it binds: one name, several for ``A, B = 1, 2``."""
        return self.statement.names

    @property
    def line(self) -> int:
        """Line of the statement itself."""
        return self.statement.node.lineno

    @property
    def is_constant(self) -> bool:
        """Whether it is an assignment."""
        return isinstance(self.statement.node, ast.Assign | ast.AnnAssign)

    @cached_property
    def needs(self) -> frozenset[str]:
        """Names of the module that it uses, without its own and the builtins."""
        return self.statement.reads.difference(self.names, dir(builtins))


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
        """Return whether both bind one name to different things; ``import a.b`` and ``import a.c`` do not."""
        are_roots = not (self.name or self.alias or other.name or other.alias)
        return self.local == other.local and self != other and not are_roots


@dataclass
class SourceText:
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
        """Return what binds `name`; ``None`` if no definition does."""
        return next((definition for definition in self.definitions if name in definition.names), None)


def take_apart(path: str, source: str) -> SourceText:
    """Return the definitions and imports of a text's top level.

    Comments that stand by themselves are left out.

    Raises
    ------
    BundlingError
        The text is not Python, imports from parts otherwise than by ``from parts.MODULE import NAME`` at its
        top level, binds a name twice, has two statements on one line, or has other statements at its top
        level than imports, constants, functions, classes and strings.
    """
    try:
        tree = parse_quietly(source)
    except SyntaxError as error:
        raise BundlingError(path, error.lineno or 1, f"is not Python: {error.msg}") from error
    text = SourceText(path, source.split("\n"))
    _refuse_nested(tree, text)
    end = 0
    for statement in split_statements(source, tree):
        node = statement.node
        if node.lineno <= end:
            raise BundlingError(path, node.lineno, "two statements on one line; give each a line of its own")
        end = statement.last
        if isinstance(node, ast.Import | ast.ImportFrom):
            text.import_lines.extend(range(node.lineno, end + 1))
            _add_imports(node, text)
        elif not statement.is_constant_expression:
            _add_definition(statement, text)
        elif text.definitions and text.definitions[-1].is_constant:
            text.definitions[-1] = _prolong(text.definitions[-1], text, end)
    return text


def takes_from_parts(source: str) -> bool:
    """Return whether a text imports from parts in any way; no, if it is not Python."""
    if _IMPORT.search(source) is None:
        return False
    try:
        return any(map(_takes, ast.walk(parse_quietly(source))))
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


def _refuse_nested(tree: ast.Module, text: SourceText) -> None:
    at_top = [node for node in tree.body if _takes(node)]
    if len(at_top) == len(_IMPORT.findall("\n".join(text.lines))):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and _takes(node) and node not in at_top:
            raise BundlingError(text.path, node.lineno, "take from parts at the top level of the file")


def _add_imports(node: ast.Import | ast.ImportFrom, text: SourceText) -> None:
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


def _refuse_odd(found: Import, text: SourceText, line: int) -> None:
    if found.module == PARTS or not found.name:
        fault = "expected `from parts.MODULE import NAME`"
    elif found.name == "*":
        fault = "name what is taken from a part instead of `*`"
    elif found.alias not in ("", found.name):
        fault = f"what is taken from a part keeps its name; write `import {found.name}`"
    else:
        return
    raise BundlingError(text.path, line, fault)


def _add_definition(statement: Statement, text: SourceText) -> None:
    line = statement.node.lineno
    if not isinstance(statement.node, ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign):
        reason = "only imports, constants, functions and classes may stand at the top level"
        raise BundlingError(text.path, line, reason)
    for name in statement.names:
        _refuse_bound(name, text, line)
    comments = list(takewhile(lambda above: above.startswith("#"), reversed(statement.above)))
    body = "\n".join([*reversed(comments), statement.text])
    text.definitions.append(Definition(statement, statement.first - len(comments), body))


def _prolong(definition: Definition, text: SourceText, end: int) -> Definition:
    body = "\n".join(text.lines[definition.first - 1 : end])
    return Definition(definition.statement, definition.first, body)


def _refuse_bound(name: str, text: SourceText, line: int) -> None:
    other = text.definition_of(name)
    before = other.line if other else text.taken.get(name, ("", 0))[1]
    if before or any(found.local == name for found in text.imports):
        where = f"at line {before} already" if before else "by an import already"
        raise BundlingError(text.path, line, f"{name} is bound {where}; rename one of the two")
