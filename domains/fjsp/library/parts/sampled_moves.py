"""Random moves of critical operations, each made or not.

The file brings ``draw_target``, where an operation may go, and ``is_worth_making``, which moves are tried.
:func:`prepare` of the part ``plans`` explains the arrays.
"""

import numpy as np
from numba import njit
from parts.schedule import critical_path, keep, relocate
from parts.taker import draw_target, is_worth_making


@njit(cache=True)
def try_moves(moves, temperature, shop, options, links, first, work, status, best, rng):
    """Try `moves` random moves of critical operations at one temperature; 0 makes what is no longer.

    `status` holds the best makespan, the present one, and the moves since the best was found; `best` receives
    the best plan.
    """
    draw, target = np.empty(3), np.empty(3, np.int64)
    for _ in range(moves):
        status[2] += 1
        length = critical_path(status[1], shop, links, work[4], rng)
        v = np.int32(work[4, int(rng.random() * length)])
        for i in range(3):
            draw[i] = rng.random()
        limit = status[1] - temperature * np.log(1.0 - rng.random())
        if not draw_target(v, draw, shop, options, links, first, target):
            continue
        if not is_worth_making(v, target, limit, shop, links, first):
            continue
        old_before, old_k, old_time = links[0, v], links[2, v], links[3, v]
        k, time, before = np.int32(target[0]), np.int32(target[1]), np.int32(target[2])
        makespan = relocate(v, before, k, time, shop, links, first, work)
        if makespan > limit:
            relocate(v, old_before, old_k, old_time, shop, links, first, work)
        elif makespan >= 0:
            status[1] = makespan
            if makespan < status[0]:
                status[0], status[2] = makespan, 0
                keep(best, shop, links)
