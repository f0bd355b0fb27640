"""Trial runs of a new implementation before it may join a pool (DESIGN: isolated, then composed)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dga2d.agents.evaluator_pool import SourceReader
from dga2d.agents.instantiation import best_implementations
from dga2d.agents.ports import EvaluationRequest, Evaluator, InstanceSource
from dga2d.agents.proposing import ProposalError
from dga2d.domains.core.contract import Implementation
from dga2d.events import OperatorId
from dga2d.replay.state.graph import END, START, OperatorGraph
from dga2d.replay.state.run_state import EvolutionBasis, RunState
from dga2d.replay.streams import spawn_key

TRIAL_STAGES = ("isolated", "composed")
"""Stages of a proposal that failed in a trial run; all other stages follow from its text."""
SMOKE_WORK = 2000
"""Work units of a trial run: enough to pass through every branch of a small instance."""


@dataclass(frozen=True)
class TrialRunner:
    """Runs trials through the same contained evaluator as everything else."""

    evaluator: Evaluator
    instances: InstanceSource
    sources: SourceReader

    async def find_failure(
        self, state: RunState, basis: EvolutionBasis, new: Implementation
    ) -> ProposalError | None:
        """Run `new` behind an initialiser on a small instance, then within a pipeline of the graph.

        Return the first failure, with ``isolated`` or ``composed`` as its stage; ``None`` if there is none.
        """
        operator = OperatorId(new.operator)
        route = route_through(basis.graph, operator)
        position = route.index(operator)
        alone = await self._run("isolated", state, basis, route[:1] if position else (), (), new)
        if alone is not None:
            return alone
        return await self._run("composed", state, basis, route[:position], route[position + 1 :], new)

    async def _run(
        self,
        stage: str,
        state: RunState,
        basis: EvolutionBasis,
        before: Sequence[OperatorId],
        after: Sequence[OperatorId],
        new: Implementation,
    ) -> ProposalError | None:
        steps = [
            *[await self._best(state, basis, operator) for operator in before],
            new,
            *[await self._best(state, basis, operator) for operator in after],
        ]
        reply = await self.evaluator.evaluate(
            EvaluationRequest(
                key=f"{stage}/{new.id}",
                instance=self.instances.smoke_instance(),
                steps=tuple(steps),
                seed=(state.header.seed, *spawn_key("smoke", len(before))),
                budget=SMOKE_WORK * len(steps),
            )
        )
        if reply.failure is None:
            return None
        return ProposalError(stage, f"{reply.failure}: {reply.diagnostic}")

    async def _best(self, state: RunState, basis: EvolutionBasis, operator: OperatorId) -> Implementation:
        step = best_implementations((operator,), basis.pools, basis.credits)[0]
        return await self.sources.implementation(state, step)


def route_through(graph: OperatorGraph, operator: OperatorId) -> tuple[OperatorId, ...]:
    """Return a shortest walk START → … → `operator` → … → END without its sentinels, the first by name.

    An operator that is on no route comes behind the first initialiser that is on one.
    """
    before = _path(graph, START, operator)
    after = _path(graph, operator, END)
    if before and after:
        return (*before[1:], *after[1:-1])
    if operator in graph.initialisers:
        return (operator,)
    entries = sorted(graph.initialisers & graph.relevant)
    return (entries[0], operator)


def _path(graph: OperatorGraph, source: OperatorId, target: OperatorId) -> tuple[OperatorId, ...]:
    """Return a shortest path with both ends, found breadth first; ``()`` if there is none."""
    paths: dict[OperatorId, tuple[OperatorId, ...]] = {source: (source,)}
    frontier = [source]
    while frontier and target not in paths:
        following = []
        for node in frontier:
            for successor in graph.successors.get(node, ()):
                if successor not in paths:
                    paths[successor] = (*paths[node], successor)
                    following.append(successor)
        frontier = following
    return paths.get(target, ())
