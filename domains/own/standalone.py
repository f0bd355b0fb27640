"""The text of a problem in one file, for a solver file that does not import the program."""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path

from dga2d.domains.core.errors import PluginError
from dga2d.domains.own.domain import OwnDomain
from dga2d.domains.own.functions import FunctionProblem

PARTS = (
    ("dga2d.domains.own.problem", "Problem"),
    ("dga2d.domains.own.problem", "Split"),
    ("dga2d.domains.own.functions", "problem"),
    *(
        ("dga2d.domains.own.encodings", name)
        for name in ("Permutation", "Sequence", "Assignment", "Subset", "RealVector")
    ),
    *(("dga2d.domains.own.named_arrays", name) for name in ("Array", "Arrays")),
    ("dga2d.domains.own.fields", "read_fields"),
    ("dga2d.domains.own.fields", "fields_from"),
    ("dga2d.domains.own.decoder", "OwnDecoder"),
    ("dga2d.domains.core.errors", "InstanceFormatError"),
)
"""Module and name of what such a file needs of the program."""


def standalone_text(domain: OwnDomain) -> tuple[str, str]:
    """Return the problem's file without what belongs to the program, and the expression of its problem.

    Its operators are left out: a solver has those of its pipeline, as texts of their own.

    Raises
    ------
    PluginError
        The file imports another one that lies beside it, which a solver file would not find.
    """
    kind = type(domain.problem)
    file = Path(inspect.getsourcefile(kind) or "")
    source = file.read_text(encoding="utf-8")
    lines = source.splitlines()
    operators = {operator.id for operator in domain.own_operators}
    for node in ast.parse(source).body:
        names = _imported_modules(node)
        beside = [name for name in names if (file.parent / f"{name}.py").is_file()]
        if beside:
            reason = f"imports {beside[0]}.py beside it; a solver is one file, so put all into the problem's"
            raise PluginError(file, node.lineno, reason)
        is_operator = isinstance(node, ast.FunctionDef) and node.name in operators
        if (names and set(names) <= {"dga2d", "__future__"}) or _is_main(node) or is_operator:
            first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
            lines[first - 1 : node.end_lineno] = [""] * ((node.end_lineno or 0) - first + 1)
    return "\n".join(lines), _expression(domain)


def _expression(domain: OwnDomain) -> str:
    """Return what gives the problem in its file's module: a name of its own, or a call of its class."""
    kind = type(domain.problem)
    for name, value in vars(sys.modules[kind.__module__]).items():
        if value is domain.problem:
            return name
        if isinstance(value, FunctionProblem) and value.problem is domain.problem:
            return f"{name}.problem"
    return f"{kind.__name__}()"


def program_names(domain: OwnDomain) -> tuple[str, ...]:
    """Return the names under which the problem's file knows the program's package."""
    source = Path(inspect.getsourcefile(type(domain.problem)) or "").read_text(encoding="utf-8")
    nodes = [node for node in ast.parse(source).body if isinstance(node, ast.Import)]
    return tuple(a.asname or a.name for node in nodes for a in node.names if a.name == "dga2d")


def _imported_modules(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    return [(node.module or "").partition(".")[0]] if isinstance(node, ast.ImportFrom) else []


def _is_main(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)
