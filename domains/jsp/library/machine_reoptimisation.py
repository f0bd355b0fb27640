"""Reoptimisation of one machine after the other, the local improvement of the shifting bottleneck.

Method: the order of one machine is dropped; heads and tails of its operations in what remains make a
one-machine problem with release times and delivery times, which a small branch and bound solves (Schrage
schedules, branching on the critical operation). The new order is kept when it closes no cycle and does not
lengthen the schedule. Machines are taken in random order until none of them helps.

Source: J. Adams, E. Balas, D. Zawack, The shifting bottleneck procedure for job shop scheduling, 1988;
J. Carlier, The one-machine sequencing problem, 1982.

Complexity: O(N) for heads and tails and O(n²) per node of the branch and bound, N operations, n jobs.
"""

import numpy as np
from numba import njit
from parts.schedule import lay_out, longest_path, prepare, sort_topologically, update_heads, update_tails

NODES = 60  # tunable: int 1..2000


@njit(cache=True)
def schrage(release, time, delivery, permutation, ends):
    """Serve, whenever the machine is free, the waiting operation with the longest delivery.

    Writes the order into `permutation` and the completion of each place into `ends`; returns the makespan.
    """
    n = time.size
    done = np.zeros(n, np.bool_)
    clock = makespan = np.int64(0)
    for place in range(n):
        soonest, chosen = np.int64(2**62), -1
        for i in range(n):
            if not done[i]:
                soonest = min(soonest, release[i])
        clock = max(clock, soonest)
        for i in range(n):
            if not done[i] and release[i] <= clock and (chosen < 0 or delivery[i] > delivery[chosen]):
                chosen = i
        done[chosen] = True
        clock += time[chosen]
        permutation[place], ends[place] = chosen, clock
        makespan = max(makespan, clock + delivery[chosen])
    return makespan


@njit(cache=True)
def critical_part(release, time, delivery, permutation, ends, makespan):
    """Places (first, operation, last) of Carlier's critical sequence; operation -1: the order is optimal."""
    last = permutation.size - 1
    while ends[last] + delivery[permutation[last]] != makespan:
        last -= 1
    first = last
    while first > 0 and ends[first] - time[permutation[first]] == ends[first - 1]:
        first -= 1
    operation = last - 1
    while operation >= first and delivery[permutation[operation]] >= delivery[permutation[last]]:
        operation -= 1
    return first, (operation if operation >= first else -1), last


@njit(cache=True)
def one_machine(release, time, delivery, node_limit, best):
    """Best order found for one machine, written into `best`; returns its makespan."""
    n = time.size
    depth = 64
    releases, deliveries = np.empty((depth, n), np.int64), np.empty((depth, n), np.int64)
    releases[0], deliveries[0] = release, delivery
    permutation, ends = np.empty(n, np.int64), np.empty(n, np.int64)
    value = np.int64(2**62)
    top = 1
    for _ in range(node_limit):
        if top == 0:
            break
        top -= 1
        r, q = releases[top].copy(), deliveries[top].copy()
        makespan = schrage(r, time, q, permutation, ends)
        true_makespan = np.int64(0)
        for place in range(n):
            true_makespan = max(true_makespan, ends[place] + delivery[permutation[place]])
        if true_makespan < value:
            value = true_makespan
            best[:] = permutation
        _first, place, last = critical_part(r, time, q, permutation, ends, makespan)
        if place < 0 or top + 2 > depth:
            continue
        c = permutation[place]
        load, soonest, shortest = np.int64(0), np.int64(2**62), np.int64(2**62)
        for i in range(place + 1, last + 1):
            x = permutation[i]
            load += time[x]
            soonest = min(soonest, r[x])
            shortest = min(shortest, q[x])
        if soonest + load + shortest >= value:
            continue
        releases[top], deliveries[top] = r, q
        releases[top + 1], deliveries[top + 1] = r, q
        releases[top, c] = max(r[c], soonest + load)
        deliveries[top + 1, c] = max(q[c], load + q[permutation[last]])
        top += 2
    return value


@njit(cache=True)
def reoptimise(k, makespan, node_limit, problem, topology, links, trial):
    """Replace the order of machine k if that does not lengthen the schedule; returns the makespan."""
    n_jobs, n_machines, machine, p, jp, js = problem
    order, _place = topology
    mp, ms, c, t = links
    old_order, new_mp, new_ms = trial
    n_ops = order.size
    members = np.empty(n_jobs, np.int64)
    count = 0
    for x in order:
        if machine[x] == k:
            members[count] = x
            count += 1
    new_mp[:], new_ms[:] = mp, ms
    for x in members:
        mp[x] = ms[x] = n_ops
    update_heads(order, 0, p, jp, mp, c)
    update_tails(order, n_ops - 1, p, js, ms, t)
    release, time, delivery = (
        np.empty(n_jobs, np.int64),
        np.empty(n_jobs, np.int64),
        np.empty(n_jobs, np.int64),
    )
    for i in range(n_jobs):
        x = members[i]
        release[i], time[i], delivery[i] = c[jp[x]], p[x], t[js[x]]
    best = np.empty(n_jobs, np.int64)
    one_machine(release, time, delivery, node_limit, best)
    for i in range(n_jobs):
        x = members[best[i]]
        mp[x] = members[best[i - 1]] if i > 0 else n_ops
        ms[x] = members[best[i + 1]] if i + 1 < n_jobs else n_ops
    old_order[:] = order
    value = np.int64(2**62)
    if sort_topologically(jp, js, mp, ms, order) == n_ops:
        update_heads(order, 0, p, jp, mp, c)
        update_tails(order, n_ops - 1, p, js, ms, t)
        value = longest_path(n_jobs, n_machines, t)
    if value > makespan:
        mp[:], ms[:], order[:] = new_mp, new_ms, old_order
        return makespan
    return value


def run(env_data, state, calc_makespan_fn):
    """Reoptimise machines of `state` until a round over all of them brings nothing."""
    budget, rng = env_data["budget"], env_data["rng"]
    problem, topology, links, _work = prepare(env_data)
    sequence = np.array(state.sequence, dtype=np.int32)
    makespan = lay_out(sequence, problem, topology, links)
    trial = (topology[0].copy(), links[0].copy(), links[1].copy())
    has_improved = True
    while has_improved and not budget.exhausted():
        has_improved = False
        for k in rng.permutation(problem[1]):
            value = reoptimise(int(k), makespan, NODES, problem, topology, links, trial)
            has_improved = has_improved or value < makespan
            makespan = value
            budget.charge(1)
            if budget.exhausted():
                break
    state.sequence = topology[0] // np.int32(problem[1])
    return state
