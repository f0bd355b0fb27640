"""Bundled texts: what files take from parts is put into them, whole, once and with what it needs."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from dga2d.domains.core.bundling import Bundler
from dga2d.domains.core.errors import BundlingError, DomainError
from dga2d.domains.source_rules import check_source

RUN = "def run(env_data, state, calc_makespan_fn):\n    return {}\n"


def bundle(folder: Path, own: str, **parts: str) -> str:
    """The bundled text of a file `own` beside the given parts."""
    (folder / "parts").mkdir()
    for module, text in parts.items():
        (folder / "parts" / f"{module}.py").write_text(dedent(text), encoding="utf-8")
    (folder / "own.py").write_text(dedent(own), encoding="utf-8")
    return Bundler(folder, folder).text("own.py")


LONGEST = '''\
# exchangeable: length
# Ties go to the first.
@njit(cache=True)
def longest(path):
    """Length of the longest path.

    It is below `BOUND`.
    """
    if path.size == 0:
        return BOUND
    return spread(np.max(path))
'''
PATHS = f'''
"""Longest paths."""

import math

import numpy as np
from numba import njit

BOUND = 10**9  # longer than any path
SPREAD = 0.5  # tunable: float 0.1..0.9
"""Part of a path."""
UNUSED = 3


@njit(cache=True)
def spread(length):
    return SPREAD * length


def unused(n):
    return math.sqrt(UNUSED * n)


{LONGEST}'''

DOUBLED = """\
# what this one does
@jit
def double(x):
    return 2 * x


def run(env_data, state, calc_makespan_fn):
    return double(longest(state))
"""
OWN = f'''
"""Method."""

from numba import jit
from parts.paths import longest

PATIENCE = 3  # tunable: int 1..9


{DOUBLED}'''


BUNDLED = f'''
"""Method."""

import numpy as np
from numba import jit, njit

BOUND = 10**9  # longer than any path
SPREAD = 0.5  # tunable: float 0.1..0.9
"""Part of a path."""
PATIENCE = 3  # tunable: int 1..9


@njit(cache=True)
def spread(length):
    return SPREAD * length


{LONGEST}

{DOUBLED}'''


def test_a_bundled_text_holds_what_is_taken_and_what_that_needs_and_obeys_the_rules(tmp_path: Path) -> None:
    text = bundle(tmp_path, OWN, paths=PATHS)
    assert text == BUNDLED
    assert check_source(text) == ()


def test_a_file_that_takes_nothing_stays_as_it_is(tmp_path: Path) -> None:
    text = f'"""Takes no\nfrom parts of it."""\nif  True: pass\n{RUN}'
    assert bundle(tmp_path, text) == text


def test_a_file_that_is_no_python_is_left_to_the_source_rules(tmp_path: Path) -> None:
    text = f"from parts.a import f\n{RUN})"
    assert bundle(tmp_path, text) == text
    assert [violation.rule for violation in check_source(text)] == ["syntax"]


def test_what_two_parts_need_of_a_third_comes_once_and_first(tmp_path: Path) -> None:
    taking = "from parts.third import base\n\n\ndef {0}(x):\n    return base(x)\n"
    text = bundle(
        tmp_path,
        f"from parts.first import one\nfrom parts.second import two\n\n\n{RUN.format('one(two(state))')}",
        first=taking.format("one"),
        second=taking.format("two"),
        third="def base(x):\n    return x\n\n\ndef spare(x):\n    return base(x)\n",
    )
    assert [line for line in text.split("\n") if line.startswith("def ")] == [
        "def base(x):",
        "def one(x):",
        "def two(x):",
        "def run(env_data, state, calc_makespan_fn):",
    ]


def test_names_that_are_arguments_or_locals_are_no_needs(tmp_path: Path) -> None:
    part = """
    from dataclasses import dataclass

    STEP = 1

    step = 2


    @dataclass
    class Pair:
        step: int = STEP

        def moved(self, by=STEP):
            return [step + by for step in range(self.step)]
    """
    text = bundle(tmp_path, f"from parts.pairs import Pair\n\n\n{RUN.format('Pair')}", pairs=part)
    assert "STEP = 1\n" in text
    assert "step = 2" not in text
    assert "from dataclasses import dataclass\n" in text


def test_definitions_that_need_each_other_come_once(tmp_path: Path) -> None:
    part = "def even(n):\n    return n == 0 or odd(n - 1)\n\n\ndef odd(n):\n    return n and even(n - 1)\n"
    text = bundle(tmp_path, f"from parts.parity import odd\n\n\n{RUN.format('odd')}", parity=part)
    assert text.startswith(f"\n\n\n{part}\n\n")
    assert text.count("def ") == 3


def test_imports_are_merged_by_section_and_name(tmp_path: Path) -> None:
    part = "import numpy.linalg\nfrom math import pi, tau as turn\nfrom numba import njit\n\nA = (pi, turn)\n"
    part += "\n\n@njit\ndef f(x):\n    return numpy.linalg.norm(x) + A[0]\n"
    own = "import heapq\n\nimport numpy.random\nfrom numba import int64, njit\nfrom parts.norm import f\n\n\n"
    text = bundle(tmp_path, own + RUN.format("f, njit, int64, heapq, numpy"), norm=part)
    assert text.split("\n\n\n")[0] == dedent(
        """\
        import heapq
        from math import pi, tau as turn

        import numpy.linalg
        import numpy.random
        from numba import int64, njit

        A = (pi, turn)"""
    )


MOVES = """
from parts.taker import block_moves


def list_moves(path):
    return [block_moves(block) for block in path]
"""
LISTS = RUN.format("list_moves(state)")


@pytest.mark.parametrize(
    ("own", "order"),
    [
        (
            f"from parts.moves import list_moves\n\n\ndef block_moves(block):\n    return block\n\n\n{LISTS}",
            ["list_moves", "block_moves", "run"],
        ),
        (
            "from parts.all import block_moves as block_moves\n"
            f"from parts.moves import list_moves\n\n\n{LISTS}",
            ["block_moves", "list_moves", "run"],
        ),
    ],
    ids=["defined in the file", "taken from a part"],
)
def test_a_part_may_ask_the_file_for_a_function(tmp_path: Path, own: str, order: list[str]) -> None:
    every = "LENGTH = 2\n\n\ndef block_moves(block):\n    return block[:LENGTH]\n"
    text = bundle(tmp_path, own, moves=MOVES, all=every)
    assert "parts" not in text
    assert [line[4 : line.index("(")] for line in text.split("\n") if line.startswith("def ")] == order
    assert ("LENGTH = 2" in text) is (order[0] == "block_moves")


def test_parts_of_another_domain_are_taken_with_their_own_neighbours(tmp_path: Path) -> None:
    lent, home = tmp_path / "shop" / "library" / "parts", tmp_path / "home"
    lent.mkdir(parents=True)
    home.mkdir()
    (lent / "moves.py").write_text("from parts.rating import rate\n\n\ndef move(x):\n    return rate(x)\n")
    (lent / "rating.py").write_text("def rate(x):\n    return x + 1\n")
    (home / "own.py").write_text(f"from parts.shop.moves import move\n\n\n{RUN.format('move(state)')}")
    (home / "other.py").write_text(f"from parts.shop.rows import move\n\n\n{RUN.format('move')}")
    bundler = Bundler(home, tmp_path)
    assert [line for line in bundler.text("own.py").split("\n") if line.startswith("def ")] == [
        "def rate(x):",
        "def move(x):",
        "def run(env_data, state, calc_makespan_fn):",
    ]
    with pytest.raises(BundlingError, match=r"no parts\.shop\.rows; parts/ holds moves, rating$"):
        bundler.text("other.py")


TAKES = f"from parts.a import f\n\n\n{RUN.format('f')}"
F = "def f(x):\n    return x\n"

FAULTS = {
    "unknown part": (
        "\nfrom parts.b import f\n" + RUN,
        {"a": F, "c": F},
        r"own\.py:2: there is no parts\.b; parts/ holds a, c$",
    ),
    "part in a package": ("from parts.a.b import f\n" + RUN, {"a": F}, r"own\.py:1: there is no parts\.a\.b"),
    "unknown name": ("from parts.a import f, g\n" + RUN, {"a": F}, r"own\.py:1: parts\.a defines no g$"),
    "import of a name that the part only imports": (
        "from parts.a import np\n" + RUN,
        {"a": "import numpy as np\n" + F},
        r"own\.py:1: parts\.a defines no np$",
    ),
    "unknown name between parts": (TAKES, {"a": "from parts.b import g\n" + F, "b": F}, r"a\.py:1: .* no g$"),
    "module": ("import parts.a\n" + RUN, {"a": F}, r"own\.py:1: expected `from parts\.MODULE import NAME`"),
    "all modules": ("import parts\n" + RUN, {"a": F}, r"own\.py:1: expected `from parts\.MODULE"),
    "module from parts": (
        "from parts import a\n" + RUN,
        {"a": F},
        r"own\.py:1: expected `from parts\.MODULE",
    ),
    "star": ("from parts.a import *\n" + RUN, {"a": F}, r"own\.py:1: name what is taken .* instead of `\*`"),
    "alias": (
        "from parts.a import f as g\n" + RUN,
        {"a": F},
        r"own\.py:1: .* keeps its name; write `import f`",
    ),
    "within a function": (
        "def run():\n    from parts.a import f\n    return f\n",
        {"a": F},
        r"own\.py:2: take from parts at the top level",
    ),
    "free name": (TAKES, {"a": "def f(x):\n    return x + REACH\n"}, r"a\.py:1: f uses REACH, which is no"),
    "free name in a default": (TAKES, {"a": "\n\ndef f(x=g):\n    return x\n"}, r"a\.py:3: f uses g, which"),
    "free name in what nobody takes": (TAKES, {"a": F + "\n\nB = A + 1\n"}, r"a\.py:5: B uses A, which"),
    "nothing brought": (
        f"from parts.first import g\nfrom parts.moves import list_moves\n\n\n{LISTS}",
        {"moves": MOVES, "first": "def g():\n    return 1\n"},
        r"own\.py:2: moves\.py asks for block_moves; define it, or take it from a part$",
    ),
    "taken from oneself": (
        "from parts.taker import f\n" + RUN,
        {"a": F},
        r"own\.py:1: f is to be taken from the file that it stands in$",
    ),
    "circle": (
        TAKES,
        {"a": "from parts.b import g\n" + F, "b": "from parts.a import f\n\n\ndef g():\n    return f\n"},
        r"b\.py:1: parts take from each other in a circle \(a → b → a\)",
    ),
    "twice in a part": (TAKES, {"a": F + F}, r"a\.py:3: f is bound at line 1 already; rename one"),
    "import and definition in a part": (
        TAKES,
        {"a": "from math import pi as f\n" + F},
        r"a\.py:2: f is bound by an import already",
    ),
    "taken and defined": (TAKES + F, {"a": F}, r"own\.py:6: f is bound at line 1 already"),
    "brought along and defined": (
        TAKES + "\n\ndef g():\n    return 1\n",
        {"a": "def f(x):\n    return g(x)\n\n\ndef g(x):\n    return x\n"},
        r"a\.py:5: g is bound twice, here and at .*own\.py:8; rename one$",
    ),
    "taken twice": (
        "from parts.a import f\nfrom parts.b import f\n",
        {"a": F, "b": F},
        r"own\.py:2: f is bound",
    ),
    "import of another thing": (
        "import math as np\n" + TAKES,
        {"a": "import numpy as np\n\n\ndef f(x):\n    return np.max(x)\n"},
        r"own\.py:1: np is imported as two things by the file and its parts",
    ),
    "import and brought along": (
        TAKES,
        {
            "a": "from parts.b import g\n\n\ndef f(x):\n    return g(x)\n",
            "b": "import math\nfrom parts.c import h\n\n\ndef g(x):\n    return h(math.pi * x)\n",
            "c": "math = 3\n\n\ndef h(x):\n    return math * x\n",
        },
        r"c\.py:1: math is an import as well",
    ),
    "statement": (TAKES, {"a": "if True:\n    X = 1\n" + F}, r"a\.py:1: only imports, constants, functions"),
    "changed constant": (TAKES, {"a": "X = []\nX += [1]\n" + F}, r"a\.py:2: only imports, constants"),
    "one line": (TAKES, {"a": "X = 1; Y = 2\n" + F}, r"a\.py:1: two statements on one line"),
    "no Python": (TAKES, {"a": "def f(x)\n"}, r"a\.py:1: is not Python: "),
}


@pytest.mark.parametrize(("own", "parts", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_what_does_not_fit_is_refused_with_file_line_and_remedy(
    tmp_path: Path, own: str, parts: dict[str, str], message: str
) -> None:
    with pytest.raises(BundlingError, match=message) as caught:
        bundle(tmp_path, own, **parts)
    assert isinstance(caught.value, DomainError)
    assert str(caught.value) == f"{caught.value.file}:{caught.value.line}: {caught.value.reason}"


def test_a_text_that_was_not_bundled_may_not_import_parts() -> None:
    (violation,) = check_source(TAKES)
    assert (violation.line, violation.rule) == (1, "import")
    assert violation.message == "import from parts.a is not allowed"


def test_a_refused_file_does_not_spoil_the_next(tmp_path: Path) -> None:
    faults = {
        "a": "from parts.b import g\n" + F,
        "b": "from parts.c import missing\n\n\ndef g():\n    pass\n",
    }
    with pytest.raises(BundlingError, match="there is no"):
        bundle(tmp_path, TAKES, **faults)
    (tmp_path / "parts" / "c.py").write_text("def missing():\n    pass\n", encoding="utf-8")
    assert F in Bundler(tmp_path, tmp_path).text("own.py")
