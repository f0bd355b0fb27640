"""What prompts say by instance: which are trained on, how large, and how far programs came on them."""

from __future__ import annotations

from collections import Counter

from dga2d.agents.agent import open_basis
from dga2d.agents.prompt_program import FOURTH, SEVENTH, SIXTH
from dga2d.agents.spreading import spread
from dga2d.domains.core.contract import normalised_gap
from dga2d.events import OperatorId
from dga2d.replay.state.run_state import RunState

MOST_SIZES = 8
"""Sizes with ranges of values that are told, evenly spread over those that differ."""
SOLVED = 1e-9
"""Percent behind the best known objective up to which an instance counts as solved."""
MOST_MET = 12
"""Training instances that are told one by one."""
LEAST_MET = 5
"""Evaluations of an instance from which on it says something that several came to the same."""


def instances_text(state: RunState) -> str:
    train = state.header.splits.train
    groups = Counter(entry.key.partition("/")[0] for entry in train)
    told = ", ".join(f"{group} ({count})" for group, count in sorted(groups.items()))
    points = state.work_rates.reference
    sizes = sorted({point.size for point in points})
    if sizes:
        told += f"; their data hold {sizes[0]} to {sizes[-1]} numbers"
    if (score := state.header.own_score) is not None:
        return (
            f"{len(train)} training instances by group: {told}. Score of an instance, larger is better: "
            f"{score.formula}; a failure counts {score.failure:g}. Gaps are -100 times scores, so the lower "
            "the better, and a point is 0.01 of the score."
        )
    references = sorted(entry.reference for entry in train)
    middle = references[len(references) // 2]
    row = (
        f"{len(train)} training instances by group: {told}. Best known objectives, against which gaps are "
        f"measured: {references[0]:g} to {references[-1]:g}, {middle:g} in the middle."
    )
    if state.settings.prompt_edition >= SIXTH and any(entry.origin == "baseline" for entry in train):
        row += (
            " Where no objective was known, best known stands for what the safe baseline reached before the "
            "run began: gaps below 0 are better than that, and how far they can fall nobody knows."
        )
    return row


def size_rows(state: RunState) -> tuple[str, ...]:
    """Return the exact sizes of training instances, the commonest first."""
    sizes = Counter(entry.size for entry in state.header.splits.train if entry.size is not None)
    ranked = sorted(sizes.items(), key=lambda item: (-item[1], item[0]))
    if state.settings.prompt_edition >= SEVENTH:
        ranked = list(spread(ranked, MOST_SIZES))
    return tuple(f"{count} x: {size}" for size, count in ranked)


def gap_rows(state: RunState, operator: OperatorId | None) -> tuple[str, ...]:
    """Return for each instance of the batch the gaps of this generation's candidates."""
    generation, rows = open_basis(state)[0], []
    for key in state.header.batch:
        entry = state.entry(key)
        gaps: dict[bool, list[float]] = {True: [], False: []}
        for j, pipeline in sorted(generation.pipelines.items()):
            objective = generation.outcomes[j, key].objective
            if objective is not None:
                gap = normalised_gap(objective, entry.reference, state.header.sense, entry.scale)
                gaps[any(s.operator == operator for s in pipeline.steps)].append(100 * gap)
        told = [
            f"{name} {min(found):.2f} to {max(found):.2f} %"
            for name, found in (("with this operator", gaps[True]), ("without it", gaps[False]))
            if found
        ]
        if operator is None and gaps[False]:
            told = [f"{min(gaps[False]):.2f} to {max(gaps[False]):.2f} %"]
        best = min((*gaps[True], *gaps[False]), default=None)
        is_known = entry.origin is None or state.settings.prompt_edition < SIXTH
        is_solved = (
            best is not None and best <= SOLVED and is_known and state.settings.prompt_edition >= FOURTH
        )
        solved = " (solved: the best known objective is reached)" if is_solved else ""
        rows.append(f"{key}: {', '.join(told) or 'all failed'}{solved}")
    return tuple(rows)


def met_rows(state: RunState) -> tuple[str, ...]:
    """Return the best objective that races came to on each training instance, and how many of their
    evaluations did; those first on which fewest of them did, and the rest in one row."""
    share = {
        key: best.meetings / best.evaluations
        for key, best in state.best_met.items()
        if best.evaluations >= LEAST_MET
    }
    ranked = sorted(share, key=lambda key: (share[key], key))
    rows = []
    for key in ranked[:MOST_MET]:
        best, entry = state.best_met[key], state.entry(key)
        gap = 100 * normalised_gap(best.objective, entry.reference, state.header.sense, entry.scale)
        rows.append(
            f"{key}: {best.objective:g} ({gap:.2f} %), {best.meetings} of {best.evaluations} evaluations"
        )
    if rest := ranked[MOST_MET:]:
        least, most = 100 * share[rest[0]], 100 * share[rest[-1]]
        rows.append(f"{len(rest)} others: {least:.0f} to {most:.0f} % of the evaluations")
    return tuple(rows)
