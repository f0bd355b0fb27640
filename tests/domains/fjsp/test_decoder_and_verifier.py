"""Decoder, plain decoder and verifier of flexible job shops agree; schedules made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domains.fjsp.specimens import plain_makespan, random_instance, random_state
from tests.domains.scoring_claims import SEEDS, Scored, SequenceScoring

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.core.errors import InvalidSolutionError
from dga2d.domains.fjsp import DOMAIN, verifier
from dga2d.domains.fjsp.card import INVALID_SCORE
from dga2d.domains.fjsp.reader import tabulate
from dga2d.domains.fjsp.verifier import ScheduledTask, choices_of, schedule, schedule_violation


class FlexibleJobShopClaims(SequenceScoring):
    specimen = Scored(
        domain=DOMAIN,
        verifier=verifier,
        make_instance=lambda size, seed: random_instance(size[0], size[1], seed, low=seed % 2),
        random_state=random_state,
        plain_score=plain_makespan,
        sizes=st.tuples(st.integers(1, 6), st.integers(1, 5)),
        middle=(6, 5),
        highest=7,
        large=lambda: random_instance(100, 10, 0),  # a work array of the jobs alone: 800 bytes
        most_bytes=700,
    )


HAND = Instance(
    "fjsp", "hand", "two", {"shop": tabulate(2, [[[(0, 3), (1, 9)], [(1, 2)]], [[(0, 8), (1, 4)]]])}
)


def test_a_schedule_made_by_hand() -> None:
    """Job 0: machine 0 for 3, machine 1 for 2; job 1: machine 1 for 4. Served 1, 0, 0: it ends at 4 + 2."""
    state = State(np.array([1, 0, 0], np.int32), {"machine_alloc": np.array([[0, 1], [1, 7]], np.int32)})
    assert DOMAIN.decoder(DOMAIN.environment(HAND))(state) == 6.0
    assert DOMAIN.verify(HAND, state).objective == 6.0
    assert DOMAIN.write_solution(HAND, state).splitlines()[2:] == ["2 2 6", "2 0 0 3 1 4 6", "1 1 0 4"]


def smoke_state() -> State:
    return random_state(DOMAIN.smoke_instance(), 1)


GOOD = smoke_state().metadata["machine_alloc"]
BROKEN_METADATA: dict[str, Any] = {
    "none": None,
    "no allocation": {},
    "a list": {"machine_alloc": GOOD.tolist()},
    "floats": {"machine_alloc": GOOD.astype(float)},
    "flat": {"machine_alloc": GOOD.ravel()},
    "one row short": {"machine_alloc": GOOD[:-1]},
    "negative": {"machine_alloc": np.full_like(GOOD, -1)},
    "no machine": {"machine_alloc": np.full_like(GOOD, 6)},
    "not eligible": {"machine_alloc": np.zeros_like(GOOD)},
    "wraps around in 32 bits": {"machine_alloc": GOOD.astype(np.int64) + 2**32},
    "huge unsigned": {"machine_alloc": np.full(GOOD.shape, 2**64 - 1, np.uint64)},
    "a masked array": {"machine_alloc": np.ma.masked_array(GOOD)},
}


def assert_refused(state: State) -> None:
    instance = DOMAIN.smoke_instance()
    assert DOMAIN.decoder(DOMAIN.environment(instance))(state) == INVALID_SCORE
    verdict = DOMAIN.verify(instance, state)
    assert not verdict.is_feasible
    assert verdict.objective is None
    with pytest.raises(InvalidSolutionError):
        DOMAIN.write_solution(instance, state)


@pytest.mark.parametrize("metadata", BROKEN_METADATA.values(), ids=BROKEN_METADATA.keys())
def test_garbage_machines_are_a_violation_and_score_invalid(metadata: Any) -> None:
    state = smoke_state()
    state.metadata = metadata
    assert_refused(state)


@settings(max_examples=40, deadline=None)
@given(size=st.tuples(st.integers(1, 6), st.integers(1, 5)), seed=SEEDS, data=st.data())
def test_a_schedule_with_one_task_changed_is_caught(
    size: tuple[int, int], seed: int, data: st.DataObject
) -> None:
    """In a semi-active schedule no task can start earlier on its own, take longer, or change machine."""
    instance = random_instance(*size, seed)
    choices = choices_of(instance.data["shop"])
    tasks = schedule(choices, random_state(instance, seed))
    assert schedule_violation(choices, tasks) is None
    job = data.draw(st.integers(0, size[0] - 1))
    k = data.draw(st.integers(0, len(tasks[job]) - 1))
    machine, start, end = tasks[job][k]
    tasks[job][k] = data.draw(
        st.sampled_from(
            [
                ScheduledTask(machine, start - 1, end - 1),
                ScheduledTask(machine, start, end + 1),
                ScheduledTask(-1, start, end),
            ]
        )
    )
    assert schedule_violation(choices, tasks) is not None


def test_the_verifier_names_what_is_broken() -> None:
    choices = [[{0: 3}, {0: 2, 1: 2}], [{0: 4}]]
    good = [[ScheduledTask(0, 0, 3), ScheduledTask(1, 3, 5)], [ScheduledTask(0, 3, 7)]]

    def check(job: int, k: int, task: ScheduledTask) -> str | None:
        tasks = [list(row) for row in good]
        tasks[job][k] = task
        return schedule_violation(choices, tasks)

    assert schedule_violation(choices, good) is None
    assert check(0, 0, ScheduledTask(0, -1, 2)) == "job 0 starts before time 0"
    assert check(0, 1, ScheduledTask(1, 2, 4)) == "operation 1 of job 0 starts before operation 0 ends"
    assert check(0, 1, ScheduledTask(2, 3, 5)) == "machine 2 is not eligible for operation 1 of job 0"
    assert check(0, 1, ScheduledTask(1, 3, 6)) == "operation 1 of job 0 does not take 2"
    assert check(1, 0, ScheduledTask(0, 2, 6)) == "jobs 0 and 1 overlap on machine 0"
    assert schedule_violation(choices, [good[0][:1], good[1]]) == "job 0 has 1 operations, expected 2"


def test_the_written_schedule_can_be_read_back() -> None:
    instance, state = DOMAIN.smoke_instance(), smoke_state()
    lines = [line for line in DOMAIN.write_solution(instance, state).splitlines() if not line.startswith("#")]
    n_jobs, n_machines, makespan = map(int, lines[0].split())
    tasks = []
    for line in lines[1:]:
        count, *numbers = map(int, line.split())
        tasks.append([ScheduledTask(*numbers[i : i + 3]) for i in range(0, 3 * count, 3)])
    assert (n_jobs, n_machines) == (len(tasks), 6) == (6, 6)
    assert schedule_violation(choices_of(instance.data["shop"]), tasks) is None
    assert max(row[-1].end for row in tasks) == makespan == DOMAIN.verify(instance, state).objective
