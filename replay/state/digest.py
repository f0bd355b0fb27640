"""Digests of state: SHA-256 over canonical bytes, independent of event numbers, clocks and run ids.

Two runs that decided the same have the same digests, however their tasks were interleaved.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from dga2d.events import ImplementationId, InstanceKey, OperatorId, canonical_bytes
from dga2d.events.payloads import Step
from dga2d.replay.state.generation_state import GenerationState
from dga2d.replay.state.graph import OperatorGraph
from dga2d.replay.state.ledger import Ledger
from dga2d.replay.state.outcomes import Outcomes
from dga2d.replay.state.run_state import RunState, ScoredProgram
from dga2d.replay.state.search_state import SearchState
from dga2d.replay.state.training_state import TrainingState


def _sha256(value: Any) -> str:
    return hashlib.sha256(canonical_bytes(value)).hexdigest()


def graph_digest(graph: OperatorGraph) -> str:
    """Return the digest of operators and edges."""
    return _sha256(_graph(graph))


def pools_digest(pools: Mapping[OperatorId, tuple[ImplementationId, ...]]) -> str:
    """Return the digest of the implementation pools."""
    return _sha256({operator: list(pool) for operator, pool in pools.items()})


def state_digest(state: RunState) -> str:
    """Return the digest of everything later decisions depend on: graph, pools, Q and n, ledger, policy,
    progress, best program and checkpoint."""
    generation, champion = state.generation, state.champion
    raced = None if champion is None else [champion.generation, _steps(champion.steps)]
    return _sha256(
        {
            **_edits(state),
            "graph": None if state.graph is None else _graph(state.graph),
            "pools": {operator: list(pool) for operator, pool in state.pools.items()},
            "credits": [[t.source, t.target, r.credit, r.activations] for t, r in state.credits.ordered],
            "ledger": _ledger(state.ledger),
            "policy": [state.policy_updates, state.policy_digest],
            "temperature": state.temperature,
            "completed": state.completed,
            "generation": None if generation is None else _generation(generation),
            "best": _program(state.best),
            "checkpoint": _program(state.checkpoint),
            **({} if raced is None else {"champion": raced}),
            **({} if state.training is None else {"training": _training(state.training)}),
            **({"ahead": _ahead(state)} if state.ahead else {}),
            **({"validated": _rounds(state)} if state.validated else {}),
            **({} if state.settings.evolves_pipelines else {"search": _search(state.search)}),
        }
    )


def _training(training: TrainingState) -> list[Any]:
    points = [[point.step, point.loss, point.cost, point.validation] for point in training.points]
    return [training.started.model_dump(mode="json"), points, training.weights]


def _edits(state: RunState) -> dict[str, Any]:
    """Return what later edits depend on besides credits; nothing where no setting asks for it."""
    kept: dict[str, Any] = {}
    if state.owed_trials:
        kept["owed_trials"] = [[*trial.key, trial.left] for trial in state.owed_trials]
    if state.tried:
        kept["tried"] = {
            operator: [
                [t.generation, t.slot, t.implementation, t.parent, *t.gains, t.is_accepted] for t in all_
            ]
            for operator, all_ in state.tried.items()
        }
    if state.offers:
        kept["offers"] = [[o.entry, o.operator, o.verdict] for o in state.offers]
    if state.operators:
        kept["operators"] = {
            name: [new.category, new.requires, new.provides, new.implementation]
            for name, new in state.operators.items()
        }
    if state.kernels:  # which of them are faster is observed, and by how much no part of a decision
        kept["kernels"] = [dict(state.kernels), dict(state.successors)]
        kept["tried_kernels"] = [[t.generation, t.kernel] for t in state.tried_kernels]
    if state.solved:
        kept["solved"] = sorted(state.solved)
    if state.best_met:
        kept["best_met"] = {key: list(best) for key, best in state.best_met.items()}
    if state.promising:
        kept["promising"] = [[_steps(old.steps), *old.gain] for old in state.promising]
    if state.contributions:
        kept["contributions"] = {name: list(share) for name, share in state.contributions.items()}
    return kept


def _graph(graph: OperatorGraph) -> dict[str, Any]:
    return {
        "operators": list(graph.operators),
        "initialisers": sorted(graph.initialisers),
        "edges": sorted([source, target] for source, target in graph.edges),
    }


def _ledger(ledger: Ledger) -> dict[str, Any]:
    """Return the calls without their numbers; of those in flight no more than what was asked, since when
    their answers come depends on the endpoint."""
    flying = [ledger.calls[number] for number in ledger.in_flight]
    answered = [call for call in flying if call.status == "settled"]
    return {
        "limit": ledger.limit,
        "used": ledger.used,
        "calls": sorted(
            [c.subject, c.attempt, c.purpose, c.status, c.verdict, c.prompt, c.response]
            for c in ledger.calls.values()
            if not c.is_in_flight
        ),
        **({"in_flight": sorted([c.subject, c.attempt, c.prompt] for c in flying)} if flying else {}),
        "tokens": [
            ledger.prompt_tokens - sum(call.prompt_tokens for call in answered),
            ledger.completion_tokens - sum(call.completion_tokens for call in answered),
        ],
    }


def _generation(generation: GenerationState) -> dict[str, Any]:
    race = generation.race
    raced = None if race is None else [[s.contender, s.gain, s.verdict] for s in race.standings]
    return {
        "number": generation.number,
        "pipelines": [[j, _steps(pipeline.steps)] for j, pipeline in sorted(generation.pipelines.items())],
        "outcomes": _outcomes(generation.outcomes),
        "rewards": None if generation.scoring is None else list(generation.scoring.rewards),
        "validation": None
        if generation.validation is None or generation.validation.scores is None
        else list(generation.validation.scores),
        **({} if race is None else {"race": [_outcomes(race.outcomes), raced]}),
    }


def _ahead(state: RunState) -> list[Any]:
    """Return what was sampled ahead; what is evaluated of it by now depends on the evaluators' speed."""
    return [
        [number, [[j, _steps(pipeline.steps)] for j, pipeline in sorted(generation.pipelines.items())]]
        for number, generation in sorted(state.ahead.items())
    ]


def _search(search: SearchState) -> list[Any]:
    return [
        [[c, r.variation, r.parents, r.description, r.score] for c, r in sorted(search.programs.items())],
        search.population,
        search.archive,
        [[c, n.parent, n.value, n.visits] for c, n in sorted(search.tree.items())],
        [[r.round, r.slot, r.text] for r in search.reflections],
        search.memory,
    ]


def _rounds(state: RunState) -> list[Any]:
    return [
        [r.generation, r.instances, [_steps(s) for s in r.pipelines], r.objectives, r.comparison]
        for r in state.validated
    ]


def _outcomes(outcomes: Outcomes) -> list[tuple[int, str, float | None, str | None]]:
    """Return rows sorted by candidate and instance."""
    rows = outcomes.rows
    names = sorted(set[InstanceKey]().union(*rows.values()))
    return [
        (j, name, outcome.objective, outcome.failure)
        for j, row in sorted(rows.items())
        for name in names
        if (outcome := row.get(name)) is not None
    ]


def _program(program: ScoredProgram | None) -> Any:
    if program is None:
        return None
    return [program.generation, program.candidate, program.score, _steps(program.steps)]


def _steps(steps: Sequence[Step]) -> list[list[Any]]:
    return [[s.operator, s.implementation, *([] if s.share is None else [s.share])] for s in steps]
