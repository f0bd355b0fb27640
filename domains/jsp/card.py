"""The problem card of job shop scheduling (facts: DGA2D paper, Appendix C.5)."""

from __future__ import annotations

from dga2d.domains.core.contract import Card

INVALID_SCORE = 999_999_999
"""Makespan given to a sequence that breaks a constraint."""

CARD = Card(
    title="Job Shop Scheduling Problem (JSP)",
    objective=(
        "Find the shortest schedule (smallest makespan) of n jobs on m machines when every job visits "
        "the machines in an order of its own that may not be changed."
    ),
    encoding=(
        "Operation-based: state.sequence is an int32 array of length total_ops = num_jobs * num_machines "
        "in which every job id 0..num_jobs-1 occurs num_machines times. The k-th occurrence of a job "
        "(k from 0) stands for the job's k-th operation."
    ),
    decoder=(
        "Read the sequence once from left to right. An entry j, met for the k-th time, is operation k of "
        "job j: it needs machine machines_matrix[j, k] for times_matrix[j, k] and starts as soon as both "
        "the job and that machine are free. The score is the latest completion. The schedule is "
        "semi-active: the order in which a machine serves the jobs is the order of the sequence."
    ),
    environment={
        "num_jobs": "int: number of jobs n",
        "num_machines": "int: number of machines m, also the number of operations of each job",
        "machines_matrix": "int32 (n, m): machine 0..m-1 of operation k of job j; every row is a permutation",
        "times_matrix": "int32 (n, m): processing time >= 0 of operation k of job j",
        "total_ops": "int: n * m, the length of a sequence",
    },
    constraints=(
        "Exactly total_ops entries, every job id in 0..num_jobs-1 exactly num_machines times. Operations "
        "of a job keep their order and never overlap; a machine handles one operation at a time without "
        f"interruption. Anything else scores {INVALID_SCORE}."
    ),
)
