from __future__ import annotations

import numpy as np
import pytest
from tests.domains.drawn import drawing_of
from tests.domains.fjsp.specimens import random_instance, random_state

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.core.errors import InvalidSolutionError
from dga2d.domains.drawing import Bar
from dga2d.domains.fjsp import DOMAIN
from dga2d.domains.fjsp.reader import tabulate


@pytest.mark.parametrize("size", [(1, 1), (6, 5), pytest.param((60, 40), marks=pytest.mark.slow)], ids=str)
def test_a_picture_shows_every_operation_and_the_makespan(size: tuple[int, int]) -> None:
    instance = random_instance(*size, seed=3)
    state = random_state(instance, 3)
    drawing = drawing_of(DOMAIN, instance, state)
    bars = [shape for shape in drawing.shapes if isinstance(shape, Bar)]
    assert len(bars) == instance.data["shop"].op_counts.sum()
    makespan = DOMAIN.verify(instance, state).objective
    assert max(bar.right for bar in bars) == makespan
    assert drawing.title == f"{instance.key}: makespan {makespan:.0f}"


def test_a_broken_state_has_no_picture() -> None:
    with pytest.raises(InvalidSolutionError):
        DOMAIN.picture(DOMAIN.smoke_instance(), State(np.zeros(36, np.int32)))


def test_cp_sat_reaches_a_verified_schedule_of_the_smoke_instance() -> None:
    instance = DOMAIN.smoke_instance()
    state = DOMAIN.cp_sat(instance, time_limit_s=20.0, seed=1)
    assert state is not None
    assert DOMAIN.verify(instance, state).objective == 55.0


def test_cp_sat_puts_operations_without_length_in_a_feasible_order() -> None:
    jobs = [[[(0, 0)], [(0, 3), (1, 3)], [(0, 0)]], [[(0, 2)], [(0, 0)]]]
    instance = Instance("fjsp", "random", "zeros", {"shop": tabulate(2, jobs)})
    state = DOMAIN.cp_sat(instance, time_limit_s=20.0, seed=1)
    assert state is not None
    assert DOMAIN.verify(instance, state).objective == 3.0


def test_cp_sat_without_time_has_no_answer() -> None:
    assert DOMAIN.cp_sat(random_instance(60, 20, 1), time_limit_s=1e-6, seed=1) is None
