"""Iterated local search on the sequence.

Method: a descent by random moves that stops after PATIENCE failures; then the best sequence is shaken by
KICKS random moves and descended from again. The result is taken when it is not worse. Uses its whole
share.

Source: H. R. Lourenço, O. C. Martin, T. Stützle, Iterated local search, 2003.

Complexity: one decoding per neighbour.
"""

from parts.packing.sequence_searches import iterate

PATIENCE = 400  # tunable: int 20..20000
KICKS = 4  # tunable: int 1..50
REACH = 0.5  # tunable: float 0.01..1.0


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share is spent."""
    return iterate(env_data, state, calc_makespan_fn, PATIENCE, KICKS, REACH)
