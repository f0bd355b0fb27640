"""What is owed towards an answer, and how many calls an edit may cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dga2d.agents.calls import (
    AbandonCall,
    AskModel,
    GiveUp,
    JudgeAnswer,
    next_call,
    share_of_calls,
    slot_allowance,
)
from dga2d.events import BlobDigest, Draft, Payload, RecordedEvent
from dga2d.events.payloads import (
    GraphRejected,
    LLMCallAbandoned,
    LLMCallReserved,
    LLMCallSettled,
    RunPaused,
    RunResumed,
)
from dga2d.replay.state.fold import fold_all
from dga2d.replay.state.run_state import RunState

if TYPE_CHECKING:
    from tests.agents.simulation import Simulation

BLOB = BlobDigest("0" * 64)


def reserved(call: int) -> Payload:
    return LLMCallReserved(
        call=call,
        purpose="initialize",
        subject="initialize",
        attempt=call - 1,
        prompt=BLOB,
        template="t@1",
        model="m",
        reserved_tokens=10,
    )


def settled(call: int) -> Payload:
    return LLMCallSettled(
        call=call,
        response=BLOB,
        prompt_tokens=1,
        completion_tokens=1,
        is_estimated=False,
        cost_usd=0.0,
        elapsed_s=0.0,
    )


def rejected(call: int) -> Payload:
    return GraphRejected(call=call, attempt=call - 1, reason="keys: no")


def abandoned(call: int) -> Payload:
    return LLMCallAbandoned(call=call, reason="gone")


RESUMED = RunResumed(code_version="v", epoch=2, changed={})
PAUSED = RunPaused(reason="stopped")


@pytest.mark.parametrize(
    ("events", "allowance", "expected"),
    [
        pytest.param((), 3, AskModel(1, "initialize", 0, 0), id="nothing yet: ask"),
        pytest.param((), 0, GiveUp(1, "no model calls left"), id="no call left"),
        pytest.param((reserved(1),), 3, None, id="this process waits"),
        pytest.param((reserved(1), RESUMED), 3, AbandonCall(3, "initialize", 1), id="a dead one waited"),
        pytest.param((reserved(1), PAUSED, RESUMED), 3, AbandonCall(4, "initialize", 1), id="paused"),
        pytest.param((RESUMED, reserved(1)), 3, None, id="the resumed process waits"),
        pytest.param((reserved(1), settled(1)), 3, JudgeAnswer(3, 0, 1), id="answered: judge"),
        pytest.param(
            (reserved(1), settled(1), RESUMED),
            3,
            JudgeAnswer(3, 0, 1),
            id="judged after a resume",
        ),
        pytest.param(
            (reserved(1), settled(1), rejected(1)), 3, AskModel(4, "initialize", 0, 1), id="rejected: again"
        ),
        pytest.param(
            (reserved(1), settled(1), rejected(1)),
            1,
            GiveUp(4, "no model calls left"),
            id="none to repair it",
        ),
        pytest.param(
            (reserved(1), RESUMED, abandoned(1)), 3, AskModel(4, "initialize", 0, 1), id="abandoned: again"
        ),
        pytest.param(
            (reserved(1), RESUMED, abandoned(1)),
            1,
            GiveUp(4, "no model calls left"),
            id="abandoned and spent",
        ),
        pytest.param(
            (reserved(1), settled(1), rejected(1), reserved(2), settled(2), rejected(2)),
            9,
            GiveUp(7, "no valid answer in 2 attempts"),
            id="attempts used up",
        ),
        pytest.param(
            (reserved(1), settled(1), rejected(1), reserved(2), RESUMED, abandoned(2)),
            9,
            GiveUp(7, "no valid answer in 2 attempts"),
            id="the last attempt was abandoned",
        ),
    ],
)
def test_what_is_owed_towards_an_answer(
    simulation: Simulation,
    record: Callable[[int, Draft], RecordedEvent],
    events: tuple[Payload, ...],
    allowance: int,
    expected: AskModel | JudgeAnswer | AbandonCall | GiveUp | None,
) -> None:
    log = [record(1, simulation.changed(attempts_per_edit=2).started()[0])]
    for payload in events:
        is_process = isinstance(payload, RunResumed | RunPaused)
        log.append(record(len(log) + 1, Draft("conductor" if is_process else "initializer", payload)))
    state = fold_all([*log])
    if state.status == "running":
        owed = next_call(state, "initialize", 0, 1, allowance)
        assert owed == expected
        assert owed is None or owed.caused_by == expected.caused_by  # type: ignore[union-attr]


def _open(state: RunState) -> int | None:
    return None if state.generation is None else state.generation.number


def test_nothing_is_owed_once_an_answer_was_accepted(simulation: Simulation) -> None:
    _, log = simulation.run()
    accepted = 0
    for event in log.events:
        state = fold_all(log.events[: event.seq])
        for call in state.ledger.calls.values():
            if call.verdict == "accepted" and call.generation == _open(state):
                slot = int(call.subject.rpartition("/")[2]) if call.generation else 0
                accepted += 1
                assert next_call(state, call.purpose, slot, 1, 3) is None
    assert accepted


@pytest.mark.parametrize(
    ("calls_left", "edits", "attempts", "edge", "implementation"),
    [(0, 1, 3, 0, 0), (1, 1, 3, 0, 1), (2, 1, 3, 1, 1), (5, 1, 3, 2, 3), (6, 1, 3, 3, 3), (100, 1, 3, 3, 97)],
)
def test_the_share_of_calls(
    calls_left: int, edits: int, attempts: int, edge: int, implementation: int
) -> None:
    assert share_of_calls(calls_left, edits, attempts, is_edge=True) == edge
    assert share_of_calls(calls_left, edits, attempts, is_edge=False) == implementation


@given(st.integers(0, 60), st.integers(1, 5), st.integers(1, 4))
def test_all_slots_together_never_get_more_calls_than_are_left(
    calls_left: int, edits: int, attempts: int
) -> None:
    shares = [
        slot_allowance(share_of_calls(calls_left, edits, attempts, is_edge), edits, slot)
        for slot in range(edits)
        for is_edge in (True, False)
    ]
    assert sum(shares) == calls_left or (sum(shares) < calls_left and min(shares) >= attempts)
    assert min(shares) >= 0
    if calls_left >= 2 * edits * attempts:
        assert min(shares) >= attempts


def test_the_first_slots_get_the_odd_calls() -> None:
    assert [slot_allowance(3, 2, slot) for slot in (0, 1)] == [2, 1]
    assert [slot_allowance(4, 2, slot) for slot in (0, 1)] == [2, 2]
