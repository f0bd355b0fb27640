"""Trial runs of one piece of code: in which walks it runs, and with how much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import anyio
from tests.agents.made_up_library import OPERATORS, SOURCE
from tests.agents.outside_world import Instances

from dga2d.agents.agent import open_basis
from dga2d.agents.evaluator_pool import SourceReader
from dga2d.agents.ports import EvaluationReply, EvaluationRequest
from dga2d.agents.smoke_trials import SMOKE_WORK, TrialRunner
from dga2d.domains.core.contract import Implementation
from dga2d.events import RecordedEvent
from dga2d.events.payloads import LLMCallReserved
from dga2d.replay.state.fold import fold_all

if TYPE_CHECKING:
    from tests.agents.memory_log import MemoryLog
    from tests.agents.simulation import Simulation


class Watched:
    """An evaluator that keeps what it was asked; a walk of one operator solves nothing."""

    def __init__(self) -> None:
        self.requests: list[EvaluationRequest] = []

    async def evaluate(self, request: EvaluationRequest) -> EvaluationReply:
        self.requests.append(request)
        if len(request.steps) == 1:
            return EvaluationReply(None, "infeasible", "no solution", 0.1, 3, (), None)
        return EvaluationReply(1.0, None, "", 0.1, 3, (), None)


def asks_for_code(event: RecordedEvent) -> bool:
    return isinstance(event.payload, LLMCallReserved) and event.payload.purpose == "implement"


def tried(log: MemoryLog, operator: str, *, repeats: bool) -> tuple[Sequence[EvaluationRequest], str | None]:
    """What is run of new code for `operator`, and the stage at which it fails."""
    answered = next(n for n, event in enumerate(log.events) if asks_for_code(event))
    state, watched = fold_all(log.events[:answered]), Watched()
    trials = TrialRunner(watched, Instances([]), SourceReader(log), repeats)
    new = Implementation(
        next(op.id for op in OPERATORS if op.id == operator), SOURCE.format(name="x"), "test"
    )
    failure = anyio.run(trials.find_failure, state, open_basis(state)[1], new)
    return watched.requests, None if failure is None else failure.stage


def initialiser() -> str:
    return next(op.id for op in OPERATORS if op.category == "initialisation")


def test_an_initialiser_runs_alone_first_except_where_walks_repeat(simulation: Simulation) -> None:
    _, log = simulation.changed(generations=2).run()
    requests, stage = tried(log, initialiser(), repeats=False)
    assert ([len(request.steps) for request in requests], stage) == ([1], "isolated")
    requests, stage = tried(log, initialiser(), repeats=True)
    assert stage is None
    assert [len(request.steps) > 1 for request in requests] == [True]


def test_the_trial_of_a_walk_that_repeats_has_the_budget_of_a_solution(simulation: Simulation) -> None:
    _, log = simulation.changed(generations=2, work=50_000).run()
    improver = next(op.id for op in OPERATORS if op.category == "local_search")
    for repeats, expected in ((False, {2 * SMOKE_WORK, 3 * SMOKE_WORK}), (True, {50_000})):
        requests, _ = tried(log, improver, repeats=repeats)
        assert {request.budget for request in requests} <= expected
        assert requests
