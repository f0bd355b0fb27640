"""The problem card of open shop scheduling (facts: DGA2D paper, Appendix C.5)."""

from __future__ import annotations

from dga2d.domains.core.contract import Card

INVALID_SCORE = 999_999_999
"""Makespan given to a sequence that breaks a constraint."""

CARD = Card(
    title="Open Shop Scheduling Problem (OSSP)",
    objective=(
        "Find the shortest schedule (smallest makespan) of n jobs on m machines when every job visits every "
        "machine exactly once, in any order: the route of a job is a decision, like the order on a machine."
    ),
    encoding=(
        "state.sequence is an int32 permutation of the operation ids 0..total_ops-1. Operation "
        "op = job * num_machines + machine is the visit of job op // num_machines to machine "
        "op % num_machines."
    ),
    decoder=(
        "List scheduling: read the sequence once from left to right; each operation takes "
        "ossp_times[job, machine] and starts as soon as both its job and its machine are free of the "
        "operations read before. The score is the latest completion. The order in which a machine serves "
        "jobs and a job visits machines is the order of the sequence; gaps left behind are not filled."
    ),
    environment={
        "num_jobs": "int: number of jobs n",
        "num_machines": "int: number of machines m",
        "total_ops": "int: n * m, the length of a sequence",
        "ossp_times": "int32 (n, m): processing time >= 0 of job j on machine k",
        "upper_bound": (
            "int: largest row sum + column sum - entry of ossp_times; a schedule in which no machine idles "
            "while it could work is never longer"
        ),
        "lower_bound": "int: largest row or column sum of ossp_times; no schedule is shorter",
    },
    constraints=(
        "Every operation id in 0..total_ops-1 exactly once. Operations are not interrupted; those of one "
        f"job never overlap, nor do those on one machine. Anything else scores {INVALID_SCORE}."
    ),
)
