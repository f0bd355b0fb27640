"""Who descends from whom, a tree per implementation of the library, and what became of what a model wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dga2d.events import ImplementationId
from dga2d.events import payloads as p
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.report.lineage import ReportedEdit, ancestry
from dga2d.runtime.report.milestones import EditMark
from dga2d.runtime.report.notes import Change


@dataclass(frozen=True)
class FamilyNode:
    """An implementation, and what was written from it."""

    name: str
    operator: str
    seq: int
    """Event that brought it; 0 for the library's."""
    told: str
    """How it came: generation, gain against its parent, idea."""
    fate: str
    """Whether it is still in its pool, or since when not."""
    is_best: bool
    """It, or a descendant, is part of the reported algorithm."""
    children: tuple[FamilyNode, ...]

    @property
    def size(self) -> int:
        """Implementations in the tree below and with this one."""
        return 1 + sum(child.size for child in self.children)


def family_trees(state: RunState, edits: Sequence[ReportedEdit]) -> tuple[FamilyNode, ...]:
    """Return the trees that have a descendant, those of the reported algorithm first, then in the order of
    their first descendants."""
    made = {edit.implementation: edit for edit in edits if edit.code}
    children: dict[str, list[str]] = {}
    for name, edit in made.items():
        parent = state.unconfigured(ImplementationId(edit.parent))  # other constants are no code of their own
        children.setdefault(str(parent), []).append(name)
    best, fates = ancestry(state, made), _fates(state, edits)
    before = {str(new): f"{old} with a faster kernel" for old, new in state.successors.items()}

    def node(name: str) -> FamilyNode:
        edit = made.get(name)
        return FamilyNode(
            name=name,
            operator=str(state.operator_of.get(ImplementationId(name), "")),
            seq=0 if edit is None else edit.seq,
            told=before.get(name, "from the library")
            if edit is None
            else f"generation {edit.generation}: {edit.what}",
            fate=fates.get(name, ""),
            is_best=name in best,
            children=tuple(node(child) for child in children.get(name, ())),
        )

    roots = [parent for parent in children if parent not in made and parent]
    roots += children.get("", [])  # the first of their operators
    return tuple(sorted(map(node, roots), key=lambda tree: not tree.is_best))


def _fates(state: RunState, edits: Sequence[ReportedEdit]) -> Mapping[str, str]:
    """Return what became of each implementation."""
    fates = {str(name): "in its pool" for pool in state.pools.values() for name in pool}
    for edit in edits:
        if edit.replaced:
            fates.setdefault(edit.replaced, f"replaced in generation {edit.generation}")
        elif edit.implementation and not edit.code:
            fates.setdefault(edit.implementation, f"deleted in generation {edit.generation}")
    for old, new in state.successors.items():
        fates.setdefault(str(old), f"became {new} by a faster kernel")
    return fates


@dataclass(frozen=True)
class CallOutcome:
    """An edit that the answer to a call brought, and where its code or edge is now."""

    edit: EditMark
    standing: str


def call_outcomes(
    state: RunState, changes: Sequence[Change], marks: Sequence[EditMark]
) -> dict[int, tuple[CallOutcome, ...]]:
    """Return by call what its answer brought; `marks` are those of `changes`."""
    found: dict[int, tuple[CallOutcome, ...]] = {}
    for change, mark in zip(changes, marks, strict=True):
        if isinstance(change.payload, p.ImplementationDeleted | p.OperatorRetired):
            continue
        if (call := change.payload.call) is not None:
            outcome = CallOutcome(mark, _standing(state, change.payload))
            found[call] = (*found.get(call, ()), outcome)
    return found


def _standing(
    state: RunState,
    payload: (
        p.ImplementationAdded | p.ImplementationReplaced | p.OperatorAdded | p.EdgeReplaced | p.KernelReplaced
    ),
) -> str:
    if isinstance(payload, p.EdgeReplaced):
        edges = state.graph.edges if state.graph is not None else frozenset()
        return "in the graph" if edges.issuperset(payload.added) else "no longer in the graph"
    if isinstance(payload, p.KernelReplaced):
        kept = {name for pool in state.pools.values() for name in pool}
        new = {state.successor(host.implementation) for host in payload.replaced}
        return "in the pools" if new & kept else "no longer in the pools"
    program = state.checkpoint or state.best
    used = set() if program is None else {state.unconfigured(step.implementation) for step in program.steps}
    if payload.implementation in used:
        return "in the algorithm"
    is_kept = payload.implementation in state.pools.get(payload.operator, ())
    return "in its pool" if is_kept else "no longer in its pool"
