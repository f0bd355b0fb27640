"""Simulated annealing over adjacent swaps on critical paths.

Method: a random adjacent pair of a critical block is swapped; its rating by heads and tails decides with
Metropolis' rule. The temperature falls geometrically over the share of the budget. The best schedule met is
returned.

Source: P. J. M. van Laarhoven, E. H. L. Aarts, J. K. Lenstra, Job shop scheduling by simulated annealing,
1992.

Complexity: O(N) per accepted move for N operations, O(length of the critical path) per rejected one.
"""

import math

import numpy as np
from numba import njit

START_TEMPERATURE = 0.01  # tunable: float 0.001..0.1
END_TEMPERATURE = 0.0005  # tunable: float 0.00001..0.005
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
def longest_path(n_jobs, n_machines, t):
    """Makespan: the longest tail of a job's first operation."""
    makespan = 0
    for first in range(0, n_jobs * n_machines, n_machines):
        makespan = max(makespan, t[first])
    return makespan


@njit(cache=True)
def lay_out(sequence, problem, topology, links):
    """Set up order, machine predecessors and successors, heads and tails of a sequence; its makespan."""
    n_jobs, n_machines, machine, p, jp, js = problem
    order, place = topology
    mp, ms, c, t = links
    n_ops = n_jobs * n_machines
    done = np.zeros(n_jobs, np.int32)
    last = np.full(n_machines, n_ops, np.int32)
    for i in range(n_ops):
        x = sequence[i] * n_machines + done[sequence[i]]
        done[sequence[i]] += 1
        order[i] = x
        place[x] = i
        k = machine[x]
        mp[x] = last[k]
        ms[x] = n_ops
        ms[last[k]] = x
        last[k] = x
    mp[n_ops] = ms[n_ops] = n_ops
    update_heads(order, 0, p, jp, mp, c)
    update_tails(order, n_ops - 1, p, js, ms, t)
    return longest_path(n_jobs, n_machines, t)


@njit(cache=True)
def critical_path(n_jobs, n_machines, makespan, p, js, ms, t, path, rng):
    """One critical path, drawn at random where it forks; returns its length."""
    n_ops = n_jobs * n_machines
    x = n_ops
    ties = 0
    for first in range(0, n_ops, n_machines):
        if t[first] == makespan:
            ties += 1
            if rng.random() * ties < 1.0:
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
    """Estimated longest path through the moved operations after putting v right before u on its machine."""
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
def move_forward(u, v, jp, mp, ms, order, place, mark, moved):
    """Move u right behind v; operations that must follow u are shifted behind v in the topological order."""
    lo, hi = place[u], place[v]
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
    lo, hi = place[u], place[v]
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
    machine[:size] = np.asarray(env_data["machines_matrix"]).ravel()
    p[:size] = np.asarray(env_data["times_matrix"]).ravel()
    jp, js = np.arange(-1, size, dtype=np.int32), np.arange(1, size + 2, dtype=np.int32)
    jp[: size + 1 : m] = js[m - 1 :: m] = jp[size] = js[size] = size
    blank = [np.zeros(size + 1, np.int32) for _ in range(8)]
    topology, links = (np.zeros(size, np.int32), blank[0]), tuple(blank[1:5])
    return (n, m, machine, p, jp, js), topology, links, (*blank[5:], np.zeros(size + 1, np.bool_))


# exchangeable: acceptance
@njit(cache=True)
def accepts(loss, temperature, draw):
    """Whether a move that lengthens the schedule by `loss` is made; `draw` is uniform on [0, 1)."""
    return loss <= 0 or draw < math.exp(-loss / temperature)


@njit(cache=True)
def anneal(trials, temperature, problem, topology, links, work, moves, status, best, rng):
    """Try `trials` moves; `status` holds the best and the present makespan, `best` the best order."""
    n_jobs, n_machines, machine, p, jp, js = problem
    order, place = topology
    mp, ms, c, t = links
    path, head, moved, mark = work
    for _ in range(trials):
        length = critical_path(n_jobs, n_machines, status[1], p, js, ms, t, path, rng)
        count = list_moves(length, order.size, machine, p, jp, js, c, t, path, moves)
        if count == 0:
            return
        row = int(rng.random() * count)
        u, v = moves[row, 0], moves[row, 1]
        if moves[row, 2] == 1:
            rated = rate_forward(u, v, p, jp, js, mp, ms, c, t, head)
        else:
            rated = rate_backward(u, v, p, jp, js, mp, ms, c, t, head)
        if not accepts(rated - status[1], temperature, rng.random()):
            continue
        if moves[row, 2] == 1:
            lo, hi = move_forward(u, v, jp, mp, ms, order, place, mark, moved)
        else:
            lo, hi = move_backward(u, v, js, mp, ms, order, place, mark, moved)
        update_heads(order, lo, p, jp, mp, c)
        update_tails(order, hi, p, js, ms, t)
        status[1] = longest_path(n_jobs, n_machines, t)
        if status[1] < status[0]:
            status[0] = status[1]
            best[:] = order


def run(env_data, state, calc_makespan_fn):
    """Anneal from `state` until the share of the budget is spent."""
    budget, rng = env_data["budget"], env_data["rng"]
    problem, topology, links, work = prepare(env_data)
    sequence = np.array(state.sequence, dtype=np.int32)
    makespan = lay_out(sequence, problem, topology, links)
    moves = np.zeros((4 * sequence.size, 3), np.int32)
    status = np.array([makespan, makespan], np.int64)
    best = topology[0].copy()
    trials = max(50, CHUNK_OPERATIONS // sequence.size)
    while not budget.exhausted():
        cooling = (END_TEMPERATURE / START_TEMPERATURE) ** (1.0 - budget.remaining())
        temperature = makespan * START_TEMPERATURE * cooling
        anneal(trials, temperature, problem, topology, links, work, moves, status, best, rng)
        budget.charge(trials)
    state.sequence = best // np.int32(problem[1])
    return state
