"""Disturbances of an order of jobs."""

from numba import njit


# exchangeable: destruction
@njit(cache=True)
def remove_jobs(order, count, removed, rng):
    """Move `count` random jobs from `order` to `removed`; the first size - count places stay in use."""
    size = order.size
    for i in range(count):
        place = int(rng.random() * size)
        removed[i] = order[place]
        size -= 1
        for k in range(place, size):
            order[k] = order[k + 1]


# exchangeable: kick
@njit(cache=True)
def kick(order, swaps, moves, rng):
    """Change `order` by exchanges of random neighbours and by moves of random jobs to random places."""
    n = order.size
    for _ in range(swaps):
        i = int(rng.random() * (n - 1))
        order[i], order[i + 1] = order[i + 1], order[i]
    for _ in range(moves):
        i, k = int(rng.random() * n), int(rng.random() * n)
        job = order[i]
        step = 1 if k > i else -1
        for place in range(i, k, step):
            order[place] = order[place + step]
        order[k] = job
