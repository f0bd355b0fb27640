"""The simplest choices of a large neighbourhood search: who leaves, in which order they return, and which
schedules stay."""

from numba import njit


# exchangeable: operations-to-remove
@njit(cache=True)
def choose_operations(chosen, job, ends, times, rng):
    """Write different operations into `chosen`, drawn at random; returns how many.

    job, ends and times, by operation: its job, completion and processing time.
    """
    n_ops = job.size - 1
    for i in range(chosen.size):
        is_fresh = False
        while not is_fresh:
            chosen[i] = int(rng.random() * n_ops)
            is_fresh = True
            for j in range(i):
                is_fresh = is_fresh and chosen[j] != chosen[i]
    return chosen.size


# exchangeable: insertion-key
@njit(cache=True)
def insertion_key(time, rng):
    """Sorting key of an operation, smaller: returns earlier; `time`: how long it took on its machine."""
    return rng.random()


# exchangeable: acceptance
@njit(cache=True)
def longest_kept(makespan, progress, rng):
    """Makespan up to which a new schedule replaces one of `makespan`; progress: 0 to 1."""
    return makespan
