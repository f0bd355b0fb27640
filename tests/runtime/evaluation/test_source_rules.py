"""The static rules, one row per refused text; the library and its idioms pass."""

from __future__ import annotations

from typing import Any

import pytest

from dga2d.domains.core.registry import domain_names, get_domain
from dga2d.domains.source_rules import MAX_SOURCE_BYTES, check_source

RUN = "def run(env_data, state, calc_makespan_fn):\n    return state\n"
BODY = "def run(env_data, state, calc_makespan_fn):\n    {}\n    return state\n"
JIT = "import numba\n\n\n@numba.njit({})\ndef f():\n    pass\n\n\n" + RUN
REFUSED = {
    "no run": ("X = 1\n", "signature"),
    "two runs": (RUN + RUN, "signature"),
    "other names": ("def run(a, b, c):\n    return b\n", "signature"),
    "a default": ("def run(env_data, state, calc_makespan_fn=None):\n    return state\n", "signature"),
    "variadic": ("def run(env_data, state, calc_makespan_fn, *more):\n    return state\n", "signature"),
    "decorated": ("import numba\n\n\n@numba.njit\n" + RUN, "signature"),
    "nested run": ("def f():\n    def run(env_data, state, calc_makespan_fn):\n        pass\n", "signature"),
    "syntax": ("def run(:\n", "syntax"),
    "null byte": ("\0" + RUN, "syntax"),
    "deep nesting": ("X = " + "(" * 5000 + ")" * 5000 + "\n" + RUN, "syntax"),
    "size": ("#" * MAX_SOURCE_BYTES + "\n" + RUN, "size"),
    "import os": ("import os\n" + RUN, "import"),
    "from os": ("from os import path\n" + RUN, "import"),
    "import inside": (BODY.format("import subprocess"), "import"),
    "relative import": ("from . import x\n" + RUN, "import"),
    "star": ("from numpy import *\n" + RUN, "import"),
    "numpy's files": ("from numpy import fromfile\n" + RUN, "import"),
    "numpy's ctypes": ("import numpy.ctypeslib\n" + RUN, "import"),
    "numba's core": ("from numba.core import types\n" + RUN, "import"),
    "numba's objmode": ("from numba import objmode\n" + RUN, "import"),
    "own package": ("from dga2d.domains import budget\n" + RUN, "import"),
    "eval": (BODY.format("eval('1')"), "name"),
    "exec": (BODY.format("exec('1')"), "name"),
    "open": (BODY.format("open('x')"), "name"),
    "dynamic import": (BODY.format("__import__('os')"), "name"),
    "getattr": (BODY.format("getattr(state, 'x')"), "name"),
    "globals": (BODY.format("globals()"), "name"),
    "alias of a refused name": (BODY.format("e = eval"), "name"),
    "builtins": (BODY.format("__builtins__"), "name"),
    "metaclass": ("class A(metaclass=type):\n    pass\n\n\n" + RUN, "name"),
    "async": ("async def f():\n    pass\n\n\n" + RUN, "name"),
    "dunder attribute": (BODY.format("state.__class__"), "attribute"),
    "private attribute": (BODY.format("state._x"), "attribute"),
    "frame": (BODY.format("(x for x in ()).gi_frame"), "attribute"),
    "array to file": (BODY.format("state.sequence.tofile('x')"), "attribute"),
    "numpy.load": ("import numpy as np\n" + BODY.format("np.load('x')"), "attribute"),
    "numpy.core": ("import numpy as np\n" + BODY.format("np.ctypeslib"), "attribute"),
    "a module within a module": ("import random\n" + BODY.format("random.os"), "attribute"),
    "patching a module": ("import math\n" + BODY.format("math.sqrt = None"), "attribute"),
    "loop at import": ("while True:\n    pass\n" + RUN, "module-level"),
    "call at import": ("X = sorted([2, 1])\n" + RUN, "module-level"),
    "comprehension at import": ("X = [i for i in range(9)]\n" + RUN, "module-level"),
    "parallel": (
        "import numba\n\n\n@numba.njit(parallel=True)\ndef f():\n    pass\n\n\n" + RUN,
        "jit-option",
    ),
    "options unseen": ("import numba\n\n\n@numba.njit(**{})\ndef f():\n    pass\n\n\n" + RUN, "jit-option"),
    "unseeded": ("import numpy as np\n" + BODY.format("np.random.default_rng()"), "unseeded"),
}
ACCEPTED = {
    "the least": RUN,
    "docstring and constants": '"""Text."""\n\nX = (1, 2)\nY: float = 1e-9\n' + RUN,
    "imports": "import math\nfrom heapq import heappush\nimport numpy as np\nfrom numba import njit\n" + RUN,
    "seeded": "import numpy as np\n" + BODY.format("np.random.default_rng(5)"),
    "own class": (
        "class Node:\n    __slots__ = ('x',)\n\n    def __init__(self):\n        self.x = 1\n\n"
        "    def __lt__(self, other):\n        return self.x < other.x\n\n\n" + RUN
    ),
    "constant of a module": "import numpy as np\n\nX = np.arange(5)\n" + RUN,
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_text_is_refused_for_its_breach(name: str) -> None:
    source, rule = REFUSED[name]
    assert rule in {violation.rule for violation in check_source(source)}


@pytest.mark.parametrize("name", ACCEPTED)
def test_an_honest_text_is_accepted(name: str) -> None:
    assert check_source(ACCEPTED[name]) == ()


@pytest.mark.parametrize("domain", domain_names())
def test_the_whole_library_is_accepted(domain: Any) -> None:
    for operator in get_domain(domain).operators():
        for implementation in operator.implementations:
            assert check_source(implementation.source) == (), operator.id


def test_a_violation_names_its_line() -> None:
    (violation,) = check_source("import math\nimport os\n" + RUN)
    assert (violation.line, violation.rule) == (2, "import")
    assert violation.message == "import of os is not allowed"


@pytest.mark.parametrize("text", [r"'\d'", "1 is 1", "1if True else 2", "0xfor x in ()"])
def test_doubtful_texts_raise_no_warning(text: str) -> None:
    """Warnings are errors here, as they are on newer Pythons."""
    check_source(BODY.format(text))
