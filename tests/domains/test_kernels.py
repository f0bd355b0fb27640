"""Kernels that libraries declare: shared, described, and made of what a new one could be compared with."""

from __future__ import annotations

import ast

import pytest

from dga2d.agents.proposing.kernel_code import holds_kernel
from dga2d.domains.core.errors import LibraryError
from dga2d.domains.core.kernels import Kernel, excerpt, function_of, kernels_of, parameters
from dga2d.domains.core.registry import get_domain
from dga2d.domains.core.tunables import find_tunables
from dga2d.domains.source_rules import check_source

DECLARING = ("cvrp", "fjsp", "jsp", "mis", "tsp")
KERNELS = [(name, kernel) for name in DECLARING for kernel in kernels_of(get_domain(name))]
CASES = pytest.mark.parametrize(
    ("domain", "kernel"), KERNELS, ids=[f"{name}-{kernel.id}" for name, kernel in KERNELS]
)


@CASES
def test_a_kernel_is_held_by_several_implementations(domain: str, kernel: Kernel) -> None:
    texts = [i.source for op in get_domain(domain).operators() for i in op.implementations]
    assert sum(holds_kernel(text, kernel.source, kernel.id) for text in texts) >= 2


@CASES
def test_a_kernel_stands_alone_takes_arrays_and_numbers_and_has_no_tunables(
    domain: str, kernel: Kernel
) -> None:
    whole = f"{kernel.source}\n\ndef run(env_data, state, calc_makespan_fn):\n    return state\n"
    assert check_source(whole) == ()
    assert not find_tunables(kernel.source)
    names = parameters(kernel.source, kernel.id)
    assert [row.partition(":")[0] for row in kernel.arguments] == list(names)
    assert not {"rng", "budget", "env_data", "state"} & set(names)  # a call can be made twice
    args = function_of(kernel.source, kernel.id).args
    assert ast.unparse(args) == ", ".join(names)


def test_libraries_without_kernels_have_none() -> None:
    assert kernels_of(get_domain("fssp")) == ()


def test_an_excerpt_holds_what_a_function_needs_and_nothing_else() -> None:
    text = (
        '"""A text."""\nimport math\nimport numpy as np\nA, B = 1, 2\nC = 3\n\n\n'
        "def f(x):\n    return g(x) + A\n\n\n"
        "def g(x):\n    return np.abs(x)\n\n\ndef h(x):\n    return math.pi * C\n"
    )
    found = excerpt(text, "f")
    assert found is not None
    assert found.startswith("import numpy as np\n\nA, B = 1, 2\n")
    assert "def g" in found
    assert "def h" not in found
    assert "math" not in found
    assert excerpt(text, "k") is None


def test_what_no_text_holds_is_no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    domain = get_domain("jsp")
    monkeypatch.setattr(type(domain), "operators", lambda self: ())
    with pytest.raises(LibraryError, match="update_heads of jsp is in none of its implementations"):
        kernels_of(domain)
