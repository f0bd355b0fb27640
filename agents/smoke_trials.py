"""Trial runs of what a model proposed: short, on a small instance, in the sandbox, before anything joins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dga2d.agents.agent import open_basis
from dga2d.agents.evaluator_pool import SourceReader
from dga2d.agents.ports import EvaluationRequest, Evaluator, InstanceSource
from dga2d.agents.proposing.errors import ProposalError
from dga2d.agents.scoring import best_implementations
from dga2d.agents.trial_walks import fill, walk_along
from dga2d.domains.core.contract import Implementation
from dga2d.events import OperatorId
from dga2d.events.payloads import Edge
from dga2d.replay.state.generation_state import EvolutionBasis
from dga2d.replay.state.graph import OperatorGraph
from dga2d.replay.state.incumbent import incumbent
from dga2d.replay.state.run_state import RunState
from dga2d.replay.streams import spawn_key

TRIAL_STAGES = ("isolated", "composed")
"""Stages of code that failed in a trial run; all other stages follow from its text."""
EDGE_STAGE = "trial"
"""Stage of an edge edit whose new edge failed in a trial run."""
SMOKE_WORK = 2000
"""Work units of a position of a trial run: enough to pass through every branch of a small instance. No trial
has more than an evaluation of the run, which is short where a unit takes long."""


@dataclass(frozen=True)
class TrialRunner:
    """Runs trials through the same contained evaluator as everything else."""

    evaluator: Evaluator
    instances: InstanceSource
    sources: SourceReader
    repeats: bool = False
    """Whether a walk is a step that is run again and again (`Card.repeats`). Its first operator alone then
    solves nothing, and the budget is the run's own: it is what one solution takes."""

    async def find_failure(
        self, state: RunState, basis: EvolutionBasis, new: Implementation
    ) -> ProposalError | None:
        """Run `new` behind an initialiser on a small instance, then within a pipeline of the graph.

        An initialiser of walks that repeat runs within a pipeline alone.

        Return the first failure, with ``isolated`` or ``composed`` as its stage; ``None`` if there is none.
        """
        operator = OperatorId(new.operator)
        route = basis.graph.route_through(operator)
        position = route.index(operator)
        neighbours = ((route[: min(position, 1)], ()), (route[:position], route[position + 1 :]))
        for stage, (before, after) in zip(TRIAL_STAGES, neighbours, strict=True):
            if self.repeats and not before and not after and len(route) > 1:
                continue
            steps = [await self._best(state, basis, operator) for operator in (*before, *after)]
            steps.insert(len(before), new)
            failure = await self._run(state, f"{stage}/{new.id}", steps, len(before))
            if failure is not None:
                return ProposalError(stage, failure)
        return None

    async def find_edge_failure(
        self, state: RunState, graph: OperatorGraph, added: Sequence[Edge]
    ) -> ProposalError | None:
        """Run the walk of `graph` nearest to the incumbent along each of the `added` edges.

        Return the first failure; ``None`` if there is none. An edge that no walk passes is not run. Pools and
        credits are those that the generation's edits are decided on, whatever of them has been made.
        """
        program, (_, basis) = incumbent(state), open_basis(state)
        base = tuple(step.operator for step in program)
        for number, edge in enumerate(added):
            walk = walk_along(graph, base, edge, state.settings.max_length)
            if walk is None:
                continue
            chosen = fill(walk, program, basis.pools, basis.credits)
            steps = [await self.sources.implementation(state, step) for step in chosen]
            failure = await self._run(state, f"{EDGE_STAGE}/{'>'.join(edge)}", steps, number)
            if failure is not None:
                return ProposalError(EDGE_STAGE, f"{edge[0]} -> {edge[1]} in {' -> '.join(walk)}: {failure}")
        return None

    async def _run(self, state: RunState, key: str, steps: Sequence[Implementation], part: int) -> str | None:
        """Return why a trial failed, ``None`` if it did not; `part` is the last part of its stream's key."""
        reply = await self.evaluator.evaluate(
            EvaluationRequest(
                key=key,
                instance=self.instances.smoke_instance(),
                steps=tuple(steps),
                seed=(state.header.seed, *spawn_key("smoke", part)),
                budget=self._budget(state, len(steps)),
            )
        )
        return None if reply.failure is None else f"{reply.failure}: {reply.diagnostic}"

    def _budget(self, state: RunState, positions: int) -> int:
        usual, own = SMOKE_WORK * positions, state.settings.work
        if own is None:
            return usual
        return max(usual, own) if self.repeats else min(usual, own)

    async def _best(self, state: RunState, basis: EvolutionBasis, operator: OperatorId) -> Implementation:
        step = best_implementations((operator,), basis.pools, basis.credits)[0]
        return await self.sources.implementation(state, step)
