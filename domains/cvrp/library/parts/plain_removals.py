"""The simplest choices of a large neighbourhood search: who leaves, and whether new routes stay."""

from numba import njit


# exchangeable: customers-to-remove
@njit(cache=True)
def choose_customers(chosen, n, near, rng):
    """Write different customers into `chosen`, drawn at random; returns how many."""
    for i in range(chosen.size):
        is_fresh = False
        while not is_fresh:
            chosen[i] = 1 + int(rng.random() * (n - 1))
            is_fresh = True
            for j in range(i):
                is_fresh = is_fresh and chosen[j] != chosen[i]
    return chosen.size


# exchangeable: acceptance
@njit(cache=True)
def accepts(change, progress, rng):
    """Whether routes stay whose length differs by `change` mean edges; progress: 0 to 1."""
    return change <= 0.0
