"""Iterated local search: random critical swaps, then a descent over the insertions inside critical blocks.

Method: a few random adjacent swaps on critical paths perturb the present schedule; a steepest descent
follows. The result takes the place of the present schedule unless it is longer; after PATIENCE kicks without
a new best schedule the search returns to the best one.

Source: H. R. Lourenço, O. C. Martin, T. Stützle, Iterated local search, 2003; C.-F. Liaw, An iterative
improvement approach for the nonpreemptive open shop scheduling problem, 1998.

Complexity: O(N + b²) per move for N operations and blocks of b operations; uses its whole share of the
budget.
"""

import numpy as np
from numba import njit

SWAPS = 6  # tunable: int 1..100
PATIENCE = 30  # tunable: int 1..1000
PLATEAU = 10  # tunable: int 0..200
CHUNK_OPERATIONS = 200_000  # moves of one kernel call, about, times operations of the instance


# exchangeable: neighbourhood
@njit(cache=True)
def block_moves(first, last, length, moves, count):
    """Append the insertions of the critical block at places first..last of a path: every operation to both
    ends of the block, both ends to every place inside (N7). Returns the new count.

    A row (i, j, 1) puts the operation at path place i right behind the one at j, a row (i, j, 0) the one at
    j right before the one at i; always i < j. Rows that do not fit into `moves` are left out.
    """
    for i in range(first, last):
        if count + 4 > moves.shape[0]:
            break
        moves[count, 0], moves[count, 1], moves[count, 2] = i, last, 1
        count += 1
        if i + 1 < last:
            moves[count, 0], moves[count, 1], moves[count, 2] = first, last + first - i, 0
            moves[count + 1, 0], moves[count + 1, 1], moves[count + 1, 2] = first, i + 1, 1
            count += 2
            if i > first:
                moves[count, 0], moves[count, 1], moves[count, 2] = i, last, 0
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


@njit(cache=True)
def iterate(moves_left, swaps, patience, plateau, problem, topology, links, work, moves, found, orders, rng):
    """Kick and descend until `moves_left` moves are made; returns the moves made.

    `found` holds the makespans of the present and of the best schedule and the kicks since the last best one;
    `orders` the present, the tried and the best sequence.
    """
    present, trial, best = orders
    status = np.zeros(4, np.int64)
    made = 0
    while made < moves_left:
        lay_out(present, problem, topology, links)
        makespan = shake(swaps, problem, topology, links, work, moves, rng)
        status[0], status[1], status[2], status[3] = 0, makespan + 1, 0, makespan
        while not descend(100, plateau, problem, topology, links, work, moves, status, trial, rng):
            if status[0] > 100 * present.size:
                break
        made += status[0] + swaps
        found[2] += 1
        if status[1] <= found[0]:
            found[0] = status[1]
            present[:] = trial
        if status[1] < found[1]:
            found[1], found[2] = status[1], 0
            best[:] = trial
        if found[2] >= patience:
            found[0], found[2] = found[1], 0
            present[:] = best
    return made


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


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the budget's share is used up; the best schedule found."""
    budget, rng = env_data["budget"], env_data["rng"]
    problem, topology, links, work = prepare(env_data)
    sequence = np.array(state.sequence, dtype=np.int32)
    makespan = int(lay_out(sequence, problem, topology, links))
    moves = np.zeros((4 * sequence.size, 3), np.int32)
    found = np.array([makespan, makespan, 0], np.int64)
    orders = (sequence.copy(), sequence.copy(), sequence)
    chunk = max(20, CHUNK_OPERATIONS // sequence.size)
    while not budget.exhausted():
        made = iterate(
            chunk, SWAPS, PATIENCE, PLATEAU, problem, topology, links, work, moves, found, orders, rng
        )
        budget.charge(int(made))
    state.sequence = sequence
    return state
