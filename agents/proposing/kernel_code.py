"""Kernels within texts: where a text holds one, putting another in its place, taking an import for its text.

A kernel's text is a module: imports, constants, helpers and the function, which has the kernel's name. A text
holds a kernel if it has the function and all that the function uses, statement by statement.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from dga2d.agents.proposing.errors import ProposalError, abbreviate, parse_source
from dga2d.domains.core.kernels import find_needed
from dga2d.domains.core.statements import Statement, split_statements

MODULE = "kernels"
"""What texts of proposers import kernels from; there is no such module."""
MERGE_STAGE = "kernels"
"""Stage of a text into which a kernel cannot be put."""


@lru_cache(maxsize=256)
def statements_of(source: str) -> tuple[Statement, ...]:
    """Return the statements of a text's top level, which callers share and leave as they are.

    Raises ProposalError (``syntax``).
    """
    return split_statements(source, parse_source(source))


def holds_kernel(source: str, kernel: str, name: str) -> bool:
    """Return whether a text has the function `name` of the text `kernel`, and all that it uses, as they stand
    there. Imports count by what they bind."""
    mine, wanted = (
        _meanings(find_needed(statements_of(source), name)),
        find_needed(statements_of(kernel), name),
    )
    return bool(wanted) and all(mine.get(n) == meaning for n, meaning in _meanings(wanted).items())


def _meanings(statements: Iterable[Statement]) -> dict[str, str]:
    """Return what binds each name, as a text that is equal where the meaning is."""
    found: dict[str, str] = {}
    for statement in statements:
        node = statement.node
        if isinstance(node, ast.Import):
            found |= {a.asname or a.name.partition(".")[0]: f"import {a.name}" for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {a.asname or a.name: f"from {node.module} {a.name}" for a in node.names}
        else:
            found |= dict.fromkeys(statement.names, statement.meaning)
    return found


def replace_kernel(source: str, old: str, new: str, name: str) -> str:
    """Return a text that holds the kernel `old` with `new` in its place.

    Helpers of the old one that nothing else in the text uses leave with it.

    Raises
    ------
    ProposalError
        ``kernels``: a name of the new one means something else in the text.
    """
    before = statements_of(source)
    gone = {s.first for s in before if name in s.names}
    helpers = {s.first for s in find_needed(before, name) if not s.is_import} - gone
    while True:
        read = frozenset[str]().union(*(s.reads for s in before if s.first not in gone))
        unused = {s.first for s in before if s.first in helpers - gone and read.isdisjoint(s.names)}
        if not unused:
            break
        gone |= unused
    place = next(s.first for s in before if name in s.names)
    return _put(source, gone, place, statements_of(new))


def _put(source: str, gone: set[int], place: int, new: Sequence[Statement]) -> str:
    """Return `source` without the statements that begin in the lines `gone`, and with `new` in front of the
    one that begins in line `place`; imports that it lacks go to the top.

    Raises
    ------
    ProposalError
        ``kernels``: a name of the new statements means something else in the text.
    """
    before = statements_of(source)
    known = _meanings(s for s in before if s.first not in gone)
    imports, texts = list[str](), list[str]()
    for statement in new:
        bound = _meanings([statement])
        lacking = {n for n, meaning in bound.items() if known.get(n) != meaning}
        if clash := sorted(lacking & known.keys()):
            raise ProposalError(MERGE_STAGE, f"{', '.join(clash)} is bound to something else in the text")
        if lacking and statement.is_import:
            imports.append(_import_of(statement, lacking))
        elif lacking:
            texts.append(statement.text)
    out = list[str]()
    for statement in before:
        above = list(statement.above)
        while statement.first in gone and above and above[-1].lstrip().startswith("#"):
            above.pop()
        if statement.first == place:
            comments = list[str]()
            while above and above[-1].strip():
                comments.insert(0, above.pop())
            for text in texts:
                out += [*above, "", "", *text.split("\n"), "", ""]
                above = []
            above += comments
        out += above
        if statement.first not in gone:
            out += statement.text.split("\n")
    out += source.split("\n")[before[-1].last :]
    return _tidy("\n".join(out), imports)


def _import_of(statement: Statement, names: set[str]) -> str:
    """Return an import of those of a statement's names alone."""
    node = statement.node
    assert isinstance(node, ast.Import | ast.ImportFrom)
    kept = [a for a in node.names if (a.asname or a.name.partition(".")[0]) in names]
    if isinstance(node, ast.Import):
        return ast.unparse(ast.Import(kept))
    return ast.unparse(ast.ImportFrom(node.module, kept, node.level))


def _tidy(text: str, imports: Sequence[str]) -> str:
    """Return a text with further imports behind its docstring and ``__future__``, and at most two blank lines
    in a row."""
    if imports:
        last = 0
        for statement in statements_of(text):
            node = statement.node
            is_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
            if not statement.is_constant_expression and not is_future:
                break
            last = statement.last
        lines = text.split("\n")
        head, tail = lines[:last], lines[last:]
        while tail and not tail[0].strip():
            del tail[0]
        gap = [] if tail and tail[0].startswith(("import ", "from ")) else [""]
        text = "\n".join([*head, *([""] if head else []), *imports, *gap, *tail])
    out = list[str]()
    for line in text.split("\n"):
        if line.strip() or out[-2:] != ["", ""]:
            out.append(line if line.strip() else "")
    return "\n".join(out).strip("\n") + "\n"


# ---------------------------------------------------------------- imports of kernels


def inline_kernels(source: str, kernels: Mapping[str, str]) -> str:
    """Return a text in which ``from kernels import NAME, …`` is replaced by the kernels' texts.

    A text that imports none stays as it is.

    Raises
    ------
    ProposalError
        ``kernels``: there is no such kernel, it is renamed, imported otherwise, or bound to something else.
    """
    if MODULE not in source:
        return source
    names = list[str]()
    before = statements_of(source)
    for statement in before:
        node = statement.node
        if isinstance(node, ast.Import) and any(a.name.partition(".")[0] == MODULE for a in node.names):
            raise ProposalError(MERGE_STAGE, f"write from {MODULE} import NAME")
        if not _imports_kernels(node):
            continue
        assert isinstance(node, ast.ImportFrom)
        for alias in node.names:
            if alias.name not in kernels:
                has = ", ".join(sorted(kernels)) or "none"
                raise ProposalError(
                    MERGE_STAGE, f"there is no kernel {abbreviate(alias.name)}; there are: {has}"
                )
            if alias.asname not in (None, alias.name):
                raise ProposalError(MERGE_STAGE, f"the kernel {alias.name} keeps its name")
            names.append(alias.name)
    if not names:
        return source
    gone = {s.first for s in before if _imports_kernels(s.node)}
    left = [s for s in before if s.first not in gone]
    first = next((s for s in left if isinstance(s.node, ast.FunctionDef | ast.ClassDef)), None)
    if first is None:
        raise ProposalError("signature", "expected exactly one def run at module level")
    wanted = [s for name in dict.fromkeys(names) for s in statements_of(kernels[name])]
    return _put(source, gone, first.first, _merge_statements(wanted))


def _imports_kernels(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.level == 0 and node.module == MODULE


def _merge_statements(statements: Sequence[Statement]) -> list[Statement]:
    """Return statements without those that come again. Raises ProposalError where two bind one name."""
    known, found = dict[str, str](), list[Statement]()
    for statement in statements:
        bound = _meanings([statement])
        if clash := sorted(n for n, meaning in bound.items() if known.get(n, meaning) != meaning):
            raise ProposalError(MERGE_STAGE, f"two kernels need {', '.join(clash)} as different things")
        if not bound.keys() <= known.keys():
            known |= bound
            found.append(statement)
    return found
