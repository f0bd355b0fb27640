"""Scatter search with path relinking over a set of elite lists.

Method: the elite set is drawn around the given list and justified. Two members are drawn; the first list is
led towards the second by moving, place by place, the activity the second has there to the same place. A few
of the lists met on the way are scheduled and justified; the best of them enters the set in place of the
worst one if it is new. A set that has found nothing new for long is drawn anew around its best member.

Source: Y. Kochetov, A. Stolyar, Evolutionary local search with variable neighborhood for the resource
constrained project scheduling problem, 2003; D. Debels, B. De Reyck, R. Leus, M. Vanhoucke, A hybrid
scatter search/electromagnetism meta-heuristic for project scheduling, 2006.

Complexity: O(N²) per path for N activities, and three schedules at each of STOPS places of it.
"""

import numpy as np
from numba import njit
from parts.lists import shake
from parts.population import admit, evolve
from parts.sequences.entry_move import move_entry
from parts.serial_schedules import evaluate

ELITE = 20  # tunable: int 2..200
STOPS = 3  # tunable: int 1..20
MOVES = 3  # tunable: int 0..50
PATIENCE = 40  # tunable: int 1..1000
CHUNK_ACTIVITIES = 60_000  # activities scheduled by one kernel call


@njit(cache=True)
def relink(paths, setting, target, population, project, before, after, free, work, child, walk, rng):
    """Walk at most `paths` paths; the numbers of paths made and of members that got better."""
    stops, moves = setting
    lists, values, _codes = population
    order, finish, _taken = child
    walker, best, best_finish = walk
    n = order.size
    entered = 0
    for made in range(paths):
        if values.min() <= target:
            return made, entered
        origin, goal = int(rng.random() * values.size), int(rng.random() * values.size)
        walker[:] = lists[origin]
        value = np.int64(2**40)
        for stop in range(stops):
            low, high = stop * n // (stops + 1), (stop + 1) * n // (stops + 1)
            for place in range(low, high):
                source = place
                while walker[source] != lists[goal, place]:
                    source += 1
                move_entry(walker, source, place)
            order[:] = walker
            shake(order, moves, n, before, after, rng)
            makespan = evaluate(order, finish, project, before, after, free, work)
            if makespan < value:
                value = makespan
                best[:] = order
                best_finish[:] = finish
        entered += admit(best, value, best_finish, population)
    return paths, entered


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent or a lower bound is met."""
    rng, n = env_data["rng"], env_data["num_activities"]
    paths = max(2, CHUNK_ACTIVITIES // (3 * n * STOPS))
    walk = (np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int64))

    def renewal(target, population, *arrays):
        made, entered = relink(paths, (STOPS, MOVES), target, population, *arrays, walk, rng)
        return 3 * STOPS * made, made, entered

    return evolve(env_data, state, ELITE, PATIENCE, max(5, CHUNK_ACTIVITIES // (3 * n)), renewal)
