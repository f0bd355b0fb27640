"""The examples in one file are sound, and say of solutions worked out by hand what they must."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dga2d.domains.core.plugins import find_plugin, load, use_problem_file
from dga2d.domains.core.registry import get_domain
from dga2d.domains.core.splits import split
from dga2d.domains.own.claims import functions_claim
from dga2d.domains.own.domain import OwnDomain
from dga2d.domains.own.problem import Fields

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.py"))


def example(name: str) -> tuple[OwnDomain, Any]:
    """The domain of an example and its module's problem."""
    (path,) = (path for path in EXAMPLES if path.stem == name)
    domain = get_domain(use_problem_file(path))
    assert isinstance(domain, OwnDomain)
    return domain, domain.problem


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_sound(path: Path) -> None:
    domain, _ = example(path.stem)
    assert list(functions_claim(domain, domain.generated())) == []
    assert min(map(len, split(domain.generated()))) >= 4


def test_late_jobs_count_their_weights() -> None:
    _, problem = example("tardiness")
    jobs = Fields(
        {"times": np.array([2, 3, 4]), "weights": np.array([1, 10, 1]), "due": np.array([2, 3, 20])}
    )
    assert problem.score(jobs, np.array([0, 1, 2])) == 20
    assert problem.score(jobs, np.array([1, 0, 2])) == 3


def test_facilities_cost_what_is_opened_and_served_and_exceed_their_capacity() -> None:
    _, problem = example("facilities")
    given = Fields(
        {
            "costs": np.array([[1.0, 5.0], [2.0, 1.0], [3.0, 1.0]]),
            "opening": np.array([10.0, 20.0]),
            "demand": np.array([4, 4, 4]),
            "capacity": np.array([8, 8]),
        }
    )
    assert problem.score(given, np.array([0, 0, 0], np.int32)) == 16.0
    assert problem.check(given, np.array([0, 0, 0], np.int32)) == 4
    assert problem.score(given, np.array([0, 1, 1], np.int32)) == 33.0
    assert problem.check(given, np.array([0, 1, 1], np.int32)) == 0


def test_radii_solve_their_linear_program_and_hold_exactly() -> None:
    from scipy.optimize import linprog

    _, problem = example("circles")
    rng = np.random.default_rng(4)
    grid = (np.stack(np.meshgrid(np.arange(5), np.arange(5)), -1).reshape(-1, 2) + 0.5) / 5
    places = grid + rng.uniform(-0.03, 0.03, grid.shape)
    centres, n = places.T.ravel(), len(places)
    pairs = [(i, j) for i in range(n) for j in range(i)]
    rows = np.zeros((len(pairs), n))
    for row, pair in enumerate(pairs):
        rows[row, list(pair)] = 1.0
    limits = [float(np.hypot(*(places[i] - places[j]))) for i, j in pairs]
    bounds = [(0.0, float(min(x, 1 - x, y, 1 - y))) for x, y in places]
    best = -linprog(-np.ones(n), rows, limits, bounds=bounds).fun
    given = Fields({"n": n})
    assert problem.score(given, centres) == pytest.approx(best, abs=1e-9)
    assert problem.verify(given, centres) is None
    lines = [line.split() for line in problem.write(given, centres).splitlines()]
    circles = [tuple(Fraction(float(value)) for value in line) for line in lines]
    assert all(
        (r + s) ** 2 <= (x - u) ** 2 + (y - v) ** 2
        for i, (x, y, r) in enumerate(circles)
        for u, v, s in circles[:i]
    )


def test_examples_are_found_by_their_names() -> None:
    for path in EXAMPLES:
        plugin = find_plugin(use_problem_file(path))
        assert plugin is not None
        assert load(plugin).digest
