"""Tabu search that starts again and again between two schedules of an elite.

Method: operations at the borders of the blocks of a random critical path cross their block (N7, without the
moves that cannot shorten the path: those within its first block to the front, within its last to the end).
Moves are rated by heads and tails; those whose passed operations alone are too long in a row are not. After
some moves without gain, fewer where the budget is short, the next search starts from a schedule between two
of the elite: operations in the order of their weighted mean mid times, which keeps every order both share.
Schedules of more than WINDOW operations are searched in windows of time first, until a pass over all brings
no gain.

Source: B. Peng, Z. Lü, T. C. E. Cheng, A tabu search/path relinking algorithm to solve the job shop
scheduling problem, 2015; C. Zhang, P. Li, Z. Guan, Y. Rao, A tabu search algorithm with a new neighborhood
structure for the job shop scheduling problem, 2007. This form of it (elite by mid times, patience by budget)
was written by a language model in the recorded run ``examples/runs/jsp-basic-model.dga2d.zip``.

Complexity: O(N + b²) per move for N operations and blocks of b.
"""

import numpy as np
from numba import njit
from parts.between_sequences import machine_distance
from parts.crossing_moves import ban_return, choose, list_kinds, renew, shift, trace_back
from parts.crossing_shop import Shop
from parts.windows import WINDOW, compile_kernels, search_windows

PATIENCE = 12_000  # tunable: int 1000..50000
PATIENCE_SHARE = 0.03  # tunable: float 0.005..0.2
ELITE_SIZE = 10  # tunable: int 2..30
FILL_SHARE = 0.4  # tunable: float 0.1..0.8
NEAREST = 0.3  # tunable: float 0.1..0.5
SHAKE_LOW = 0.15  # tunable: float 0.02..0.4
SHAKE_HIGH = 0.5  # tunable: float 0.3..1.0
CHUNK_OPERATIONS = 700_000  # moves of one kernel call times operations of the instance


@njit(cache=True)
def random_last(n, m, makespan, e, rng):
    """A random one of the operations that end last."""
    x = ties = 0
    for y in range(m, n * (m + 1), m + 1):
        if e[y] == makespan:
            ties += 1
            if rng.random() * ties < 1.0:
                x = y
    return x


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
        last = random_last(n, m, status[3], e, rng)
        first = trace_back(last, 0, m, place, p, mp, e, path, rng)
        count = list_kinds(first, path, machine, rows)
        chosen = choose(count, status[1], status[0], job, until, p, mp, ms, e, t, row, rows, rng)
        if chosen < 0:
            return True
        u, v, is_forward = rows[chosen, 0], rows[chosen, 1], rows[chosen, 2] == 1
        expiry = status[0] + tenure[0] + int(rng.random() * (tenure[1] - tenure[0] + 1))
        ban_return(u, v, is_forward, mp, ms, job, until, expiry)
        lo, hi = shift(u, v, is_forward, order, place, mp, ms, mark, moved)
        renew(lo, hi, 0, order.size, order, p, mp, ms, e, t)
        status[3] = 0
        for x in range(m, e.size, m + 1):
            status[3] = max(status[3], e[x])
        if status[3] < status[1]:
            status[1], status[2] = status[3], status[0]
            best[:] = order
    return False


class Elite(Shop):
    """The schedule that is searched, and how long."""

    def __init__(self, env_data):
        super().__init__(env_data)
        self.status = np.zeros(4, np.int64)
        self.chunk = max(20, CHUNK_OPERATIONS // self.ids.size)
        self.made = 0
        self.begin = self.budget.remaining()

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
    shop = Elite(env_data)
    difference(shop, shop.ids, shop.ids)  # compiled now, not in the middle of a timed run
    start = shop.operations(np.asarray(state.sequence))
    compile_kernels(shop)
    if start.size > WINDOW:
        search_windows(shop, shop.load(start), False)
        start = shop.topology[0].copy()
    value, best, is_over = shop.search(start)
    pool, tries = [(value, best)], 0
    while not is_over:
        found, order, is_over = shop.search(next_start(pool, shop, tries))
        tries += 1
        if found < value:
            value, best = found, order
        admit_elite(pool, shop, (found, order))
    state.sequence = np.ascontiguousarray(shop.problem[3][best], dtype=np.int32)
    return state
