"""The problem card of resource-constrained project scheduling (facts: DGA2D paper, Appendix C.5)."""

from __future__ import annotations

from dga2d.domains.core.contract import Card

INVALID_SCORE = 999_999_999
"""Makespan given to a sequence that breaks a constraint."""

CARD = Card(
    title="Resource-Constrained Project Scheduling Problem (RCPSP)",
    objective=(
        "Find the shortest schedule (smallest makespan) of a project: an activity starts when all its "
        "predecessors have finished, and in no period do the activities under way request more of a "
        "renewable resource than there is. Activities 0 and num_activities-1 are the dummy start and end: "
        "they take no time and no resource."
    ),
    encoding=(
        "state.sequence is an int32 activity list: a permutation of 0..num_activities-1 in which u stands "
        "before v for every precedence edge (u, v)."
    ),
    decoder=(
        "Serial schedule generation: read the list once from left to right; each activity starts at the "
        "earliest time, not before its predecessors have finished, from which on every resource has its "
        "request left for the whole duration; gaps among activities placed earlier are used. The score is "
        "the latest finish. Some list always leads to an optimal schedule."
    ),
    environment={
        "num_activities": "int: number of activities N, the two dummies included; length of a sequence",
        "num_resources": "int: number of renewable resources R",
        "durations": "int32 (N,): duration >= 0 of each activity",
        "requests": "int32 (N, R): units of each resource an activity holds while it is under way",
        "capacities": "int32 (R,): units of each resource there are in every period",
        "adj_matrix": "int8 (N, N): 1 where row u must finish before column v starts, else 0",
        "edges": "int32 (E, 2): the precedence pairs (u, v), sorted",
        "upper_bound": "int: sum of all durations; no schedule that the decoder makes is longer",
    },
    constraints=(
        "Every activity id in 0..num_activities-1 exactly once, each after all its predecessors. Activities "
        f"are not interrupted. Anything else scores {INVALID_SCORE}."
    ),
)
