"""Random local search on the machines: operations change machine, every neighbour is decoded.

Method: a few random operations, one as a rule, go to another of their eligible machines, often the one where
they are fastest. The neighbour is kept when its makespan is not longer. The search stops after PATIENCE
neighbours without gain.

Source: P. Brandimarte, Routing and scheduling in a flexible job shop by tabu search, 1993 (reassignment at a
given sequence).

Complexity: one decoding, O(N) for N operations, per neighbour.
"""

import numpy as np

PATIENCE = 3000  # tunable: int 100..100000
SECOND_ODDS = 0.3  # tunable: float 0.0..1.0
FASTEST_ODDS = 0.3  # tunable: float 0.0..1.0


# exchangeable: machine-choice
def chosen_machine(machines, times, fastest_odds, rng):
    """One of the eligible `machines`, with probability `fastest_odds` one with the shortest of `times`."""
    if rng.random() < fastest_odds:
        machines = machines[times == times.min()]
    return machines[int(rng.integers(machines.size))]


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until nothing has improved for PATIENCE neighbours or the share is spent."""
    budget, rng = env_data["budget"], env_data["rng"]
    counts = env_data["eligible_counts"]
    current = np.array(state.metadata["machine_alloc"], dtype=np.int32)
    state.metadata = {**state.metadata, "machine_alloc": current}
    makespan = calc_makespan_fn(state)
    jobs, operations = np.nonzero(counts > 1)
    failures = 0
    while jobs.size and failures < PATIENCE and not budget.exhausted():
        allocation = current.copy()
        for _ in range(2 if rng.random() < SECOND_ODDS else 1):
            i = int(rng.integers(jobs.size))
            j, k = jobs[i], operations[i]
            machines = env_data["machines_matrix"][j, k, : counts[j, k]]
            times = env_data["times_matrix"][j, k, : counts[j, k]]
            allocation[j, k] = chosen_machine(machines, times, FASTEST_ODDS, rng)
        state.metadata["machine_alloc"] = allocation
        value = calc_makespan_fn(state)
        failures = 0 if value < makespan else failures + 1
        if value <= makespan:
            current, makespan = allocation, value
    state.metadata["machine_alloc"] = current
    return state
