"""Tabu search with the moves of the part ``optimal_insertion``; it is opened once and called often."""

from dataclasses import dataclass

import numpy as np
from numba import njit
from parts.optimal_insertion import ban_return, best_move, rate_exactly
from parts.plans import prepare
from parts.schedule import CHUNK_OPERATIONS, critical_path, keep, lay_out, relocate
from parts.taker import EXACT


# exchangeable: tabu-tenure
@njit(cache=True)
def tabu_tenure(is_same_machine, path_length, options, n_jobs, n_machines, draw):
    """Iterations for which undoing a move stays forbidden; `draw` is uniform on [0, 1).

    `options` is the number of eligible machines of the moved operation.
    """
    if is_same_machine:
        base = 10 + n_jobs // n_machines
        return int(base + draw * base * 0.5) + 1
    base = 5 + path_length // 4 + options
    return int(base + draw * base * 0.5) + 1


@njit(cache=True)
def tabu_search(
    allowance, exact, patience, target, shop, options, links, first, work, to_machine, ahead_of, status, best,
    rng,
):  # fmt: skip
    """Tabu search from the present schedule for about `allowance` computations of heads and tails; whether
    it is over.

    It is over when `patience` iterations brought no improvement, the makespan met `target`, or no operation
    of the critical path can move. `status` holds the iteration, the best makespan, the iteration of the last
    improvement, the present makespan and the computations made; `best` receives the best plan.
    """
    mp, ms, machine = links[0], links[1], links[2]
    n_jobs = shop[3, mp.size - 1]
    path, found = work[4], work[6]
    now, best_value, improved, makespan = status[0], status[1], status[2], status[3]
    end = status[4] + allowance
    over = False
    while status[4] < end:
        if makespan < best_value:
            best_value, improved = makespan, now
            keep(best, shop, links)
        over = best_value <= target or now - improved >= patience
        if over:
            break
        now += 1
        length = critical_path(makespan, shop, links, path, rng)
        status[4] += exact + 1
        movable = best_move(
            length, exact, now, best_value, shop, options, links, first, work, to_machine, ahead_of, found,
            rng,
        )  # fmt: skip
        if movable == 0:
            over = True
            break
        for _ in range(length):  # every move is tabu: the best one of a random operation
            if found[3] >= 0:
                break
            i = int(rng.random() * length)
            v = path[i]
            is_in_block = (i > 0 and path[i - 1] == mp[v]) or (i + 1 < length and path[i + 1] == ms[v])
            status[4] += 1
            rate_exactly(
                v, is_in_block, now, np.int64(2**60), shop, options, links, first, work, to_machine, ahead_of,
                found, rng,
            )  # fmt: skip
        if found[3] < 0:
            continue
        v, before, k, time = np.int32(found[3]), np.int32(found[4]), np.int32(found[5]), np.int32(found[6])
        tenure = tabu_tenure(
            k == machine[v], length, shop[4, v + 1] - shop[4, v], n_jobs, first.size - 1, rng.random()
        )  # fmt: skip
        ban_return(v, before, k, now + tenure, shop, links, to_machine, ahead_of)
        reached = relocate(v, before, k, time, shop, links, first, work)
        makespan = reached if reached >= 0 else makespan
    status[0], status[1], status[2], status[3] = now, best_value, improved, makespan
    return over


def lower_bound(env_data):
    """Longest job and mean machine load with the shortest times, and per machine the load that only it can
    take with the shortest head and tail: a makespan no schedule beats."""
    shortest = np.min(np.asarray(env_data["processing_matrix"]), axis=2)
    shortest[np.isinf(shortest)] = 0.0
    heads = np.cumsum(shortest, axis=1) - shortest
    tails = shortest.sum(axis=1, keepdims=True) - heads - shortest
    bound = max(shortest.sum(axis=1).max(), np.ceil(shortest.sum() / env_data["num_machines"]))
    bound_to = np.where(
        np.asarray(env_data["eligible_counts"]) == 1, env_data["machines_matrix"][:, :, 0], -1
    )
    for k in range(env_data["num_machines"]):
        on_k = bound_to == k
        if on_k.any():
            bound = max(bound, heads[on_k].min() + shortest[on_k].sum() + tails[on_k].min())
    return int(bound)


@dataclass
class Search:
    """What the calls on one instance share."""

    arrays: tuple
    bans: tuple
    target: int
    chunk: int
    rng: np.random.Generator
    budget: object


def open_search(env_data):
    """A :class:`Search` for an instance; a kernel call takes some milliseconds."""
    size, n, m = env_data["total_ops"], env_data["num_jobs"], env_data["num_machines"]
    bans = (np.zeros((size, m), np.int32), np.zeros((size, n), np.int32))
    chunk = max(20, CHUNK_OPERATIONS // size)
    return Search(prepare(env_data), bans, lower_bound(env_data), chunk, env_data["rng"], env_data["budget"])


def improve(search, plan, patience, until):
    """Tabu search from `plan` until `patience` iterations bring nothing or only the fraction `until` of the
    budget remains; (makespan, plan). Kernel calls start short, so that little is done after a short share."""
    makespan = lay_out(plan, *search.arrays[:4])
    status = np.array([0, makespan + 1, 0, makespan, 0], np.int64)
    best = plan.copy()
    for table in search.bans:
        table[:] = 0
    over = False
    while not over:
        before = int(status[4])
        allowance = min(search.chunk, 100 + before)
        over = tabu_search(
            allowance, EXACT, patience, search.target, *search.arrays, *search.bans, status, best, search.rng
        )
        search.budget.charge(int(status[4]) - before)
        over = over or search.budget.remaining() <= until
    return int(status[1]), best
