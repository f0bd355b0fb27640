from __future__ import annotations

import numpy as np
import pytest
from tests.domains.drawn import drawing_of
from tests.domains.rcpsp.specimens import random_instance, random_sequence

from dga2d.domains.core.contract import State
from dga2d.domains.core.errors import InvalidSolutionError
from dga2d.domains.drawing import Bar
from dga2d.domains.rcpsp import DOMAIN, domain


@pytest.mark.parametrize("size", [(1, 1), (8, 2), (90, 9)], ids=str)
def test_a_picture_shows_every_activity_the_makespan_and_the_resources(size: tuple[int, int]) -> None:
    instance = random_instance(*size, seed=3)
    state = State(random_sequence(instance, 3))
    drawing = drawing_of(DOMAIN, instance, state)
    chart, *profiles = drawing.panels
    bars = [shape for shape in chart.shapes if isinstance(shape, Bar)]
    assert len(bars) == size[0]
    assert len(profiles) == min(size[1], 6)
    assert bool(drawing.notes) == (size[1] > 6)
    makespan = DOMAIN.verify(instance, state).objective
    assert max(bar.right for bar in bars) == makespan
    assert drawing.title == f"{instance.key}: makespan {makespan:.0f}"


def test_a_broken_state_has_no_picture() -> None:
    with pytest.raises(InvalidSolutionError):
        DOMAIN.picture(DOMAIN.smoke_instance(), State(np.zeros(10, np.int32)))


def test_cp_sat_finds_the_optimum_of_the_smoke_instance() -> None:
    instance = DOMAIN.smoke_instance()
    state = DOMAIN.cp_sat(instance, time_limit_s=20.0, seed=1)
    assert state is not None
    assert DOMAIN.verify(instance, state).objective == domain.SMOKE_OPTIMUM


def test_cp_sat_out_of_time_gives_nothing() -> None:
    assert DOMAIN.cp_sat(random_instance(60, 4, 1), time_limit_s=0.0, seed=1) is None
