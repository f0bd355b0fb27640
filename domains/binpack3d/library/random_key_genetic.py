"""Biased random-key genetic search.

Method: an individual is a vector of keys in [0, 1); sorting them gives the sequence. From one generation
to the next the ELITE best stay, MUTANTS new random vectors come in, and the rest are children: each key
comes from a parent of the elite with probability BIAS, else from one of the others. The population starts
with blurred copies of the sequence at hand. Uses its whole share.

Source: J. F. Gonçalves, M. G. C. Resende, A biased random key genetic algorithm for 2D and 3D bin packing
problems, 2013.

Complexity: one decoding per child.
"""

import numpy as np
from numba import njit
from parts.first_fit import first_fit, open_packing

POPULATION = 60  # tunable: int 10..400
ELITE = 0.15  # tunable: float 0.05..0.4
MUTANTS = 0.1  # tunable: float 0.0..0.5
BIAS = 0.7  # tunable: float 0.5..0.95
BLUR = 0.3  # tunable: float 0.0..1.0
CHUNK_PLACED = 15_000  # items placed by one kernel call, about


# exchangeable: key-crossover
@njit(cache=True)
def child_key(elite, other, bias, rng):
    """The key of a child from those of its elite and its other parent."""
    return elite if rng.random() < bias else other


@njit(cache=True)
def breed(rank, last, n_elite, n_mutants, bias, old, new, scores, items, arrays, free, best, score, rng):
    """Make and decode individuals rank .. last - 1 of the next generation; the lowest score so far."""
    size, n = old.shape
    for place_ in range(rank, last):
        if place_ >= size - n_mutants:
            for i in range(n):
                new[place_, i] = rng.random()
        else:
            first = int(rng.random() * n_elite)
            second = n_elite + int(rng.random() * (size - n_elite))
            for i in range(n):
                new[place_, i] = child_key(old[first, i], old[second, i], bias, rng)
        sequence = np.argsort(new[place_], kind="mergesort").astype(np.int32)
        scores[place_] = first_fit(sequence, items, arrays, free)
        if scores[place_] < score:
            score = scores[place_]
            best[:] = sequence
    return score


def run(env_data, state, calc_makespan_fn):
    """Evolve from `state` until the share is spent."""
    budget, rng = env_data["budget"], env_data["rng"]
    items, arrays, best, free, score = open_packing(env_data, state)
    n = best.size
    n_elite, n_mutants = max(1, int(ELITE * POPULATION)), int(MUTANTS * POPULATION)
    keys = np.empty((POPULATION, n))
    keys[:, best] = (np.arange(n) + 0.5) / n
    keys[1:] += BLUR * (rng.random((POPULATION - 1, n)) - 0.5)
    scores = np.full(POPULATION, score)
    step, rank, fresh = max(1, CHUNK_PLACED // n), n_elite, keys.copy()
    while not budget.exhausted():
        last = min(rank + step, POPULATION)
        score = breed(
            rank, last, n_elite, n_mutants, BIAS, keys, fresh, scores, items, arrays, free, best, score, rng
        )
        budget.charge(last - rank)
        rank = last
        if rank == POPULATION:
            order = np.argsort(scores, kind="stable")
            keys, scores = fresh[order].copy(), scores[order].copy()
            fresh, rank = keys.copy(), n_elite
    state.sequence = best
    return state
