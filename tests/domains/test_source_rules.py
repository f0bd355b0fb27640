"""The source rules, one row per refused text; libraries, recorded proposals and usual idioms pass."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from dga2d.domains.core.registry import domain_names, get_domain
from dga2d.domains.source_rules import MAX_SOURCE_BYTES, check_source

RUN = "def run(env_data, state, calc_makespan_fn):\n    return state\n"
BODY = "def run(env_data, state, calc_makespan_fn):\n    {}\n    return state\n"


def _in(body: str) -> str:
    """A run that executes `body`."""
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return f"def run(env_data, state, calc_makespan_fn):\n{lines}    return state\n"


JIT = "import numba\n\n\n@numba.njit({})\ndef f():\n    pass\n\n\n" + RUN
USUAL = '''
"""What strong models write."""

from __future__ import annotations

import heapq
import math
import random
from collections import Counter, defaultdict, deque, namedtuple
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import chain, combinations
from typing import NamedTuple, Optional

import numpy as np
import numpy.typing as npt
from numba import njit, prange, types
from numba.typed import List

INF = float("inf")
SIZES = np.array([1, 2, 4], dtype=np.int64)
DIRECTIONS = ((0, 1), (1, 0))
PAIRS = tuple(combinations(range(3), 2))
Arc = namedtuple("Arc", ["tail", "head"])
Span = namedtuple("Span", "first, last")


class Move(NamedTuple):
    """A move."""

    gain: float
    node: int = -1

    def is_better(self, other: Move) -> bool:
        return self.gain > other.gain


class Stop(Exception):
    """Raised when the budget is used up."""


@dataclass(frozen=True, order=True)
class Label:
    """A label."""

    cost: float
    path: list[int] = field(default_factory=list)
    seen: set[int] = field(default_factory=set, compare=False)
    LIMIT = 5

    @property
    def length(self) -> int:
        return len(self.path)

    @staticmethod
    def empty() -> Label:
        return Label(0.0)


class Search:
    def __init__(self, n: int, rng: np.random.Generator, budget=None, *, eps: float = 1e-9) -> None:
        self.n = n
        self._rng = rng
        self.queue: deque[int] = deque(maxlen=n)
        self._best: Optional[Move] = None
        self.eps = -eps

    def _improve(self, moves):
        self._best = max(moves, key=lambda move: move.gain)
        self.n += 1
        return self._best

    def __call__(self):
        return self._improve([Move(1.0), Move(2.0, node=3)])


class Deeper(Search):
    def __init__(self, n, rng):
        super().__init__(n, rng)
        self.depth = 0


@njit("int64(int64[:], float64)", cache=True)
def signed(values, weight):
    return np.int64(values.sum() * weight)


@njit(types.int64(types.int64), nogil=True, fastmath={"nnan", "ninf"})
def twice(x):
    for i in prange(2):
        x += i
    return 2 * x


def slow(x):
    return x + 1


fast = njit(cache=True)(slow)


@lru_cache(maxsize=None)
def power(base, times=2):
    return base**times


def neighbours(tour, step=len, sign=-1, *extra, limit=INF):
    for a, b in zip(tour, tour[1:]):
        yield a, b
    yield from extra


def run(env_data, state, calc_makespan_fn):
    rng = env_data["rng"]
    budget = env_data["budget"]
    n = int(env_data.get("n", 1))
    local = np.random.default_rng(int(rng.integers(1 << 30)))
    python_rng = random.Random(7)
    counts: dict[int, int] = {}
    buckets = defaultdict(list)
    heap: list[tuple[float, int]] = []
    best = state.copy()
    best_value = calc_makespan_fn(best)
    tries = 0

    def trial(x, i=n):
        nonlocal tries
        tries += 1
        return x + i

    try:
        while not budget.exhausted():
            budget.charge(1)
            if (value := calc_makespan_fn(state)) < best_value - 1e-9:
                best, best_value = state.copy(), value
            elif not math.isfinite(value):
                raise Stop(f"value {value!r} of {n:>{5}} at {best_value:.3f}")
            heapq.heappush(heap, (value, len(heap)))
            if len(heap) > 10:
                break
    except (Stop, ValueError) as error:
        print("stopped", error, sep=": ")
    finally:
        state.metadata["tries"] = tries
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(SIZES > 0, 1.0 / SIZES, 0.0)
    match len(heap):
        case 0 | 1:
            first, *rest = [0, 1, 2]
        case -1:
            first, rest = 0, []
        case _:
            first, rest = 0, [1]
    match rest:
        case [a, *others] if a > 0:
            counts[a] = len(others)
        case _:
            pass
    assert first == 0, "never"
    ranked = sorted({x % 3 for x in chain(range(3), [4])}, key=lambda x: (-x, x), reverse=True)
    table = {**counts, "n": n}
    index = {name: i for i, name in enumerate(table)}
    message = "{:.2f} of {n}".format(best_value, n=n) + "%d" % n + ", ".join(str(x) for x in ranked)
    common = Counter(ranked).most_common(1)
    search = Deeper(n, local)
    label = Label(cost=0.0, path=[1])
    items = List()
    items.append(1)
    picked = python_rng.choices(range(3), weights=[1, 2, 3], k=2)
    add = partial(trial, i=2)
    order: npt.NDArray[np.int64] = np.lexsort((np.arange(3), np.arange(3)[::-1]))
    if isinstance(label, Label) and type(n) is int and hasattr(rng, "integers") and label.length:
        buckets[add(1)].append(Arc(tail=1, head=2).head + Span(1, 2).last + search.depth)
    del buckets
    np.add.at(SIZES, [0], 0)
    state.sequence = best.sequence.astype(np.int32)
    state.metadata.update(dict(note=message, k=len(common) + len(index) + len(picked)))
    return state if ratios.any() and order.size and all((neighbours, fast, signed, twice, power)) else best
'''
PROPOSALS = json.loads(lzma.decompress(Path(__file__).with_name("proposals.json.xz").read_bytes()))
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
    "metaclass": ("class A(metaclass=type):\n    pass\n\n\n" + RUN, "class"),
    "async": ("async def f():\n    pass\n\n\n" + RUN, "construct"),
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
    # Ways to attributes that are not written with a dot.
    "a class pattern": (_in("match run:\n    case object(__globals__=g): pass"), "construct"),
    "a mapping pattern": (_in("match env_data:\n    case {'n': n}: pass"), "construct"),
    "a captured built-in": (_in("match state:\n    case open: pass"), "name"),
    "attributes of format fields": (_in("'{0.__class__}'.format(state)"), "format"),
    "items of format fields": (_in("'{0[__class__]}'.format(state)"), "format"),
    "a format made of a format": (_in("'{:{0.x}}'.format(1)"), "format"),
    "a format that is computed": (_in("('{0.__cl' + 'ass__}').format(state)"), "format"),
    "format as a value": (_in("f = '{}'.format"), "format"),
    "str.format": (_in("str.format('{0.__class__}', state)"), "format"),
    "format_map": (_in("'{x}'.format_map(env_data)"), "format"),
    "an f-string's attribute": (_in("f'{state.__class__}'"), "attribute"),
    "an f-string's format": (_in("f'{1:{state.__class__}}'"), "attribute"),
    "hasattr of a special name": (_in("hasattr(state, '__class__')"), "name"),
    "hasattr of a computed name": (_in("hasattr(state, str(1))"), "name"),
    "getattr by numpy": ("import numpy as np\n" + _in("np.vectorize(getattr)"), "name"),
    "update_wrapper": ("from functools import update_wrapper\n" + RUN, "import"),
    "singledispatch": ("from functools import singledispatch\n" + RUN, "import"),
    "get_type_hints": ("from typing import get_type_hints\n" + RUN, "import"),
    "ForwardRef": ("import typing\n" + _in("typing.ForwardRef('1')"), "attribute"),
    "asdict": ("from dataclasses import asdict\n" + RUN, "import"),
    "SystemRandom": ("import random\n" + _in("random.SystemRandom()"), "attribute"),
    "an attribute nobody knows": (_in("state.anything"), "attribute"),
    "attributes of compiled functions": (_in("calc_makespan_fn.py_func"), "attribute"),
    "a declared attribute of code": (
        "class A:\n    py_func: int = 0\n\n\n" + _in("calc_makespan_fn.py_func"),
        "attribute",
    ),
    "traceback": (_in("try:\n    1\nexcept ValueError as e:\n    e.with_traceback(None)"), "attribute"),
    "notes": (_in("try:\n    1\nexcept ValueError as e:\n    e.add_note('')"), "attribute"),
    "except*": (_in("try:\n    1\nexcept* ValueError:\n    pass"), "construct"),
    "a generator's frame": (_in("(x for x in ()).gi_yieldfrom"), "attribute"),
    "throwing into a generator": (_in("(x for x in ()).throw(ValueError)"), "attribute"),
    "subclasses": (_in("object.__subclasses__()"), "attribute"),
    "mro": (_in("int.mro()"), "attribute"),
    "self is a parameter, not a password": ("def f(self):\n    return self._x\n\n\n" + RUN, "attribute"),
    "a method taken from its class": (
        "class A:\n    def f(self):\n        self._x = 1\n\n\n" + _in("A.f(state)"),
        "attribute",
    ),
    # Names.
    "type with three arguments": (_in("type('A', (), {})"), "name"),
    "a type of a type": (_in("type(type(1))('A', (), {})"), "name"),
    "a type as a value": (_in("t = type(1)"), "name"),
    "another encoding": ("# coding: unicode_escape\nX = 1  # \\u000aimport os\n" + RUN, "construct"),
    "another encoding in the second line": ("#\n# vim: set fileencoding=utf-7 :\n" + RUN, "construct"),
    "text that is turned around": (_in("x = '\u202e'"), "construct"),
    "a carriage return in a comment": ("# harmless\rX = 1\n" + RUN, "construct"),
    "a form feed": ("\f" + RUN, "construct"),
    "type with starred arguments": (_in("type(*env_data)"), "name"),
    "type as a value": (_in("t = type"), "name"),
    "super with arguments": (_in("super(int, state)"), "name"),
    "print redefined": (_in("print = len"), "name"),
    "an undefined name": (_in("nobody"), "name"),
    "an import shadowed": ("import math\n" + _in("math = state"), "name"),
    "an import shadowed by an argument": ("import math\n\n\ndef f(math):\n    pass\n\n\n" + RUN, "name"),
    "one name for two imports": ("from math import sqrt\nfrom numpy import sqrt\n" + RUN, "name"),
    "an import under a forbidden name": ("from math import sqrt as eval\n" + RUN, "name"),
    "an import under a special name": ("from math import sqrt as __build_class__\n" + RUN, "name"),
    "an import under a checked name": ("from math import sqrt as type\n" + RUN, "name"),
    "a module as a value": ("import numpy as np\n" + _in("m = np"), "name"),
    "a submodule as a value": ("import numpy as np\n" + _in("m = np.random"), "name"),
    "a compiler as a value": ("from numba import njit\n" + _in("j = njit"), "name"),
    "del of an import": ("import math\n" + _in("del math"), "name"),
    "global": (_in("global np"), "construct"),
    "bytes": (_in("b'x'"), "construct"),
    # Keywords.
    "print into something": (_in("print(1, file=state)"), "keyword"),
    "double star": (_in("dict(**env_data)"), "keyword"),
    "a keyword nobody knows": ("import numpy as np\n" + _in("np.zeros(3, like=state)"), "keyword"),
    # What runs when the text is imported.
    "a decorator": ("def f(g):\n    return g\n\n\n@f\ndef g():\n    pass\n\n\n" + RUN, "decorator"),
    "a decorator that is computed": ("@(lambda f: f)\ndef g():\n    pass\n\n\n" + RUN, "decorator"),
    "an argument of a decorator": (
        "from functools import lru_cache\n\n\n@lru_cache(maxsize=[i for i in range(9)])\n"
        "def g():\n    pass\n\n\n" + RUN,
        "decorator",
    ),
    "a default that computes": ("def f(x=sorted([1])):\n    pass\n\n\n" + RUN, "default"),
    "a default with a loop": ("def f(*, x=[i for i in (1,)]):\n    pass\n\n\n" + RUN, "default"),
    "a lambda's default": (_in("lambda x=len([]): x"), "default"),
    "an annotation that computes": ("def f(x: len([])):\n    pass\n\n\n" + RUN, "annotation"),
    "a result annotation that computes": ("def f() -> [i for i in ()]:\n    pass\n\n\n" + RUN, "annotation"),
    "a variable's annotation that computes": ("X: (lambda: 1)() = 1\n" + RUN, "annotation"),
    "code in a string annotation": ("X: \"__import__('os')\" = 1\n" + RUN, "annotation"),
    "a class body that loops": ("class A:\n    for i in (1,):\n        pass\n\n\n" + RUN, "class"),
    "a class body that calls": ("class A:\n    len([])\n\n\n" + RUN, "class"),
    "a class body that computes": ("class A:\n    x = [i for i in (1,)]\n\n\n" + RUN, "class"),
    "a walrus in a class body": ("class A:\n    x = (y := 1)\n\n\n" + RUN, "class"),
    "a default of a field that calls": ("class A:\n    x: int = len([])\n\n\n" + RUN, "class"),
    "an import in a class body": ("class A:\n    import math\n\n\n" + RUN, "class"),
    "a class in a class": ("class A:\n    class B:\n        pass\n\n\n" + RUN, "class"),
    "a base that is computed": ("class A(type(1)):\n    pass\n\n\n" + RUN, "class"),
    "a built-in base": ("class A(int):\n    pass\n\n\n" + RUN, "class"),
    "arguments of a class": ("class A(object, x=1):\n    pass\n\n\n" + RUN, "class"),
    "__init_subclass__": ("class A:\n    def __init_subclass__(cls):\n        pass\n\n\n" + RUN, "name"),
    "__class_getitem__": ("class A:\n    def __class_getitem__(cls, x):\n        pass\n\n\n" + RUN, "name"),
    "__getattr__ of the module": ("def __getattr__(name):\n    pass\n\n\n" + RUN, "name"),
    "slots that are special": ("class A:\n    __slots__ = ('py_func',)\n\n\n" + RUN, "class"),
    "namedtuple with code for a field": (
        "from collections import namedtuple\n\nA = namedtuple('A', 'x=(1).__class__')\n" + RUN,
        "class",
    ),
    "namedtuple with computed fields": (
        "from collections import namedtuple\n\nA = namedtuple('A', 'x' * 2)\n" + RUN,
        "class",
    ),
    "namedtuple with options": (
        "from collections import namedtuple\n\nA = namedtuple('A', 'x', module='os')\n" + RUN,
        "class",
    ),
    "make_dataclass": ("from dataclasses import make_dataclass\n" + RUN, "import"),
    "a constant that calls back": (
        "import numpy as np\n\n\ndef f(i):\n    return i\n\n\nX = np.fromfunction(f, (3,))\n" + RUN,
        "module-level",
    ),
    "a constant by a redefined built-in": (
        "def len(x):\n    return x\n\n\nX = len([])\n" + RUN,
        "module-level",
    ),
    "an item assigned at import": ("X = [1]\nX[0] = 2\n" + RUN, "module-level"),
    # numba.
    "a signature with code in it": (JIT.format("\"__import__('os').system('id')\""), "jit-option"),
    "a signature that is computed": (JIT.format("'int64' + '()'"), "jit-option"),
    "types that are code": (JIT.format("locals={}"), "jit-option"),
    "an option that is computed": (JIT.format("inline=len"), "jit-option"),
    "a ufunc that evaluates strings": ("from numba import vectorize\n" + RUN, "import"),
    "generated_jit": ("from numba import generated_jit\n" + RUN, "import"),
    "carray": ("from numba import carray\n" + RUN, "import"),
    "cfunc": ("from numba import cfunc\n" + RUN, "import"),
    "gdb": ("import numba\n" + _in("numba.gdb()"), "attribute"),
    "extending": ("from numba import extending\n" + RUN, "import"),
    "experimental": ("from numba.experimental import jitclass\n" + RUN, "import"),
    # numpy.
    "numpy's library": ("import numpy as np\n" + _in("np.lib"), "attribute"),
    "numpy's tests": ("import numpy as np\n" + _in("np.testing"), "attribute"),
    "records": ("import numpy as np\n" + _in("np.recarray"), "attribute"),
    "characters": ("import numpy as np\n" + _in("np.char"), "attribute"),
    "matrices from names": ("import numpy as np\n" + _in("np.bmat('a')"), "attribute"),
    "the clock": ("import numpy as np\n" + _in("np.datetime64('now')"), "attribute"),
    "a generator's address": (_in("env_data['rng'].bit_generator"), "attribute"),
    "patching the budget": (_in("env_data['budget'].exhausted = len"), "attribute"),
    "with": (_in("with state:\n    pass"), "construct"),
    "del of an attribute": (_in("del state.sequence"), "construct"),
    "unseeded": ("import numpy as np\n" + BODY.format("np.random.default_rng()"), "unseeded"),
}
ACCEPTED = {
    "the least": RUN,
    "docstring and constants": '"""Text."""\n\nX = (1, 2)\nY: float = 1e-9\n' + RUN,
    "its encoding": "# -*- coding: utf-8 -*-\n" + RUN,
    "lines of Windows": RUN.replace("\n", "\r\n"),
    "imports": "import math\nfrom heapq import heappush\nimport numpy as np\nfrom numba import njit\n" + RUN,
    "seeded": "import numpy as np\n" + BODY.format("np.random.default_rng(5)"),
    "usual idioms": USUAL,
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


@pytest.mark.parametrize("text", PROPOSALS, ids=range(len(PROPOSALS)))
def test_what_a_strong_model_wrote_is_accepted(text: str) -> None:
    """Implementations of six recorded runs, all of which were useful."""
    assert check_source(text) == ()


def test_a_violation_names_its_line() -> None:
    (violation,) = check_source("import math\nimport os\n" + RUN)
    assert (violation.line, violation.rule) == (2, "import")
    assert violation.message == "import of os is not allowed"


@pytest.mark.parametrize("text", [r"'\d'", "1 is 1", "1if True else 2", "0xfor x in ()"])
def test_doubtful_texts_raise_no_warning(text: str) -> None:
    """Warnings are errors here, as they are on newer Pythons."""
    check_source(BODY.format(text))
