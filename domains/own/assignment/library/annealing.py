"""Simulated annealing: items change or exchange groups, less and less often where that loses.

Method: a change that loses d is made with probability exp(-d / T). T falls from HOT to COLD times the usual
change of score as the share is used up. A part SWAPS of the changes exchange two items; of the others a
part JOIN goes to the group of another random item, the rest to any group. Uses its whole share; gives the
best assignment met.
Source: S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, "Optimization by simulated annealing" (1983).
Complexity: O(n) and one score per change. Work units: one per score.
"""

from parts.generic.annealing import annealed

SWAPS = 0.3  # tunable: float 0.0..1.0
JOIN = 0.6  # tunable: float 0.0..1.0


# exchangeable: neighbour-groups
def neighbour(values, env_data):
    """A copy of the assignment after a swap of two items or the move of one."""
    rng, n = env_data["rng"], values.size
    i, j = rng.integers(n, size=2)
    changed = values.copy()
    if rng.random() < SWAPS:
        changed[i], changed[j] = values[j], values[i]
    elif rng.random() < JOIN:
        changed[i] = values[j]
    else:
        changed[i] = rng.integers(env_data["solution_groups"])
    return changed


def run(env_data, state, calc_makespan_fn):
    return annealed(env_data, state, calc_makespan_fn)
