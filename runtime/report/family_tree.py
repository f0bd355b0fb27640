"""Who descends from whom: the implementations of a run as trees, a tree per implementation of the library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dga2d.events import ImplementationId
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.report.lineage import ReportedEdit, ancestry


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
        children.setdefault(edit.parent, []).append(name)
    best, fates = ancestry(state, made), _fates(state, edits)

    def node(name: str) -> FamilyNode:
        edit = made.get(name)
        return FamilyNode(
            name=name,
            operator=str(state.operator_of.get(ImplementationId(name), "")),
            seq=0 if edit is None else edit.seq,
            told="from the library" if edit is None else f"generation {edit.generation}: {edit.what}",
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
    return fates
