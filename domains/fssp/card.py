"""The problem card of flow shop scheduling (facts: DGA2D paper, Appendix C.5)."""

from __future__ import annotations

from dga2d.domains.core.contract import Card

INVALID_SCORE = 999_999_999
"""Makespan given to a sequence that breaks a constraint."""

CARD = Card(
    title="Flow Shop Scheduling Problem (FSSP)",
    objective=(
        "Find the shortest schedule (smallest makespan) of n jobs on m machines when every job visits "
        "machine 0, then 1, and so on to m - 1, once each."
    ),
    encoding=(
        "Operation-based: state.sequence is an int32 array of length total_ops = num_jobs * num_machines "
        "in which every job id 0..num_jobs-1 occurs num_machines times. The k-th occurrence of a job "
        "(k from 0) stands for the job's operation on machine k. A permutation schedule, in which all "
        "machines serve the jobs in one order, is np.repeat(order, num_machines)."
    ),
    decoder=(
        "Read the sequence once from left to right. An entry j, met for the k-th time, is the operation of "
        "job j on machine k: it takes processing_times[k, j] and starts as soon as both the job and the "
        "machine are free. The score is the latest completion. Each machine serves the jobs in the order "
        "in which their operations on it stand in the sequence; machines may differ in that order."
    ),
    environment={
        "num_jobs": "int: number of jobs n",
        "num_machines": "int: number of machines m, also the number of operations of each job",
        "processing_times": "int32 (m, n): processing time >= 0, row = machine, column = job",
        "total_ops": "int: n * m, the length of a sequence",
    },
    constraints=(
        "Exactly total_ops entries, every job id in 0..num_jobs-1 exactly num_machines times. Operations "
        "of a job run in the order of the machines and never overlap; a machine handles one operation at a "
        f"time without interruption. Anything else scores {INVALID_SCORE}."
    ),
)
