"""A pool of cuts that tabu search has improved."""

import numpy as np
from parts.gains import gains_of
from parts.tabu import tabu_walk
from parts.taker import BASE_TENURE, EFFORT, TENURE_SPREAD

CHUNK_ARCS = 300_000


def search_tabu(x, gains, cut, offsets, neighbors, weights, span, steps, budget, rng):
    """Tabu search of `steps` steps or until the share is spent: the best signs and their cut.

    Changes `x` and `gains`. Work units: one per n arcs looked at, as much as a sweep of annealing.
    """
    n = x.size
    base, spread = max(2, int(BASE_TENURE * n)), max(1, int(TENURE_SPREAD * n))
    arcs = 8 + neighbors.size // n
    chunk = max(20, CHUNK_ARCS // arcs)
    best, cuts, free_at = x.copy(), np.array([cut, cut, 0]), np.zeros(n, dtype=np.int64)
    while steps > 0:
        part = min(steps, chunk)
        tabu_walk(x, gains, best, cuts, free_at, offsets, neighbors, weights, span, base, spread, part, rng)
        budget.charge(part * arcs // n + 1)
        steps -= part
        if budget.exhausted():
            break
    return best, int(cuts[1])


def opening(x, population, offsets, neighbors, weights, span, budget, rng):
    """Up to `population` cuts by tabu search, the first from `x`, the others from random signs."""
    n = x.size
    pool, values = [x.copy()], [0]
    gains = np.zeros(n, dtype=np.int32)
    values[0] = gains_of(x, offsets, neighbors, weights, gains)
    while len(pool) <= population and not budget.exhausted():
        start = pool[0].copy() if len(pool) == 1 else (2 * rng.integers(0, 2, n) - 1).astype(np.int32)
        cut = gains_of(start, offsets, neighbors, weights, gains)
        found, value = search_tabu(
            start, gains, cut, offsets, neighbors, weights, span, EFFORT * n, budget, rng
        )
        pool.append(found)
        values.append(value)
    return pool, values


def replace_worst(pool, values, child, value):
    """Put `child` in the place of the worst unless it is worse or the pool holds it (or its mirror image)."""
    worst = int(np.argmin(values))
    if value <= values[worst]:
        return
    for other, its_value in zip(pool, values, strict=True):
        if its_value == value and abs(int(other @ child)) == child.size:
            return
    pool[worst], values[worst] = child, value
