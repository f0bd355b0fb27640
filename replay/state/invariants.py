"""How handlers of the fold state what must hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dga2d.events import RecordedEvent
from dga2d.replay.errors import InvariantError
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


def open_generation(state: RunState, event: RecordedEvent, number: int) -> GenerationState:
    """The open generation, which must be `number`.

    Raises
    ------
    InvariantError
        No generation is open, or another one is.
    """
    generation = state.generation
    if generation is None:
        raise InvariantError(event.seq, event.type, "no generation is open")
    require(
        generation.number == number,
        event,
        f"speaks of generation {number} while generation {generation.number} is open",
    )
    return generation
