"""Genetic search: a small population of assignments; children take whole groups from both parents.

Method: POPULATION shaken copies of the assignment, improved. Parents are the better of two random ones; a
child has the groups of the first, and those of the second for the items of some of its groups. It is mutated
with probability MUTATION, improved by STEPS times n random moves, and replaces the worst if it is better.
Uses its whole share.
Source: E. Falkenauer, "A hybrid grouping genetic algorithm for bin packing" (1996).
Complexity: STEPS times n scores per child for n items. Work units: one per score.
"""

import numpy as np
from parts.generic.genetic import bred

JOIN = 0.5  # tunable: float 0.0..1.0


# exchangeable: crossover-groups
def crossed(first, second, env_data):
    """A child: `first`, but the items of about half of the groups of `second` are where they are there."""
    taken = env_data["rng"].random(env_data["solution_groups"]) < 0.5
    return np.where(taken[second], second, first).astype(np.int32)


def neighbour(values, env_data):
    """A copy of the assignment in which one item is in another group, used already with probability JOIN."""
    rng = env_data["rng"]
    i, j = rng.integers(values.size, size=2)
    changed = values.copy()
    changed[i] = values[j] if rng.random() < JOIN else rng.integers(env_data["solution_groups"])
    return changed


def run(env_data, state, calc_makespan_fn):
    return bred(env_data, state, calc_makespan_fn)
