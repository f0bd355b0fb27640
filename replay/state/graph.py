"""The directed operator graph D_t = (O_t, E_t) between the sentinels O_in (``START``) and O_out (``END``).

Walks over it, the structures it may be held to, and what must hold of a sampled pipeline.

References
----------
DGA2D paper, Eqs. 1–2 (pipelines as bounded walks), Appendix D.1 (feasible action sets M_{t,j,i}),
Appendix D.3 (input–output-relevant graph, walk counts), Section 4.3.1 (Fixed, Linear, DAG, DG: each relaxes
the constraints of the one before). What each structure allows is this program's reading
(`docs/decisions.md`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Protocol

from dga2d.events import ImplementationId, OperatorId
from dga2d.events.payloads import Edge
from dga2d.replay.settings import Structure

START = OperatorId("START")
END = OperatorId("END")

Pools = Mapping[OperatorId, tuple[ImplementationId, ...]]
"""C^(t): implementations of each operator, sorted by id."""


@dataclass(slots=True)
class _Position:
    """A point of a walk, shared by all walks that may go on in the same way."""

    used: frozenset[OperatorId]
    """Initialisers visited."""
    length: int
    feasible: tuple[OperatorId, ...]
    """M_{t,j,i}."""
    following: dict[OperatorId, _Position] = field(default_factory=dict)
    """Next positions by operator, as far as they were asked for."""


@dataclass(frozen=True)
class OperatorGraph:
    """Operators and edges of one graph version.

    `initialisers` are the entry operators: only ``START`` leads to them and no walk visits them again.
    """

    operators: tuple[OperatorId, ...]
    """Functional operators, sorted; sentinels are implicit."""
    initialisers: frozenset[OperatorId]
    edges: frozenset[Edge]

    @cached_property
    def successors(self) -> Mapping[OperatorId, tuple[OperatorId, ...]]:
        """Targets of the edges out of each node, sorted; nodes without edges map to ``()``."""
        targets: dict[OperatorId, list[OperatorId]] = {START: [], **{o: [] for o in self.operators}}
        for source, target in sorted(self.edges):
            targets[source].append(target)
        return {node: tuple(found) for node, found in targets.items()}

    @cached_property
    def steps_to_end(self) -> Mapping[OperatorId, int]:
        """Fewest edges from a node to ``END``; nodes that cannot reach it are absent."""
        distance = {END: 0}
        frontier = [END]
        predecessors: dict[OperatorId, list[OperatorId]] = {}
        for source, target in self.edges:
            predecessors.setdefault(target, []).append(source)
        while frontier:
            reached = []
            for node in frontier:
                for source in predecessors.get(node, ()):
                    if source not in distance:
                        distance[source] = distance[node] + 1
                        reached.append(source)
            frontier = reached
        return distance

    def feasible_actions(self, history: Sequence[OperatorId], max_length: int) -> tuple[OperatorId, ...]:
        """Return M_{t,j,i}: the sorted targets after `history` from which ``END`` can be reached in time.

        `history` holds the operators chosen so far, without ``START``. A pipeline has at most
        `max_length` operators, so a target that needs d edges to ``END`` is feasible when
        ``len(history) + d ≤ max_length``; initialisers are never revisited. ``END`` itself is feasible
        after at least one operator when the edge exists.
        """
        here = history[-1] if history else START
        used = self.initialisers.intersection(history)
        return self._position(here, used, len(history), max_length).feasible

    def feasible_along(self, walk: Sequence[OperatorId], max_length: int) -> Iterator[tuple[OperatorId, ...]]:
        """Yield the feasible actions before each operator of `walk` and behind its last, in order."""
        position = self._position(START, frozenset(), 0, max_length)
        yield position.feasible
        for here in walk:
            following = position.following.get(here)
            if following is None:
                used = position.used | {here} if here in self.initialisers else position.used
                following = self._position(here, used, position.length + 1, max_length)
                position.following[here] = following
            position = following
            yield position.feasible

    def _position(
        self, here: OperatorId, used: frozenset[OperatorId], length: int, max_length: int
    ) -> _Position:
        """Return the position behind `length` operators, the last of them `here`, of which `used` are
        initialisers."""
        known = self._positions.get((here, used, length, max_length))
        if known is None:
            feasible = tuple(
                target
                for target in self.successors[here]
                if target not in used
                and target in self.steps_to_end
                and (target != END or length)
                and length + self.steps_to_end[target] <= max_length
            )
            known = self._positions[here, used, length, max_length] = _Position(used, length, feasible)
        return known

    @cached_property
    def _positions(self) -> dict[tuple[OperatorId, frozenset[OperatorId], int, int], _Position]:
        """Positions asked for so far; most walks of a generation pass through the same ones."""
        return {}

    def has_route(self, max_length: int | None = None) -> bool:
        """Return whether a walk of at least one operator leads from ``START`` to ``END`` (within
        `max_length`)."""
        needed = self.steps_to_end.get(START)
        return needed is not None and needed >= 2 and (max_length is None or needed - 1 <= max_length)

    @cached_property
    def relevant(self) -> frozenset[OperatorId]:
        """V_io without the sentinels: operators on some route from ``START`` to ``END``."""
        seen = {START}
        frontier = [START]
        while frontier:
            frontier = [t for node in frontier for t in self.successors.get(node, ()) if t not in seen]
            seen.update(frontier)
        return frozenset(o for o in self.operators if o in seen and o in self.steps_to_end)

    def on_walks(self, max_length: int) -> frozenset[OperatorId]:
        """Return the operators on some walk from ``START`` to ``END`` of at most `max_length` operators."""
        reached, to_end = self._steps_from_start, self.steps_to_end
        return frozenset(
            o
            for o in self.operators
            if o in reached and o in to_end and reached[o] + to_end[o] - 1 <= max_length
        )

    def is_on_walk(self, edge: Edge, max_length: int) -> bool:
        """Return whether a walk of at most `max_length` operators goes along `edge`."""
        reached, to_end = self._steps_from_start.get(edge[0]), self.steps_to_end.get(edge[1])
        return reached is not None and to_end is not None and reached + to_end <= max_length

    def is_walk(self, walk: Sequence[OperatorId], max_length: int) -> bool:
        """Return whether `walk`, closed by ``END``, is a pipeline of the graph."""
        nodes = (*walk, END)
        return all(
            node in self.successors and nodes[i] in self.feasible_actions(nodes[:i], max_length)
            for i, node in enumerate((START, *walk))
        )

    @cached_property
    def _steps_from_start(self) -> Mapping[OperatorId, int]:
        """Fewest edges from ``START`` to each node that it reaches."""
        distance, frontier = {START: 0}, [START]
        while frontier:
            frontier = [t for node in frontier for t in self.successors.get(node, ()) if t not in distance]
            distance.update(dict.fromkeys(frontier, max(distance.values()) + 1))
        return distance

    def count_pipelines(self, max_length: int) -> int:
        """Return W_{≤L_max}: the number of pipelines of 1 … `max_length` operators (Eq. D.3, exact integers).

        No initialiser can be entered twice because only ``START`` leads to one.
        """
        walks = {START: 1}
        total = 0
        for length in range(max_length + 1):
            following: dict[OperatorId, int] = {}
            for node, count in walks.items():
                for target in self.successors.get(node, ()):
                    following[target] = following.get(target, 0) + count
            total += following.pop(END, 0) if length else 0
            following.pop(END, None)
            walks = following
        return total

    def route_through(self, operator: OperatorId) -> tuple[OperatorId, ...]:
        """Return the operators of a shortest walk from ``START`` by `operator` to ``END``, the first by name.

        An operator that is on no route comes behind the first initialiser that is on one.
        """
        before, after = self.path(START, operator), self.path(operator, END)
        if before and after:
            return (*before[1:], *after[1:-1])
        if operator in self.initialisers:
            return (operator,)
        return (min(self.initialisers & self.relevant), operator)

    def path(self, source: OperatorId, target: OperatorId) -> tuple[OperatorId, ...]:
        """Return a shortest path with both ends, found breadth first; ``()`` if there is none."""
        paths: dict[OperatorId, tuple[OperatorId, ...]] = {source: (source,)}
        frontier = [source]
        while frontier and target not in paths:
            following = []
            for node in frontier:
                for successor in self.successors.get(node, ()):
                    if successor not in paths:
                        paths[successor] = (*paths[node], successor)
                        following.append(successor)
            frontier = following
        return paths.get(target, ())

    def edit(self, removed: Iterable[Edge], added: Iterable[Edge]) -> OperatorGraph:
        """Return the graph after an edge edit, whose validity the caller has checked."""
        return OperatorGraph(
            self.operators, self.initialisers, (self.edges - frozenset(removed)) | frozenset(added)
        )

    def with_operator(
        self, operator: OperatorId, is_initialiser: bool, edges: Iterable[Edge]
    ) -> OperatorGraph:
        """Return the graph with one operator more, and its edges."""
        more = {operator} if is_initialiser else frozenset[OperatorId]()
        operators = tuple(sorted((*self.operators, operator)))
        return OperatorGraph(operators, self.initialisers | more, self.edges | frozenset(edges))

    def without_operator(self, operator: OperatorId) -> OperatorGraph:
        """Return the graph without an operator and its edges."""
        return OperatorGraph(
            tuple(o for o in self.operators if o != operator),
            self.initialisers - {operator},
            frozenset(edge for edge in self.edges if operator not in edge),
        )


def structure_violation(edges: Iterable[Edge], structure: Structure) -> str | None:
    """Return why `edges` are not of the structure, ``None`` if they are.

    - ``dg``: anything goes.
    - ``dag``: no directed cycle among the operators.
    - ``linear``: chains. No cycle, and no operator has two successors or two predecessors; ``START`` may
      lead to several chains, and a pipeline may leave its chain wherever there is an edge to ``END``.
    - ``fixed``: one chain from ``START`` to ``END``.
    """
    if structure == "dg":
        return None
    inner = [e for e in edges if structure == "fixed" or (e[0] != START and e[1] != END)]
    if structure in ("linear", "fixed"):
        for end, role in ((0, "successors"), (1, "predecessors")):
            node, count = max(
                Counter(e[end] for e in inner).items(), key=lambda n: (n[1], n[0]), default=("", 0)
            )
            if count > 1:
                return f"{node} has {count} {role}, the structure is {structure}"
    on_cycle = _node_on_cycle(inner)
    return None if on_cycle is None else f"{on_cycle} lies on a cycle, the structure is {structure}"


def restrict_to_structure(
    graph: OperatorGraph, structure: Structure, baseline: Sequence[OperatorId]
) -> OperatorGraph:
    """Return the part of `graph` that is of the structure.

    Edges are kept greedily as long as the structure holds: those of the baseline's chain first, then the
    others in sorted order. ``fixed`` keeps the baseline's chain alone, each operator once, whether or not
    its edges were in the graph.
    """
    if structure == "dg":
        return graph
    chain = tuple(pairwise((START, *dict.fromkeys(baseline), END)))
    if structure == "fixed":
        on_chain = tuple(sorted(set(baseline)))
        return OperatorGraph(on_chain, graph.initialisers & set(on_chain), frozenset(chain))
    kept: list[Edge] = []
    first = [edge for edge in chain if edge in graph.edges]
    for edge in (*first, *sorted(graph.edges - set(first))):
        if structure_violation([*kept, edge], structure) is None:
            kept.append(edge)
    return OperatorGraph(graph.operators, graph.initialisers, frozenset(kept))


def _node_on_cycle(edges: Sequence[Edge]) -> OperatorId | None:
    """Return the smallest node that is left when nodes without successors are removed again and again."""
    left = set(edges)
    while left:
        sources = {source for source, _ in left}
        following = {edge for edge in left if edge[1] in sources}
        if following == left:
            return min(target for _, target in left)
        left = following
    return None


class SampledStep(Protocol):
    """One position of a pipeline."""

    @property
    def operator(self) -> OperatorId: ...
    @property
    def implementation(self) -> ImplementationId: ...


class SampledDecision(Protocol):
    """One decision of the policy."""

    @property
    def actions(self) -> tuple[OperatorId, ...]: ...
    @property
    def probabilities(self) -> tuple[float, ...]: ...
    @property
    def chosen(self) -> OperatorId: ...


def walk_violation(
    steps: Sequence[SampledStep],
    decisions: Sequence[SampledDecision],
    graph: OperatorGraph,
    pools: Pools,
    max_length: int,
) -> str | None:
    """Return why the pipeline cannot have been sampled from `graph` and `pools`, ``None`` if it can.

    Every decision was made among the feasible actions M_{t,j,i}, with a probability for each, and the last
    chose ``END``; every implementation is in the pool of its operator.
    """
    walk = [step.operator for step in steps]
    if len(decisions) != len(walk) + 1:
        return "one decision per operator and END"
    along = zip(decisions, (*walk, END), graph.feasible_along(walk, max_length), strict=True)
    for index, (decision, chosen, feasible) in enumerate(along):
        if decision.chosen != chosen or chosen not in feasible:
            return f"step {index} leaves the graph"
        if decision.actions != feasible:
            return f"step {index} had another feasible set"
        if len(decision.probabilities) != len(feasible):
            return f"step {index} lacks probabilities"
        if not abs(sum(decision.probabilities) - 1.0) < 1e-6:
            return f"step {index} is no distribution"
    for step in steps:
        if step.implementation not in pools[step.operator]:
            return f"{step.implementation} is not in the pool of {step.operator}"
    return None
