"""The problem card of simple assembly line balancing, type 1 (facts: DGA2D paper, Appendix C.5)."""

from __future__ import annotations

from dga2d.domains.core.contract import Card

INVALID_SCORE = 999_999_999
"""Number of stations given to a sequence that breaks a constraint."""

CARD = Card(
    title="Simple Assembly Line Balancing Problem, type 1 (SALBP-1)",
    objective=(
        "Assign n tasks to as few stations of a line as possible when the cycle time C, the time each "
        "station has, is fixed and the tasks are partly ordered. The number of stations is minimised; "
        "upper_bound holds the lower bound ceil(total_time / C) on it."
    ),
    encoding=(
        "state.sequence: int32 array of length num_tasks, a topological permutation of the tasks "
        "0..num_tasks-1: every predecessor of a task stands before it. state.metadata is unused."
    ),
    decoder=(
        "First fit in the order of the sequence. The earliest station of a task is the latest one of its "
        "predecessors (the first of the line if it has none); the task goes to the first station from there "
        "on whose remaining time suffices, or to a new one at the end of the line. The score is the number "
        "of stations. Read station by station, the tasks of any feasible line are a sequence that needs no "
        f"more stations than that line. A sequence that is no topological permutation scores {INVALID_SCORE}."
    ),
    environment={
        "num_tasks": "int: number of tasks n",
        "cycle_time": "int: time C of each station",
        "times": "int32 (n,): time of each task, 0..C",
        "adj_matrix": "uint8 (n, n): 1 where task i is a direct predecessor of task j, else 0",
        "edges": "int32 (m, 2): the same relations as rows (predecessor, successor), in lexicographic order",
        "upper_bound": "int: ceil(total_time / C), in spite of its name a lower bound on the stations",
        "total_time": "int: sum of the task times",
    },
    constraints=(
        "The sequence is a complete topological permutation, every task is assigned exactly once, no "
        "station's load exceeds cycle_time, and no task stands in a later station than one of its successors."
    ),
)
