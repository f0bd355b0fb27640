"""Late acceptance: a change is taken if it is no worse than the subset of some time ago.

Method: flips of an item and exchanges of two; the result is accepted if its score is at most that of MEMORY
changes ago, or at most the present one. Uses its whole share; gives the best subset met.
Source: E. K. Burke, Y. Bykov, "The late acceptance hill-climbing heuristic" (2017).
Complexity: O(n) and one score per change. Work units: one per score.
"""

from parts.changes import neighbour as neighbour
from parts.generic.late_acceptance import accepted_late


def run(env_data, state, calc_makespan_fn):
    return accepted_late(env_data, state, calc_makespan_fn)
