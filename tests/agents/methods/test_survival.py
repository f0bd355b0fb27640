"""Selection and survival on populations worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dga2d.agents.methods.shared import fittest, rank_weights, select_by_rank
from dga2d.events import ImplementationId
from dga2d.replay.state.search_state import ProgramRecord
from dga2d.replay.streams import stream


def program(number: int, score: float, *, failed: bool = False) -> ProgramRecord:
    return ProgramRecord(
        ImplementationId(f"program.{number:012d}"), number, 1, number, "i1", (), "", "", score, 1.0, failed
    )


def numbers(names: tuple[ImplementationId, ...]) -> list[int]:
    return [int(name.partition(".")[2]) for name in names]


def test_the_best_is_at_most_twice_as_likely_as_the_worst() -> None:
    # 1/4, 1/5, 1/6 of three programs, divided by their sum 37/60
    assert rank_weights(3) == pytest.approx([15 / 37, 12 / 37, 10 / 37])
    assert rank_weights(1) == [1.0]


def test_selection_follows_the_ranks_and_may_take_a_program_twice() -> None:
    population = [program(1, -3.0), program(2, -1.0), program(3, -2.0)]  # best first: 2, 3, 1
    draws = stream(1, "method", 1)
    counts = dict.fromkeys((1, 2, 3), 0)
    twice = 0
    for _ in range(3000):
        pair = numbers(select_by_rank(population, 2, draws))
        twice += pair[0] == pair[1]
        for number in pair:
            counts[number] += 1
    assert [counts[n] / 6000 for n in (2, 3, 1)] == pytest.approx([15 / 37, 12 / 37, 10 / 37], abs=0.02)
    assert twice / 3000 == pytest.approx((15**2 + 12**2 + 10**2) / 37**2, abs=0.03)


def test_survivors_are_the_best_one_of_each_objective_without_what_failed() -> None:
    population = [
        program(1, -0.3),
        program(2, -0.1),
        program(3, -0.100004),  # the objective of 2, to five decimals
        program(4, -5.0, failed=True),
        program(5, -0.2),
    ]
    assert numbers(fittest(population, 10)) == [2, 5, 1]
    assert numbers(fittest(population, 2)) == [2, 5]
    assert numbers(fittest([program(7, -0.1), program(6, -0.1)], 2)) == [6]  # of equals the older


def test_a_program_that_is_written_again_counts_once_with_its_first_score() -> None:
    """Other random streams gave it another score the second time."""
    first, other = program(1, -0.2), program(2, -0.1)
    again = replace(first, number=9, score=-0.05)
    assert numbers(fittest([other, first, again], 3)) == [2, 1]
    assert numbers(fittest([again, other, first], 3)) == [2, 1]
