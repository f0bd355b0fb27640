"""Late acceptance: a change is taken if it is no worse than the assignment of some time ago.

Method: moves of an item and swaps of two; the result is accepted if its score is at most that of MEMORY
changes ago, or at most the present one. Uses its whole share; gives the best assignment met.
Source: E. K. Burke, Y. Bykov, "The late acceptance hill-climbing heuristic" (2017).
Complexity: O(n) and one score per change. Work units: one per score.
"""

from parts.generic.late_acceptance import accepted_late

SWAPS = 0.4  # tunable: float 0.0..1.0


# exchangeable: neighbour-groups
def neighbour(values, env_data):
    """A copy of the assignment after a swap of two items or the move of one."""
    rng = env_data["rng"]
    i, j = rng.integers(values.size, size=2)
    changed = values.copy()
    if rng.random() < SWAPS:
        changed[i], changed[j] = values[j], values[i]
    else:
        changed[i] = rng.integers(env_data["solution_groups"])
    return changed


def run(env_data, state, calc_makespan_fn):
    return accepted_late(env_data, state, calc_makespan_fn)
