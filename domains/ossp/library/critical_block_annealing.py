"""Simulated annealing over adjacent swaps on critical paths.

Method: a random adjacent pair of a critical block, be it a run on one machine or within one job, is swapped;
its rating by heads and tails decides with Metropolis' rule. The temperature falls geometrically over the
share of the budget. The best schedule met is returned.

Source: C.-F. Liaw, Applying simulated annealing to the open shop scheduling problem, 1999.

Complexity: O(N) per accepted move for N operations, O(length of the critical path) per rejected one.
"""

import math

import numpy as np
from numba import njit

START_TEMPERATURE = 0.05  # tunable: float 0.001..0.5
END_TEMPERATURE = 0.003  # tunable: float 0.0001..0.05
CHUNK_OPERATIONS = 400_000  # trials of one kernel call times operations of the instance


# exchangeable: neighbourhood
@njit(cache=True)
def block_moves(first, last, length, moves, count):
    """Append the N1 moves of the critical block at places first..last of a path: all adjacent swaps.

    A row (i, j, 1) puts the operation at path place i right behind the one at j, a row (i, j, 0) the one at
    j right before the one at i; always i < j. Rows that do not fit into `moves` are left out. Returns the
    new count.
    """
    for i in range(first, last):
        if count == moves.shape[0]:
            break
        moves[count, 0], moves[count, 1], moves[count, 2] = i, i + 1, 1
        count += 1
    return count


@njit(cache=True)
def update_heads(order, start, p, jp, mp, c):
    """Completion times c of the operations at topological places `start` and later."""
    for i in range(start, order.size):
        x = order[i]
        c[x] = max(c[jp[x]], c[mp[x]]) + p[x]


@njit(cache=True)
def update_tails(order, end, p, js, ms, t):
    """Tails t (own time included) of the operations at topological places `end` and earlier."""
    for i in range(end, -1, -1):
        x = order[i]
        t[x] = max(t[js[x]], t[ms[x]]) + p[x]


@njit(cache=True)
def longest_path(t):
    """Makespan: the longest tail of an operation."""
    makespan = t[0]
    for x in range(1, t.size):
        makespan = max(makespan, t[x])
    return makespan


@njit(cache=True)
def lay_out(sequence, problem, topology, links):
    """Set up order, predecessors and successors, heads and tails of a sequence; its makespan."""
    n_jobs, n_machines, job, p = problem
    order, place = topology
    jp, js, mp, ms, c, t = links
    n_ops = n_jobs * n_machines
    last_of_job = np.full(n_jobs, n_ops, np.int32)
    last_on = np.full(n_machines, n_ops, np.int32)
    for i in range(n_ops):
        x = sequence[i]
        order[i] = x
        place[x] = i
        j = job[x]
        k = x - j * n_machines
        jp[x], mp[x] = last_of_job[j], last_on[k]
        js[jp[x]] = ms[mp[x]] = x
        js[x] = ms[x] = n_ops
        last_of_job[j] = last_on[k] = x
    jp[n_ops] = js[n_ops] = mp[n_ops] = ms[n_ops] = n_ops
    update_heads(order, np.int64(0), p, jp, mp, c)
    update_tails(order, n_ops - 1, p, js, ms, t)
    return longest_path(t)


@njit(cache=True)
def critical_path(makespan, p, js, ms, t, path, rng):
    """One critical path, drawn at random where it starts or forks; returns its length."""
    n_ops = p.size - 1
    x = n_ops
    ties = 0
    for first in range(n_ops):
        if t[first] == makespan:
            ties += 1
            if ties == 1 or rng.random() * ties < 1.0:
                x = first
    length = 0
    while x != n_ops:
        path[length] = x
        length += 1
        rest = t[x] - p[x]
        a, b = js[x], ms[x]
        if rest == 0:
            x = n_ops
        elif t[a] != rest:
            x = b
        elif t[b] != rest or rng.random() < 0.5:
            x = a
        else:
            x = b
    return length


@njit(cache=True)
def rate_forward(u, v, p, jp, js, mp, ms, c, t, head):
    """Estimated longest path through the moved operations after putting u right behind v on its machine.

    For a move in the order of a job the caller exchanges the parts of jp, js and mp, ms.
    """
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
    """Estimated longest path through the moved operations after putting v right before u on its machine.

    For a move in the order of a job the caller exchanges the parts of jp, js and mp, ms.
    """
    rest = t[ms[v]]
    x = v
    i = 0
    while x != u:
        x = mp[x]
        head[i] = max(t[js[x]], rest)
        rest = head[i] + p[x]
        i += 1
    done = max(c[jp[v]], c[mp[u]]) + p[v]
    value = done + max(t[js[v]], rest)
    x = u
    while x != v:
        i -= 1
        done = max(c[jp[x]], done) + p[x]
        value = max(value, done + head[i])
        x = ms[x]
    return value


@njit(cache=True)
def rate(u, v, kind, p, links, head):
    """Estimated longest path through the operations that a move (see `list_moves`) displaces."""
    jp, js, mp, ms, c, t = links
    if kind == 0:
        return rate_backward(u, v, p, jp, js, mp, ms, c, t, head)
    if kind == 1:
        return rate_forward(u, v, p, jp, js, mp, ms, c, t, head)
    if kind == 2:
        return rate_backward(u, v, p, mp, ms, jp, js, c, t, head)
    return rate_forward(u, v, p, mp, ms, jp, js, c, t, head)


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


def prepare(env_data):
    """Arrays of an instance and of one schedule; the operation of job j on machine k is j * machines + k.

    problem: numbers of jobs and machines; job and time of an operation. topology: a topological order and
    the places in it. links: job predecessors and successors, machine predecessors and successors,
    completion times, tails (own time included). work: critical path, heads in a move, moved operations and
    their marks. The number of operations stands for "none".
    """
    n, m = env_data["num_jobs"], env_data["num_machines"]
    size = n * m
    p = np.zeros(size + 1, np.int32)
    p[:size] = np.asarray(env_data["ossp_times"]).ravel()
    job = (np.arange(size + 1) // m).astype(np.int32)
    blank = [np.zeros(size + 1, np.int32) for _ in range(10)]
    topology, links = (np.zeros(size, np.int32), blank[0]), tuple(blank[1:7])
    return (n, m, job, p), topology, links, (*blank[7:], np.zeros(size + 1, np.bool_))


# exchangeable: acceptance
@njit(cache=True)
def accepts(loss, temperature, draw):
    """Whether a move that lengthens the schedule by `loss` is made; `draw` is uniform on [0, 1)."""
    return loss <= 0 or draw < math.exp(-loss / temperature)


@njit(cache=True)
def anneal(trials, temperature, target, problem, topology, links, work, moves, status, best, rng):
    """Try `trials` moves; `status` holds the best and the present makespan, `best` the best order.

    Returns the number of trials made: fewer when `target` is met or no move is left.
    """
    _n_jobs, _n_machines, job, p = problem
    js, ms, t = links[1], links[3], links[5]
    path, head, _moved, _mark = work
    for trial in range(trials):
        if status[0] <= target:
            return trial
        length = critical_path(status[1], p, js, ms, t, path, rng)
        count = list_moves(length, p.size - 1, job, p, links, path, moves)
        if count == 0:
            return trial
        row = int(rng.random() * count)
        u, v, kind = moves[row, 0], moves[row, 1], moves[row, 2]
        rated = rate(u, v, kind, p, links, head)
        if not accepts(rated - status[1], temperature, rng.random()):
            continue
        status[1] = make_move(u, v, kind, p, topology, links, work)
        if status[1] < status[0]:
            status[0] = status[1]
            best[:] = topology[0]
    return trials


def run(env_data, state, calc_makespan_fn):
    """Anneal from `state` until the share of the budget is spent or a lower bound is met."""
    budget, rng = env_data["budget"], env_data["rng"]
    problem, topology, links, work = prepare(env_data)
    sequence = np.array(state.sequence, dtype=np.int32)
    makespan = int(lay_out(sequence, problem, topology, links))
    moves = np.zeros((4 * sequence.size, 3), np.int32)
    status = np.array([makespan, makespan], np.int64)
    best = topology[0].copy()
    trials = made = max(50, CHUNK_OPERATIONS // sequence.size)
    while made == trials and not budget.exhausted():
        cooling = (END_TEMPERATURE / START_TEMPERATURE) ** (1.0 - budget.remaining())
        temperature = makespan * START_TEMPERATURE * cooling
        made = anneal(
            trials, temperature, env_data["lower_bound"], problem, topology, links, work, moves, status, best,
            rng,
        )  # fmt: skip
        budget.charge(made)
    state.sequence = best
    return state
