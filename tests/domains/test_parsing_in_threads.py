"""Texts are parsed in threads: those that compile implementations, and that of the agents."""

from __future__ import annotations

import ast
import gc
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from dga2d.domains.core.statements import parse_quietly

TEXT = "\n".join(f"x{i} = f(a[{i}], b + {i})" for i in range(1000))


class Litter:
    """What the garbage collector runs Python for, wherever it happens to be."""

    def __init__(self) -> None:
        self.me = self

    def __del__(self) -> None:
        sum(range(50))


@pytest.fixture
def busy_collector() -> Iterator[None]:
    """Threads change places often, and garbage is collected in the middle of parsing."""
    thresholds, interval = gc.get_threshold(), sys.getswitchinterval()
    gc.set_threshold(50)
    sys.setswitchinterval(1e-6)
    yield
    gc.set_threshold(*thresholds)
    sys.setswitchinterval(interval)


def parsed(depth: int) -> ast.Module:
    if depth:
        return parsed(depth - 1)
    for _ in range(100):
        Litter()
    return parse_quietly(TEXT)


@pytest.mark.slow
@pytest.mark.usefixtures("busy_collector")
def test_texts_parsed_at_once_by_threads_of_different_depth() -> None:
    """CPython 3.11: SystemError, AST constructor recursion depth mismatch."""
    with ThreadPoolExecutor(6) as pool:
        assert {len(tree.body) for tree in pool.map(parsed, [3 * (i % 6) for i in range(60)])} == {1000}
