"""Decoder, plain decoder and verifier of assembly lines agree; lines made by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domains.library_claims import Size
from tests.domains.salbp1.specimens import (
    instance_of_line,
    plain_stations,
    random_instance,
    random_line,
    random_sequence,
)
from tests.domains.scoring_claims import SEEDS, Scored, SequenceScoring

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.salbp1 import DOMAIN, verifier
from dga2d.domains.salbp1.card import INVALID_SCORE
from dga2d.domains.salbp1.line import LineData


def line_of_any_density(size: Size, seed: int) -> Instance:
    return instance_of_line(random_line(size[0], seed, density=seed % 5 / 4, low=seed % 11), "any")


class AssemblyLineClaims(SequenceScoring):
    specimen = Scored(
        domain=DOMAIN,
        verifier=verifier,
        make_instance=line_of_any_density,
        random_state=lambda instance, seed: State(random_sequence(instance, seed)),
        plain_score=lambda instance, state: plain_stations(instance, state.sequence),
        sizes=st.tuples(st.integers(1, 25)),
        middle=(12,),
        highest=25,
        large=lambda: random_instance(100, 3),
    )


@settings(max_examples=50, deadline=None)
@given(size=st.integers(1, 8), seed=SEEDS, data=st.data())
def test_they_agree_on_any_sequence(size: int, seed: int, data: st.DataObject) -> None:
    instance = random_instance(size, seed)
    entries = data.draw(st.permutations(range(size)) | st.lists(st.integers(-1, size), max_size=size + 1))
    state = State(np.array(entries, dtype=np.int32))
    expected = plain_stations(instance, entries)
    assert DOMAIN.decoder(DOMAIN.environment(instance))(state) == expected
    verdict = DOMAIN.verify(instance, state)
    assert verdict.objective == (None if expected == INVALID_SCORE else expected)
    assert verdict.is_feasible == (expected != INVALID_SCORE)


@settings(max_examples=40, deadline=None)
@given(size=st.integers(1, 25), seed=SEEDS)
def test_a_line_read_station_by_station_needs_no_more_stations(size: int, seed: int) -> None:
    """The claim on the card which lets operators work on lines instead of sequences."""
    instance = random_instance(size, seed)
    sequence = random_sequence(instance, seed)
    stations = verifier.line_of(**instance.data, sequence=sequence)
    station_of = {task: number for number, tasks in enumerate(stations) for task in tasks}
    read = np.array(sorted(sequence.tolist(), key=station_of.__getitem__), dtype=np.int32)
    assert plain_stations(instance, read) <= len(stations)


def test_first_fit_goes_back_to_earlier_stations_but_not_before_a_predecessor() -> None:
    line = LineData(10, np.array([6, 6, 4, 4], np.int32), np.array([[1, 3]], np.int32))
    instance = instance_of_line(line, "four")
    sequence = np.array([0, 1, 2, 3], np.int32)
    assert verifier.line_of(**instance.data, sequence=sequence) == [[0, 2], [1, 3]]
    assert DOMAIN.decoder(DOMAIN.environment(instance))(State(sequence)) == 2.0


TIMES = np.array([3, 4, 5], np.int32)
EDGES = np.array([[0, 1], [1, 2]], np.int32)
BROKEN: dict[str, tuple[list[list[int]], str]] = {
    "overload": ([[0, 1, 2]], "station 0 has load 12, more than the cycle time 9"),
    "missing task": ([[0], [1]], "task 2 is assigned to no station"),
    "task twice": ([[0, 1], [1, 2]], "task 1 is assigned twice"),
    "empty station": ([[0, 1], [], [2]], "station 1 has no task"),
    "order": ([[0, 2], [1]], "task 1 is in a later station than its successor 2"),
    "unknown task": ([[0, 1], [2, 3]], "task 3 is not in 0..2"),
}


@pytest.mark.parametrize(("stations", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_the_verifier_names_what_is_broken(stations: list[list[int]], message: str) -> None:
    assert verifier.line_violation(9, TIMES, EDGES, [[0, 1], [2]]) is None
    assert verifier.line_violation(9, TIMES, EDGES, stations) == message


@settings(max_examples=40, deadline=None)
@given(size=st.integers(2, 12), seed=SEEDS, data=st.data())
def test_mutated_lines_are_caught(size: int, seed: int, data: st.DataObject) -> None:
    """A task added to a full station, left out or put twice breaks the line."""
    instance = random_instance(size, seed)
    fields = instance.data
    stations = verifier.line_of(**fields, sequence=random_sequence(instance, seed))
    arguments = (fields["cycle_time"], fields["times"], fields["edges"])
    assert verifier.line_violation(*arguments, stations) is None
    number = data.draw(st.integers(0, len(stations) - 1))
    task = data.draw(st.sampled_from(stations[number]))
    without = [[other for other in tasks if other != task] for tasks in stations]
    assert verifier.line_violation(*arguments, without) is not None
    assert verifier.line_violation(*arguments, [*stations, [task]]) is not None
    merged = [task for tasks in stations for task in tasks]
    if fields["times"].sum() > fields["cycle_time"]:
        assert "load" in str(verifier.line_violation(*arguments, [merged]))
    if fields["edges"].size and len(stations) > 1:
        before = int(fields["edges"][0, 0])
        apart = [[t for t in merged if t != before], [before]]
        assert verifier.line_violation(10**6, fields["times"], fields["edges"], apart) is not None


def test_the_environment_follows_the_card() -> None:
    environment = DOMAIN.environment(DOMAIN.smoke_instance())
    assert (environment["num_tasks"], environment["cycle_time"]) == (11, 7)
    assert (environment["total_time"], environment["upper_bound"]) == (46, 7)
    assert environment["adj_matrix"].shape == (11, 11)
    assert np.argwhere(environment["adj_matrix"]).tolist() == environment["edges"].tolist()
    assert environment["times"].dtype == environment["edges"].dtype == np.int32


def test_the_written_line_can_be_read_back() -> None:
    instance = DOMAIN.smoke_instance()
    state = State(random_sequence(instance, 6))
    lines = [line for line in DOMAIN.write_solution(instance, state).splitlines() if not line.startswith("#")]
    n_tasks, n_stations, cycle_time = map(int, lines[0].split())
    stations = [[int(task) - 1 for task in line.split()] for line in lines[1:]]
    assert (n_tasks, cycle_time) == (11, 7)
    assert len(stations) == n_stations == DOMAIN.verify(instance, state).objective
    fields = instance.data
    assert verifier.line_violation(cycle_time, fields["times"], fields["edges"], stations) is None
