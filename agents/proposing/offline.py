"""The built-in proposer: no network, deterministic, answers in the format asked of any model.

It writes graphs, variations of the library's implementations and edges from the task itself; its text
goes through the same parsing and validation as anybody's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np

from dga2d.agents.proposing import tasks
from dga2d.agents.proposing.answers import NO_CHANGE, NO_VARIATION
from dga2d.agents.proposing.graph_answers import EdgeEdit, addable_edges, check_edit
from dga2d.agents.proposing.graphs import (
    Contracts,
    choose_operators,
    compatible_edges,
    contracts_by_id,
    last_operators,
    plausibility,
)
from dga2d.agents.proposing.models import Completion, CompletionRequest, Quote
from dga2d.agents.proposing.operator_answers import operator_answers
from dga2d.agents.proposing.program_answers import program_answers, reflection_answers
from dga2d.agents.proposing.prompts import fence
from dga2d.agents.proposing.variation import Ways, all_ways, constant_ways, library_ways, variations
from dga2d.events import OperatorId
from dga2d.events.payloads import Edge
from dga2d.replay.state.graph import END, START, OperatorGraph

MOST_ANSWER_TOKENS = 32_768
"""Bound of the estimate of an answer's tokens; the largest answers stay far below."""

SUCCESSORS = 3.0
"""Edges out of an operator, on average, in a proposed graph."""


OFFLINE_WAYS: Mapping[str, Ways] = {
    "offline": all_ways,
    "offline:constants": constant_ways,
    "offline:library": library_ways,
}
"""What each kind of the offline proposer makes new implementations of: the run's own library, its constants
drawn at random (what better proposals have to beat), or the whole library of the domain."""


class OfflineModel:
    """`LanguageModel` that needs none. Attempt a of a task takes the a-th different answer of its stream."""

    def __init__(self, name: str = "offline") -> None:
        self.name = name
        self._ways = OFFLINE_WAYS[name]

    async def ready(self) -> None:
        """Return at once."""

    def quote(self, request: CompletionRequest) -> Quote:
        """Return a price of nothing; four characters count as a token."""
        return Quote(len(request.prompt.text) // 4 + MOST_ANSWER_TOKENS, 0.0)

    async def complete(self, request: CompletionRequest) -> Completion:
        """Answer from ``request.task`` and the stream named by ``request.seed``; never fails."""
        seed, *spawn_key = request.seed
        sequence = np.random.SeedSequence(seed, spawn_key=tuple(spawn_key))
        text = offline_answer(request.task, np.random.Generator(np.random.Philox(sequence)), self._ways)
        return Completion(
            text=text,
            prompt_tokens=len(request.prompt.text) // 4,
            completion_tokens=min(len(text) // 4, MOST_ANSWER_TOKENS),
            is_estimated=True,
            cost_usd=0.0,
        )


def offline_answer(task: tasks.Task, rng: np.random.Generator, ways: Ways = all_ways) -> str:
    """Return the text of an answer; it starts with ``NO_VARIATION`` if there is nothing more to propose."""
    for number, answer in enumerate(_answers(task, rng, ways)):
        if number == task.attempt:
            return answer
    return f"{NO_VARIATION} the offline proposer has no further proposal for this task\n"


def _answers(task: tasks.Task, rng: np.random.Generator, ways: Ways) -> Iterator[str]:
    if isinstance(task, tasks.InitializeTask):
        return graph_answers(task, rng)
    if isinstance(task, tasks.ImplementTask):
        return (fence(source, "python") + "\n" for source in variations(task, rng, ways))
    if isinstance(task, tasks.OperatorTask):
        return operator_answers(task, rng)
    if isinstance(task, tasks.ProgramTask):
        return program_answers(task, rng)
    if isinstance(task, tasks.KernelTask):  # it knows none that is faster
        return iter((NO_CHANGE,))
    if isinstance(task, tasks.ReflectTask):
        return reflection_answers(task)
    return edge_answers(task, rng)


def graph_answers(task: tasks.InitializeTask, rng: np.random.Generator) -> Iterator[str]:
    """Yield graphs around the baseline's chain, with room for edges to be added later."""
    limit = task.bounds.operator_limit_max

    def shuffled(members: tuple[tasks.OperatorContract, ...]) -> list[tasks.OperatorContract]:
        return [members[int(i)] for i in rng.permutation(len(members))]

    while True:
        chosen = choose_operators(task.operators, limit, task.baseline, shuffled)
        contracts = contracts_by_id(chosen)
        chain = _backbone(contracts, task)
        answer = {
            "H": {"operator_limit": limit, "temperature": task.bounds.usual_temperature},
            "operators": [op.id for op in chosen],
            "entry_nodes": [op.id for op in chosen if op.is_initialiser],
            "exit_nodes": sorted({*last_operators(chosen, task.baseline), *chain[-1:]}),
            "edges": sorted(_sparse_edges(contracts, chain, rng)),
        }
        yield json.dumps(answer, indent=1) + "\n"


def _backbone(contracts: Contracts, task: tasks.InitializeTask) -> tuple[OperatorId, ...]:
    """Return a pipeline that the graph must hold: the baseline, or a shortest one where that does not fit."""
    initialisers = frozenset(op.id for op in contracts.values() if op.is_initialiser)
    graph = OperatorGraph(tuple(contracts), initialisers, frozenset(compatible_edges(contracts.values())))
    steps = {*pairwise((START, *task.baseline, END))}
    if steps <= graph.edges and len(task.baseline) <= task.max_length:
        return task.baseline
    route: list[OperatorId] = []
    while actions := graph.feasible_actions(route, task.max_length):
        nearest = min(actions, key=lambda target: (graph.steps_to_end[target], target))
        if nearest == END:
            break
        route.append(nearest)
    return tuple(route)


def _sparse_edges(contracts: Contracts, chain: tuple[OperatorId, ...], rng: np.random.Generator) -> set[Edge]:
    """Return the chain's edges and, from and to every operator, some edges between plausible neighbours."""
    inner = [edge for edge in compatible_edges(contracts.values()) if not {START, END} & set(edge)]
    allowed = set(inner)
    edges = {pair for pair in pairwise(chain) if pair in allowed}
    for operator in contracts:
        leaving = [edge for edge in inner if edge[0] == operator]
        weights = [plausibility(contracts[operator], contracts[target]) for _, target in leaving]
        scale = SUCCESSORS / sum(weights) if weights else 0.0
        draws = rng.random(len(leaving))
        edges.update(
            edge for edge, weight, draw in zip(leaving, weights, draws, strict=True) if draw < weight * scale
        )
        for end in (0, 1):
            if not any(edge[end] == operator for edge in edges):
                around = [edge for edge in inner if edge[end] == operator]
                if around:
                    edges.add(around[_draw_edge(around, contracts, {}, rng)])
    return edges


def edge_answers(task: tasks.ConnectTask, rng: np.random.Generator) -> Iterator[str]:
    """Yield valid edits, each adding another edge; plausible successions of well-credited operators first."""
    contracts = contracts_by_id(task.operators)
    waiting = list(addable_edges(task))
    if task.mode == "delta" and not waiting:
        yield _edge_answer((), ())
    credits = _node_credits(task)
    on_route = [edge for edge in waiting if _lies_on_route(task, edge)]
    for group in (on_route, [edge for edge in waiting if edge not in on_route]):
        while group:
            edge = group.pop(_draw_edge(group, contracts, credits, rng))
            yield _edge_answer(_deletions(task, edge), (edge,))


def _edge_answer(removed: tuple[Edge, ...], added: tuple[Edge, ...]) -> str:
    return json.dumps({"add_edges": added, "delete_edges": removed}) + "\n"


def _deletions(task: tasks.ConnectTask, added: Edge) -> tuple[Edge, ...]:
    """Return, in delta mode, the edge of the lowest negative credit whose removal leaves a route."""
    if task.mode == "replace":
        return ()
    for entry in sorted(task.edges, key=lambda entry: (entry.credit, entry.edge)):
        is_inner = entry.edge[1] != END
        edit = EdgeEdit(task, task.graph, (entry.edge,), (added,))
        if entry.credit < 0 and is_inner and check_edit(edit) is None:
            return (entry.edge,)
    return ()


def _lies_on_route(task: tasks.ConnectTask, edge: Edge) -> bool:
    """Return whether a pipeline within the length limit could use the edge once it is added."""
    removed = (task.remove,) if task.remove and task.mode == "replace" else ()
    graph = task.graph.edit(removed, (edge,))
    reached, frontier, length = {START: 0}, [START], 0
    while frontier:
        length += 1
        frontier = sorted(
            {t for node in frontier for t in graph.successors.get(node, ()) if t not in reached}
        )
        reached.update((node, length) for node in frontier)
    source, target = edge
    if source not in reached or target not in graph.steps_to_end:
        return False
    return reached[source] + graph.steps_to_end[target] <= task.max_length


def _node_credits(task: tasks.ConnectTask) -> dict[OperatorId, float]:
    """Return the mean credit of the edges at each node: how well algorithms do that pass there."""
    around: dict[OperatorId, list[float]] = {}
    for entry in task.edges:
        for end in entry.edge:
            around.setdefault(end, []).append(entry.credit)
    return {node: sum(found) / len(found) for node, found in around.items()}


def _draw_edge(
    edges: list[Edge], contracts: Contracts, credits: dict[OperatorId, float], rng: np.random.Generator
) -> int:
    """Draw the index of an edge by plausibility times the exponential of its ends' mean credits."""
    weights = np.array(
        [
            plausibility(contracts.get(source), contracts.get(target))
            * np.exp(np.clip(credits.get(source, 0.0) + credits.get(target, 0.0), -3.0, 3.0))
            for source, target in edges
        ]
    )
    return int(rng.choice(len(edges), p=weights / weights.sum()))
