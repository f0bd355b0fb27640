"""Simulated annealing on the sequence.

Method: a random move of the sequence is decoded and accepted by the rule of Metropolis. The temperature
falls geometrically from HOT to COLD, in units of the score, over the whole share of the budget.

Source: S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, Optimization by simulated annealing, 1983; M. Gehring,
A. Bortfeldt, A parallel genetic algorithm for solving the container loading problem, 2002 (orders as
encoding).

Complexity: one decoding per proposal.
"""

from parts.packing.sequence_searches import anneal

HOT = 0.1  # tunable: float 0.001..2.0
COLD = 0.001  # tunable: float 0.00001..0.1
REACH = 0.5  # tunable: float 0.01..1.0


def run(env_data, state, calc_makespan_fn):
    """Anneal from `state` until the share is spent; the best sequence seen is the answer."""
    return anneal(env_data, state, calc_makespan_fn, HOT, COLD, REACH)
