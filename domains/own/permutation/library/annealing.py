"""Simulated annealing: swaps, insertions and reversals that may lose, less and less often.

Method: a change that loses d is made with probability exp(-d / T). T falls from HOT to COLD times the usual
change of score as the share is used up. Moves are swaps (a part SWAPS of them), reversals (REVERSALS) and
moves of one entry, within REACH of the length. Uses its whole share; gives the best order met.
Source: S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, "Optimization by simulated annealing" (1983).
Complexity: O(n) and one score per change. Work units: one per score.
"""

from parts.generic.annealing import annealed
from parts.moves import moved

SWAPS = 0.3  # tunable: float 0.0..1.0
REVERSALS = 0.1  # tunable: float 0.0..0.5
REACH = 0.5  # tunable: float 0.05..1.0


# exchangeable: neighbour-order
def neighbour(values, env_data):
    """A copy of the order after a swap, the move of an entry, or a reversal, within REACH of the length."""
    rng, n = env_data["rng"], values.size
    reach = max(int(REACH * n), 1)
    i = int(rng.integers(n))
    j = min(max(i + int(rng.integers(-reach, reach + 1)), 0), n - 1)
    kind = rng.random()
    if kind >= SWAPS + REVERSALS:
        return moved(values, i, j)
    changed = values.copy()
    if kind < SWAPS:
        changed[i], changed[j] = changed[j], changed[i]
    else:
        low, high = min(i, j), max(i, j) + 1
        changed[low:high] = changed[low:high][::-1]
    return changed


def run(env_data, state, calc_makespan_fn):
    return annealed(env_data, state, calc_makespan_fn)
