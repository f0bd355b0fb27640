"""The check of a whole text: its frame, definitions and statements."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from dga2d.domains.core.statements import parse_quietly
from dga2d.domains.source_rules import tables
from dga2d.domains.source_rules.declarations import WORD, is_slots, texts
from dga2d.domains.source_rules.expressions import ExpressionChecker, SourceViolation

MAX_SOURCE_BYTES = 64 * 1024
SIGNATURE = ("env_data", "state", "calc_makespan_fn")

_MODULE_LEVEL = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign
_LITERAL = ast.Constant | ast.Slice | ast.Tuple | ast.List | ast.Set | ast.Dict | ast.Starred | ast.keyword
_REFERENCE = ast.Name | ast.Attribute | ast.Subscript | ast.Call
_OPERATION = ast.UnaryOp | ast.BinOp | ast.BoolOp | ast.Compare | ast.IfExp
_OPERATOR = ast.expr_context | ast.operator | ast.unaryop | ast.boolop | ast.cmpop
_PLAIN = _LITERAL | _REFERENCE | _OPERATION | _OPERATOR
"""What a constant, a default and an annotation are made of: nothing that runs code of the text."""
_ENCODING = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.ASCII)
"""How a file declares its encoding (PEP 263): with another one its comments may be code."""
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff]")
"""Control characters, separators of lines and marks that turn text around."""


def check_source(source: str) -> tuple[SourceViolation, ...]:
    """Return every breach of the rules in `source`, by line; empty when it may run."""
    if len(source.encode("utf-8", "surrogatepass")) > MAX_SOURCE_BYTES:
        return (SourceViolation(0, "size", f"the source is longer than {MAX_SOURCE_BYTES} bytes"),)
    try:
        tree = parse_quietly(source)  # odd escapes are the candidate's affair
        found = [*_characters(source), *_Checker(tree).violations()]
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 0
        return (SourceViolation(line, "syntax", f"the source does not parse: {error.args[0]}"),)
    except (RecursionError, MemoryError):
        return (SourceViolation(0, "syntax", "the source is nested too deeply"),)
    return tuple(sorted({*_signature(tree), *found}, key=lambda v: (v.line, v.rule, v.message)))


def _characters(source: str) -> Iterator[SourceViolation]:
    """Refuse what makes a text read otherwise than it runs, on a screen or as a file."""
    for number, line in enumerate(source.split("\n"), start=1):
        if (
            number <= 2
            and (declared := _ENCODING.match(line))
            and declared[1].lower() not in ("utf-8", "utf8")
        ):
            yield SourceViolation(number, "construct", "an encoding other than utf-8 is not allowed")
        if strange := _CONTROL.search(line.removesuffix("\r")):
            message = f"the control character U+{ord(strange[0]):04X} is not allowed"
            yield SourceViolation(number, "construct", message)


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


class _Checker(ExpressionChecker):
    """Visits the whole tree once and collects what breaks a rule."""

    def violations(self) -> list[SourceViolation]:
        self.visit(self._tree)
        for node in self._tree.body:
            self._check_module_level(node)
        return self._found

    def _check_module_level(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        if not isinstance(node, _MODULE_LEVEL):
            message = "only imports, constants, functions and classes may stand here"
            self._report("module-level", message, node)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if not all(
                isinstance(n, ast.Name | ast.Tuple | ast.expr_context) for t in targets for n in ast.walk(t)
            ):
                self._report("module-level", "a constant must be a name", node)
            if node.value is not None and not self._is_compiled_function(node.value):
                self._check_plain(node.value, "module-level", "a constant")

    def _is_compiled_function(self, node: ast.expr) -> bool:
        """Return whether `node` is ``njit(f)`` or ``njit(...)(f)``: f is compiled later and does not run."""
        if not isinstance(node, ast.Call):
            return False
        compiler = node.func.func if isinstance(node.func, ast.Call) else node.func
        is_own = (
            len(node.args) == 1 and isinstance(node.args[0], ast.Name) and node.args[0].id in self._own.bound
        )
        return is_own and self._origin(compiler) in ("numba.njit", "numba.jit")

    def _check_plain(self, value: ast.expr, rule: str, what: str, is_call_allowed: bool = True) -> None:
        """Refuse everything in `value` that could run code of the text where it stands."""
        for node in ast.walk(value):
            if not isinstance(node, _PLAIN):
                self._report(rule, f"{what} must be a plain expression", value)
            elif isinstance(node, ast.Call) and not (is_call_allowed and self._is_constant_call(node.func)):
                self._report(rule, f"{what} may not call this function", node)

    def _is_constant_call(self, function: ast.expr) -> bool:
        if isinstance(function, ast.Name) and function.id in tables.CONSTANT_CALLS:
            return function.id not in self._own.module_level
        origin = self._origin(function) or ""
        return origin.rpartition(".")[0] in tables.CONSTANT_MODULES and origin not in tables.CALLING_BACK

    # Definitions

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        is_method = id(node) in self._methods
        if node.name.startswith("__"):
            if not is_method or node.name not in tables.ALLOWED_DUNDER_DEFINITIONS:
                self._report("name", f"special method {node.name} is not allowed")
        elif node.name in tables.FORBIDDEN_NAMES | tables.FIXED_FORMS:
            self._report("name", f"{node.name} may not be redefined")
        if node.name != "run" or node not in self._tree.body:  # there a decorator breaks the signature
            self._check_decorators(node.decorator_list)
        if node.returns is not None:
            self._check_annotation(node.returns)
        self._visit_arguments(node.args)
        if is_method and node.args.args:
            self._selves.append(node.args.args[0].arg)
        for statement in node.body:
            self.visit(statement)
        if is_method and node.args.args:
            self._selves.pop()
        for child in getattr(node, "type_params", ()):
            self.visit(child)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._visit_arguments(node.args)
        self.visit(node.body)

    def _visit_arguments(self, arguments: ast.arguments) -> None:
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default is not None:
                self._check_plain(default, "default", "a default", is_call_allowed=False)
        self.visit(arguments)

    def _check_decorators(self, decorators: Iterable[ast.expr]) -> None:
        for decorator in decorators:
            function = decorator.func if isinstance(decorator, ast.Call) else decorator
            name = function.id if isinstance(function, ast.Name) else ""
            if (self._origin(function) or name) not in tables.DECORATORS:
                self._report(
                    "decorator", f"decorator {ast.unparse(decorator)[:60]} is not allowed", decorator
                )
            self._called.add(id(function))
            if isinstance(decorator, ast.Call):
                for value in (*decorator.args, *(keyword.value for keyword in decorator.keywords)):
                    self._check_plain(value, "decorator", "an argument of a decorator")
            self.visit(decorator)

    def visit_arg(self, node: ast.arg) -> None:
        self._check_bound(node.arg)
        if node.annotation is not None:
            self._check_annotation(node.annotation)

    def _check_annotation(self, node: ast.expr) -> None:
        self._check_plain(node, "annotation", "an annotation", is_call_allowed=False)
        for inner in ast.walk(node):
            text = inner.value if isinstance(inner, ast.Constant) else None
            if isinstance(text, str) and not WORD.fullmatch(text):
                self._report("annotation", "a string in an annotation may only be a name", inner)
        self.visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._check_annotation(node.annotation)
        self.visit(node.target)
        if node.value is not None:
            self.visit(node.value)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._check_bound(node.name)
        for base in node.bases:
            is_own = isinstance(base, ast.Name) and base.id in self._own.classes | {"object", "Exception"}
            if not is_own and self._origin(base) != "typing.NamedTuple":
                self._report("class", f"base class {ast.unparse(base)[:60]} is not allowed", base)
        for keyword in node.keywords:
            is_meta = keyword.arg == "metaclass"
            message = "metaclasses are not allowed" if is_meta else "a class takes no arguments but its bases"
            self._report("class", message, keyword)
        self._check_decorators(node.decorator_list)
        self._called.update(map(id, node.bases))
        for child in (*node.bases, *getattr(node, "type_params", ())):
            self.visit(child)
        for statement in node.body:
            self._check_member_statement(statement)

    def _check_member_statement(self, node: ast.stmt) -> None:
        """Check a statement of a class body: it may declare, not compute."""
        if isinstance(node, ast.FunctionDef):
            self._methods.add(id(node))
        elif isinstance(node, ast.Assign) and is_slots(node):
            names = texts(node.value)
            if len(node.targets) != 1 or not names or set(names) & tables.FORBIDDEN_ATTRIBUTES:
                self._report("class", "__slots__ is a tuple of the names of fields", node)
            return
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if not all(isinstance(target, ast.Name) for target in targets):
                self._report("class", "a field is a name", node)
            is_field = (
                isinstance(node.value, ast.Call) and self._origin(node.value.func) == "dataclasses.field"
            )
            if node.value is not None and not is_field:
                self._check_plain(node.value, "class", "the default of a field", is_call_allowed=False)
        elif not isinstance(node, ast.Pass | ast.Expr) or not isinstance(
            getattr(node, "value", ast.Constant(None)), ast.Constant
        ):
            self._report("class", "a class holds a docstring, fields and methods only", node)
        self.visit(node)

    # Statements

    def visit_With(self, node: ast.With) -> None:
        for item in node.items:
            call = item.context_expr
            if not isinstance(call, ast.Call) or self._origin(call.func) != "numpy.errstate":
                self._report("construct", "with is for numpy.errstate only")
        self.generic_visit(node)

    def visit_Delete(self, node: ast.Delete) -> None:
        if not all(isinstance(target, ast.Name | ast.Subscript) for target in node.targets):
            self._report("construct", "del is for variables and items only")
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        if node.is_async:
            self._report("construct", "async comprehensions are not allowed")
        self.generic_visit(node)
