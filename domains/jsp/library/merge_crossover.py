"""Steady-state genetic search: order-merging crossover followed by a descent.

Method: a population of schedules, the given one, shaken copies of it and fresh dispatches, all brought to a
local optimum. A child merges the operation orders of two parents, is changed by a few random critical moves,
descends, and replaces the worst member unless it is worse or a copy.

Source: C. Bierwirth, A generalized permutation approach to job shop scheduling with genetic algorithms, 1995
(operation-based crossover); T. Yamada, R. Nakano, Job-shop scheduling by simulated annealing combined with
deterministic local search and genetic path crossover, 1996.

Complexity: O(N) per child and per move of its descent for N operations.
"""

import numpy as np
from parts.between_sequences import dispatch, machine_distance, path_point
from parts.block_insertions import block_moves as block_moves
from parts.critical_moves import descend, shake
from parts.schedule import lay_out, prepare
from parts.shops.relinking import insert_new

POPULATION = 30  # tunable: int 4..200
MUTATION_MOVES = 4  # tunable: int 0..60
DISPATCH_NOISE = 0.8  # tunable: float 0.0..3.0
PLATEAU = 30  # tunable: int 0..200


def local_optimum(env_data, arrays, sequence, mutations):
    """(makespan, sequence) after random critical moves and a descent; charges the moves."""
    problem, topology, links, work, moves = arrays
    rng = env_data["rng"]
    lay_out(sequence, problem, topology, links)
    makespan = shake(mutations, problem, topology, links, work, moves, rng)
    status = np.array([0, makespan + 1, 0, makespan], np.int64)
    best = np.empty(sequence.size, np.int32)
    while not descend(100, PLATEAU, problem, topology, links, work, moves, status, best, rng):
        if env_data["budget"].exhausted():
            break
    env_data["budget"].charge(int(status[0]) + mutations + 1)
    return int(status[1]), best // np.int32(problem[1])


def first_population(env_data, arrays, start):
    """The given schedule and, in turn, shaken copies of it and noisy dispatches."""
    budget, problem = env_data["budget"], arrays[0]
    pool = [local_optimum(env_data, arrays, start, 0)]
    while len(pool) < POPULATION and not budget.exhausted():
        sequence, mutations = start, 40
        if len(pool) % 2:
            sequence, mutations = np.empty(start.size, np.int32), 0
            dispatch(*problem[:4], DISPATCH_NOISE, sequence, env_data["rng"])
        pool.append(local_optimum(env_data, arrays, sequence, mutations))
    return pool


def run(env_data, state, calc_makespan_fn):
    """Breed from `state` until the share of the budget is spent."""
    budget, rng = env_data["budget"], env_data["rng"]
    schedule = prepare(env_data)
    problem = schedule[0]
    start = np.array(state.sequence, dtype=np.int32)
    arrays = (*schedule, np.zeros((4 * start.size, 3), np.int32))
    pool = first_population(env_data, arrays, start)
    child = np.empty(start.size, np.int32)
    while not budget.exhausted() and len(pool) > 1:
        i, j = rng.choice(len(pool), 2, replace=False)
        path_point(pool[i][1], pool[j][1], 0.5, problem[0], problem[1], child, rng)
        entry = local_optimum(env_data, arrays, child, MUTATION_MOVES)
        insert_new(pool, entry, lambda a, b: machine_distance(a, b, *problem[:3]) == 0)
    state.sequence = min(pool, key=lambda member: member[0])[1]
    return state
