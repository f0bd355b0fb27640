"""What an agent is, and the loop that runs one.

An agent has two pure functions: ``duties(state)`` names what it owes, ``decide(state, duty, observed)`` gives
the events that fulfil one duty. `observed` is what the outside world answered: the text of a model's answer,
the outcome of a trial, the result of an evaluation, the probabilities of the policy. A live agent gets it
through its ports; `decision_replay` reads it from the log and calls the same ``decide``.

The state is folded once for all agents of a process (`dga2d.replay.projection`). A duty stops being owed when
the events that fulfil it are in the log, so an agent that starts late, or again after a crash, needs to
remember nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeVar

import anyio

from dga2d.events import AgentName, Draft, Payload
from dga2d.events.payloads import Step
from dga2d.replay.projection import Projection
from dga2d.replay.state.generation_state import EvolutionBasis, GenerationState, RaceState, ValidationState
from dga2d.replay.state.graph import OperatorGraph
from dga2d.replay.state.run_state import RunState, TestState


@dataclass(frozen=True)
class Duty:
    """Something an agent owes; a subclass says what.

    Its fields identify it. Those that only say why, as the cause does, are not compared.
    """

    caused_by: int = field(compare=False)
    """The event that the duty answers."""


@dataclass(frozen=True)
class GenerationDuty(Duty):
    """Something owed towards a generation, or a round of a method; a subclass says what."""

    number: int


class Decision(NamedTuple):
    """Events that fulfil a duty, appended together and in this order."""

    drafts: tuple[Draft, ...]
    blobs: tuple[bytes, ...] = ()
    """What the events refer to by digest and the log may not hold yet."""


def decide_on(agent: AgentName, state: RunState, duty: Duty, payload: Payload, *blobs: bytes) -> Decision:
    """Return the decision of one event, filed under the open generation."""
    draft = Draft(agent, payload, open_generation(state).number, duty.caused_by)
    return Decision((draft,), blobs)


OwedDuty = TypeVar("OwedDuty", bound=Duty)


class Agent(Protocol[OwedDuty]):
    """Contract of all agents.

    `duties` is pure and total: it may be called on any state, and names a duty until the log shows it
    fulfilled. `perform` appends the events that fulfil one duty; it may be cancelled at any point and leaves
    nothing half-written. Several duties of one agent may be performed at the same time.
    """

    @property
    def name(self) -> AgentName: ...

    def duties(self, state: RunState) -> Sequence[OwedDuty]: ...

    async def perform(self, duty: OwedDuty, state: RunState) -> None: ...


async def run_agent(agent: Agent[OwedDuty], projection: Projection) -> None:
    """Follow a run from its latest state on and perform `agent`'s duties until the run ends.

    Return once the run is completed, failed or paused. Duties under way are cancelled then; they are owed
    again when the run goes on. An error of a duty cancels the other duties and is raised in an exception
    group.
    """
    under_way: set[OwedDuty] = set()
    with projection.subscribe() as changes:
        async with anyio.create_task_group() as tasks:

            def start_owed(state: RunState) -> None:
                owed = agent.duties(state)
                for duty in owed:
                    if duty not in under_way:
                        under_way.add(duty)
                        tasks.start_soon(agent.perform, duty, state, name=f"{agent.name}: {duty}")
                under_way.intersection_update(owed)

            if is_live(changes.state):
                start_owed(changes.state)
                async for _, state in changes:
                    if not is_live(state):
                        break
                    start_owed(state)
            tasks.cancel_scope.cancel()


def is_live(state: RunState) -> bool:
    """Return whether agents still have work: the run goes on, or its held-out test does."""
    return state.status == "running" or test_is_open(state)


def test_is_open(state: RunState) -> bool:
    """Return whether a held-out test was started and has not been scored."""
    return state.test is not None and state.test.mean_gaps is None


# What a state must have where a duty of this kind is owed.


def present_graph(state: RunState) -> OperatorGraph:
    """Return the run's graph; it must have been initialised."""
    assert state.graph is not None
    return state.graph


def open_generation(state: RunState) -> GenerationState:
    """Return the open generation; there must be one."""
    assert state.generation is not None
    return state.generation


def open_basis(state: RunState) -> tuple[GenerationState, EvolutionBasis]:
    """Return the open generation and what its edits are decided on; its credits must have been updated."""
    generation = open_generation(state)
    assert generation.basis is not None
    return generation, generation.basis


def open_race(state: RunState) -> RaceState:
    """Return the race of the open generation; one must have been started."""
    race = open_generation(state).race
    assert race is not None
    return race


def open_validation(state: RunState) -> tuple[ValidationState, tuple[tuple[Step, ...], ...]]:
    """Return the validation of the open generation and the pipelines it compares; they must be decoded."""
    validation = open_generation(state).validation
    assert validation is not None
    assert validation.pipelines is not None
    return validation, validation.pipelines


def open_test(state: RunState) -> TestState:
    """Return the held-out test; one must have been started."""
    assert state.test is not None
    return state.test
