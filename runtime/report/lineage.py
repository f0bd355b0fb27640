"""The lineage of implementations: every edit with its difference, a drawing of the descent, and a tree per
implementation of the library, with what became of what a model wrote.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from dga2d.events import BlobDigest, ImplementationId
from dga2d.events import payloads as p
from dga2d.replay.state.generation_state import Proposal
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.inspection.measures import GAP, Measure, measure_of
from dga2d.runtime.report.milestones import EditMark
from dga2d.runtime.report.notes import Change

WIDTH, LANE_HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 34, 190, 16, 8, 24
OFFSETS = (0, -9, 9)
"""Implementations of one operator lie beside each other in its lane."""


class BlobReader(Protocol):
    """Source of texts."""

    async def get_blob(self, digest: BlobDigest) -> bytes: ...


@dataclass(frozen=True)
class ReportedEdit:
    """A change of the pools or of the graph."""

    seq: int
    generation: int
    what: str
    call: int | None
    operator: str = ""
    """Empty for edges."""
    implementation: str = ""
    """What was added or deleted; empty for edges."""
    replaced: str = ""
    """The implementation that it replaced; empty where there was none."""
    parent: str = ""
    """The most similar implementation of the pool it was written for; empty where there was none."""
    code: str = ""
    """Difference to the parent (unified diff), or the code itself; empty for edges and deletions."""


def restored_lines(edits: Sequence[ReportedEdit]) -> dict[int, int]:
    """Return by event how many lines of new code had been deleted from its operator's code before; only
    edits that brought some back are in it."""
    deleted: dict[str, set[str]] = {}
    found = {}
    for edit in edits:
        if not (edit.code and edit.parent):
            continue
        lines = [line for line in edit.code.splitlines()[2:] if line[1:].strip()]
        gone = deleted.setdefault(edit.operator, set())
        back = sum(line.startswith("+") and line[1:].strip() in gone for line in lines)
        if back:
            found[edit.seq] = back
        gone.update(line[1:].strip() for line in lines if line.startswith("-"))
    return found


def edit_text(change: Change, measure: Measure = GAP) -> str:
    """Return an edit in words."""
    payload = change.payload
    if isinstance(payload, p.EdgeReplaced):
        removed = ", ".join(" → ".join(edge) for edge in payload.removed) or "nothing"
        added = ", ".join(" → ".join(edge) for edge in payload.added) or "nothing"
        return f"edge {removed} replaced by {added}"
    if isinstance(payload, p.KernelReplaced):
        where = ", ".join(f"{host.removed} became {host.implementation}" for host in payload.replaced)
        return f"kernel {payload.kernel} made {payload.factor:.2f} times as fast: {where}"
    if isinstance(payload, p.OperatorRetired):
        return f"operator {payload.operator} retired, used by {payload.uses} candidates"
    if isinstance(payload, p.OperatorAdded):
        offered = "" if payload.offer is None else ", offered by the bank"
        gained = _gain_text(payload.gains, measure)
        return f"operator {payload.operator} added{offered}{gained}{_idea(change.proposal)}"
    if isinstance(payload, p.ImplementationDeleted):
        return f"{payload.implementation} deleted"
    what = f"{payload.implementation} added"
    if isinstance(payload, p.ImplementationReplaced):
        what = f"{payload.implementation} took the place of {payload.removed}"
    if payload.offer is not None:
        what += ", offered by the bank"
    return what if change.proposal is None else what + _measured_text(change.proposal, measure)


async def describe_edit(store: BlobReader, state: RunState, change: Change) -> ReportedEdit:
    """Return the edit in words, with the code it brought."""
    seq, payload, pool, proposal = change
    call = None if isinstance(payload, p.ImplementationDeleted | p.OperatorRetired) else payload.call
    edit = ReportedEdit(seq, payload.generation, edit_text(change, measure_of(state.header)), call)
    if isinstance(payload, p.EdgeReplaced | p.OperatorRetired | p.KernelReplaced):
        return edit
    edit = replace(edit, operator=payload.operator, implementation=payload.implementation)
    if isinstance(payload, p.ImplementationDeleted):
        return edit
    if isinstance(payload, p.OperatorAdded):
        assert proposal is not None  # it comes before
        return replace(edit, code=(await store.get_blob(proposal.source)).decode())
    if isinstance(payload, p.ImplementationReplaced):
        pool = (payload.removed,)
        edit = replace(edit, replaced=payload.removed)
    if proposal is not None:
        pool = (proposal.parent,)
    parent, code = await _difference(store, state, payload.source, pool)
    return replace(edit, parent=parent, code=code)


def _gain_text(gains: p.Gains, measure: Measure) -> str:
    """Return what the incumbent gained by an operator, as the end of a sentence."""
    known = [gain for gain in gains if gain is not None]
    gained = measure.gain(100 * sum(known) / len(known), "+")
    return f", {gained}{measure.gain_unit} for the incumbent on {len(known)} instances"


def _idea(proposal: Proposal | None) -> str:
    return f": {proposal.idea}" if proposal is not None and proposal.idea else ""


def _measured_text(proposal: Proposal, measure: Measure) -> str:
    """Return what new code gained over its parent, and its idea, as the end of a sentence."""
    assert proposal.measured is not None  # it comes before the verdict
    gains = [gain for gain in proposal.measured.gains if gain is not None]
    mean = 100 * sum(gains) / len(gains)
    gained = f"{measure.gain(mean, '+')}{measure.gain_unit}"
    told = f", {gained} against {proposal.parent} on {len(gains)} instances"
    return f"{told}: {proposal.idea}" if proposal.idea else told


async def _difference(
    store: BlobReader, state: RunState, source: BlobDigest, parents: tuple[ImplementationId, ...]
) -> tuple[str, str]:
    """Return the most similar of `parents` and the diff to it, or the text itself where there is none."""
    text = (await store.get_blob(source)).decode()
    candidates = [(c, (await store.get_blob(state.sources[c])).decode()) for c in parents]
    if not candidates:
        return "", text
    name, nearest = _most_similar(candidates, text)
    lines = difflib.unified_diff(nearest.splitlines(), text.splitlines(), name, "new", lineterm="", n=2)
    return name, "\n".join(lines)


def _most_similar(candidates: Sequence[tuple[ImplementationId, str]], text: str) -> tuple[str, str]:
    """Return the name and text of the first of the `candidates` that are most similar to `text`."""
    matcher = difflib.SequenceMatcher(None)
    matcher.set_seq2(text.splitlines())
    best, most = candidates[0], -1.0
    for candidate in candidates:
        matcher.set_seq1(candidate[1].splitlines())
        if min(matcher.real_quick_ratio(), matcher.quick_ratio()) > most and matcher.ratio() > most:
            best, most = candidate, matcher.ratio()
    return best


@dataclass(frozen=True)
class DescentNode:
    """An implementation at the generation it came in; 0 is the library."""

    name: str
    generation: int
    x: float
    y: float
    seq: int
    """Event that brought it; 0 for the library's."""
    is_alive: bool
    """It is in a pool."""
    is_best: bool
    """It, or a descendant, is part of the reported algorithm."""


@dataclass(frozen=True)
class Descent:
    """Implementations by generation, a lane per operator; lines lead from parent to child."""

    width: float
    height: float
    lanes: tuple[tuple[str, float], ...]
    """Operator and the middle of its lane."""
    nodes: tuple[DescentNode, ...]
    links: tuple[tuple[str, bool], ...]
    """Path, and whether it leads to the reported algorithm."""
    x_ticks: tuple[tuple[float, str], ...]


def draw_descent(state: RunState, edits: Sequence[ReportedEdit]) -> Descent | None:
    """Return the drawing of what `edits` made; ``None`` while there is no new implementation."""
    made = {edit.implementation: edit for edit in edits if edit.code}
    if not made:
        return None
    operators = sorted({edit.operator for edit in made.values()})
    last = max(edit.generation for edit in made.values())
    nodes = _nodes(state, operators, made, last)
    links = []
    for name, edit in made.items():
        if edit.parent in nodes:
            links.append((_link(nodes[edit.parent], nodes[name]), nodes[name].is_best))
    step = max(1, -(-last // 10))
    return Descent(
        width=WIDTH,
        height=TOP + LANE_HEIGHT * len(operators) + BOTTOM,
        lanes=tuple((operator, _lane(index)) for index, operator in enumerate(operators)),
        nodes=tuple(nodes.values()),
        links=tuple(links),
        x_ticks=tuple((_x(g, last), str(g)) for g in range(0, last + 1, step)),
    )


def _nodes(
    state: RunState, operators: list[str], made: dict[str, ReportedEdit], last: int
) -> dict[str, DescentNode]:
    best = ancestry(state, made)
    alive = {name for pool in state.pools.values() for name in pool}
    nodes = {}
    for index, operator in enumerate(operators):
        members = [name for name, owner in state.operator_of.items() if owner == operator]
        members.sort(key=lambda name: (made[name].seq if name in made else 0, name))
        for place, name in enumerate(members):
            edit = made.get(name)
            generation = 0 if edit is None else edit.generation
            nodes[str(name)] = DescentNode(
                name=name,
                generation=generation,
                x=_x(generation, last),
                y=_lane(index) + OFFSETS[place % len(OFFSETS)],
                seq=0 if edit is None else edit.seq,
                is_alive=name in alive,
                is_best=name in best,
            )
    return nodes


def _link(a: DescentNode, b: DescentNode) -> str:
    middle = (a.x + b.x) / 2
    return f"M{a.x:.1f} {a.y:.1f}C{middle:.1f} {a.y:.1f} {middle:.1f} {b.y:.1f} {b.x:.1f} {b.y:.1f}"


def ancestry(state: RunState, made: dict[str, ReportedEdit]) -> set[str]:
    """Return the implementations of the reported algorithm and all they descend from."""
    program = state.checkpoint or state.best
    found: set[str] = set()
    for step in () if program is None else program.steps:
        name = str(step.implementation)
        while name and name not in found:
            found.add(name)
            before = state.configured.get(ImplementationId(name), "")
            name = made[name].parent if name in made else str(before)
    return found


def _lane(index: int) -> float:
    return TOP + (index + 0.5) * LANE_HEIGHT


def _x(generation: int, last: int) -> float:
    return LEFT + generation / max(last, 1) * (WIDTH - LEFT - RIGHT)


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
