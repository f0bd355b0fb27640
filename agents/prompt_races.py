"""What prompts say of races, from their tenth edition on: what came out alike on the training instances."""

from __future__ import annotations

from dga2d.agents.prompt_program import TENTH
from dga2d.domains.core.contract import normalised_gap
from dga2d.replay.state.run_state import RunState

MOST_MET = 12
"""Training instances that are told one by one."""
LEAST_MET = 5
"""Evaluations of an instance from which on it says something that several came to the same."""


def met_rows(state: RunState) -> tuple[str, ...]:
    """Return the best objective that races came to on each training instance, and how many of their
    evaluations did; those first on which fewest of them did, and the rest in one row."""
    if state.settings.prompt_edition < TENTH:
        return ()
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
