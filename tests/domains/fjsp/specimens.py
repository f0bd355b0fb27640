"""Random flexible job shops and encodings, and the card's decoder in plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.fjsp.reader import tabulate


def random_instance(n_jobs: int, n_machines: int, seed: int, low: int = 1) -> Instance:
    """Jobs of one to `n_machines` + 1 operations on random machines (the same one may return in a job)."""
    rng = np.random.default_rng(seed)
    jobs = []
    for _ in range(n_jobs):
        job = []
        for _ in range(int(rng.integers(1, n_machines + 2))):
            machines = rng.permutation(n_machines)[: int(rng.integers(1, n_machines + 1))]
            job.append([(int(machine), int(rng.integers(low, 21))) for machine in machines])
        jobs.append(job)
    return Instance("fjsp", "random", f"{n_jobs}x{n_machines}-{seed}", {"shop": tabulate(n_machines, jobs)})


def random_state(instance: Instance, seed: int) -> State:
    """A random valid encoding."""
    shop = instance.data["shop"]
    rng = np.random.default_rng(seed)
    jobs = np.repeat(np.arange(shop.op_counts.size, dtype=np.int32), shop.op_counts)
    allocation = np.full(shop.machines.shape[:2], -1, np.int32)
    for job, count in enumerate(shop.op_counts.tolist()):
        for k in range(count):
            machines = shop.machines[job, k]
            allocation[job, k] = rng.choice(machines[machines >= 0])
    return State(rng.permutation(jobs), {"machine_alloc": allocation})


def plain_makespan(instance: Instance, state: Any) -> float:
    """The card's decoder in plain Python."""
    shop = instance.data["shop"]
    counts, machines, times = shop.op_counts.tolist(), shop.machines.tolist(), shop.times.tolist()
    entries = [int(job) for job in state.sequence]
    if sorted(entries) != [job for job, count in enumerate(counts) for _ in range(count)]:
        return 999_999_999.0
    job_end, step = [0] * len(counts), [0] * len(counts)
    machine_end = [0] * shop.n_machines
    for job in entries:
        k = step[job]
        machine = int(state.metadata["machine_alloc"][job, k])
        if machine < 0 or machine not in machines[job][k]:
            return 999_999_999.0
        time = times[job][k][machines[job][k].index(machine)]
        job_end[job] = machine_end[machine] = max(job_end[job], machine_end[machine]) + time
        step[job] += 1
    return float(max(machine_end))
