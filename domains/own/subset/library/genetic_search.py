"""Genetic search: a small population of subsets, uniform crossover, and a short descent for every child.

Method: POPULATION shaken copies of the subset, improved. Parents are the better of two random ones; a child
has what both choose, and of the rest what chance takes. It is mutated with probability MUTATION, improved by
STEPS times n random changes, and replaces the worst if it is better. Uses its whole share.
Source: P. Moscato, "On evolution, search, optimization, genetic algorithms and martial arts" (1989).
Complexity: STEPS times n scores per child for n items. Work units: one per score.
"""

import numpy as np
from parts.changes import neighbour as neighbour
from parts.generic.genetic import bred


# exchangeable: crossover-subset
def crossed(first, second, env_data):
    """A child with what both parents choose, and as many others of either as the first one has."""
    rng = env_data["rng"]
    child = np.minimum(first, second)
    rest = rng.permutation(np.flatnonzero(first != second))
    child[rest[: int(first.sum() - child.sum())]] = 1
    return child.astype(np.int32)


def run(env_data, state, calc_makespan_fn):
    return bred(env_data, state, calc_makespan_fn)
