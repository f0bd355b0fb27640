"""How handlers of the fold state what must hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NoReturn

from dga2d.events import RecordedEvent
from dga2d.replay.errors import InvariantError
from dga2d.replay.state.replacing import replace
from dga2d.replay.state.run_state import GenerationState, RunState

Handler = Callable[[RunState, RecordedEvent, Any], RunState]
"""(state, event, its payload) → state."""


def require(condition: object, event: RecordedEvent, reason: str) -> None:
    """Refuse `event` with `reason` unless `condition` holds.

    Raises
    ------
    InvariantError
        `condition` is false.
    """
    if not condition:
        raise InvariantError(event.seq, event.type, reason)


def refuse(event: RecordedEvent, reason: str) -> NoReturn:
    """Refuse `event`: for the frequent events, whose reasons are put into words only where they are needed.

    Raises
    ------
    InvariantError
        Always.
    """
    raise InvariantError(event.seq, event.type, reason)


def open_generation(state: RunState, event: RecordedEvent, number: int) -> GenerationState:
    """The open generation, which must be `number`.

    Raises
    ------
    InvariantError
        No generation is open, or another one is.
    """
    generation = state.generation
    if state.status != "running":
        refuse(event, f"the run is {state.status}")
    if generation is None:
        refuse(event, "no generation is open")
    if generation.number != number:
        refuse(event, f"speaks of generation {number} while generation {generation.number} is open")
    return generation


def judge(
    state: RunState,
    event: RecordedEvent,
    number: int,
    verdict: Literal["accepted", "rejected"],
    diagnostic: str | None = None,
) -> RunState:
    """The state after the asking agent judged the answer to call `number`.

    Raises
    ------
    InvariantError
        There is no such call, it is another agent's, has no answer, or was judged before.
    """
    call = state.ledger.calls.get(number)
    require(call is not None, event, f"call {number} was never reserved")
    assert call is not None
    require(call.agent == event.agent, event, f"call {number} belongs to {call.agent}")
    require(call.status == "settled", event, f"call {number} was not answered")
    require(call.verdict is None, event, f"call {number} was judged before")
    return replace(state, ledger=state.ledger.judged(number, event.seq, verdict, diagnostic))
