"""Tabu search over the swaps at the borders of critical blocks (N5).

Method: in each iteration the best rated move on a random critical path is made, better or worse; a move is
tabu when it would bring back an order of two operations that was reversed recently, unless it promises a new
best. After PATIENCE iterations without improvement the search restarts from the best schedule, shaken by
random moves.

Source: E. Nowicki, C. Smutnicki, A fast taboo search algorithm for the job shop problem, 1996; E. Taillard,
Parallel taboo search techniques for the job shop scheduling problem, 1994 (rating of moves).

Complexity: O(N) per iteration for N operations.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

PATIENCE = 20000  # tunable: int 500..100000
RESTART_MOVES = 10  # tunable: int 1..100
CHUNK_OPERATIONS = 400_000  # iterations of one kernel call times operations of the instance


# exchangeable: tabu-tenure
@njit(cache=True)
def tabu_tenure(n_jobs, n_machines, draw):
    """Iterations for which a placement stays forbidden; `draw` is uniform on [0, 1)."""
    base = 10 + n_jobs // n_machines
    spread = 1.4 if n_jobs <= 2 * n_machines else 1.5
    return int(base + draw * base * (spread - 1.0)) + 1


# exchangeable: neighbourhood
@njit(cache=True)
def block_moves(first, last, length, moves, count):
    """Append the N5 moves of the critical block at places first..last of a path: the swaps of its first
    pair (unless the path starts with the block) and of its last pair (unless the path ends with it).

    A row (i, j, 1) puts the operation at path place i right behind the one at j, a row (i, j, 0) the one at
    j right before the one at i; always i < j. Rows that do not fit into `moves` are left out. Returns the
    new count.
    """
    if last + 1 < length and count < moves.shape[0]:
        moves[count, 0], moves[count, 1], moves[count, 2] = last - 1, last, 1
        count += 1
    if first > 0 and (last > first + 1 or last + 1 == length) and count < moves.shape[0]:
        moves[count, 0], moves[count, 1], moves[count, 2] = first, first + 1, 1
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


@njit(cache=True)
def is_forbidden(u, v, is_forward, now, ms, job, until):
    """Whether moving u right behind v (or v right before u) restores an order that is still banned."""
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
def choose_move(count, best, now, p, jp, js, mp, ms, c, t, head, job, until, moves, rng):
    """Row of the `count` moves to make: the best rated one that is not tabu, or else a random one."""
    chosen, value, ties = -1, 2**40, 0
    for row in range(count):
        u, v, is_forward = moves[row, 0], moves[row, 1], moves[row, 2] == 1
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


def warm_up(search, sequence):
    """Call the kernels of later phases once, so that none is compiled in the middle of a timed run."""
    lay_out(sequence, search.problem, search.topology, search.links)
    shake(0, search.problem, search.topology, search.links, search.work, search.memory[2], search.rng)


def run(env_data, state, calc_makespan_fn):
    """Tabu search from `state` until the share of the budget is spent or a lower bound is met."""
    search = open_search(env_data)
    sequence = np.array(state.sequence, dtype=np.int32)
    warm_up(search, sequence)
    best = improve(search, sequence, PATIENCE)
    while best[0] > search.target and not search.budget.exhausted():
        lay_out(best[1], search.problem, search.topology, search.links)
        shake(
            RESTART_MOVES, search.problem, search.topology, search.links, search.work, search.memory[2],
            search.rng,
        )  # fmt: skip
        found = improve(search, search.topology[0] // np.int32(search.problem[1]), PATIENCE)
        best = found if found[0] <= best[0] else best
    state.sequence = best[1]
    return state
