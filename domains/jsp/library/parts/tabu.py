"""Tabu search with the moves of the part ``critical_moves``; it is opened once and called often."""

from dataclasses import dataclass

import numpy as np
from numba import njit
from parts.critical_moves import list_moves, move_backward, move_forward, rate_backward, rate_forward, shake
from parts.schedule import critical_path, lay_out, longest_path, prepare, update_heads, update_tails

CHUNK_OPERATIONS = 400_000  # iterations of one kernel call times operations of the instance


# exchangeable: tabu-tenure
@njit(cache=True)
def tabu_tenure(n_jobs, n_machines, draw):
    """Iterations for which a placement stays forbidden; `draw` is uniform on [0, 1)."""
    base = 10 + n_jobs // n_machines
    spread = 1.4 if n_jobs <= 2 * n_machines else 1.5
    return int(base + draw * base * (spread - 1.0)) + 1


@njit(cache=True)
def is_forbidden(u, v, is_forward, now, ms, job, until):
    """Whether moving u right behind v (or v right before u) restores an order that is still banned.

    `ms` holds successors and `job` the columns of `until` in the orders that the move changes.
    """
    x = u
    while x != v:
        if is_forward:
            x = ms[x]
            if until[x, job[u]] >= now:
                return True
        else:
            if until[v, job[x]] >= now:
                return True
            x = ms[x]
    return False


@njit(cache=True)
def forbid_return(u, v, is_forward, ms, job, until, expiry):
    """Ban, up to iteration `expiry`, the orders that moving u behind v (or v before u) is about to undo."""
    x = u
    while x != v:
        if is_forward:
            x = ms[x]
            until[u, job[x]] = expiry
        else:
            until[x, job[v]] = expiry
            x = ms[x]


@njit(cache=True)
def least_path(u, v, is_forward, p, jp, js, mp, ms, c, t):
    """What a move within a critical block is rated at least: all it passes in a row, then u (or first v)."""
    if is_forward:
        start, end = max(c[jp[ms[u]]], c[mp[u]]), max(t[js[u]], t[ms[v]])
        return start + c[v] - c[u] + p[u] + end
    start, end = max(c[jp[v]], c[mp[u]]), max(t[js[mp[v]]], t[ms[v]])
    return start + p[v] + t[u] - t[v] + end


@njit(cache=True)
def choose_move(count, best, now, p, jp, js, mp, ms, c, t, head, job, until, moves, rng):
    """Row of the `count` moves to make: the best rated one that is not tabu, or else a random one."""
    chosen, value, ties = -1, 2**40, 0
    for row in range(count):
        u, v, is_forward = moves[row, 0], moves[row, 1], moves[row, 2] == 1
        if least_path(u, v, is_forward, p, jp, js, mp, ms, c, t) > value:
            continue
        if is_forward:
            rated = rate_forward(u, v, p, jp, js, mp, ms, c, t, head)
        else:
            rated = rate_backward(u, v, p, jp, js, mp, ms, c, t, head)
        if rated > value:
            continue
        if rated >= best and is_forbidden(u, v, is_forward, now, ms, job, until):
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
    n_jobs, n_machines, machine, p, jp, js = problem
    order, place = topology
    mp, ms, c, t = links
    path, head, moved, mark = work
    job, until, moves = memory
    now, best_value, improved, makespan = status[0], status[1], status[2], status[3]
    over = False
    for _ in range(iterations):
        if makespan < best_value:
            best_value, improved = makespan, now
            best[:] = order
        over = best_value <= target or now - improved >= patience
        if over:
            break
        now += 1
        length = critical_path(n_jobs, n_machines, makespan, p, js, ms, t, path, rng)
        count = list_moves(length, order.size, machine, p, jp, js, c, t, path, moves)
        if count == 0:
            over = True
            break
        row = choose_move(count, best_value, now, p, jp, js, mp, ms, c, t, head, job, until, moves, rng)
        u, v, is_forward = moves[row, 0], moves[row, 1], moves[row, 2] == 1
        expiry = now + tabu_tenure(n_jobs, n_machines, rng.random())
        forbid_return(u, v, is_forward, ms, job, until, expiry)
        if is_forward:
            lo, hi = move_forward(u, v, jp, mp, ms, order, place, mark, moved)
        else:
            lo, hi = move_backward(u, v, js, mp, ms, order, place, mark, moved)
        update_heads(order, lo, p, jp, mp, c)
        update_tails(order, hi, p, js, ms, t)
        makespan = longest_path(n_jobs, n_machines, t)
    status[0], status[1], status[2], status[3] = now, best_value, improved, makespan
    return over


def lower_bound(env_data):
    """Longest job and, per machine, smallest head + load + smallest tail: a makespan no schedule beats."""
    times = np.asarray(env_data["times_matrix"], dtype=np.int64)
    machines = np.asarray(env_data["machines_matrix"])
    heads = np.cumsum(times, axis=1) - times
    tails = times.sum(axis=1, keepdims=True) - heads - times
    bound = times.sum(axis=1).max()
    for k in range(times.shape[1]):
        on_k = machines == k
        bound = max(bound, heads[on_k].min() + times[on_k].sum() + tails[on_k].min())
    return int(bound)


@dataclass
class Search:
    """What the calls on one instance share."""

    problem: tuple
    topology: tuple
    links: tuple
    work: tuple
    memory: tuple
    target: int
    chunk: int
    rng: np.random.Generator
    budget: object


def open_search(env_data):
    """A :class:`Search` for an instance; a kernel call makes `chunk` iterations, some milliseconds."""
    schedule = prepare(env_data)
    n, m = schedule[0][:2]
    job = (np.arange(n * m + 1) // m).astype(np.int32)
    memory = (job, np.zeros((n * m, n), np.int32), np.zeros((4 * n * m, 3), np.int32))
    chunk = max(50, CHUNK_OPERATIONS // (n * m))
    return Search(*schedule, memory, lower_bound(env_data), chunk, env_data["rng"], env_data["budget"])


def improve(search, sequence, patience):
    """Tabu search from `sequence` until `patience` iterations bring nothing; (makespan, sequence)."""
    makespan = lay_out(sequence, search.problem, search.topology, search.links)
    status = np.array([0, makespan + 1, 0, makespan], np.int64)
    best = np.empty(sequence.size, np.int32)
    search.memory[1][:] = 0
    over = False
    while not over:
        before = status[0]
        over = tabu_search(
            search.chunk, patience, search.target, search.problem, search.topology, search.links, search.work,
            search.memory, status, best, search.rng,
        )  # fmt: skip
        search.budget.charge(int(status[0] - before))
        over = over or search.budget.exhausted()
    return int(status[1]), best // np.int32(search.problem[1])


def warm_up(search, sequence):
    """Call the kernels of later phases once, so that none is compiled in the middle of a timed run."""
    lay_out(sequence, search.problem, search.topology, search.links)
    shake(0, search.problem, search.topology, search.links, search.work, search.memory[2], search.rng)


def search_from(env_data, state, patience, restart_moves):
    """Tabu search from `state` until the share of the budget is spent or a lower bound is met."""
    search = open_search(env_data)
    sequence = np.array(state.sequence, dtype=np.int32)
    warm_up(search, sequence)
    best = improve(search, sequence, patience)
    while best[0] > search.target and not search.budget.exhausted():
        lay_out(best[1], search.problem, search.topology, search.links)
        shake(
            restart_moves, search.problem, search.topology, search.links, search.work, search.memory[2],
            search.rng,
        )  # fmt: skip
        found = improve(search, search.topology[0] // np.int32(search.problem[1]), patience)
        best = found if found[0] <= best[0] else best
    state.sequence = best[1]
    return state
