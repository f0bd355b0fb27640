"""Ties between places, broken by idle time."""

from numba import njit


# exchangeable: tie-breaking
@njit(cache=True)
def choose_place(job, order, size, times, e, value, rng):
    """Of the places 0..size with the least `value` the one that leaves the least idle time behind `job`,
    estimated from the heads `e` as by Fernandez-Viagas and Framinan (2014)."""
    chosen, least = 0, 2**40
    best = value[: size + 1].min()
    for place in range(size + 1):
        if value[place] != best:
            continue
        idle = 0
        done = e[0, place] + times[0, job]
        after = done + times[0, order[place]] if place < size else 0
        for k in range(1, times.shape[0]):
            start = max(done, e[k, place])
            if place == size:
                idle += start - e[k, place]
            else:
                idle += (
                    start - e[k, place + 1] + times[k, order[place]] + max(after - start - times[k, job], 0)
                )
                after = max(after, start + times[k, job]) + times[k, order[place]]
            done = start + times[k, job]
        if idle < least:
            chosen, least = place, idle
    return chosen
