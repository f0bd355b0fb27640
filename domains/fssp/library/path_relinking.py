"""Path relinking in a pool of local optima.

Method: the pool starts with the given order and descents from kicked copies. Again and again an order moves a
random part of the way towards another one of the pool: a place where they differ is drawn and the job the
guide has there is put there. A descent follows; the result replaces the worst member if it is shorter and no
copy. When nothing has come in for PATIENCE rounds all but the best member are kicked and improved anew.

Source: C. R. Reeves, T. Yamada, Genetic algorithms, path relinking, and the flowshop sequencing problem,
1998; F. Glover, Tabu search and adaptive memory programming, 1997.

Complexity: O(n²) per path and O(n m) per reinsertion for n jobs on m machines; uses its whole share.
"""

from numba import njit
from parts.disturbance import kick
from parts.insertion import improve
from parts.pool import improve_pool
from parts.random_ties import choose_place as choose_place

POOL = 8  # tunable: int 2..50
KICKS = 8  # tunable: int 1..50
PATIENCE = 60  # tunable: int 5..2000


# exchangeable: path-point
@njit(cache=True)
def path_point(order, guide, rng):
    """Move `order` in place towards `guide`, 30 to 70 % of the places in which they differ."""
    n = order.size
    apart = 0
    for i in range(n):
        apart += order[i] != guide[i]
    for _ in range(int(apart * (0.3 + 0.4 * rng.random()))):
        i = int(rng.random() * n)
        tried = 0
        while order[i] == guide[i] and tried < n:
            i = (i + 1) % n
            tried += 1
        source = 0
        while order[source] != guide[i]:
            source += 1
        step = 1 if i > source else -1
        for place in range(source, i, step):
            order[place] = order[place + step]
        order[i] = guide[i]


def kicked(best, times, work, budget, rng):
    """Makespan and order of a local optimum near `best`."""
    order = best.copy()
    kick(order, KICKS, KICKS, rng)
    return improve(order, times, work, budget, rng), order


def relinked(pool, times, work, budget, rng):
    """Makespan and order of a local optimum near a path between two members of the pool."""
    origin, guide = rng.permutation(len(pool))[:2]
    order = pool[origin][1].copy()
    path_point(order, pool[guide][1], rng)
    return improve(order, times, work, budget, rng), order


def run(env_data, state, calc_makespan_fn):
    """Improve `state` until the share of the budget is spent or a lower bound is met."""
    budget, rng = env_data["budget"], env_data["rng"]

    def proposal(pool, failures, times, work):
        if len(pool) < POOL and (len(pool) < 2 or failures % 2 == 0):
            return kicked(pool[0][1], times, work, budget, rng)
        return relinked(pool, times, work, budget, rng)

    return improve_pool(env_data, state, calc_makespan_fn, POOL, PATIENCE, proposal)
