"""Folding page by page gives what folding event by event gives, also where an event may not follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dga2d.events import RecordedEvent, encode_payload
from dga2d.events.payloads import EvaluationRecorded
from dga2d.replay.errors import InvariantError
from dga2d.replay.state.fold import fold_all, fold_page
from dga2d.replay.state.run_state import RunState

if TYPE_CHECKING:
    from tests.agents.simulation import Simulation


@pytest.fixture(scope="module")
def events(simulation: Simulation) -> list[RecordedEvent]:
    return simulation.run()[1].events


@pytest.mark.parametrize("size", [1, 2, 7, 10_000])
def test_pages_of_any_size_give_the_same_state(events: list[RecordedEvent], size: int) -> None:
    state = RunState()
    for first in range(0, len(events), size):
        page = events[first : first + size]
        state = fold_page(state, page)
        assert page == []
    assert state == fold_all(events)


@pytest.mark.parametrize(
    "change",
    [
        {"candidate": 99},
        {"instance": "no/where"},
        {"generation": 7},
        {"objective": None},
        {"failure": "crashed"},
        {"split": "validation"},
    ],
)
def test_an_evaluation_that_may_not_follow_is_refused_in_the_same_words(
    events: list[RecordedEvent], change: dict[str, object]
) -> None:
    assert_change_refused_alike(events, "EvaluationRecorded", change)


@pytest.mark.parametrize(
    "change", [{"generation": 7}, {"candidate": 99}, {"candidate": 0}, {"steps": ()}, {"policy_steps": ()}]
)
def test_a_sample_that_may_not_follow_is_refused_in_the_same_words(
    events: list[RecordedEvent], change: dict[str, object]
) -> None:
    assert_change_refused_alike(events, "PipelineSampled", change)


@pytest.mark.parametrize("change", [{"generation": 7}, {"candidate": 99}, {"candidate": 0}, {"score": -99.0}])
def test_a_score_that_may_not_follow_is_refused_in_the_same_words(
    events: list[RecordedEvent], change: dict[str, object]
) -> None:
    assert_change_refused_alike(events, "CandidateScored", change)


def test_an_outcome_keeps_the_trace_of_its_evaluation(events: list[RecordedEvent]) -> None:
    last = [n for n, event in enumerate(events) if event.type == "EvaluationRecorded"][2]
    for state in (fold_all(events[: last + 1]), fold_page(RunState(), events[: last + 1])):
        assert state.generation is not None
        payload = events[last].payload
        assert isinstance(payload, EvaluationRecorded)
        outcome = state.generation.outcomes[payload.candidate, payload.instance]
        assert outcome.trace == payload.trace != ()


def test_an_evaluation_twice_or_out_of_order_is_refused_in_the_same_words(
    events: list[RecordedEvent],
) -> None:
    first, second, *_ = [n for n, event in enumerate(events) if event.type == "EvaluationRecorded"]
    assert_refused_alike([*events[: first + 1], events[first]._replace(seq=first + 2)])
    assert_refused_alike([*events[:first], *events[second:]])
    assert_refused_alike([*events[:first], events[first]._replace(caused_by=first + 1)])


def assert_change_refused_alike(
    events: list[RecordedEvent], type_name: str, change: dict[str, object]
) -> None:
    """With the third event of its type changed."""
    at = [n for n, event in enumerate(events) if event.type == type_name][2]
    data = encode_payload(events[at].payload.model_copy(update=change))
    forged = RecordedEvent(*events[at])._replace(payload_bytes=data)
    assert_refused_alike([*events[:at], forged, *events[at + 1 :]])


def assert_refused_alike(events: list[RecordedEvent]) -> None:
    with pytest.raises(InvariantError) as one_by_one:
        fold_all(events)
    with pytest.raises(InvariantError) as in_a_page:
        fold_page(RunState(), list(events))
    assert str(in_a_page.value) == str(one_by_one.value)
