"""What proposers are told of a score: its source, and that of what it calls in its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from dga2d.domains.core.plugins import use_problem_file
from dga2d.domains.core.registry import get_domain
from dga2d.domains.own.score_text import MOST_CHARACTERS

EXAMPLES = Path(__file__).parents[3] / "examples"

LAYERED = '''"""Orders whose cost stands in functions of their own."""

from math import hypot

import numpy as np
from numba import njit

import dga2d

FACTOR = 3
"""What a place costs."""
UNUSED = 4
TABLE = tuple(range(500))


class Layered(dga2d.Problem):
    """An order of places."""

    def instances(self):
        """Five alike."""
        return [{"x": [3, 1, 2]}] * 5

    def encoding(self, instance):
        """Their orders."""
        return dga2d.Permutation(3)

    def score(self, instance, order):
        """Cost of the order."""
        return self.weighted(instance, order) + hypot(0.0, len(TABLE) - 500.0)

    def weighted(self, instance, order):
        """Cost with the factor."""
        return FACTOR * sum(cost_of(x, k) for k, x in enumerate(instance.x[order]))


def cost_of(x, k):
    """Cost of one place."""
    return float(delay(x, k)) + far(x)


@njit(cache=True)
def delay(x, k):
    """Delay, compiled."""
    return x * k


def far(x):
    """Too long to be told."""
    # LONG
    return 0.0


def unused(x):
    return x
'''


def told(path: Path) -> str:
    return get_domain(use_problem_file(path)).card.score_source


def test_functions_and_constants_of_the_file_are_told_nearest_first(tmp_path: Path) -> None:
    path = tmp_path / "layered.py"
    path.write_text(LAYERED.replace("# LONG", "# " + "x" * MOST_CHARACTERS))
    text = told(path)
    heads = [line for line in text.splitlines() if line.startswith(("def ", "@", "FACTOR", "TABLE"))]
    assert heads == [
        "FACTOR = 3",
        "def score(self, instance, order):",
        "def weighted(self, instance, order):",
        "def cost_of(x, k):",
        "@njit(cache=True)",
        "def delay(x, k):",
        "def far(x): ...  # Too long to be told.",
    ]
    assert "return x * k" in text
    assert "unused" not in text.lower()


@pytest.mark.parametrize(
    ("example", "parts"),
    [
        ("facilities", ("cost += opening[j]", "left[facility[i]] -= demand[i]")),
        ("circles", ("assignment_duals(costs)", "by shortest augmenting paths")),
        ("tardiness", ("np.cumsum(instance.times[order])",)),
    ],
)
def test_the_examples_hide_nothing_of_their_score(example: str, parts: tuple[str, ...]) -> None:
    text = told(EXAMPLES / f"{example}.py")
    assert all(part in text for part in parts)
    assert len(text) < MOST_CHARACTERS
