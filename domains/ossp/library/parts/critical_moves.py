"""Moves of critical operations within the order of their machine or job: listing, rating and making them.

The file brings the neighbourhood, ``block_moves``.
"""

import numpy as np
from numba import njit
from parts.jsp.critical_moves import move_backward, move_forward, rate_backward, rate_forward
from parts.jsp.schedule import update_heads, update_tails
from parts.schedule import critical_path, longest_path
from parts.taker import block_moves


@njit(cache=True)
def list_moves(length, n_ops, job, p, links, path, moves):
    """Write the feasible moves of all blocks of the critical path in `path` into `moves`; their number.

    A block is a run of operations of one machine or of one job. In a row (u, v, kind) kind 1 moves
    operation u right behind v in the order of their machine and kind 0 moves v right before u; 3 and 2 do
    the same in the order of their job.
    """
    jp, js, mp, ms, c, t = links
    count = start = kept = np.int64(0)
    while start + 1 < length:
        is_job = job[path[start]] == job[path[start + 1]]
        end = start + 1
        while end + 1 < length and (job[path[end]] == job[path[end + 1]]) == is_job:
            end += 1
        since = count
        count = block_moves(start, end, length, moves, count)
        if is_job:
            for row in range(since, count):
                moves[row, 2] += 2
        start = end
    for row in range(count):
        u, v, kind = path[moves[row, 0]], path[moves[row, 1]], moves[row, 2]
        if kind & 1:  # a path that leaves u by its other successor and ends in v would be longer than this
            x = js[u] if kind == 1 else ms[u]
            is_feasible = x == n_ops or t[v] > t[x] - p[x]
        else:
            x = jp[v] if kind == 0 else mp[v]
            is_feasible = x == n_ops or c[u] > c[x] - p[x]
        if is_feasible:
            moves[kept, 0], moves[kept, 1], moves[kept, 2] = u, v, kind
            kept += 1
    return kept


@njit(cache=True)
def rate(u, v, kind, p, links, head):
    """Estimated longest path through the operations that a move (see `list_moves`) displaces.

    For a move in the order of a job, jp, js and mp, ms change their parts.
    """
    jp, js, mp, ms, c, t = links
    if kind == 0:
        return rate_backward(u, v, p, jp, js, mp, ms, c, t, head)
    if kind == 1:
        return rate_forward(u, v, p, jp, js, mp, ms, c, t, head)
    if kind == 2:
        return rate_backward(u, v, p, mp, ms, jp, js, c, t, head)
    return rate_forward(u, v, p, mp, ms, jp, js, c, t, head)


@njit(cache=True)
def make_move(u, v, kind, p, topology, links, work):
    """Make a move (see `list_moves`), bring heads and tails up to date; returns the new makespan."""
    order, place = topology
    jp, js, mp, ms, c, t = links
    _path, _head, moved, mark = work
    if kind == 0:
        lo, hi = move_backward(u, v, js, mp, ms, order, place, mark, moved)
    elif kind == 1:
        lo, hi = move_forward(u, v, jp, mp, ms, order, place, mark, moved)
    elif kind == 2:
        lo, hi = move_backward(u, v, ms, jp, js, order, place, mark, moved)
    else:
        lo, hi = move_forward(u, v, mp, jp, js, order, place, mark, moved)
    update_heads(order, lo, p, jp, mp, c)
    update_tails(order, hi, p, js, ms, t)
    return longest_path(t)


@njit(cache=True)
def descend(steps, plateau, problem, topology, links, work, moves, status, best, rng):
    """At most `steps` moves of a steepest descent from the present schedule; whether it has ended.

    It ends when no move is rated below the present makespan, when a move made it longer, or after `plateau`
    moves in a row without gain. `status` holds the number of moves, the best makespan, the moves since the
    last gain and the present makespan; `best` receives the topological order of the best schedule.
    """
    _n_jobs, _n_machines, job, p = problem
    js, ms, t = links[1], links[3], links[5]
    path, head, _moved, _mark = work
    for _ in range(steps):
        if status[3] < status[1]:
            status[1], status[2] = status[3], 0
            best[:] = topology[0]
        if status[3] > status[1] or status[2] > plateau:
            return True
        length = critical_path(status[3], p, js, ms, t, path, rng)
        count = list_moves(length, p.size - 1, job, p, links, path, moves)
        chosen, value = -1, status[3]
        for row in range(count):
            rated = rate(moves[row, 0], moves[row, 1], moves[row, 2], p, links, head)
            if rated < value:
                chosen, value = row, rated
        if chosen < 0:
            return True
        u, v, kind = moves[chosen, 0], moves[chosen, 1], moves[chosen, 2]
        status[3] = make_move(u, v, kind, p, topology, links, work)
        status[0] += 1
        status[2] += 1
    return False


@njit(cache=True)
def shake(swaps, problem, topology, links, work, moves, rng):
    """Make `swaps` random moves on random critical paths; returns the new makespan."""
    _n_jobs, _n_machines, job, p = problem
    js, ms, t = links[1], links[3], links[5]
    path = work[0]
    makespan = np.int64(longest_path(t))
    for _ in range(swaps):
        length = critical_path(makespan, p, js, ms, t, path, rng)
        count = list_moves(length, p.size - 1, job, p, links, path, moves)
        if count == 0:
            break
        row = int(rng.random() * count)
        makespan = make_move(moves[row, 0], moves[row, 1], moves[row, 2], p, topology, links, work)
    return makespan
