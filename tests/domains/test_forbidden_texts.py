"""Something forbidden is refused wherever it is put into a text that passes."""

from __future__ import annotations

import ast
import textwrap
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dga2d.domains.core.registry import domain_names, get_domain
from dga2d.domains.source_rules import check_source

FORBIDDEN_EXPRESSIONS = (
    *(
        "eval('1')",
        "open('x')",
        "__import__('os')",
        "getattr(1, 'x')",
        "(1).__class__",
        "().__class__.__mro__",
    ),
    *(
        "(lambda: 0).__globals__",
        "(lambda: 0).__code__",
        "(i for i in ()).gi_frame",
        "calc_makespan_fn.py_func",
    ),
    *("'{0.__class__}'.format(1)", "'{}'.format", "'{x}'.format_map({})", "str.format", "f'{(1).__class__}'"),
    *(
        "type('A', (), {})",
        "type",
        "super(int, 1)",
        "object.__subclasses__()",
        "int.mro()",
        "vars()",
        "globals",
    ),
    *(
        "hasattr(1, '__class__')",
        "print(1, file=2)",
        "dict(**{})",
        "b'x'",
        "np.load('x')",
        "np.lib",
        "np.ctypeslib",
    ),
    *(
        "np.testing",
        "np.f2py",
        "np.rec",
        "np.bmat('a')",
        "np.char",
        "[np]",
        "(np.random,)",
        "np.random.__dict__",
    ),
    *(
        "np.zeros(1).tofile('x')",
        "np.zeros(1).ctypes",
        "np.zeros(1).dumps()",
        "nowhere_defined",
        "__builtins__",
    ),
    *("memoryview", "breakpoint()", "np.datetime64('now')", "(lambda x=len([]): x)", "np.zeros(1, like=2)"),
)
FORBIDDEN_STATEMENTS = (
    *(
        "import os",
        "from os import path",
        "from numpy import *",
        "import numpy.lib",
        "from numba import objmode",
    ),
    *(
        "from functools import update_wrapper",
        "from typing import get_type_hints",
        "import operator",
        "np = 1",
    ),
    *("global run", "del np", "eval = 1", "def type():\n    pass", "async def f():\n    pass", "np.sum = 1"),
    *(
        "match 1:\n    case object(__globals__=g):\n        pass",
        "match {}:\n    case {'a': 1}:\n        pass",
    ),
    *("try:\n    pass\nexcept* ValueError:\n    pass", "with open('x'):\n    pass", "with 1:\n    pass"),
    *("@len\ndef f():\n    pass", "def f(x=len([])):\n    pass", "def f(x: len([])):\n    pass"),
    *("class A(metaclass=type):\n    pass", "class A(int):\n    pass", "class A:\n    x = len([])"),
    *("class A:\n    for i in ():\n        pass", "class A:\n    def __init_subclass__(cls):\n        pass"),
    *(
        "class A:\n    def __class_getitem__(cls, x):\n        pass",
        "for np in ():\n    pass",
        "[np for np in ()]",
    ),
    *("(1).anything_unknown", "x = y = np", "x: 'a.b()' = 1", "del (1).real", "lambda np: 1"),
)


@cache
def _texts() -> tuple[str, ...]:
    """Texts of all libraries that know numpy as np."""
    operators = [operator for name in domain_names() for operator in get_domain(name).operators()]
    sources = [implementation.source for operator in operators for implementation in operator.implementations]
    return tuple(source for source in sources if "import numpy as np" in source)


class _Insertion(ast.NodeTransformer):
    """Puts an expression or a statement at the place with the number `at`; counts the places."""

    def __init__(self, new: ast.expr | ast.stmt, at: int) -> None:
        self._new = new
        self._at = at
        self.n_places = 0

    def _is_here(self) -> bool:
        self.n_places += 1
        return self.n_places - 1 == self._at

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if isinstance(self._new, ast.stmt):
            for name in ("body", "orelse"):
                block = getattr(node, name, None)
                if isinstance(block, list) and self._is_here():
                    block.insert(len(block) // 2, self._new)
        elif (
            isinstance(node, ast.expr)
            and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
            and self._is_here()
        ):
            return ast.Subscript(ast.Tuple([node, self._new], ast.Load()), ast.Constant(0), ast.Load())
        return node


@settings(max_examples=40)
@given(st.data())
def test_something_forbidden_in_a_library_text_is_refused_wherever_it_stands(data: st.DataObject) -> None:
    source = data.draw(st.sampled_from(_texts()))
    text = data.draw(st.sampled_from((*FORBIDDEN_EXPRESSIONS, *FORBIDDEN_STATEMENTS)))
    statement = ast.parse(text).body[0]
    is_expression = text in FORBIDDEN_EXPRESSIONS and isinstance(statement, ast.Expr)
    new = statement.value if is_expression and isinstance(statement, ast.Expr) else statement
    counting = _Insertion(new, -1)
    counting.visit(ast.parse(source))
    at = data.draw(st.integers(0, counting.n_places - 1))
    changed = ast.unparse(ast.fix_missing_locations(_Insertion(new, at).visit(ast.parse(source))))
    assert check_source(source) == ()
    assert check_source(changed) != (), (text, changed)


@pytest.mark.parametrize("text", [*FORBIDDEN_EXPRESSIONS, *FORBIDDEN_STATEMENTS])
def test_something_forbidden_in_the_middle_of_a_run_is_refused(text: str) -> None:
    body = textwrap.indent(text, "    ")
    source = (
        f"import numpy as np\n\n\ndef run(env_data, state, calc_makespan_fn):\n{body}\n    return state\n"
    )
    assert check_source(source) != ()
