"""Texts that hold a new kernel against the one it would replace, call by call, inside an implementation.

The text is the implementation as plain Python, without the compiler. Each call of the kernel is made twice:
by the new one on a copy of the arguments, and by the old one on the arguments themselves, with which the
implementation goes on. What is returned and every array behind the arguments must be the same, bit by bit. An
index outside of an array is an error there, where compiled code would read or write some other memory.
"""

from __future__ import annotations

import ast
from copy import deepcopy

from dga2d.agents.proposing.errors import parse_source
from dga2d.agents.proposing.kernel_code import statements_of
from dga2d.domains.core.kernels import find_needed, parameters

OPERATOR = "kernel_check"
"""The operator that such a text stands for; no library has it."""
CALL_UNITS = 1 << 20
"""Work that a compared call is charged, so that what the implementation charges itself does not count."""
_DRIVER = '''

KERNEL_CALLS = [0]
KERNEL_FAULTS = []


class KernelFault(Exception):
    """The new kernel does something else than the old one."""


class KernelCallsMade(Exception):
    """Enough calls have been compared."""


class KernelBudget:
    """A budget for the implementation: so many units, and nothing behind it."""

    def __init__(self, units):
        self.units = units
        self.left = units

    def charge(self, units=1):
        self.left -= units

    def remaining(self):
        return max(0.0, self.left / self.units)

    def exhausted(self):
        return self.left <= 0


def kernel_copy(value):
    if isinstance(value, tuple):
        return tuple([kernel_copy(item) for item in value])
    return value.copy() if isinstance(value, np.ndarray) else value


def kernel_kind(value):
    """How compiled code would see a value."""
    if value is None:
        return "None"
    if isinstance(value, (bool, np.bool_)):
        return "truth value"
    if isinstance(value, (int, np.integer)):
        return "integer"
    if isinstance(value, (float, np.floating)):
        return "real number"
    if isinstance(value, tuple):
        return "tuple of " + str(len(value))
    if isinstance(value, np.ndarray):
        return "array of " + str(value.dtype) + " of shape " + str(value.shape)
    return "other value"


def kernel_difference(new, old):
    """Say what differs; empty where nothing does."""
    if kernel_kind(new) != kernel_kind(old):
        return ": " + kernel_kind(new) + ", expected " + kernel_kind(old)
    if isinstance(old, tuple):
        for place in range(len(old)):
            found = kernel_difference(new[place], old[place])
            if found:
                return "[" + str(place) + "]" + found
        return ""
    if isinstance(old, np.ndarray):
        if new.tobytes() == old.tobytes():
            return ""
        rows, others = new.ravel(), old.ravel()
        for place in range(rows.size):
            if rows[place : place + 1].tobytes() != others[place : place + 1].tobytes():
                return " at " + str(place) + ": " + str(rows[place]) + ", expected " + str(others[place])
    if old is None or new == old or (new != new and old != old):
        return ""
    return ": " + str(new) + ", expected " + str(old)


def kernel_fault(text):
    KERNEL_FAULTS.append("call " + str(KERNEL_CALLS[0]) + " of {name}: " + text)
    raise KernelFault(KERNEL_FAULTS[0])


def {name}({parameters}):
    if KERNEL_FAULTS:
        raise KernelFault(KERNEL_FAULTS[0])
    if KERNEL_CALLS[0] >= {most_calls}:
        raise KernelCallsMade
    KERNEL_CALLS[0] += 1
    copies = kernel_copy(({parameters},))
    try:
        new = kernel_after(*copies)
    except Exception as error:
        kernel_fault("it fails: " + repr(error)[:300])
    old = kernel_before({parameters})
    found = kernel_difference(new, old)
    if found:
        kernel_fault("it returns" + found)
    found = kernel_difference(copies, ({parameters},))
    if found:
        kernel_fault("it leaves the arguments ({parameters})" + found)
    return old


def run(env_data, state, calc_makespan_fn):
    given, trial = state.copy(), state.copy()
    if {is_initialiser}:
        trial.sequence, trial.metadata = trial.sequence[:0].copy(), {{}}
    KERNEL_CALLS[0] = 0
    try:
        kernel_host({{**env_data, "budget": KernelBudget({units})}}, trial, calc_makespan_fn)
    except KernelCallsMade:
        pass
    if KERNEL_FAULTS:
        raise KernelFault(KERNEL_FAULTS[0])
    env_data["budget"].charge(KERNEL_CALLS[0] * {call_units})
    return given
'''


def write_comparison(
    host: str, new: str, name: str, *, is_initialiser: bool, most_calls: int, units: int
) -> str:
    """Return a text that runs an implementation, `host`, which holds the kernel `name`, and compares each
    call of it with the kernel `new`, up to `most_calls`. It returns the state that it is given.

    `units` is the budget of the implementation. Raises ProposalError where a text is not Python.
    """
    host_tree = parse_source(host)
    compilers = _compilers(host_tree)
    rename = {name: "kernel_before", "run": "kernel_host"}
    body = list[ast.stmt]()
    for node in host_tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in rename:
            node.name = rename[node.name]
        body.append(_Plain(compilers).visit(node))
    replacement = find_needed(statements_of(new), name)
    known = {n for s in statements_of(host) for n in s.names} - {name}
    helpers = {n: f"kernel_new_{n}" for s in replacement if not s.is_import for n in s.names if n in known}
    for statement in replacement:
        if statement.is_import and set(statement.names) <= known | compilers:
            continue
        node = _Plain({"njit"}).visit(deepcopy(statement.node))
        body.append(_Rename({**helpers, name: "kernel_after"}).visit(node))
    if "np" not in known:
        body.insert(_after_head(body), ast.parse("import numpy as np").body[0])
    driver = _DRIVER.format(
        name=name,
        parameters=", ".join(parameters(host, name)),
        most_calls=most_calls,
        is_initialiser=is_initialiser,
        units=units,
        call_units=CALL_UNITS,
    )
    return ast.unparse(ast.fix_missing_locations(ast.Module(body, []))) + driver


def _after_head(body: list[ast.stmt]) -> int:
    """Return the place behind a docstring and imports from the future."""
    place = 0
    for node in body:
        is_text = isinstance(node, ast.Expr)
        is_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if not is_text and not is_future:
            break
        place += 1
    return place


def _compilers(tree: ast.Module) -> set[str]:
    """Return the names under which a module knows the functions of numba that compile."""
    return {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == "numba"
        for alias in node.names
        if alias.name in ("njit", "jit")
    } | {
        f"{alias.asname or 'numba'}."
        for node in tree.body
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name == "numba"
    }


class _Plain(ast.NodeTransformer):
    """Takes the compiler out of a statement: its decorators, and calls of it."""

    def __init__(self, compilers: set[str]) -> None:
        self._compilers = compilers

    def _is_compiler(self, node: ast.expr) -> bool:
        function = node.func if isinstance(node, ast.Call) else node
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            return f"{function.value.id}." in self._compilers and function.attr in ("njit", "jit")
        return isinstance(function, ast.Name) and function.id in self._compilers

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.decorator_list = [d for d in node.decorator_list if not self._is_compiler(d)]
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        is_applied = len(node.args) == 1 and not node.keywords and isinstance(node.args[0], ast.Name)
        return node.args[0] if is_applied and self._is_compiler(node.func) else node


class _Rename(ast.NodeTransformer):
    """Gives functions, constants and what names them other names."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.name = self._names.get(node.name, node.name)
        return node

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._names.get(node.id, node.id)
        return node
