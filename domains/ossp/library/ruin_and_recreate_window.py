"""Ruin and recreate (iterated greedy): operations of a time window leave and return at their best places.

Method: a critical operation and operations that start about the same time are taken out; they come back one
by one where the longest path through each is shortest, which heads and tails tell for all places at once.
The new schedule replaces the old one by Metropolis' rule; CYCLES times over the share of the
budget the temperature, in units of the mean processing time, falls geometrically.

Source: R. Ruiz, T. Stützle, A simple and effective iterated greedy algorithm for the permutation flowshop
scheduling problem, 2007 (scheme); H. Bräsel, T. Tautenhahn, F. Werner, Constructive heuristic algorithms for
the open shop problem, 1993 (insertion); G. Schrimpf et al., Record breaking optimization results using the
ruin and recreate principle, 2000 (removal in time).

Complexity: O(N) per operation taken out, for N operations.
"""

from numba import njit
from parts.ruin_and_recreate import ruin_and_recreate


# exchangeable: destruction
@njit(cache=True)
def take_out(count, makespan, n_jobs, n_machines, p, c, t, out, mark, rng):
    """Write `count` different operations into `out`: a critical one, then others that start about when it
    does (the nearest of three drawn at random). `mark` is all false before and after.
    """
    n_ops = n_jobs * n_machines
    x = int(rng.random() * n_ops)
    while c[x] + t[x] - p[x] < makespan:
        x = int(rng.random() * n_ops)
    centre = c[x] - p[x]
    for i in range(count):
        if i > 0:
            nearest = 2**40
            for _ in range(3):
                y = int(rng.random() * n_ops)
                if abs(c[y] - p[y] - centre) < nearest:
                    x, nearest = y, abs(c[y] - p[y] - centre)
            while mark[x]:
                x = int(rng.random() * n_ops)
        out[i] = x
        mark[x] = True
    for i in range(count):
        mark[out[i]] = False


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent or the lower bound is met."""
    return ruin_and_recreate(env_data, state)
