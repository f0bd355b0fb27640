"""Tabu search over the job orders of single machines (N5): leaves the permutation schedules.

Method: machines may serve the jobs in different orders, which shortens many schedules. In each iteration the
best rated swap at the borders of the blocks of a random critical path is made, better or worse; a swap that
would bring back an order of two operations that was reversed recently is tabu unless it promises a new best.
After PATIENCE iterations without improvement the search restarts from the best schedule, shaken by random
swaps.

Source: E. Nowicki, C. Smutnicki, A fast taboo search algorithm for the job shop problem, 1996; E. Taillard,
Parallel taboo search techniques for the job shop scheduling problem, 1994 (rating of moves); A. Rossi,
M. Lanzetta, Native metaheuristics for non-permutation flowshop scheduling, 2014.

Complexity: O(N) per iteration for N operations; uses its whole share of the budget.
"""

import numpy as np
from parts.completion import lower_bound
from parts.jsp.border_swaps import block_moves as block_moves
from parts.jsp.critical_moves import shake
from parts.jsp.schedule import arrays_of, lay_out
from parts.jsp.tabu import Search, improve

PATIENCE = 20000  # tunable: int 500..100000
RESTART_MOVES = 10  # tunable: int 1..100
CHUNK_OPERATIONS = 400_000  # iterations of one kernel call times operations of the instance


def prepare(env_data):
    """The arrays of :func:`arrays_of` for an instance: operation k of a job is on machine k."""
    times = np.asarray(env_data["processing_times"]).T
    return arrays_of(np.broadcast_to(np.arange(times.shape[1]), times.shape), times)


def open_search(env_data):
    """A :class:`Search` for an instance; a kernel call makes `chunk` iterations, some milliseconds."""
    schedule = prepare(env_data)
    n, m = schedule[0][:2]
    job = (np.arange(n * m + 1) // m).astype(np.int32)
    memory = (job, np.zeros((n * m, n), np.int32), np.zeros((4 * n * m, 3), np.int32))
    bound = lower_bound(np.array(env_data["processing_times"], dtype=np.int64))
    chunk = max(50, CHUNK_OPERATIONS // (n * m))
    return Search(*schedule, memory, bound, chunk, env_data["rng"], env_data["budget"])


def run(env_data, state, calc_makespan_fn):
    """Tabu search from `state` until the share of the budget is spent or a lower bound is met."""
    search = open_search(env_data)
    best, moves = (2**40, np.array(state.sequence, dtype=np.int32)), 0
    while best[0] > search.target:
        lay_out(best[1], search.problem, search.topology, search.links)
        shake(moves, search.problem, search.topology, search.links, search.work, search.memory[2], search.rng)
        found = improve(search, search.topology[0] // np.int32(search.problem[1]), PATIENCE)
        best, moves = min(found, best, key=lambda entry: entry[0]), RESTART_MOVES
        if search.budget.exhausted():
            break
    state.sequence = best[1]
    return state
