"""Orders by fields: sort the entries by what the instance says of them, and take the best such order.

Method: every array of the instance with one number per entry gives two orders, by rising and by falling
number; so does every quotient of two such arrays, the divisor raised to EXPONENT. The best one is kept; a
random order where there are no such arrays.
Source: dispatching rules and priority indices of all kinds, e.g. W. E. Smith (1956), D. S. Johnson (1954).
Complexity: O(n log n) and one score per order, of which there are O(f²) for f fields. Work units: one each.
"""

import numpy as np

EXPONENT = 1.0  # tunable: float 0.2..3.0


def keys_of(env_data, n):
    """Sorting keys, float64 (n,) each: fields of the instance and their quotients."""
    fields = [
        np.asarray(value, dtype=np.float64)
        for name, value in env_data.items()
        if isinstance(value, np.ndarray) and value.shape == (n,) and not name.startswith("solution_")
    ]
    keys = list(fields)
    for above in fields:
        for below in fields:
            if below is not above and below.min() > 0:
                keys.append(above / below**EXPONENT)
    return keys


def run(env_data, state, calc_makespan_fn):
    rng, budget, n = env_data["rng"], env_data["budget"], env_data["solution_size"]
    entries = np.arange(n)
    if "solution_counts" in env_data:
        counts = env_data["solution_counts"]
        entries = np.repeat(np.arange(counts.size), counts)
    state.sequence = rng.permutation(entries).astype(np.int32)
    best, best_score = state.copy(), calc_makespan_fn(state)
    for key in keys_of(env_data, n):
        for order in (np.argsort(key, kind="stable"), np.argsort(-key, kind="stable")):
            if budget.exhausted():
                return best
            state.sequence = entries[order].astype(np.int32)
            score = calc_makespan_fn(state)
            if score < best_score:
                best, best_score = state.copy(), score
    return best
