"""Random local search on the sequence by block moves.

Method: a run of up to REACH of the items is cut out and put in at another place, so that items which fit
together stay together. Every neighbour is decoded and kept when its score is not worse. The search stops
after PATIENCE neighbours without gain.

Source: Y. Wu, W. Li, M. Goh, R. de Souza, Three-dimensional bin packing problem with variable bin height,
2010 (orders as encoding); H. R. Lourenço, O. C. Martin, T. Stützle, Iterated local search, 2003.

Complexity: one decoding per neighbour.
"""

from parts.sequences.block_move import moved as moved
from parts.sequences.neighbour_search import search_neighbours

PATIENCE = 2000  # tunable: int 100..100000
REACH = 0.3  # tunable: float 0.01..1.0


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until nothing has improved for PATIENCE neighbours or the share is spent."""
    return search_neighbours(env_data, state, calc_makespan_fn, PATIENCE, REACH)
