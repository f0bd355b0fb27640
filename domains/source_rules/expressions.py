"""Checks of imports, names, attributes, calls and strings, wherever they stand in a text."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from string import Formatter

from dga2d.domains.source_rules import tables
from dga2d.domains.source_rules.declarations import (
    Declarations,
    imported_name,
    is_literal,
    is_name,
    is_stored,
    named_tuple_fields,
    texts,
)

_SIGNATURE_TEXT = re.compile(r"[\w\s,:\[\]()]*", re.ASCII)


@dataclass(frozen=True)
class SourceViolation:
    """One breach of a rule."""

    line: int
    """From 1; 0 for the text as a whole."""
    rule: str
    """``size``, ``syntax``, ``signature``, ``module-level``, ``construct``, ``import``, ``name``,
    ``attribute``, ``keyword``, ``class``, ``decorator``, ``default``, ``annotation``, ``format``,
    ``jit-option`` or ``unseeded``."""
    message: str


class ExpressionChecker(ast.NodeVisitor):
    """Visits a tree once and collects what breaks a rule."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._own = Declarations(tree)
        self._found: list[SourceViolation] = []
        self._line = 0
        self._owners: set[int] = set()
        """Ids of the nodes in front of a dot: only there may a module stand."""
        self._called: set[int] = set()
        """Ids of the nodes that are called or decorate."""
        self._compared: set[int] = set()
        """Ids of the operands of comparisons."""
        self._methods: set[int] = set()
        """Ids of the functions in class bodies."""
        self._selves: list[str] = []
        """First parameters of the methods around the present node."""

    def visit(self, node: ast.AST) -> None:
        kind = type(node).__name__
        self._line = getattr(node, "lineno", self._line)
        if kind in tables.NODES:
            super().visit(node)
        else:
            self._report("construct", tables.CONSTRUCTS.get(kind, f"the construct {kind} is not allowed"))

    def _report(self, rule: str, message: str, node: ast.AST | None = None) -> None:
        self._found.append(SourceViolation(getattr(node, "lineno", self._line), rule, message))

    def _origin(self, node: ast.expr) -> str | None:
        """Return the dotted origin of an expression such as ``np.random``, when it is rooted in an import."""
        if isinstance(node, ast.Name):
            return self._own.modules.get(node.id)
        if isinstance(node, ast.Attribute) and (owner := self._origin(node.value)) is not None:
            return f"{owner}.{node.attr}"
        return None

    # Imports and names

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name not in tables.ALLOWED_IMPORTS:
                hint = tables.INSTEAD.get(alias.name.partition(".")[0])
                self._report(
                    "import", f"import of {alias.name} is not allowed" + (f"; {hint}" if hint else "")
                )
            else:
                self._check_import_name(node, alias)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        if node.level or module not in tables.ALLOWED_IMPORTS:
            hint = tables.INSTEAD.get(module.partition(".")[0])
            text = f"import from {'.' * node.level}{module} is not allowed"
            self._report("import", text + (f"; {hint}" if hint else ""))
            return
        for alias in node.names:
            if alias.name not in tables.PUBLIC_NAMES.get(module, ()):
                self._report("import", f"import of {alias.name} from {module} is not allowed")
            else:
                self._check_import_name(node, alias)

    def _check_import_name(self, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> None:
        name, origin = imported_name(node, alias)
        if name in tables.FORBIDDEN_NAMES | tables.FIXED_FORMS or name.startswith("__"):
            self._report("name", f"{name} may not be redefined")
        elif name in self._own.bound or self._own.modules[name] != origin:
            self._report("name", f"{name} is imported here and bound to something else as well; rename one")

    def _check_bound(self, name: str) -> None:
        """Refuse to bind `name` where the rules have to know what it stands for."""
        if name in tables.FORBIDDEN_NAMES:
            self._report("name", f"{name} is not allowed")
        elif name in tables.FIXED_FORMS:
            self._report("name", f"{name} may not be redefined")
        elif name.startswith("__"):
            self._report("name", f"special name {name} is not allowed")

    def visit_Name(self, node: ast.Name) -> None:
        name, origin = node.id, self._own.modules.get(node.id)
        if is_stored(node) or name in tables.FORBIDDEN_NAMES or name.startswith("__"):
            self._check_bound(name)
        elif name in tables.FIXED_FORMS:
            if id(node) not in self._called:
                self._report("name", f"{name} may only be called")
        elif origin is not None:
            self._check_imported_value(node, name, origin)
        elif name not in self._own.bound and name not in tables.BUILTINS:
            self._report("name", f"{name} is neither defined in this text nor an allowed built-in")

    def _check_imported_value(self, node: ast.expr, shown: str, origin: str) -> None:
        if origin in tables.ALLOWED_IMPORTS and id(node) not in self._owners:
            self._report("name", f"the module {shown} may only stand in front of a dot")
        elif origin in tables.ONLY_CALLED and id(node) not in self._called:
            self._report("name", f"{shown} may only be called or decorate")

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self._check_bound(node.name or "")
        self.generic_visit(node)

    def _visit_capture(self, node: ast.MatchAs | ast.MatchStar) -> None:
        self._check_bound(node.name or "")
        self.generic_visit(node)

    visit_MatchAs = visit_MatchStar = _visit_capture

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bytes):
            self._report("construct", "bytes are not allowed")

    # Attributes, calls and strings

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._owners.add(id(node.value))
        owner = self._origin(node.value)
        if owner in tables.ALLOWED_IMPORTS:
            self._check_member(node, owner)
        elif not self._is_super_init(node):
            self._check_attribute(node)
        self.visit(node.value)

    def _check_member(self, node: ast.Attribute, module: str) -> None:
        """Check ``np.name``; a module's list is closed."""
        shown = f"{module}.{node.attr}"
        if node.attr in tables.FORBIDDEN_ATTRIBUTES:
            self._report("attribute", f"attribute {node.attr} is not allowed")
        elif node.attr.startswith("_"):
            self._report("attribute", f"private attribute {node.attr} is not allowed")
        elif node.attr not in tables.PUBLIC_NAMES[module] and shown not in tables.ALLOWED_IMPORTS:
            self._report("attribute", f"{shown} is not allowed")
        elif not isinstance(node.ctx, ast.Load):
            self._report("attribute", f"{shown} may not be changed")
        else:
            self._check_imported_value(node, shown, shown)

    def _check_attribute(self, node: ast.Attribute) -> None:
        name, own = node.attr, self._own
        if name in ("format", "format_map"):
            if not self._is_plain_format(node):
                self._report("format", "a string is formatted by an f-string, or its fields are plain names")
        elif name in tables.FORBIDDEN_ATTRIBUTES:
            self._report("attribute", f"attribute {name} is not allowed")
        elif name.startswith("_"):
            if (name.startswith("__") and name.endswith("__")) or not self._is_own_private(node):
                self._report("attribute", f"private attribute {name} is not allowed")
        elif name not in tables.ATTRIBUTES | own.attributes:
            self._report(
                "attribute", f"attribute {name} is neither known nor declared by a class of this text"
            )
        elif not isinstance(node.ctx, ast.Load):
            self._check_assigned(name)
        elif isinstance(node.value, ast.Name) and node.value.id in own.classes and name in own.methods:
            self._report("attribute", f"method {name} is called on an instance, not on {node.value.id}")

    def _check_assigned(self, name: str) -> None:
        if name in tables.BUDGET_METHODS or name not in tables.ASSIGNABLE | self._own.attributes:
            self._report("attribute", f"attribute {name} may not be changed")

    def _is_own_private(self, node: ast.Attribute) -> bool:
        return (
            isinstance(node.value, ast.Name)
            and node.value.id in self._selves
            and node.attr in self._own.attributes
        )

    def _is_super_init(self, node: ast.Attribute) -> bool:
        call = node.value
        return node.attr == "__init__" and isinstance(call, ast.Call) and is_name(call.func, "super")

    def _is_plain_format(self, node: ast.Attribute) -> bool:
        """Return whether `node` is the ``format`` of a literal whose fields are plain names."""
        text = node.value.value if isinstance(node.value, ast.Constant) else None
        if node.attr != "format" or not isinstance(text, str) or id(node) not in self._called:
            return False
        return all(
            (not field or field.isdigit() or field.isidentifier()) and "{" not in (spec or "")
            for _, field, spec, _ in Formatter().parse(text)
        )

    def visit_Compare(self, node: ast.Compare) -> None:
        self._compared.update(map(id, (node.left, *node.comparators)))
        self.generic_visit(node)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> None:
        parts = node.format_spec.values if isinstance(node.format_spec, ast.JoinedStr) else []
        if any(isinstance(part, ast.FormattedValue) and part.format_spec is not None for part in parts):
            self._report("format", "a format within a format within a format is not allowed")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        self._called.add(id(node.func))
        origin = self._origin(node.func) or ""
        last = origin.rpartition(".")[2]
        if (
            origin.startswith("numpy.random.")
            and last in tables.UNSEEDED
            and not node.args
            and not node.keywords
        ):
            self._report("unseeded", f"{last} needs a seed; env_data['rng'] is a seeded generator")
        if origin in tables.COMPILERS:
            self._check_jit(node, last)
        elif origin == "collections.namedtuple":
            if named_tuple_fields(node) is None:
                self._report("class", "namedtuple takes a name and its fields as plain strings, nothing else")
        elif origin == "typing.NamedTuple":
            self._report("class", "NamedTuple may only be a base class")
        else:
            self._check_keywords(node, origin)
        if isinstance(node.func, ast.Name) and node.func.id in tables.FIXED_FORMS:
            self._check_fixed_form(node, node.func.id)
        self.generic_visit(node)

    def _check_jit(self, node: ast.Call, name: str) -> None:
        for keyword in node.keywords:
            if keyword.arg not in tables.JIT_OPTIONS:
                self._report("jit-option", f"@{name} option {keyword.arg or '**'} is not allowed", keyword)
            elif not is_literal(keyword.value):
                self._report("jit-option", f"@{name} option {keyword.arg} must be a constant", keyword)
        for argument in node.args:
            for inner in ast.walk(argument):
                text = inner.value if isinstance(inner, ast.Constant) else None
                if isinstance(text, str) and not _is_numba_signature(text):
                    self._report("jit-option", f"@{name} takes a signature of numba's plain types", inner)
                elif isinstance(inner, ast.Lambda | ast.BinOp | ast.JoinedStr | ast.IfExp | ast.NamedExpr):
                    self._report("jit-option", f"@{name} takes a function or a signature", inner)

    def _check_keywords(self, node: ast.Call, origin: str) -> None:
        if is_name(node.func, "print"):
            known = frozenset({"sep", "end"})
        elif origin == "dataclasses.field":
            known = tables.FIELD_OPTIONS
        elif origin == "dataclasses.dataclass":
            known = tables.DATACLASS_OPTIONS
        elif is_name(node.func, "dict") and "dict" not in self._own.bound:
            known = frozenset(word.arg for word in node.keywords if word.arg and not word.arg.startswith("_"))
        elif isinstance(node.func, ast.Attribute) and node.func.attr == "format":
            known = frozenset(word.arg for word in node.keywords if word.arg)
        else:
            known = tables.KEYWORDS | self._own.keywords
        for keyword in node.keywords:
            if keyword.arg is None:
                self._report("keyword", "arguments by ** are not allowed; write them out", keyword)
            elif keyword.arg not in known:
                self._report("keyword", f"keyword {keyword.arg} is not known here", keyword)

    def _check_fixed_form(self, node: ast.Call, name: str) -> None:
        """Check a call of a built-in that could reach further than one of its forms."""
        n_plain = sum(not isinstance(argument, ast.Starred) for argument in node.args)
        if len(node.args) != n_plain and name != "print":
            self._report("name", f"{name} takes no starred arguments")
        elif name == "type" and (n_plain != 1 or id(node) not in self._compared):
            self._report("name", "type is for comparisons such as type(a) is b")
        elif name == "super" and n_plain:
            self._report("name", "super takes no arguments")
        elif name == "hasattr" and not (n_plain == 2 and self._is_readable(node.args[1])):
            self._report("name", "hasattr asks for an allowed attribute by its literal name")
        elif name in ("property", "staticmethod", "classmethod"):
            self._report("name", f"{name} may only decorate")

    def _is_readable(self, name: ast.expr) -> bool:
        return bool(
            set(texts(name)) & (tables.ATTRIBUTES | self._own.attributes) - tables.FORBIDDEN_ATTRIBUTES
        )


def _is_numba_signature(text: str) -> bool:
    """Return whether `text` names nothing but types; numba evaluates it, so any other word would be code."""
    words = {word for word in re.findall(r"\w+", text) if not word.isdigit()}
    return _SIGNATURE_TEXT.fullmatch(text) is not None and words <= tables.NUMBA_TYPES
