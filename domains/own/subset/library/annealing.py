"""Simulated annealing: items come in, go out and change places, less and less often where that loses.

Method: a change that loses d is made with probability exp(-d / T). T falls from HOT to COLD times the usual
change of score as the share is used up. A part SWAPS of the changes exchange an item inside with one outside.
Uses its whole share; gives the best subset met.
Source: S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, "Optimization by simulated annealing" (1983).
Complexity: O(n) and one score per change. Work units: one per score.
"""

from parts.changes import neighbour as neighbour
from parts.generic.annealing import annealed


def run(env_data, state, calc_makespan_fn):
    return annealed(env_data, state, calc_makespan_fn)
