"""Choice by fields: items are taken by what the instance says of them, while that does not lose.

Method: every array of the instance with one number per item gives two orders, by rising and by falling
number; so does every quotient of two such arrays, the divisor raised to EXPONENT. In each order the items
are taken one after the other unless the score rises; where the size is given, the first items of each order.
The best subset is kept.
Source: G. B. Dantzig, "Discrete-variable extremum problems" (1957), on value per weight.
Complexity: O(n) scores per order, of which there are O(f²) for f fields. Work units: one per score.
"""

import numpy as np
from parts.generic.fields import field_orders


def orders_of(env_data, n):
    """Orders of the items, int64 (n,) each: by fields, and a random one."""
    yield from field_orders(env_data, n)
    yield env_data["rng"].permutation(n)


def run(env_data, state, calc_makespan_fn):
    budget, n, size = env_data["budget"], env_data["solution_size"], env_data["solution_chosen"]
    best, best_score = state, None
    for order in orders_of(env_data, n):
        chosen = np.zeros(n, np.int32)
        chosen[order[: max(size, 0)]] = 1
        state.sequence = chosen
        score = calc_makespan_fn(state)
        for item in order if size < 0 else ():
            if budget.exhausted():
                break
            chosen[item] = 1
            changed = calc_makespan_fn(state)
            if changed <= score:
                score = changed
            else:
                chosen[item] = 0
        if best_score is None or score < best_score:
            best, best_score = state.copy(), score
        if budget.exhausted():
            break
    return best
