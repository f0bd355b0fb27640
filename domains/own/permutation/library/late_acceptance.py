"""Late acceptance: a change is taken if it is no worse than the order of some time ago.

Method: swaps and moves of one entry; the result is accepted if its score is at most that of MEMORY changes
ago, or at most the present one. Uses its whole share; gives the best order met.
Source: E. K. Burke, Y. Bykov, "The late acceptance hill-climbing heuristic" (2017).
Complexity: O(n) and one score per change. Work units: one per score.
"""

from parts.generic.late_acceptance import accepted_late
from parts.moves import moved

SWAPS = 0.4  # tunable: float 0.0..1.0


# exchangeable: neighbour-order
def neighbour(values, env_data):
    """A copy of the order after a swap or the move of an entry."""
    rng = env_data["rng"]
    i, j = rng.integers(values.size, size=2)
    if rng.random() >= SWAPS:
        return moved(values, int(i), int(j))
    changed = values.copy()
    changed[i], changed[j] = changed[j], changed[i]
    return changed


def run(env_data, state, calc_makespan_fn):
    return accepted_late(env_data, state, calc_makespan_fn)
