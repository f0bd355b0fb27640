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
from parts.jsp.schedule import lay_out
from parts.jsp.tabu import Search, improve

PATIENCE = 20000  # tunable: int 500..100000
RESTART_MOVES = 10  # tunable: int 1..100
CHUNK_OPERATIONS = 400_000  # iterations of one kernel call times operations of the instance


def prepare(env_data):
    """Arrays of an instance and of one schedule; operation k of job j has number j * machines + k.

    problem: numbers of jobs and machines; machine, time, job predecessor and job successor of an operation.
    topology: a topological order and the places in it. links: machine predecessors and successors,
    completion times, tails (own time included). work: critical path, heads in a move, moved operations and
    their marks. The number of operations stands for "none".
    """
    n, m = env_data["num_jobs"], env_data["num_machines"]
    size = n * m
    machine, p = np.full(size + 1, -1, np.int32), np.zeros(size + 1, np.int32)
    machine[:size] = np.tile(np.arange(m), n)
    p[:size] = np.asarray(env_data["processing_times"]).T.ravel()
    jp, js = np.arange(-1, size, dtype=np.int32), np.arange(1, size + 2, dtype=np.int32)
    jp[: size + 1 : m] = js[m - 1 :: m] = jp[size] = js[size] = size
    blank = [np.zeros(size + 1, np.int32) for _ in range(8)]
    topology, links = (np.zeros(size, np.int32), blank[0]), tuple(blank[1:5])
    return (n, m, machine, p, jp, js), topology, links, (*blank[5:], np.zeros(size + 1, np.bool_))


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
