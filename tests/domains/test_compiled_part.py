"""Which constants machine code does not depend on."""

from __future__ import annotations

import pytest

from dga2d.domains.core.tunables import compiled_part

HEAD = "import numba\nfrom numba import njit\nA = 1  # tunable: int 0..9\n"
PLAIN = "def run(env_data, state, score):\n    return kernel(A)\n"
KERNEL = "@njit\ndef kernel(a):\n    return a\n"


def is_free(rest: str) -> bool:
    text = HEAD + rest
    return compiled_part(text) == compiled_part(text.replace("A = 1", "A = 2"))


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        (PLAIN + KERNEL, True),
        (PLAIN + KERNEL.replace("return a", "return a + A"), False),
        (PLAIN + KERNEL + "B = 2 * A\n", False),
        (PLAIN + KERNEL + "class C:\n    a = A\n", False),
        ("def table():\n    return (A,)\nT = table()\n" + PLAIN + KERNEL, False),
        (PLAIN.replace("kernel(A)", "numba.njit(kernel)(A)") + "def kernel(a):\n    return a * A\n", False),
        ("def make():\n    @njit\n    def inner():\n        return A\n    return inner\n" + PLAIN, False),
        ("from numba import njit as fast\n" + PLAIN.replace("kernel(A)", "fast(kernel)(A)"), False),
        ("def run(env_data, state, score, a=A):\n    return state\n", False),
    ],
)
def test_a_value_is_left_out_where_plain_functions_alone_read_it(rest: str, expected: bool) -> None:
    assert is_free(rest) is expected


def test_all_else_stays() -> None:
    text = HEAD + PLAIN + KERNEL
    assert compiled_part(text) == text.replace("A = 1", "A = ")
    assert compiled_part(text) != compiled_part(text.replace("return a", "return -a"))
