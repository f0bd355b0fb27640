"""A problem that was typed into a notebook or at a prompt, written to a file.

Evaluation processes, replays and solver files need a file. What the problem uses of other cells comes along:
imports, functions, classes and assignments, each as it was typed last.
"""

from __future__ import annotations

import hashlib
import linecache
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from dga2d.domains.core.errors import PluginError
from dga2d.domains.core.statements import Statement, parse_quietly, split_statements
from dga2d.domains.own.functions import FunctionProblem
from dga2d.domains.own.operators import OwnOperator

FOLDER = Path("dga2d_problems")
"""Below the working directory: a folder per text, named by its digest."""
HEAD = '"""Written by dga2d: what {name} is made of, from the cells of a notebook or a prompt."""\n\n'
NO_TEXT = (
    "is defined in no file, and its text is not known either (Python keeps that of notebooks, of IPython, "
    "and from 3.13 on of its own prompt); write it to problem.py"
)


def write_typed_problem(problem: object, kind: type) -> Path:
    """Write a problem that was typed in to a file below the working directory; return the path.

    Raises
    ------
    PluginError
        The text of what was typed is not known.
    """
    name = kind.__name__
    path = "_".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", name)).lower() or "problem"
    text = text_of(typed_cells(), _roots(problem, kind))
    if text is None:
        raise PluginError(name, None, NO_TEXT)
    text = HEAD.format(name=name) + text
    folder = FOLDER / hashlib.sha256(text.encode()).hexdigest()[:12]
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{path}.py"
    file.write_text(text, encoding="utf-8")
    return file


def typed_cells() -> list[str]:
    """Return what was typed so far, cell by cell; empty where nobody keeps it."""
    if "IPython" in sys.modules:
        from IPython import get_ipython

        shell = get_ipython()
        if shell is not None:
            return list(shell.history_manager.input_hist_parsed)
    typed = {
        int(match[1]): "".join(linecache.getlines(file))
        for file in list(linecache.cache)
        if (match := re.fullmatch(r"<python-input-(\d+)>", str(file)))
    }
    return [typed[number] for number in sorted(typed)]


def text_of(cells: Iterable[str], roots: Sequence[str]) -> str | None:
    """Return the statements of `cells` that bind `roots`, and all that they use, in the order of the cells;
    ``None`` if nothing binds a root.

    A function that an attribute of a root decorates is a part of it. Of several statements that bind a name
    the last counts.
    """
    statements = [statement for cell in cells for statement in _statements(cell)]
    binding = {name: number for number, one in enumerate(statements) for name in one.names}
    if not all(root in binding for root in roots):
        return None
    waiting = [binding[root] for root in roots]
    waiting += [number for name, number in binding.items() if _is_part(statements[number], roots)]
    needed = set[int]()
    while waiting:
        number = waiting.pop()
        if number not in needed:
            needed.add(number)
            waiting += [binding[name] for name in statements[number].reads if name in binding]
    return "\n\n".join(statements[number].text for number in sorted(needed)) + "\n"


def _statements(cell: str) -> tuple[Statement, ...]:
    try:
        return split_statements(cell, parse_quietly(cell))
    except (SyntaxError, ValueError):
        return ()


def _is_part(statement: Statement, roots: Sequence[str]) -> bool:
    first = statement.text.lstrip()
    return any(re.match(rf"@{re.escape(root)}\.\w+", first) for root in roots)


def _roots(problem: object, kind: type) -> list[str]:
    """Return the names that the problem and the operators of its module have there."""
    known = vars(sys.modules[kind.__module__])
    own = [name for name, value in known.items() if isinstance(value, OwnOperator) and name[:1] != "_"]
    if isinstance(problem, FunctionProblem):
        return [kind.__name__, *own]
    named = [name for name, value in known.items() if value is problem and name[:1] != "_"]
    return [*(named[:1] or [kind.__name__]), *own]
