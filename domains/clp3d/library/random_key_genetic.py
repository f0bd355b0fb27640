"""Biased random-key genetic search with keys of types and of boxes.

Method: an individual has a key for every item; sorting the keys gives the sequence. At first an
item's key is mostly that of its type, so that equal boxes start as blocks. From one generation to
the next the ELITE best stay, MUTANTS new individuals come in, and the rest are children: each key
comes from a parent of the elite with probability BIAS, for all boxes of a type at once or box by
box. Uses its whole share.

Source: J. F. Gonçalves, M. G. C. Resende, A parallel multi-population biased random-key genetic
algorithm for a container loading problem, 2012.

Complexity: one loading per child.
"""

import numpy as np
from numba import njit
from parts.loading import prepare
from parts.packing.placement import load

POPULATION = 60  # tunable: int 10..400
ELITE = 0.15  # tunable: float 0.05..0.4
MUTANTS = 0.1  # tunable: float 0.0..0.5
BIAS = 0.7  # tunable: float 0.5..0.95
BLUR = 0.1  # tunable: float 0.0..1.0
CHUNK_BOXES = 6_000  # boxes offered by one kernel call, about


# exchangeable: key-crossover
@njit(cache=True)
def child_key(elite, other, bias, rng):
    """The key of a child from those of its elite and its other parent."""
    return elite if rng.random() < bias else other


@njit(cache=True)
def breed(rank, last, settings, old, new, scores, boxes, arrays, best, most, rng):
    """Make and load individuals rank .. last - 1 of the next generation; the largest volume so far."""
    n_elite, n_mutants, bias, blur = settings
    size, n = old.shape
    kind, n_types = boxes[0], boxes[2].size - 1
    draws = np.empty(n_types, np.float64)
    for one in range(rank, last):
        for t in range(n_types):
            draws[t] = rng.random()
        by_type = rng.random() < 0.5
        first = int(rng.random() * n_elite)
        second = n_elite + int(rng.random() * (size - n_elite))
        for i in range(n):
            if one >= size - n_mutants:
                new[one, i] = draws[kind[i]] + blur * (rng.random() - 0.5)
            elif by_type:
                new[one, i] = old[first, i] if draws[kind[i]] < bias else old[second, i]
            else:
                new[one, i] = child_key(old[first, i], old[second, i], bias, rng)
        sequence = np.argsort(new[one], kind="mergesort").astype(np.int32)
        packed = load(sequence, np.int64(0), boxes, arrays)
        scores[one] = packed
        if packed > most:
            most = packed
            best[:] = sequence
    return most


def run(env_data, state, calc_makespan_fn):
    """Evolve from `state` until the share is spent."""
    budget, rng = env_data["budget"], env_data["rng"]
    boxes, arrays = prepare(env_data)
    best = np.array(state.sequence, dtype=np.int32)
    n = best.size
    most = load(best, np.int64(0), boxes, arrays)
    settings = max(1, int(ELITE * POPULATION)), int(MUTANTS * POPULATION), BIAS, BLUR
    keys = np.empty((POPULATION, n))
    keys[:, best] = (np.arange(n) + 0.5) / n
    keys[1:] += 2.0 * BLUR * (rng.random((POPULATION - 1, n)) - 0.5)
    scores = np.full(POPULATION, most)
    step, rank, fresh = max(1, CHUNK_BOXES // n), settings[0], keys.copy()
    while not budget.exhausted():
        last = min(rank + step, POPULATION)
        most = breed(rank, last, settings, keys, fresh, scores, boxes, arrays, best, most, rng)
        budget.charge(last - rank)
        rank = last
        if rank == POPULATION:
            order = np.argsort(-scores, kind="stable")
            keys, scores = fresh[order].copy(), scores[order].copy()
            fresh, rank = keys.copy(), settings[0]
    state.sequence = best
    return state
