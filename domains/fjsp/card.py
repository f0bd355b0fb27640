"""The problem card of flexible job shop scheduling (facts: DGA2D paper, Appendix C.5)."""

from __future__ import annotations

from dga2d.domains.core.contract import Card

INVALID_SCORE = 999_999_999
"""Makespan given to a state that breaks a constraint."""

MACHINE_ALLOCATION = "machine_alloc"
"""Key of ``state.metadata`` that holds the machine of every operation."""

CARD = Card(
    title="Flexible Job Shop Scheduling Problem (FJSP)",
    objective=(
        "Find the shortest schedule (smallest makespan) of n jobs on m machines when each operation of a job "
        "may go to any of its eligible machines, with a time of its own on each, and the operations of a job "
        "keep their order."
    ),
    encoding=(
        "Two parts. state.sequence (OS) is an int32 array of length total_ops in which job j occurs exactly "
        "op_counts[j] times; the k-th occurrence of a job (k from 0) stands for its k-th operation. "
        f'state.metadata["{MACHINE_ALLOCATION}"] (MS) is an int32 array (num_jobs, max_ops); entry (j, k) is '
        "the id of the machine chosen for operation k of job j; entries with k >= op_counts[j] are not read."
    ),
    decoder=(
        "Read OS once from left to right. An entry j, met for the k-th time, is operation k of job j: with "
        "a = MS[j, k] it takes processing_matrix[j, k, a] and starts as soon as both the job and machine a "
        "are free. The score is the latest completion. The order in which a machine serves its operations is "
        "their order in OS, so every pair of a well-formed OS and an eligible MS is a feasible schedule."
    ),
    environment={
        "num_jobs": "int: number of jobs n",
        "num_machines": "int: number of machines m",
        "op_counts": "int32 (n,): operations of each job, >= 1",
        "eligible_counts": (
            "int32 (n, max_ops): eligible machines of operation k of job j; 0 for k >= op_counts[j]"
        ),
        "machines_matrix": (
            "int32 (n, max_ops, w): ids 0..m-1 of the eligible machines in its first eligible_counts[j, k] "
            "entries, -1 behind them; w is the largest eligible count"
        ),
        "times_matrix": (
            "int32 (n, max_ops, w): processing times >= 0, entry by entry those of machines_matrix, "
            "-1 behind them"
        ),
        "processing_matrix": (
            "float64 (n, max_ops, m): processing time by machine id; inf where the machine is not eligible"
        ),
        "max_ops": "int: largest number of operations of a job",
        "total_ops": "int: sum of op_counts, the length of a sequence",
    },
    constraints=(
        "Exactly total_ops entries in OS, job j exactly op_counts[j] times; every machine id in MS is one of "
        "the operation's eligible machines. Operations of a job keep their order and never overlap; a "
        f"machine handles one operation at a time without interruption. Anything else scores {INVALID_SCORE}."
    ),
)
