"""Makes every decision of a log again from its recorded inputs and compares the bytes.

The inputs of a decision are the state that the log folds to just before it, the run's random streams, and
what was observed and recorded: probabilities, evaluations, answers of language models, outcomes of trials.
Observations themselves are not made again; checked is that they were owed, and by which event.
"""

from __future__ import annotations

from dga2d.agents.briefing import DomainBriefing
from dga2d.agents.ports import BlobSource
from dga2d.agents.remade_answers import AnswerRemaker
from dga2d.agents.remade_rules import RULES, Remade
from dga2d.events import RecordedEvent
from dga2d.replay.difference import require_same, shown
from dga2d.replay.errors import DecisionMismatchError
from dga2d.replay.state.run_state import RunState

UNDECIDED = frozenset(
    {
        "RunPaused",
        "RunResumed",
        "RunForked",
        "RunFailed",
        "PolicyCheckpointed",
        "CallsSuspended",
        "CallsResumed",
    }
)
"""What people asked for, or what happened to the process or its files: nothing follows from the log."""


class DecisionVerifier:
    """Checks the events of one log, one after the other.

    It draws nothing, asks no model, evaluates nothing, and needs no policy network.
    """

    def __init__(self, briefing: DomainBriefing, blobs: BlobSource) -> None:
        self._answers = AnswerRemaker(briefing, blobs)
        self.decisions = 0
        """Decisions made again so far."""

    async def check(self, before: RunState, event: RecordedEvent) -> None:
        """Compare `event` with what its agent had to append in the state `before` it.

        Raises
        ------
        DecisionMismatchError
            It is another decision, was not owed, or names another cause.
        BlobMissingError, CorruptBlobError
            A recorded input cannot be read.
        """
        if event.type in UNDECIDED:
            return
        remade = await self._remade(before, event)
        if remade is None:
            raise _mismatch(event, "type", "no event of this type: it was not owed", event.type)
        require_same(remade.payload, event.payload, event.seq, event.agent)
        if remade.caused_by != event.caused_by:
            raise _mismatch(event, "caused_by", shown(remade.caused_by), shown(event.caused_by))
        self.decisions += remade.is_decision

    async def _remade(self, before: RunState, event: RecordedEvent) -> Remade | None:
        if event.type in RULES:
            return RULES[event.type](before, event.payload)
        return await self._answers.answers[event.type](before, event.payload)


def _mismatch(event: RecordedEvent, field: str, expected: str, got: str) -> DecisionMismatchError:
    return DecisionMismatchError(event.seq, event.type, event.agent, field, expected, got)
