"""Decoder, plain decoder and verifier of project scheduling agree; schedules made by hand."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domains.rcpsp.specimens import plain_makespan, random_instance, random_sequence
from tests.domains.scoring_claims import SEEDS, Scored, SequenceScoring

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.rcpsp import DOMAIN, verifier
from dga2d.domains.rcpsp.decoder import pack
from dga2d.domains.rcpsp.project import Project


class ProjectClaims(SequenceScoring):
    specimen = Scored(
        domain=DOMAIN,
        verifier=verifier,
        make_instance=lambda size, seed: random_instance(size[0], size[1], seed, low=seed % 2),
        random_state=lambda instance, seed: State(random_sequence(instance, seed)),
        plain_score=lambda instance, state: plain_makespan(instance, state.sequence),
        sizes=st.tuples(st.integers(0, 9), st.integers(1, 4)),
        middle=(12, 3),
        highest=10,
        large=lambda: random_instance(60, 4, 1),  # the profile of the resources alone: 2500 bytes
        breakages={
            "an activity twice": lambda good: np.append(good[:-1], good[3:4]),
            "successors first": lambda good: good[::-1].copy(),
        },
    )


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS, scale=st.integers(1, 2**27))
def test_capacities_that_need_several_words_decode_alike(seed: int, scale: int) -> None:
    """Seven resources with requests times `scale`: the packed words hold one, two or more of them."""
    instance = random_instance(8, 7, seed)
    data = dict(instance.data)
    data["requests"], data["capacities"] = data["requests"] * scale, data["capacities"] * scale
    large = Instance("rcpsp", "random", "large", data)
    sequence = random_sequence(instance, seed)
    expected = plain_makespan(instance, sequence)
    assert DOMAIN.decoder(DOMAIN.environment(large))(State(sequence)) == expected
    assert DOMAIN.verify(large, State(sequence)).objective == expected


def test_resources_are_packed_with_a_guard_bit_each() -> None:
    need, capacities, guard = pack(np.array([[5, 1], [0, 2]]), np.array([7, 2]))
    assert need.tolist() == [[0b01_0101], [0b10_0000]]
    assert capacities.tolist() == [0b10_0111]
    assert guard.tolist() == [0b100_1000]


def by_hand() -> Instance:
    """Activities 1, 2, 3 take 2, 3, 2 and hold 2, 1, 2 of 3 units; 1 comes before 3."""
    project = Project(
        np.array([0, 2, 3, 2, 0], np.int32),
        np.array([[0], [2], [1], [2], [0]], np.int32),
        np.array([3], np.int32),
        np.array([(0, 1), (0, 2), (1, 3), (2, 4), (3, 4)], np.int32),
    )
    return Instance("rcpsp", "hand", "three", project.data())


def test_a_schedule_made_by_hand() -> None:
    """1 and 2 start at 0, 3 at 2 when 1 has finished; it fits beside 2."""
    instance = by_hand()
    state = State(np.array([0, 1, 2, 3, 4], np.int32))
    assert DOMAIN.decoder(DOMAIN.environment(instance))(state) == 4.0
    assert DOMAIN.verify(instance, state).objective == 4.0
    assert DOMAIN.write_solution(instance, state).splitlines() == [
        "# instance hand/three",
        "# activities makespan, then per activity: job (from 1) start finish",
        "5 4",
        "1 0 0",
        "2 0 2",
        "3 0 3",
        "4 2 4",
        "5 4 4",
    ]


def test_the_environment_by_hand() -> None:
    environment = DOMAIN.environment(by_hand())
    assert (environment["num_activities"], environment["num_resources"]) == (5, 1)
    assert environment["upper_bound"] == 7
    assert np.argwhere(environment["adj_matrix"]).tolist() == environment["edges"].tolist()


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS, data=st.data())
def test_an_activity_that_starts_one_period_earlier_breaks_a_constraint(
    seed: int, data: st.DataObject
) -> None:
    """Serial schedules are active: no single activity can start earlier while the others stay."""
    instance = random_instance(7, 2, seed)
    starts = verifier.schedule(instance.data, random_sequence(instance, seed))
    assert verifier.schedule_violation(instance.data, starts) is None
    starts[data.draw(st.integers(0, starts.size - 1))] -= 1
    assert verifier.schedule_violation(instance.data, starts) is not None


def test_each_kind_of_violation_is_named() -> None:
    instance = by_hand()
    starts = np.array([0, 0, 0, 2, 4])
    assert verifier.schedule_violation(instance.data, starts) is None
    assert "shape" in str(verifier.schedule_violation(instance.data, starts[:-1]))
    assert "before time 0" in str(verifier.schedule_violation(instance.data, starts - 1))
    assert "before its predecessor" in str(
        verifier.schedule_violation(instance.data, np.array([0, 0, 0, 1, 4]))
    )
    crowded = {**instance.data, "capacities": np.array([2], np.int32)}
    assert "resource 0 is used 3 times at time 0" in str(verifier.schedule_violation(crowded, starts))
