"""Which operator may follow which: interfaces over kinds of solutions (`docs/decisions.md`).

An operator `requires` a kind of solution (``none``, ``partial``, ``complete``) and `provides` one. A
complete solution is accepted wherever a partial one is, never the other way round.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dga2d.agents.proposing.tasks import OperatorContract
from dga2d.domains.core.contract import SolutionKind
from dga2d.events import OperatorId
from dga2d.events.payloads import Edge
from dga2d.replay.state.graph import END, START

_ACCEPTED: Mapping[SolutionKind, frozenset[SolutionKind]] = {
    "none": frozenset(),
    "partial": frozenset({"partial", "complete"}),
    "complete": frozenset({"complete"}),
}

Contracts = Mapping[OperatorId, OperatorContract]


def contracts_by_id(operators: Iterable[OperatorContract]) -> Contracts:
    """The operators by id."""
    return {op.id: op for op in operators}


def incompatibility(edge: Edge, contracts: Contracts) -> str | None:
    """Why `edge` cannot carry a solution, or ``None`` when it can. Both ends must be known.

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
    """Every edge between the operators and the sentinels that could carry a solution, sorted; no loops."""
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
