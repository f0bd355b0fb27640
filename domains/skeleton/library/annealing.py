"""Simulated annealing: swaps of two places that may lose value, less and less often.

Method: a swap that loses d is made with probability exp(-d / T); T falls from HOT to COLD times the mean
value of an item as the share is used up. Uses its whole share; gives the best order met.
Source: S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, "Optimization by simulated annealing" (1983).
Complexity: O(n) per swap. Work units: one per swap tried.
"""

import numpy as np
from numba import njit

CHUNK = 50
HOT = 0.5  # tunable: float 0.05..5.0
COLD = 0.005  # tunable: float 0.0005..0.05


@njit(cache=True)
def packed_value(order, values, weights, capacity):
    """Value that is packed when items are looked at in this order."""
    left = capacity
    packed = 0
    for k in range(order.size):
        item = order[k]
        if weights[item] <= left:
            left -= weights[item]
            packed += values[item]
    return packed


@njit(cache=True)
def anneal(order, best, best_value, items, pairs, chances, temperature):
    """Try each pair of places; `best` takes the best order met. Returns its value.

    items: values and weights, int64 (n,), and the capacity; pairs: int64 (k, 2); chances: float64 (k,).
    """
    values, weights, capacity = items
    value = packed_value(order, values, weights, capacity)
    for k in range(pairs.shape[0]):
        i, j = pairs[k, 0], pairs[k, 1]
        order[i], order[j] = order[j], order[i]
        changed = packed_value(order, values, weights, capacity)
        if chances[k] < np.exp(min((changed - value) / temperature, 0.0)):
            value = changed
            if value > best_value:
                best_value = value
                best[:] = order
        else:
            order[i], order[j] = order[j], order[i]
    return best_value


# exchangeable: cooling
def temperature(remaining):
    """Temperature in units of the mean value of an item; `remaining` falls from 1 to 0."""
    return COLD * (HOT / COLD) ** remaining


def run(env_data, state, calc_makespan_fn):
    rng, budget, n = env_data["rng"], env_data["budget"], env_data["num_items"]
    values, weights = env_data["values"].astype(np.int64), env_data["weights"].astype(np.int64)
    capacity, unit = env_data["capacity"], float(values.mean())
    order = np.array(state.sequence, dtype=np.int32)
    best = order.copy()
    items = values, weights, capacity
    best_value = packed_value(best, *items)
    while not budget.exhausted():
        pairs, chances = rng.integers(n, size=(CHUNK, 2)), rng.random(CHUNK)
        heat = unit * temperature(budget.remaining())
        best_value = anneal(order, best, best_value, items, pairs, chances, heat)
        budget.charge(CHUNK)
    state.sequence = best
    return state
