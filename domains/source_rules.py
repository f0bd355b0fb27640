"""Static rules for implementations: what a text may contain, checked before anything of it runs.

The rules keep honest proposers on the contract and give a clear message early; they are not the sandbox. The
tables below are the rules.
"""

from __future__ import annotations

import ast
import importlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import ModuleType

MAX_SOURCE_BYTES = 64 * 1024


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SIGNATURE = ("env_data", "state", "calc_makespan_fn")

ALLOWED_IMPORTS = frozenset(
    {
        "bisect",
        "collections",
        "collections.abc",
        "dataclasses",
        "functools",
        "heapq",
        "itertools",
        "math",
        "numba",
        "numba.typed",
        "numba.types",
        "numpy",
        "numpy.linalg",
        "numpy.random",
        "numpy.typing",
        "random",
        "typing",
        "__future__",
    }
)
"""Modules an implementation may import."""

ALLOWED_FROM_NUMBA = _words(
    """
    njit jit prange vectorize guvectorize typeof typed types literally literal_unroll boolean bool_
    void none int_ intp uintp intc uintc byte char short long int8 int16 int32 int64 uint8 uint16
    uint32 uint64 float32 float64 double complex64 complex128 b1 i1 i2 i4 i8 u1 u2 u4 u8 f4 f8
    """
)
"""Names of numba that compile code or name types; the rest reaches into the compiler or the interpreter."""

FORBIDDEN_FROM_NUMPY = _words(
    """
    load save savez savez_compressed loadtxt savetxt genfromtxt fromfile fromregex memmap DataSource
    show_config show_runtime get_include info set_printoptions seterrcall setbufsize test
    """
)
"""Names of numpy that touch files or the process; its submodules are closed unless imports allow them."""

FORBIDDEN_NAMES = _words(
    """
    eval exec compile open __import__ globals locals vars getattr setattr delattr input breakpoint
    exit quit help memoryview
    """
)
"""Built-in functions that reach beyond the contract."""

FORBIDDEN_ATTRIBUTES = _words(
    """
    ctypes cffi tofile fromfile dump dumps memmap ctypeslib f2py objmode SystemRandom gi_frame
    cr_frame ag_frame gi_code cr_code tb_frame tb_next f_back f_globals f_locals f_builtins f_code
    func_globals func_code co_code
    """
)
"""Attributes no object may be asked for."""

FORBIDDEN_JIT_OPTIONS = frozenset({"parallel", "forceobj"})
"""Options of ``@njit`` that start threads or leave compiled code."""

ALLOWED_DUNDER_DEFINITIONS = _words(
    """
    __init__ __post_init__ __lt__ __le__ __gt__ __ge__ __eq__ __hash__ __len__ __iter__ __next__
    __getitem__ __setitem__ __contains__ __bool__ __call__ __repr__ __slots__ __add__ __sub__
    __neg__
    """
)
"""Special methods a class of the implementation may define."""

MODULE_LEVEL = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
"""Statements at module level; a bare string may stand among them."""

CONSTANT_CALLS = _words("float int bool str tuple frozenset dict list range len")
"""Built-ins that module-level constants may call, besides functions of the imported modules."""

UNSEEDED = _words("default_rng SeedSequence PCG64 PCG64DXSM MT19937 Philox SFC64 RandomState")
"""Generators that must be given a seed, so that runs can be repeated."""


@dataclass(frozen=True)
class SourceViolation:
    """One breach of a rule."""

    line: int
    """From 1; 0 for the text as a whole."""
    rule: str
    """``size``, ``syntax``, ``signature``, ``module-level``, ``import``, ``name``, ``attribute``,
    ``jit-option`` or ``unseeded``."""
    message: str


def check_source(source: str) -> tuple[SourceViolation, ...]:
    """Every breach of the rules in `source`, by line; empty when it may run."""
    if len(source.encode("utf-8", "surrogatepass")) > MAX_SOURCE_BYTES:
        return (SourceViolation(0, "size", f"the source is longer than {MAX_SOURCE_BYTES} bytes"),)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd escapes are the candidate's affair
            tree = ast.parse(source)
        checker = _Checker()
        checker.visit(tree)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 0
        return (SourceViolation(line, "syntax", f"the source does not parse: {error.args[0]}"),)
    except (RecursionError, MemoryError):
        return (SourceViolation(0, "syntax", "the source is nested too deeply"),)
    found = [*_signature(tree), *_module_level(tree, checker.modules), *checker.found]
    return tuple(sorted(set(found), key=lambda v: (v.line, v.rule, v.message)))


def _signature(tree: ast.Module) -> Iterator[SourceViolation]:
    runs = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "run"]
    wanted = f"def run({', '.join(SIGNATURE)})"
    if len(runs) != 1:
        yield SourceViolation(0, "signature", f"expected exactly one {wanted} at module level")
        return
    (run,) = runs
    arguments = run.args
    extras = (arguments.posonlyargs, arguments.kwonlyargs, arguments.defaults, run.decorator_list)
    names = tuple(argument.arg for argument in arguments.args)
    if names != SIGNATURE or any(extras) or arguments.vararg or arguments.kwarg:
        yield SourceViolation(run.lineno, "signature", f"expected the exact signature {wanted}")


def _module_level(tree: ast.Module, modules: dict[str, str]) -> Iterator[SourceViolation]:
    for node in tree.body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if not isinstance(node, MODULE_LEVEL):
            yield SourceViolation(
                node.lineno, "module-level", "only imports, constants, functions and classes may stand here"
            )
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            yield from _constant(node.value, modules)


def _constant(value: ast.expr, modules: dict[str, str]) -> Iterator[SourceViolation]:
    for node in ast.walk(value):
        if isinstance(node, ast.Call) and not _is_constant_call(node.func, modules):
            yield SourceViolation(node.lineno, "module-level", "a constant may not call this function")
        elif isinstance(node, ast.comprehension | ast.Lambda | ast.NamedExpr | ast.Await | ast.Yield):
            yield SourceViolation(value.lineno, "module-level", "a constant must be a plain expression")


def _is_constant_call(function: ast.expr, modules: dict[str, str]) -> bool:
    while isinstance(function, ast.Attribute):
        function = function.value
    return isinstance(function, ast.Name) and (function.id in CONSTANT_CALLS or function.id in modules)


@cache
def _public_names(module: str) -> frozenset[str]:
    """What an implementation may take from an allowed module."""
    if module == "numba":
        return ALLOWED_FROM_NUMBA
    if module == "__future__":
        return frozenset({"annotations"})
    loaded = importlib.import_module(module)
    listed = getattr(loaded, "__all__", None) or dir(loaded)
    names = {name for name in listed if not name.startswith("_")}
    if module.startswith("numba."):
        return frozenset(names)
    names = {name for name in names if _is_open(module, name, getattr(loaded, name, None))}
    return frozenset(names - FORBIDDEN_FROM_NUMPY if module.startswith("numpy") else names)


def _is_open(module: str, name: str, value: object) -> bool:
    return not isinstance(value, ModuleType) or f"{module}.{name}" in ALLOWED_IMPORTS


class _Checker(ast.NodeVisitor):
    """Walks the whole text; collects breaches in `found` and imported names in `modules`."""

    def __init__(self) -> None:
        self.found: list[SourceViolation] = []
        self.modules: dict[str, str] = {}
        """Local name → dotted origin, for modules and what was taken from them."""

    def _report(self, node: ast.AST, rule: str, message: str) -> None:
        self.found.append(SourceViolation(getattr(node, "lineno", 0), rule, message))

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name not in ALLOWED_IMPORTS:
                self._report(node, "import", f"import of {alias.name} is not allowed")
            elif alias.asname:
                self.modules[alias.asname] = alias.name
            else:
                root = alias.name.partition(".")[0]
                self.modules[root] = root

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        if node.level or module not in ALLOWED_IMPORTS:
            self._report(node, "import", f"import from {'.' * node.level}{module} is not allowed")
            return
        for alias in node.names:
            if alias.name not in _public_names(module):
                self._report(node, "import", f"import of {alias.name} from {module} is not allowed")
            else:
                self.modules[alias.asname or alias.name] = f"{module}.{alias.name}"

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in FORBIDDEN_NAMES:
            self._report(node, "name", f"{node.id} is not allowed")
        elif _is_dunder(node.id) and not (
            isinstance(node.ctx, ast.Store) and node.id in ALLOWED_DUNDER_DEFINITIONS
        ):
            self._report(node, "name", f"special name {node.id} is not allowed")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        name = node.attr
        owner = self._origin(node.value)
        if name in FORBIDDEN_ATTRIBUTES:
            self._report(node, "attribute", f"attribute {name} is not allowed")
        elif name.startswith("_") and not self._is_own_private(node):
            self._report(node, "attribute", f"private attribute {name} is not allowed")
        elif owner in ALLOWED_IMPORTS and name not in _public_names(owner):
            self._report(node, "attribute", f"{owner}.{name} is not allowed")
        elif owner in ALLOWED_IMPORTS and not isinstance(node.ctx, ast.Load):
            self._report(node, "attribute", f"{owner}.{name} may not be changed")
        self.generic_visit(node)

    @staticmethod
    def _is_own_private(node: ast.Attribute) -> bool:
        return isinstance(node.value, ast.Name) and node.value.id == "self" and not _is_dunder(node.attr)

    def _origin(self, node: ast.expr) -> str | None:
        """Dotted origin of an expression such as ``np.random``, when it is rooted in an import."""
        if isinstance(node, ast.Name):
            return self.modules.get(node.id)
        if isinstance(node, ast.Attribute) and (owner := self._origin(node.value)) is not None:
            return f"{owner}.{node.attr}"
        return None

    def visit_Call(self, node: ast.Call) -> None:
        origin = self._origin(node.func) or ""
        last = origin.rpartition(".")[2]
        if origin.startswith("numpy.random.") and last in UNSEEDED and not node.args and not node.keywords:
            self._report(node, "unseeded", f"{last} needs a seed; env_data['rng'] is a seeded generator")
        if origin in ("numba.njit", "numba.jit"):
            for keyword in node.keywords:
                if keyword.arg is None or keyword.arg in FORBIDDEN_JIT_OPTIONS:
                    self._report(node, "jit-option", f"@{last} option {keyword.arg or '**'} is not allowed")
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._definition(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if any(keyword.arg == "metaclass" for keyword in node.keywords):
            self._report(node, "name", "metaclasses are not allowed")
        self._definition(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._report(node, "name", "async functions are not allowed")

    def _definition(self, node: ast.FunctionDef | ast.ClassDef) -> None:
        if _is_dunder(node.name) and node.name not in ALLOWED_DUNDER_DEFINITIONS:
            self._report(node, "name", f"special method {node.name} is not allowed")
        elif node.name in FORBIDDEN_NAMES:
            self._report(node, "name", f"{node.name} may not be redefined")
        self.generic_visit(node)


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")
