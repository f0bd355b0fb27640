"""Tabu search that starts again and again between two schedules of an elite.

Method: operations at the borders of the blocks of a random critical path cross their block (N7, without the
moves that cannot shorten the path: those within its first block to the front, within its last to the end).
Moves are rated by heads and tails; those whose passed operations alone are too long in a row are not. After
some moves without gain, fewer where the budget is short, the next search starts from a schedule between two
of the elite: operations in the order of their weighted mean mid times, which keeps every order both share.

Operation k of job j has number j * (m + 1) + k + 1; x - 1 and x + 1 are the neighbours of x in its job, and
numbers between jobs are empty, as 0 is.

Source: B. Peng, Z. Lü, T. C. E. Cheng, A tabu search/path relinking algorithm to solve the job shop
scheduling problem, 2015; C. Zhang, P. Li, Z. Guan, Y. Rao, A tabu search algorithm with a new neighborhood
structure for the job shop scheduling problem, 2007. This form of it (elite by mid times, patience by budget)
was written by a language model in the recorded run ``examples/runs/jsp-basic-model.dga2d.zip``.

Complexity: O(N + b²) per move for N operations and blocks of b.
"""

import numpy as np
from numba import njit
from parts.between_sequences import machine_distance
from parts.tabu import lower_bound

PATIENCE = 12_000  # tunable: int 1000..50000
PATIENCE_SHARE = 0.03  # tunable: float 0.005..0.2
ELITE_SIZE = 10  # tunable: int 2..30
FILL_SHARE = 0.4  # tunable: float 0.1..0.8
TENURE = 10  # tunable: int 4..30
TENURE_WIDTH = 1.4  # tunable: float 1.1..2.5
NEAREST = 0.3  # tunable: float 0.1..0.5
SHAKE_LOW = 0.15  # tunable: float 0.02..0.4
SHAKE_HIGH = 0.5  # tunable: float 0.3..1.0
CHUNK_OPERATIONS = 700_000  # moves of one kernel call times operations of the instance


@njit(cache=True)
def load(order, place, machine, p, mp, ms, e, t):
    """Set machine neighbours, places, ends and tails that belong to a topological order; its makespan."""
    last = np.zeros(machine.max() + 1, np.int32)
    mp[:] = ms[:] = 0
    makespan = 0
    for i in range(order.size):
        x = order[i]
        place[x] = i
        mp[x] = last[machine[x]]
        if mp[x] != 0:
            ms[mp[x]] = x
        last[machine[x]] = x
        e[x] = max(e[x - 1], e[mp[x]]) + p[x]
        makespan = max(makespan, e[x])
    for i in range(order.size - 1, -1, -1):
        x = order[i]
        t[x] = max(t[x + 1], t[ms[x]]) + p[x]
    return makespan


@njit(cache=True)
def trace_back(n, m, makespan, p, mp, e, path, rng):
    """Write a random critical path to the end of `path`; the place where it starts."""
    x = ties = 0
    for y in range(m, n * (m + 1), m + 1):
        if e[y] == makespan:
            ties += 1
            if rng.random() * ties < 1.0:
                x = y
    first = path.size
    while x != 0:
        first -= 1
        path[first] = x
        start = e[x] - p[x]
        by_job = (x - 1) % (m + 1) != 0 and e[x - 1] == start
        by_machine = mp[x] != 0 and e[mp[x]] == start
        if by_job and not (by_machine and rng.random() < 0.5):
            x -= 1
        else:
            x = mp[x] if by_machine else 0
    return first


@njit(cache=True)
def rate_behind(u, v, p, mp, ms, e, t, ends):
    """Longest path, by estimate, through what moves when u goes right behind v."""
    end = e[mp[u]]
    x = u
    k = 0
    while x != v:
        x = ms[x]
        end = max(e[x - 1], end) + p[x]
        ends[k] = end
        k += 1
    start = max(t[u + 1], t[ms[v]]) + p[u]
    longest = max(e[u - 1], end) + start
    x = v
    while x != u:
        k -= 1
        tail = max(t[x + 1], start)
        longest = max(longest, ends[k] + tail)
        start = tail + p[x]
        x = mp[x]
    return longest


@njit(cache=True)
def rate_before(u, v, p, mp, ms, e, t, starts):
    """The same when v goes right before u."""
    start = t[ms[v]]
    x = v
    k = 0
    while x != u:
        x = mp[x]
        start = max(t[x + 1], start) + p[x]
        starts[k] = start
        k += 1
    end = max(e[v - 1], e[mp[u]]) + p[v]
    longest = end + max(t[v + 1], start)
    x = u
    while x != v:
        k -= 1
        head = max(e[x - 1], end)
        longest = max(longest, head + starts[k])
        end = head + p[x]
        x = ms[x]
    return longest


@njit(cache=True)
def list_kinds(first, path, machine, rows):
    """Write the moves of the blocks of path[first:] into `rows` (u, v, is forward); their number.

    Each behind the last of its block, the first behind inner ones, each before the first, the last before
    inner ones; none at the open ends of the path.
    """
    total, count, s = path.size, 0, first
    while s < total:
        f = s
        while f + 1 < total and machine[path[f + 1]] == machine[path[s]]:
            f += 1
        low, high = s + (s != first), f - (f != total - 1)
        for i in range(s, f if f != total - 1 else s):
            rows[count, 0], rows[count, 1], rows[count, 2] = path[i], path[f], 1
            count += 1
        for i in range(s + 1, high + 1 if s != first else s):
            rows[count, 0], rows[count, 1], rows[count, 2] = path[s], path[i], 1
            count += 1
        for i in range(s + 2, f + 1 if s != first else s):
            rows[count, 0], rows[count, 1], rows[count, 2] = path[s], path[i], 0
            count += 1
        for i in range(low, f - 1 if f != total - 1 else s):
            rows[count, 0], rows[count, 1], rows[count, 2] = path[i], path[f], 0
            count += 1
        s = f + 1
    return count


@njit(cache=True)
def choose(count, known, now, job, until, p, mp, ms, e, t, ends, rows, rng):
    """Row of the best rated of `count` moves, a random one if all are tabu; -1 if none is feasible."""
    value, chosen, spare = 2**40, -1, -1
    ties = feasible = 0
    for row in range(count):
        u, v = rows[row, 0], rows[row, 1]
        if rows[row, 2] == 1:
            if ms[u] != v and t[u + 1] >= t[v] and (t[u + 1] > t[v] or p[u + 1] == 0):
                continue
            least = max(e[ms[u] - 1], e[mp[u]]) + e[v] - e[u] + p[u] + max(t[u + 1], t[ms[v]])
        else:
            if ms[u] != v and e[v - 1] >= e[u] and (e[v - 1] > e[u] or p[v - 1] == 0):
                continue
            least = max(t[mp[v] + 1], t[ms[v]]) + t[u] - t[v] + p[v] + max(e[v - 1], e[mp[u]])
        feasible += 1
        if chosen < 0 and rng.random() * feasible < 1.0:
            spare = row
        if least > value:  # what it passes in a row is too long by itself
            continue
        if rows[row, 2] == 1:
            rated = rate_behind(u, v, p, mp, ms, e, t, ends)
        else:
            rated = rate_before(u, v, p, mp, ms, e, t, ends)
        if rated > value or (rated >= known and is_tabu(u, v, rows[row, 2] == 1, now, mp, ms, job, until)):
            continue
        ties = ties + 1 if rated == value else 1
        value = rated
        if ties == 1 or rng.random() * ties < 1.0:
            chosen = row
    return chosen if chosen >= 0 else spare


@njit(cache=True)
def is_tabu(u, v, is_forward, now, mp, ms, job, until):
    """Whether a move restores an order of two operations that is still banned."""
    x = u if is_forward else v
    while x != (v if is_forward else u):
        x = ms[x] if is_forward else mp[x]
        if (until[x, job[u]] if is_forward else until[v, job[x]]) > now:
            return True
    return False


@njit(cache=True)
def shift(u, v, is_forward, order, place, mp, ms, mark, moved):
    """Put u right behind v, or v right before u, on their machine; places between which the order changed.

    What must follow u (precede v) is shifted behind v (before u) in the topological order.
    """
    lo, hi = np.int64(place[u]), np.int64(place[v])
    before, after, second, last = mp[u], ms[v], ms[u], mp[v]
    if is_forward:
        ms[before], mp[second], ms[v], mp[u], ms[u], mp[after] = second, before, u, v, after, u
    else:
        ms[last], mp[after], ms[before], mp[v], ms[v], mp[u] = after, last, v, before, u, v
    ms[0] = mp[0] = 0
    step = 1 if is_forward else -1
    write = lo if is_forward else hi
    mark[u if is_forward else v] = True
    count = 0
    for passed in range(hi - lo + 1):
        x = order[lo + passed if is_forward else hi - passed]
        if mark[x] or mark[x - step] or mark[mp[x] if is_forward else ms[x]]:
            mark[x] = True
            moved[count] = x
            count += 1
        else:
            order[write] = x
            place[x] = write
            write += step
    for i in range(count):
        x = moved[i]
        mark[x] = False
        order[write] = x
        place[x] = write
        write += step
    return lo, hi


@njit(cache=True)
def renew(lo, hi, order, p, mp, ms, e, t):
    """Compute ends from place `lo` of the topological order on and tails from `hi` down."""
    for i in range(lo, order.size):
        x = order[i]
        e[x] = max(e[x - 1], e[mp[x]]) + p[x]
    for i in range(hi, -1, -1):
        x = order[i]
        t[x] = max(t[x + 1], t[ms[x]]) + p[x]


@njit(cache=True)
def ban_return(u, v, is_forward, mp, ms, job, until, expiry):
    """Ban, up to move `expiry`, the orders of two operations that the move is about to undo."""
    x = u if is_forward else v
    while x != (v if is_forward else u):
        x = ms[x] if is_forward else mp[x]
        if is_forward:
            until[u, job[x]] = expiry
        else:
            until[x, job[v]] = expiry


@njit(cache=True)
def tabu_moves(moves, tenure, problem, topology, links, work, until, status, best, rng):
    """Make `moves` moves; whether none was left, which proves the schedule optimal.

    status: moves made, best makespan, the move of the last gain, present makespan. `best` receives the
    topological order of the best schedule.
    """
    n, m, machine, job, p = problem
    order, place = topology
    mp, ms, e, t = links
    path, row, mark, moved, rows = work
    for _ in range(moves):
        status[0] += 1
        first = trace_back(n, m, status[3], p, mp, e, path, rng)
        count = list_kinds(first, path, machine, rows)
        chosen = choose(count, status[1], status[0], job, until, p, mp, ms, e, t, row, rows, rng)
        if chosen < 0:
            return True
        u, v, is_forward = rows[chosen, 0], rows[chosen, 1], rows[chosen, 2] == 1
        expiry = status[0] + tenure[0] + int(rng.random() * (tenure[1] - tenure[0] + 1))
        ban_return(u, v, is_forward, mp, ms, job, until, expiry)
        lo, hi = shift(u, v, is_forward, order, place, mp, ms, mark, moved)
        renew(lo, hi, order, p, mp, ms, e, t)
        status[3] = 0
        for x in range(m, e.size, m + 1):
            status[3] = max(status[3], e[x])
        if status[3] < status[1]:
            status[1], status[2] = status[3], status[0]
            best[:] = order
    return False


class Shop:
    """The arrays of one instance and of the schedule that is searched."""

    def __init__(self, env_data):
        machines, times = np.asarray(env_data["machines_matrix"]), np.asarray(env_data["times_matrix"])
        n, m = times.shape
        size = n * (m + 1) + 1
        self.rng, self.budget = env_data["rng"], env_data["budget"]
        self.ids = (np.arange(n)[:, None] * (m + 1) + np.arange(1, m + 1)).ravel().astype(np.int32)
        machine, job, p = np.zeros(size, np.int32), np.zeros(size, np.int32), np.full(size, -1, np.int32)
        machine[self.ids], p[self.ids] = machines.ravel(), times.ravel()
        job[self.ids] = np.repeat(np.arange(n), m)
        self.problem = (n, m, machine, job, p)
        self.topology = np.zeros(n * m, np.int32), np.zeros(size, np.int32)
        self.links = tuple(np.zeros(size, np.int32) for _ in range(4))
        path, row, moved = (np.zeros(n * m, np.int32) for _ in range(3))
        self.space = (path, row, np.zeros(size, np.bool_), moved, np.zeros((4 * n * m, 3), np.int32))
        self.until = np.zeros((size, n), np.int32)
        self.status = np.zeros(4, np.int64)
        low = TENURE + n // m
        self.tenure = (low, int(np.ceil(TENURE_WIDTH * low)))
        self.chunk = max(20, CHUNK_OPERATIONS // (n * m))
        self.target = lower_bound(env_data)
        self.made = 0
        self.begin = self.budget.remaining()

    def operations(self, sequence):
        """The operations of a sequence of jobs, in its order."""
        order = np.empty(self.ids.size, np.int32)
        order[np.argsort(sequence, kind="stable")] = self.ids
        return order

    def load(self, order):
        """Make `order` the schedule that is searched; its makespan."""
        self.topology[0][:] = order
        return load(*self.topology, self.problem[2], self.problem[4], *self.links)

    def middles(self, order):
        """Twice the mid times of the operations."""
        self.load(order)
        return 2.0 * self.links[2][self.ids] - self.problem[4][self.ids]

    def between(self, first, second, share):
        """A topological order `share` of the way from the first to the second."""
        key = (1.0 - share) * self.middles(first) + share * self.middles(second)
        return self.ids[np.argsort(key, kind="stable")]

    def shaken(self, order, share):
        """A topological order `share` of the way to a random one."""
        jobs = self.rng.permutation(self.problem[3][self.ids])
        return self.between(order, self.operations(jobs), share)

    def plan(self):
        """The moves that the whole budget allows, as far as can be told."""
        used = self.begin - self.budget.remaining()
        return self.made * self.begin / used if used > 0.0 and self.made else 1e18

    def patience(self):
        """Moves without gain after which a search ends."""
        return max(min(PATIENCE, 1500), min(PATIENCE, PATIENCE_SHARE * self.plan()))

    def room(self):
        """Size of the elite that the budget can fill."""
        return int(max(2, min(ELITE_SIZE, FILL_SHARE * self.plan() / (2.0 * self.patience()))))

    def search(self, order):
        """Tabu search from `order` until it stagnates: best makespan, its order, whether to end."""
        status, best = self.status, order.copy()
        status[1] = status[3] = self.load(order)
        status[0] += 1000  # what was tabu is so no more
        status[2] = status[0]
        while True:
            proven = tabu_moves(
                self.chunk, self.tenure, self.problem, self.topology, self.links, self.space, self.until,
                status, best, self.rng,
            )  # fmt: skip
            self.made += self.chunk
            self.budget.charge(self.chunk)
            if proven or status[1] <= self.target or self.budget.exhausted():
                return int(status[1]), best, True
            if status[0] - status[2] >= self.patience():
                return int(status[1]), best, False


def difference(shop, first, second):
    """Share of the pairs of operations on a machine that two topological orders rank differently."""
    n, m, machine, job, _ = shop.problem
    apart = machine_distance(job[first], job[second], n, m, machine[shop.ids])
    return 2.0 * apart / max(1, m * n * (n - 1))


def admit_elite(pool, shop, entry):
    """Keep a schedule unless it is a copy of a better one; the elite is sorted, its size limited."""
    for i, (value, order) in enumerate(pool):
        if difference(shop, entry[1], order) < 0.005:
            if entry[0] < value:
                pool[i] = entry
            return
    pool.append(entry)
    pool.sort(key=lambda member: member[0])
    del pool[max(shop.room(), 2) :]


def next_start(pool, shop, tries):
    """Where the next search starts; a random share of the way between two of the elite once it is full."""
    rng = shop.rng
    if len(pool) < shop.room() and tries < 3 * shop.room():
        return shop.shaken(pool[0][1], SHAKE_LOW + (SHAKE_HIGH - SHAKE_LOW) * rng.random())
    while len(pool) > 1:
        i, k = rng.choice(len(pool), 2, replace=False)
        if difference(shop, pool[i][1], pool[k][1]) >= 0.02:
            return shop.between(pool[i][1], pool[k][1], NEAREST + (1.0 - 2.0 * NEAREST) * rng.random())
        del pool[max(i, k)]
    return shop.shaken(pool[0][1], SHAKE_HIGH)


def run(env_data, state, calc_makespan_fn):
    """Improve `state` until the share of the budget is spent or the schedule is proven optimal."""
    shop = Shop(env_data)
    difference(shop, shop.ids, shop.ids)  # compiled now, not in the middle of a timed run
    value, best, is_over = shop.search(shop.operations(np.asarray(state.sequence)))
    pool, tries = [(value, best)], 0
    while not is_over:
        found, order, is_over = shop.search(next_start(pool, shop, tries))
        tries += 1
        if found < value:
            value, best = found, order
        admit_elite(pool, shop, (found, order))
    state.sequence = np.ascontiguousarray(shop.problem[3][best], dtype=np.int32)
    return state
