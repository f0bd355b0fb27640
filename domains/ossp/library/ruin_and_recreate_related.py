"""Ruin and recreate (iterated greedy): related operations leave the schedule and return at their best places.

Method: a critical operation and others that share a job or a machine with one already chosen are taken out;
they come back one by one where the longest path through each is shortest, which heads and tails tell for all
places at once. The new schedule replaces the old one by Metropolis' rule; CYCLES times over the share of the
budget the temperature, in units of the mean processing time, falls geometrically.

Source: R. Ruiz, T. Stützle, A simple and effective iterated greedy algorithm for the permutation flowshop
scheduling problem, 2007 (scheme); H. Bräsel, T. Tautenhahn, F. Werner, Constructive heuristic algorithms for
the open shop problem, 1993 (insertion); G. Schrimpf et al., Record breaking optimization results using the
ruin and recreate principle, 2000 (related removal).

Complexity: O(N) per operation taken out, for N operations.
"""

from numba import njit
from parts.ruin_and_recreate import ruin_and_recreate


# exchangeable: destruction
@njit(cache=True)
def take_out(count, makespan, n_jobs, n_machines, p, c, t, out, mark, rng):
    """Write `count` different operations into `out`: a critical one, then others that share the job or the
    machine of one chosen before. `mark` is all false before and after.
    """
    n_ops = n_jobs * n_machines
    x = int(rng.random() * n_ops)
    while c[x] + t[x] - p[x] < makespan:
        x = int(rng.random() * n_ops)
    for i in range(count):
        if i > 0:
            near = out[int(rng.random() * i)]
            if rng.random() < 0.5:
                x = near - near % n_machines + int(rng.random() * n_machines)
            else:
                x = near % n_machines + n_machines * int(rng.random() * n_jobs)
            while mark[x]:
                x = int(rng.random() * n_ops)
        out[i] = x
        mark[x] = True
    for i in range(count):
        mark[out[i]] = False


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent or the lower bound is met."""
    return ruin_and_recreate(env_data, state)
