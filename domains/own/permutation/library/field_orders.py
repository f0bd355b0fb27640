"""Orders by fields: sort the entries by what the instance says of them, and take the best such order.

Method: every array of the instance with one number per entry gives two orders, by rising and by falling
number; so does every quotient of two such arrays, the divisor raised to EXPONENT. The best one is kept; a
random order where there are no such arrays.
Source: dispatching rules and priority indices of all kinds, e.g. W. E. Smith (1956), D. S. Johnson (1954).
Complexity: O(n log n) and one score per order, of which there are O(f²) for f fields. Work units: one each.
"""

import numpy as np
from parts.entries import entries_of
from parts.generic.fields import field_orders
from parts.generic.tries import best_of


def sorted_states(env_data, state):
    """The state with a random order, then with each order by fields."""
    entries = entries_of(env_data)
    state.sequence = env_data["rng"].permutation(entries).astype(np.int32)
    yield state
    for order in field_orders(env_data, env_data["solution_size"]):
        state.sequence = entries[order].astype(np.int32)
        yield state


def run(env_data, state, calc_makespan_fn):
    return best_of(sorted_states(env_data, state), calc_makespan_fn, env_data["budget"])
