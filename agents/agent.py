"""An agent is a pure function from state to what it owes, and a way to do what it owes.

The loop below is the whole machinery: follow the log with an own cursor, fold, and start every duty that
is owed and not yet under way. A duty stops being owed when the events that fulfil it are in the log, so
an agent that starts late, or again after a crash, needs to remember nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import anyio

from dga2d.agents.ports import EventSource
from dga2d.events import AgentName, RunId
from dga2d.replay.state.fold import fold
from dga2d.replay.state.run_state import RunState


@dataclass(frozen=True)
class Duty:
    """Something owed: its name is the operation it completes, its cause the event it answers."""

    key: str
    caused_by: int
    subject: tuple[int | str, ...] = ()
    """What the agent needs to know to perform it."""


class Agent(Protocol):
    """Contract of all agents.

    `duties` is pure and total: it may be called on any state, and names the same duty by the same key
    until the log shows it fulfilled. `perform` appends the events that fulfil one duty; it may be
    cancelled at any point and leaves nothing half-written. Duties of one agent are performed at once.
    """

    @property
    def name(self) -> AgentName: ...

    def duties(self, state: RunState) -> Sequence[Duty]: ...

    async def perform(self, duty: Duty, state: RunState) -> None: ...


async def run_agent(agent: Agent, source: EventSource, run_id: RunId, state: RunState) -> None:
    """Follow the log from `state` on and perform `agent`'s duties until the run ends.

    Returns once the run is completed, failed or paused; duties still under way are cancelled then, they will
    be owed again when the run goes on. An error of a duty cancels the other duties and is raised in an
    exception group.
    """
    under_way: set[str] = set()
    async with anyio.create_task_group() as tasks:

        def start_owed(owed: Iterable[Duty], at: RunState) -> None:
            keys = set()
            for duty in owed:
                keys.add(duty.key)
                if duty.key not in under_way:
                    under_way.add(duty.key)
                    tasks.start_soon(agent.perform, duty, at, name=f"{agent.name}:{duty.key}")
            under_way.intersection_update(keys)

        if is_live(state):
            start_owed(agent.duties(state), state)
            async for event in source.subscribe(run_id, state.seq):
                state = fold(state, event)
                if not is_live(state):
                    break
                start_owed(agent.duties(state), state)
        tasks.cancel_scope.cancel()


def is_live(state: RunState) -> bool:
    """Whether agents still have work: the run goes on, or its held-out test does."""
    return state.status == "running" or test_is_open(state)


def test_is_open(state: RunState) -> bool:
    """Whether a held-out test was started and not scored."""
    return state.test is not None and state.test.mean_gaps is None
