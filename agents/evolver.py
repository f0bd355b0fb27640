"""What the agents that ask a model for edits share: whom they ask, and where answers and decisions go."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic

from dga2d.agents.agent import Decision, OwedDuty
from dga2d.agents.calls import AskModel, CallDesk
from dga2d.agents.ports import EventAppender
from dga2d.agents.proposing.models import Models
from dga2d.agents.proposing.tasks import PromptContext, Task
from dga2d.agents.smoke_trials import TrialRunner
from dga2d.replay.state.run_state import RunState


class Evolver(ABC, Generic[OwedDuty]):
    """Asks a model for the duties that need one, and appends the decisions on all others."""

    def __init__(
        self, log: EventAppender, model: Models, trials: TrialRunner, context: PromptContext
    ) -> None:
        self._log = log
        self._desk = CallDesk(log, model)
        self._trials = trials
        self._context = context

    @abstractmethod
    def duties(self, state: RunState) -> Sequence[OwedDuty]:
        """Return what is owed in a state; see `Agent`."""

    @abstractmethod
    async def _task(self, state: RunState, duty: AskModel) -> Task:
        """Return what the model is asked for."""

    @abstractmethod
    async def _decision(self, state: RunState, duty: OwedDuty) -> Decision:
        """Return the events that fulfil a duty other than a question, having run what has to be tried."""

    async def perform(self, duty: OwedDuty, state: RunState) -> None:
        if isinstance(duty, AskModel):
            await self._desk.ask(state, duty, await self._task(state, duty))
        else:
            await self._log.append(*await self._decision(state, duty))
