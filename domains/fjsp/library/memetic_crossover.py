"""Genetic search over sequences and machines, every child improved by a descent.

Method: a steady-state population of local optima. A child merges the orders of two parents and takes each
operation's machine from one of them, is shaken by a few moves of critical operations, descends over their
insertions (Nopt), and replaces the worst member unless it is longer or a copy.

Source: F. Pezzella, G. Morganti, G. Ciaschetti, A genetic algorithm for the flexible job-shop scheduling
problem, 2008; X. Li, L. Gao, An effective hybrid genetic algorithm and tabu search for flexible job shop
scheduling problem, 2016.

Complexity: O(N) per child and per exactly rated operation of its descent for N operations.
"""

import numpy as np
from parts.optimal_insertion import descend
from parts.plans import dispatch, distance, path_point, plan_of, prepare, put_plan
from parts.schedule import keep, lay_out, shake

POPULATION = 20  # tunable: int 4..200
MUTATION_MOVES = 2  # tunable: int 0..50
EXACT = 3  # tunable: int 1..200
DISPATCH_NOISE = 0.3  # tunable: float 0.0..2.0
CHUNK_OPERATIONS = 1_000_000  # operations visited by one kernel call, about


def local_optimum(env_data, arrays, plan, mutations):
    """(makespan, plan) after random critical moves and a descent; charges the computations."""
    budget, rng = env_data["budget"], env_data["rng"]
    makespan = shake(mutations, lay_out(plan, *arrays[:4]), *arrays, rng)
    chunk = max(20, CHUNK_OPERATIONS // env_data["total_ops"])
    passes, no_bans = chunk, np.zeros((1, 1), np.int32)
    while passes >= chunk:
        makespan, passes = descend(chunk, EXACT, makespan, *arrays, no_bans, rng)
        budget.charge(passes + mutations)
        if passes >= chunk and budget.exhausted():
            break
    child = np.empty_like(plan)
    keep(child, *arrays[:3:2])
    return makespan, child


def first_population(env_data, arrays, start):
    """The given schedule and, in turn, shaken copies of it and noisy dispatches."""
    budget, m = env_data["budget"], env_data["num_machines"]
    pool = [local_optimum(env_data, arrays, start, 0)]
    while len(pool) < POPULATION and not budget.exhausted():
        plan, mutations = start, 40
        if len(pool) % 2:
            plan, mutations = np.empty_like(start), 0
            dispatch(*arrays[:2], m, DISPATCH_NOISE, plan, env_data["rng"])
        pool.append(local_optimum(env_data, arrays, plan, mutations))
    return pool


def run(env_data, state, calc_makespan_fn):
    """Breed from `state` until the share of the budget is spent."""
    budget, rng = env_data["budget"], env_data["rng"]
    arrays = prepare(env_data)
    opening = arrays[0][3]
    start = plan_of(env_data, state)
    best = (int(calc_makespan_fn(state)), start)
    pool = first_population(env_data, arrays, start)
    child = np.empty_like(start)
    while not budget.exhausted() and len(pool) > 1:
        i, j = rng.choice(len(pool), 2, replace=False)
        path_point(pool[i][1], pool[j][1], 0.5, opening, child, rng)
        entry = local_optimum(env_data, arrays, child, MUTATION_MOVES)
        worst = max(range(len(pool)), key=lambda k: pool[k][0])
        is_copy = any(entry[0] == value and distance(entry[1], plan, opening) == 0 for value, plan in pool)
        if entry[0] <= pool[worst][0] and not is_copy:
            pool[worst] = entry
    put_plan(env_data, state, min(best, *pool, key=lambda entry: entry[0])[1])
    return state
