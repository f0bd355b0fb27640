"""Tabu search with the moves of the part ``critical_moves``."""

import numpy as np
from numba import njit
from parts.critical_moves import list_moves, make_move, rate, shake
from parts.jsp.tabu import forbid_return, is_forbidden
from parts.schedule import critical_path, lay_out, prepare
from parts.taker import PATIENCE

CHUNK_OPERATIONS = 400_000  # iterations of one kernel call times operations of the instance


# exchangeable: tabu-tenure
@njit(cache=True)
def tabu_tenure(n_jobs, n_machines, draw):
    """Iterations for which an order stays forbidden; `draw` is uniform on [0, 1)."""
    base = 6 + (n_jobs + n_machines) // 4
    return int(base * (1.0 + draw)) + 1


@njit(cache=True)
def choose_move(count, best, now, p, links, head, columns, until, moves, rng):
    """Row of the `count` moves to make: the best rated one that is not tabu, or else a random one."""
    js, ms = links[1], links[3]
    chosen, value, ties = -1, 2**40, 0
    for row in range(count):
        u, v, kind = moves[row, 0], moves[row, 1], moves[row, 2]
        rated = rate(u, v, kind, p, links, head)
        if rated > value:
            continue
        after = ms if kind < 2 else js
        if rated >= best and is_forbidden(u, v, kind & 1 == 1, now, after, columns[kind // 2], until):
            continue
        ties = ties + 1 if rated == value else 1
        value = rated
        if ties == 1 or rng.random() * ties < 1.0:
            chosen = row
    return chosen if chosen >= 0 else int(rng.random() * count)


@njit(cache=True)
def tabu_search(iterations, patience, target, problem, topology, links, work, memory, status, best, rng):
    """At most `iterations` of tabu search from the present schedule; whether the search is over.

    It is over when `patience` iterations brought no improvement, the makespan met `target`, or no move is
    left. `status` holds the iteration, the best makespan, the iteration of the last improvement and the
    present makespan; `best` receives the topological order of the best schedule.
    """
    n_jobs, n_machines, job, p = problem
    js, ms, t = links[1], links[3], links[5]
    path, head, _moved, _mark = work
    columns, until, moves = memory
    for _ in range(iterations):
        if status[3] < status[1]:
            status[1], status[2] = status[3], status[0]
            best[:] = topology[0]
        if status[1] <= target or status[0] - status[2] >= patience:
            return True
        status[0] += 1
        length = critical_path(status[3], p, js, ms, t, path, rng)
        count = list_moves(length, p.size - 1, job, p, links, path, moves)
        if count == 0:
            return True
        row = choose_move(count, status[1], status[0], p, links, head, columns, until, moves, rng)
        u, v, kind = moves[row, 0], moves[row, 1], moves[row, 2]
        expiry = status[0] + tabu_tenure(n_jobs, n_machines, rng.random())
        forbid_return(u, v, kind & 1 == 1, ms if kind < 2 else js, columns[kind // 2], until, expiry)
        status[3] = make_move(u, v, kind, p, topology, links, work)
    return False


def improve(env_data, arrays, memory, sequence):
    """Tabu search from `sequence` until PATIENCE iterations bring nothing; (makespan, sequence)."""
    budget, rng = env_data["budget"], env_data["rng"]
    problem, topology, links, work = arrays
    makespan = int(lay_out(sequence, problem, topology, links))
    status = np.array([0, makespan + 1, 0, makespan], np.int64)
    best = np.empty(sequence.size, np.int32)
    memory[1][:] = 0
    iterations = max(50, CHUNK_OPERATIONS // sequence.size)
    over = False
    while not over:
        before = status[0]
        over = tabu_search(
            iterations, PATIENCE, env_data["lower_bound"], problem, topology, links, work, memory, status,
            best, rng,
        )  # fmt: skip
        budget.charge(int(status[0] - before))
        over = over or budget.exhausted()
    return int(status[1]), best


def search_from(env_data, state, restart_moves):
    """Tabu search from `state` until the share of the budget is spent or the lower bound is met."""
    budget, target = env_data["budget"], env_data["lower_bound"]
    n, m = env_data["num_jobs"], env_data["num_machines"]
    arrays = prepare(env_data)
    places = np.arange(n * m)
    columns = np.stack((places // m, n + places % m)).astype(np.int32)
    memory = (columns, np.zeros((n * m, n + m), np.int64), np.zeros((4 * n * m, 3), np.int32))
    problem, topology, links, work = arrays
    sequence, best = np.array(state.sequence, dtype=np.int32), None
    while best is None or (best[0] > target and not budget.exhausted()):
        found = improve(env_data, arrays, memory, sequence)
        best = found if best is None or found[0] <= best[0] else best
        lay_out(best[1], problem, topology, links)
        shake(restart_moves, problem, topology, links, work, memory[2], env_data["rng"])
        sequence = topology[0].copy()
    state.sequence = best[1]
    return state
