from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.domains.drawn import drawing_of
from tests.domains.salbp1.specimens import random_instance, random_sequence

from dga2d.domains.core.contract import State
from dga2d.domains.core.errors import InvalidSolutionError
from dga2d.domains.drawing import Bar
from dga2d.domains.salbp1 import DOMAIN, domain, reader, verifier
from dga2d.domains.salbp1.cp_sat import bin_packing_bound
from dga2d.domains.salbp1.reader import instance_text


@pytest.mark.parametrize("size", [1, 12, 200], ids=str)
def test_a_picture_shows_every_task_and_the_stations(size: int) -> None:
    instance = random_instance(size, 3)
    state = State(random_sequence(instance, 3))
    drawing = drawing_of(DOMAIN, instance, state)
    bars = [shape for shape in drawing.shapes if isinstance(shape, Bar)]
    assert len(bars) == (instance.data["times"] > 0).sum()
    assert sum(bar.right - bar.left for bar in bars) == instance.data["times"].sum()
    assert max(bar.right for bar in bars) <= instance.data["cycle_time"]
    stations = DOMAIN.verify(instance, state).objective
    assert drawing.title.startswith(f"{instance.key}: {stations:.0f} stations")


def test_a_broken_state_has_no_picture() -> None:
    with pytest.raises(InvalidSolutionError):
        DOMAIN.picture(DOMAIN.smoke_instance(), State(np.zeros(11, np.int32)))


def test_cp_sat_finds_the_optimum_of_the_smoke_instance() -> None:
    instance = DOMAIN.smoke_instance()
    state = DOMAIN.cp_sat(instance, time_limit_s=20.0, seed=1)
    assert state is not None
    assert DOMAIN.verify(instance, state).objective == domain.SMOKE_OPTIMUM


@pytest.mark.parametrize("size", [1, 2, 15], ids=str)
def test_cp_sat_gives_a_feasible_line(size: int) -> None:
    instance = random_instance(size, 8)
    state = DOMAIN.cp_sat(instance, time_limit_s=20.0, seed=1)
    assert state is not None
    assert DOMAIN.verify(instance, state).is_feasible


def test_cp_sat_out_of_time_gives_nothing() -> None:
    assert DOMAIN.cp_sat(random_instance(60, 1), time_limit_s=0.0, seed=1) is None


def test_the_bound_of_the_baseline_counts_large_tasks() -> None:
    assert bin_packing_bound([6, 6, 6], 10) == 3
    assert bin_packing_bound([5, 5, 5], 10) == 2
    assert bin_packing_bound([7, 4, 4], 10) == 2
    assert bin_packing_bound([0, 0], 10) == 1
    assert bin_packing_bound([4, 4, 4, 4, 4, 4, 6], 10) == 3


def test_the_functions_of_a_solver_file_give_what_the_domain_gives(tmp_path: Path) -> None:
    path = tmp_path / "jackson.alb"
    path.write_text(instance_text(domain.jackson()))
    environment = reader.environment_of_file(path)
    instance = DOMAIN.smoke_instance()
    own = DOMAIN.environment(instance)
    assert all(np.array_equal(environment[key], own[key]) for key in own)
    state = State(random_sequence(instance, 2))
    verdict = verifier.verified_objective(environment, state)
    assert verdict == DOMAIN.verify(instance, state)
    assert verdict.objective is not None
    text = verifier.solution_text("jackson", environment, state, verdict.objective)
    assert text.splitlines()[1:] == DOMAIN.write_solution(instance, state).splitlines()[1:]
