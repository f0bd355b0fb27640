"""Which operator may follow which, and the graphs that need no proposer.

An operator `requires` a kind of solution (``none``, ``partial``, ``complete``) and `provides` one. A
complete solution is accepted wherever a partial one is, never the other way round (`docs/decisions.md`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from dga2d.agents.proposing.tasks import OperatorContract
from dga2d.domains.core.contract import SolutionKind
from dga2d.events import OperatorId
from dga2d.events.payloads import Edge
from dga2d.replay.state.graph import END, START, OperatorGraph

_ACCEPTED: Mapping[SolutionKind, frozenset[SolutionKind]] = {
    "none": frozenset(),
    "partial": frozenset({"partial", "complete"}),
    "complete": frozenset({"complete"}),
}

Contracts = Mapping[OperatorId, OperatorContract]


def contracts_by_id(operators: Iterable[OperatorContract]) -> Contracts:
    """Return the operators by id."""
    return {op.id: op for op in operators}


def incompatibility(edge: Edge, contracts: Contracts) -> str | None:
    """Return why `edge` cannot carry a solution; ``None`` if it can. Both ends must be known.

    ``START`` leads to initialisers only and initialisers follow ``START`` only; ``END`` follows
    operators that leave a complete solution; elsewhere the target must accept what the source leaves.
    """
    source, target = edge
    if source == END or target == START:
        return "edges cannot leave END or enter START"
    if source == START:
        if target == END:
            return "a pipeline needs at least one operator between START and END"
        if not contracts[target].is_initialiser:
            return f"START leads to initialisers only and {target} requires a solution"
        return None
    provides = contracts[source].provides
    if target == END:
        return (
            None
            if provides == "complete"
            else f"{source} leaves a {provides} solution, END needs a complete one"
        )
    if contracts[target].is_initialiser:
        return f"{target} is an initialiser, only START may lead to it"
    requires = contracts[target].requires
    if provides not in _ACCEPTED[requires]:
        return f"{source} leaves a {provides} solution, {target} requires a {requires} one"
    return None


def compatible_edges(operators: Iterable[OperatorContract]) -> tuple[Edge, ...]:
    """Return every edge between operators and sentinels that could carry a solution, sorted; no loops."""
    contracts = contracts_by_id(operators)
    sources, targets = (START, *contracts), (*contracts, END)
    return tuple(
        sorted(
            (source, target)
            for source in sources
            for target in targets
            if source != target and incompatibility((source, target), contracts) is None
        )
    )


INITIALISER_SHARE = 4
"""At most one of this many chosen operators is an initialiser, beyond those of the baseline."""


def choose_operators(
    operators: Iterable[OperatorContract],
    limit: int,
    baseline: Iterable[OperatorId],
    order: Callable[[tuple[OperatorContract, ...]], Sequence[OperatorContract]] = tuple,
) -> tuple[OperatorContract, ...]:
    """Choose at most `limit` operators: the baseline's, then one of each category in turn; sorted by id.

    `order` arranges the members of a category; by default they stand by id. The baseline's operators
    (or one initialiser, where there are none among them) are kept whatever the `limit`.
    """
    kept = set(baseline)
    available = sorted(operators, key=lambda op: op.id)
    chosen = [op for op in available if op.id in kept]
    if not any(op.is_initialiser for op in chosen):
        entries = order(tuple(op for op in available if op.is_initialiser))
        chosen += sorted(entries, key=lambda op: op.provides != "complete")[:1]
        kept.update(op.id for op in chosen)
    queues = {
        category: list(order(tuple(op for op in available if op.category == category and op.id not in kept)))
        for category in sorted({op.category for op in available})
    }
    while len(chosen) < limit and any(queues.values()):
        for queue in filter(None, queues.values()):
            candidate = queue.pop(0)
            if len(chosen) < limit and _has_room(candidate, chosen, limit):
                chosen.append(candidate)
    return tuple(sorted(chosen, key=lambda op: op.id))


def _has_room(candidate: OperatorContract, chosen: Sequence[OperatorContract], limit: int) -> bool:
    n_initialisers = sum(op.is_initialiser for op in chosen)
    return not candidate.is_initialiser or n_initialisers < max(1, limit // INITIALISER_SHARE)


def default_graph(
    operators: Iterable[OperatorContract], limit: int, baseline: Iterable[OperatorId]
) -> OperatorGraph:
    """Return the graph over the library for when no proposal is accepted.

    Every initialiser follows ``START``, every improver may follow every operator whose solution it
    accepts (but not itself), and the operators of `last_operators` lead to ``END``. Operators: see
    `chosen_operators`.
    """
    baseline = tuple(baseline)
    chosen = choose_operators(operators, limit, baseline)
    initialisers = frozenset(op.id for op in chosen if op.is_initialiser)
    ending = last_operators(chosen, baseline)
    edges = frozenset(
        (source, target) for source, target in compatible_edges(chosen) if target != END or source in ending
    )
    return OperatorGraph(tuple(op.id for op in chosen), initialisers, edges)


def last_operators(
    chosen: Sequence[OperatorContract], baseline: Sequence[OperatorId]
) -> frozenset[OperatorId]:
    """Return the operators after which an algorithm may sensibly end; all leave a complete solution.

    Those are the baseline's last one and every improver but the perturbations, whose work would be in
    vain; where there is none, whatever leaves a complete solution.
    """
    finishers = [op for op in chosen if op.provides == "complete"]
    sensible = frozenset(
        op.id
        for op in finishers
        if (not op.is_initialiser and op.category != "perturbation") or op.id in baseline[-1:]
    )
    return sensible or frozenset(op.id for op in finishers)


# Which category usefully follows which: a plan of iterated local search and memetic algorithms
# (Lourenço, Martin, Stützle 2003; Moscato 1989). 1 is the natural successor, 0 makes no sense.
_SUCCESSION: dict[str, dict[str, float]] = {
    "initialisation": {
        "local_search": 1.0,
        "intensification": 0.9,
        "recombination": 0.3,
        "perturbation": 0.1,
    },
    "local_search": {"intensification": 1.0, "perturbation": 0.7, "recombination": 0.6, "local_search": 0.4},
    "perturbation": {"local_search": 1.0, "intensification": 0.9, "recombination": 0.2, "perturbation": 0.05},
    "intensification": {
        "recombination": 0.9,
        "perturbation": 0.7,
        "intensification": 0.6,
        "local_search": 0.3,
    },
    "recombination": {"intensification": 1.0, "local_search": 0.8, "perturbation": 0.3, "recombination": 0.1},
}
_UNKNOWN_SUCCESSION = 0.5


def plausibility(source: OperatorContract | None, target: OperatorContract | None) -> float:
    """Return how sensible it is that `target` follows `source`, in (0, 1]; ``None`` stands for a sentinel.

    Ending on an improver is sensible, ending on an initialiser or a perturbation hardly ever.
    """
    if source is None:
        return 1.0
    if target is None:
        return 0.05 if source.is_initialiser or source.category == "perturbation" else 1.0
    return _SUCCESSION.get(source.category, {}).get(target.category, _UNKNOWN_SUCCESSION)
