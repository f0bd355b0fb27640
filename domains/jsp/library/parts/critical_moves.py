"""Moves of critical operations along their machine: listing, rating and making them.

The file brings the neighbourhood, ``block_moves``.

Source: E. Balas, A. Vazacopoulos, Guided local search with shifting bottleneck for job shop scheduling,
1998.
"""

import numpy as np
from numba import njit
from parts.schedule import critical_path, longest_path, update_heads, update_tails
from parts.taker import block_moves


@njit(cache=True)
def list_moves(length, n_ops, machine, p, jp, js, c, t, path, moves):
    """Write the feasible moves of all blocks of the critical path in `path` into `moves`; their number.

    A row (u, v, 1) moves operation u right behind v, a row (u, v, 0) moves v right before u.
    """
    count = start = kept = 0
    while start < length:
        end = start
        while end + 1 < length and machine[path[end + 1]] == machine[path[start]]:
            end += 1
        if end > start:
            count = block_moves(start, end, length, moves, count)
        start = end + 1
    for row in range(count):
        u, v = path[moves[row, 0]], path[moves[row, 1]]
        if moves[row, 2] == 1:  # a path from the job successor of u to v would be longer than this
            is_feasible = js[u] == n_ops or t[v] > t[js[u]] - p[js[u]]
        else:
            is_feasible = jp[v] == n_ops or c[u] > c[jp[v]] - p[jp[v]]
        if is_feasible:
            moves[kept, 0], moves[kept, 1], moves[kept, 2] = u, v, moves[row, 2]
            kept += 1
    return kept


@njit(cache=True)
def rate_forward(u, v, p, jp, js, mp, ms, c, t, head):
    """Estimated longest path through the moved operations after putting u right behind v on its machine."""
    done = c[mp[u]]
    x = u
    i = 0
    while x != v:
        x = ms[x]
        head[i] = max(c[jp[x]], done)
        done = head[i] + p[x]
        i += 1
    tail = max(t[js[u]], t[ms[v]]) + p[u]
    value = max(c[jp[u]], done) + tail
    x = v
    while x != u:
        i -= 1
        tail = max(t[js[x]], tail) + p[x]
        value = max(value, head[i] + tail)
        x = mp[x]
    return value


@njit(cache=True)
def rate_backward(u, v, p, jp, js, mp, ms, c, t, head):
    """The same after putting v right before u: the problem read backwards, with heads for tails."""
    return rate_forward(v, u, p, js, jp, ms, mp, t, c, head)


@njit(cache=True)
def move_forward(u, v, jp, mp, ms, order, place, mark, moved):
    """Move u right behind v; operations that must follow u are shifted behind v in the topological order."""
    lo, hi = np.int64(place[u]), np.int64(place[v])
    before, first, after = mp[u], ms[u], ms[v]
    ms[before], mp[first] = first, before
    ms[v], mp[u] = u, v
    ms[u], mp[after] = after, u
    ms[order.size] = mp[order.size] = order.size
    mark[u] = True
    write, count = lo, 0
    for i in range(lo, hi + 1):
        x = order[i]
        if mark[x] or mark[jp[x]] or mark[mp[x]]:
            mark[x] = True
            moved[count] = x
            count += 1
        else:
            order[write] = x
            place[x] = write
            write += 1
    for i in range(count):
        x = moved[i]
        mark[x] = False
        order[write + i] = x
        place[x] = write + i
    return lo, hi


@njit(cache=True)
def move_backward(u, v, js, mp, ms, order, place, mark, moved):
    """Move v right before u; operations that must precede v are shifted before u in the topological order."""
    lo, hi = np.int64(place[u]), np.int64(place[v])
    before, last, after = mp[u], mp[v], ms[v]
    ms[last], mp[after] = after, last
    ms[before], mp[v] = v, before
    ms[v], mp[u] = u, v
    ms[order.size] = mp[order.size] = order.size
    mark[v] = True
    write, count = hi, 0
    for i in range(hi, lo - 1, -1):
        x = order[i]
        if mark[x] or mark[js[x]] or mark[ms[x]]:
            mark[x] = True
            moved[count] = x
            count += 1
        else:
            order[write] = x
            place[x] = write
            write -= 1
    for i in range(count):
        x = moved[i]
        mark[x] = False
        order[write - i] = x
        place[x] = write - i
    return lo, hi


@njit(cache=True)
def descend(steps, plateau, problem, topology, links, work, moves, status, best, rng):
    """At most `steps` moves of a steepest descent from the present schedule; whether it has ended.

    It ends when no move is rated below the present makespan, when a move made it longer, or after `plateau`
    moves in a row without gain. `status` holds the number of moves, the best makespan, the moves since the
    last gain and the present makespan; `best` receives the topological order of the best schedule.
    """
    n_jobs, n_machines, machine, p, jp, js = problem
    order, place = topology
    mp, ms, c, t = links
    path, head, moved, mark = work
    for _ in range(steps):
        if status[3] < status[1]:
            status[1], status[2] = status[3], 0
            best[:] = order
        if status[3] > status[1] or status[2] > plateau:
            return True
        length = critical_path(n_jobs, n_machines, status[3], p, js, ms, t, path, rng)
        count = list_moves(length, order.size, machine, p, jp, js, c, t, path, moves)
        chosen, value = -1, status[3]
        for row in range(count):
            u, v = moves[row, 0], moves[row, 1]
            if moves[row, 2] == 1:
                rated = rate_forward(u, v, p, jp, js, mp, ms, c, t, head)
            else:
                rated = rate_backward(u, v, p, jp, js, mp, ms, c, t, head)
            if rated < value:
                chosen, value = row, rated
        if chosen < 0:
            return True
        u, v = moves[chosen, 0], moves[chosen, 1]
        if moves[chosen, 2] == 1:
            lo, hi = move_forward(u, v, jp, mp, ms, order, place, mark, moved)
        else:
            lo, hi = move_backward(u, v, js, mp, ms, order, place, mark, moved)
        update_heads(order, lo, p, jp, mp, c)
        update_tails(order, hi, p, js, ms, t)
        status[0] += 1
        status[2] += 1
        status[3] = longest_path(n_jobs, n_machines, t)
    return False


@njit(cache=True)
def shake(swaps, problem, topology, links, work, moves, rng):
    """Make `swaps` random moves on random critical paths; returns the new makespan."""
    n_jobs, n_machines, machine, p, jp, js = problem
    order, place = topology
    mp, ms, c, t = links
    path, _head, moved, mark = work
    makespan = longest_path(n_jobs, n_machines, t)
    for _ in range(swaps):
        length = critical_path(n_jobs, n_machines, makespan, p, js, ms, t, path, rng)
        count = list_moves(length, order.size, machine, p, jp, js, c, t, path, moves)
        if count == 0:
            break
        row = int(rng.random() * count)
        if moves[row, 2] == 1:
            lo, hi = move_forward(moves[row, 0], moves[row, 1], jp, mp, ms, order, place, mark, moved)
        else:
            lo, hi = move_backward(moves[row, 0], moves[row, 1], js, mp, ms, order, place, mark, moved)
        update_heads(order, lo, p, jp, mp, c)
        update_tails(order, hi, p, js, ms, t)
        makespan = longest_path(n_jobs, n_machines, t)
    return makespan
