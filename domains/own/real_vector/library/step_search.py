"""Step search: random steps of some numbers, whose length learns from success.

Method: a (1+1) evolution strategy. Each step changes about BLOCK numbers by normal deviates; the length grows
after a success and shrinks after a failure, so that about one step in five succeeds; below FINEST of the
ranges it begins again at FIRST. Uses its whole share.
Source: I. Rechenberg, "Evolutionsstrategie" (1973).
Complexity: O(n) and one score per step. Work units: one per score.
"""

import math

import numpy as np

BLOCK = 2.0  # tunable: float 1.0..50.0
FIRST = 0.1  # tunable: float 0.001..0.5
PACE = 0.2  # tunable: float 0.02..1.0
FINEST = 1e-9


# exchangeable: changed-numbers
def changed_numbers(x, rng):
    """Which numbers change, bool (n,); one at least."""
    mask = rng.random(x.size) < BLOCK / x.size
    mask[int(rng.integers(x.size))] = True
    return mask


def run(env_data, state, calc_makespan_fn):
    rng, budget = env_data["rng"], env_data["budget"]
    low, high = env_data["solution_low"], env_data["solution_high"]
    span = high - low
    x = np.clip(np.array(state.metadata["x"], dtype=np.float64), low, high)
    score = calc_makespan_fn(state)
    length = FIRST
    while not budget.exhausted():
        trial = x + length * span * rng.normal(size=x.size) * changed_numbers(x, rng)
        state.metadata["x"] = np.clip(trial, low, high)
        changed = calc_makespan_fn(state)
        length *= math.exp(PACE) if changed < score else math.exp(-PACE / 4.0)
        if changed <= score:
            x, score = state.metadata["x"], changed
        if not FINEST < length < 1.0:
            length = FIRST
    state.metadata["x"] = x.copy()
    return state
