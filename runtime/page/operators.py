"""What the page tells of an operator: its pool, the code in it, and how it came about."""

from __future__ import annotations

from dataclasses import dataclass

from dga2d.events import OperatorId
from dga2d.events import payloads as p
from dga2d.runtime.inspection.measures import measure_of
from dga2d.runtime.page.timeline import Timeline
from dga2d.runtime.report.graph_drawing import categories
from dga2d.runtime.report.lineage import edit_text
from dga2d.runtime.report.milestones import EditMark
from dga2d.runtime.report.notes import Change


@dataclass(frozen=True)
class PooledCode:
    """An implementation in a pool."""

    name: str
    credit: float
    is_incumbent: bool
    seq: int
    """Event that brought it; 0 for the library's."""
    source: str


@dataclass(frozen=True)
class ToldOperator:
    """An operator at one event."""

    name: str
    category: str
    credit: float
    pool: tuple[PooledCode, ...]
    """Highest credit first."""
    edits: tuple[EditMark, ...]
    """Latest first."""


async def tell_operator(timeline: Timeline, seq: int, name: str) -> ToldOperator | None:
    """Return an operator after event `seq`; ``None`` where there is none of that name."""
    state = await timeline.state_at(seq)
    operator = OperatorId(name)
    if operator not in state.pools:
        return None
    epsilon, program = state.settings.epsilon, state.champion or state.best
    steps = () if program is None else program.steps
    used = {state.successor(step.implementation) for step in steps}
    changes = [change for change in timeline.notes.until(seq).changes if operator in _concerned(change)]
    brought = {
        change.payload.implementation: change.seq
        for change in changes
        if isinstance(change.payload, p.ImplementationAdded | p.ImplementationReplaced)
    }
    brought |= {
        host.implementation: change.seq
        for change in changes
        if isinstance(change.payload, p.KernelReplaced)
        for host in change.payload.replaced
    }
    pool = [
        PooledCode(
            one,
            state.credits.implementation_credit(one, epsilon),
            one in used,
            brought.get(one, 0),
            (await timeline.get_blob(state.sources[one])).decode(),
        )
        for one in state.pools[operator]
    ]
    measure = measure_of(state.header)
    return ToldOperator(
        name,
        categories(state.header, state)[operator],
        state.credits.operator_credit(state.pools[operator], epsilon),
        tuple(sorted(pool, key=lambda one: (-one.credit, one.name))),
        tuple(
            EditMark(change.payload.generation, change.seq, edit_text(change, measure))
            for change in reversed(changes)
        ),
    )


def _concerned(change: Change) -> set[OperatorId]:
    """Return the operators whose pools a change is about."""
    match change.payload:
        case p.EdgeReplaced():
            return set()
        case p.KernelReplaced(replaced=hosts):
            return {host.operator for host in hosts}
        case payload:
            return {payload.operator}
