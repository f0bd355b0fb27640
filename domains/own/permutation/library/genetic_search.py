"""Genetic search: a small population of orders, order crossover, and a short descent for every child.

Method: POPULATION shaken copies of the order, improved. Parents are the better of two random ones; a child
keeps a segment of the first and the order of the second elsewhere, is mutated with probability MUTATION,
improved by STEPS times n random moves of entries, and replaces the worst if it is better. Uses its whole
share.
Source: L. Davis, "Applying adaptive algorithms to epistatic domains" (1985); P. Moscato, "On evolution,
search, optimization, genetic algorithms and martial arts" (1989).
Complexity: STEPS times n scores per child for n places. Work units: one per score.
"""

import numpy as np
from parts.generic.genetic import bred
from parts.moves import moved


# exchangeable: crossover-order
def crossed(first, second, env_data):
    """A child with a segment of `first`; the other places hold what is missing in the order of `second`."""
    i, j = sorted(env_data["rng"].integers(first.size + 1, size=2).tolist())
    left = np.bincount(first, minlength=int(first.max()) + 1)
    left -= np.bincount(first[i:j], minlength=left.size)
    rest = []
    for entry in second:
        if left[entry] > 0:
            left[entry] -= 1
            rest.append(entry)
    others = np.array(rest, dtype=np.int32)
    return np.concatenate((others[:i], first[i:j], others[i:])).astype(np.int32)


def neighbour(values, env_data):
    """A copy of the order in which one entry stands elsewhere."""
    i, j = env_data["rng"].integers(values.size, size=2)
    return moved(values, int(i), int(j))


def run(env_data, state, calc_makespan_fn):
    return bred(env_data, state, calc_makespan_fn)
