"""Answers that propose a faster kernel: what they must hold.

The rules are far narrower than those of implementations: functions of numbers and arrays that call nothing
but each other, a few builtins and lists of numpy and math. Such code can be compared with the kernel that it
replaces in one process, since it can reach nothing but its arguments.
"""

from __future__ import annotations

import ast
from typing import Final

from dga2d.agents.proposing.answers import NO_CHANGE, clean_answer, normalised_ast_digest, python_block
from dga2d.agents.proposing.errors import ProposalError, parse_source
from dga2d.domains.core.kernels import function_of
from dga2d.domains.source_rules.tables import PUBLIC_NAMES

MAX_KERNEL_CHARS = 20_000
RULE_STAGE = "kernel_rules"
"""Stage of an answer that is no function of numbers and arrays alone."""
_IMPORTS: Final = {"import numpy as np", "import math", "from numba import njit"}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_BUILTINS: Final = _words("abs bool enumerate float int len max min range round zip")
_NUMPY: Final = _words(
    """
    abs arange argmax argmin argsort array bool_ ceil copy count_nonzero cumsum dot empty empty_like
    exp floor float32 float64 full full_like hypot inf int16 int32 int64 int8 intp log maximum minimum
    nan ones ones_like pi searchsorted sign sort sqrt sum uint16 uint32 uint64 uint8 where zeros zeros_like
    """
)
_ARRAY: Final = _words("T argmax argmin astype copy dtype fill max min ndim ravel shape size sum")
_NODES: Final = _words(
    """
    arguments arg Return Assign AugAssign For While If Expr Pass Break Continue BoolOp BinOp UnaryOp IfExp
    Compare Call Constant Attribute Subscript Name Tuple List Slice Load Store And Or Add Sub Mult Div Mod
    Pow LShift RShift BitOr BitXor BitAnd FloorDiv Invert Not UAdd USub Eq NotEq Lt LtE Gt GtE Is IsNot
    """
)
_OPTIONS: Final = _words("cache inline nogil error_model")


def parse_kernel(text: str, current: str, name: str) -> str:
    """Return the module of an answer that is to take the place of the kernel `name`, whose text is `current`.

    Raises
    ------
    ProposalError
        ``size``, ``code_block``, ``encoding``, ``no_variation``, ``syntax``: see `python_block`;
        ``no_change``: the answer is `NO_CHANGE`; ``signature``: it has not the one function, or that has
        other parameters; ``kernel_rules``: it holds what a kernel may not; ``duplicate``: it is the kernel
        itself.
    """
    if clean_answer(text).strip() == NO_CHANGE:
        raise ProposalError("no_change", "the proposer sees no faster kernel")
    source = python_block(text).strip("\n") + "\n"
    if len(source) > MAX_KERNEL_CHARS:
        raise ProposalError(
            "size", f"the kernel has {len(source)} characters, {MAX_KERNEL_CHARS} are allowed"
        )
    _Checker(parse_source(source), name).check(current)
    if normalised_ast_digest(source) == normalised_ast_digest(current):
        raise ProposalError("duplicate", f"the code runs exactly like {name} as it is")
    return source


class _Checker:
    """Holds a module against the rules for kernels; the first breach is raised."""

    def __init__(self, tree: ast.Module, name: str) -> None:
        self._tree = tree
        self._name = name
        self._own = set[str]()

    def check(self, current: str) -> None:
        functions = list[ast.FunctionDef]()
        for node in self._tree.body:
            if isinstance(node, ast.FunctionDef):
                functions.append(node)
                self._bind(node.name, node)
            elif isinstance(node, ast.Assign):
                self._check_constant(node)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                if ast.unparse(node) not in _IMPORTS:
                    self._refuse(node, f"only {', '.join(sorted(_IMPORTS))} may be imported")
            elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
                self._refuse(node, "a kernel's text holds imports, numbers and functions")
        wanted = ast.unparse(function_of(current, self._name).args)
        found = [ast.unparse(f.args) for f in functions if f.name == self._name]
        if found != [wanted]:
            raise ProposalError("signature", f"expected exactly one def {self._name}({wanted})")
        for function in functions:
            self._check_function(function)

    def _refuse(self, node: ast.AST, reason: str) -> None:
        raise ProposalError(RULE_STAGE, f"line {getattr(node, 'lineno', 0)}: {reason}")

    def _bind(self, name: str, node: ast.AST) -> None:
        """Take note of a name of the module: the kernel's, or a helper's that begins with it."""
        is_helper = name.lower().startswith(f"{self._name.lower()}_")
        if name != self._name and not is_helper:
            self._refuse(node, f"what {self._name} needs begins with {self._name}_, not {name[:60]}")
        if name in self._own:
            self._refuse(node, f"{name[:60]} is bound twice")
        self._own.add(name)

    def _check_constant(self, node: ast.Assign) -> None:
        value = node.value.operand if isinstance(node.value, ast.UnaryOp) else node.value
        is_number = isinstance(value, ast.Constant) and isinstance(value.value, int | float)
        if not is_number or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
            self._refuse(node, "a constant is a name and a number")
        for target in node.targets:
            assert isinstance(target, ast.Name)
            self._bind(target.id, node)

    def _check_function(self, function: ast.FunctionDef) -> None:
        args = function.args
        others = (args.posonlyargs, args.kwonlyargs, args.defaults, args.vararg, args.kwarg, function.returns)
        if any(others) or any(argument.annotation for argument in args.args):
            self._refuse(function, "parameters are plain names")
        if len(function.decorator_list) != 1 or not _is_njit(function.decorator_list[0]):
            self._refuse(
                function, f"{function.name[:60]} is decorated with @njit(cache=True) and nothing else"
            )
        local = {argument.arg for argument in args.args}
        inner = [node for statement in _body(function) for node in ast.walk(statement)]
        local |= {n.id for n in inner if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        if taken := sorted(local & (self._own | _BUILTINS | {"np", "math", "njit"})):
            self._refuse(function, f"{taken[0][:60]} is the name of something else already")
        called = {id(node.func) for node in inner if isinstance(node, ast.Call)}
        for node in inner:
            self._check_node(node, local, called)

    def _check_node(self, node: ast.AST, local: set[str], called: set[int]) -> None:
        kind = type(node).__name__
        if kind not in _NODES and kind != "keyword":
            self._refuse(node, f"{kind} is not allowed in a kernel")
        if isinstance(node, ast.Constant) and not isinstance(node.value, int | float | None):
            self._refuse(node, "a kernel works on numbers")
        elif isinstance(node, ast.Name) and node.id not in local:
            self._check_global(node, is_called=id(node) in called)
        elif isinstance(node, ast.Attribute):
            self._check_attribute(node)
        elif isinstance(node, ast.Call):
            if not isinstance(node.func, ast.Name | ast.Attribute):
                self._refuse(node, "what is called is a name")
            if isinstance(node.func, ast.Name) and node.func.id in local:
                self._refuse(node, "an argument may not be called")
            if any(keyword.arg not in ("dtype", "axis") for keyword in node.keywords):
                self._refuse(node, "of keywords only dtype and axis are allowed")

    def _check_global(self, node: ast.Name, *, is_called: bool) -> None:
        name = node.id
        if name in _BUILTINS or name in ("np", "math"):
            return
        is_function = any(isinstance(n, ast.FunctionDef) and n.name == name for n in self._tree.body)
        if name not in self._own or is_function != is_called:
            self._refuse(node, f"{name[:60]} is not defined in the kernel's text, or not used as it may be")

    def _check_attribute(self, node: ast.Attribute) -> None:
        if not isinstance(node.ctx, ast.Load):
            self._refuse(node, "attributes may not be changed")
        owner = node.value.id if isinstance(node.value, ast.Name) else ""
        allowed = _NUMPY if owner == "np" else PUBLIC_NAMES["math"] if owner == "math" else _ARRAY
        if node.attr not in allowed:
            self._refuse(node, f"{owner or 'the attribute'} {node.attr[:60]} is not allowed in a kernel")


def _body(function: ast.FunctionDef) -> list[ast.stmt]:
    """Return the statements of a function without its docstring."""
    has_text = ast.get_docstring(function, clean=False) is not None
    return function.body[1:] if has_text else function.body


def _is_njit(node: ast.expr) -> bool:
    if isinstance(node, ast.Name):
        return node.id == "njit"
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "njit"
    if not isinstance(node, ast.Call) or not is_call or node.args:
        return False
    return all(k.arg in _OPTIONS and isinstance(k.value, ast.Constant) for k in node.keywords)
