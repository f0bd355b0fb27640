"""Breakout local search.

Method: descent by single flips, then a perturbation whose strength and kind depend on the history: the jump
has LEAST n flips after a new local optimum, one more each time the search falls back into the same cut, up to
MOST n. With probability exp(-idle rounds / PATIENCE), at least DIRECTED, it is a tabu walk along the best
free flips, else random flips; after PATIENCE idle rounds one strong random jump of MOST n flips.
Source: U. Benlic, J. Hao, "Breakout local search for the max-cut problem" (2013).
Complexity: O(n + m) per round at worst. Work units: one per round.
"""

import numpy as np
from numba import njit
from parts.gains import descend, kick, largest_gain, open_cut
from parts.tabu import tabu_walk

LEAST = 0.01  # tunable: float 0.002..0.05
MOST = 0.1  # tunable: float 0.03..0.4
DIRECTED = 0.8  # tunable: float 0.3..1.0
PATIENCE = 1000  # tunable: int 50..5000
BASE_TENURE = 3  # tunable: int 1..50
TENURE_SPREAD = 0.1  # tunable: float 0.01..0.3

CHUNK_ARCS = 1_000_000


# exchangeable: jump-kind
@njit(cache=True)
def is_directed_jump(idle, patience, least_probability, rng):
    """Whether the next jump follows the best free flips, after `idle` rounds without a heavier cut."""
    return rng.random() < max(np.exp(-idle / patience), least_probability)


@njit(cache=True)
def break_out(
    x, gains, best, cuts, history, free_at, offsets, neighbors, weights, span, limits, directed, rounds, rng
):
    """`rounds` rounds of descent and jump. history, int64 (3,): idle rounds, length of jumps, last local cut;
    limits, int64 (5,): least and most flips of a jump, patience, base tenure and its spread.
    """
    for _ in range(rounds):
        cuts[0] += descend(x, gains, offsets, neighbors, weights)
        if cuts[0] > cuts[1]:
            cuts[1] = cuts[0]
            best[:] = x
            history[0] = 0
        else:
            history[0] += 1
        history[1] = min(history[1] + 1, limits[1]) if cuts[0] == history[2] else limits[0]
        history[2] = cuts[0]
        if history[0] > limits[2]:
            history[0] = 0
            cuts[0] += kick(x, gains, offsets, neighbors, weights, limits[1], rng)
        elif is_directed_jump(history[0], limits[2], directed, rng):
            steps, base, spread = history[1], limits[3], limits[4]
            tabu_walk(
                x, gains, best, cuts, free_at, offsets, neighbors, weights, span, base, spread, steps, rng
            )
        else:
            cuts[0] += kick(x, gains, offsets, neighbors, weights, history[1], rng)
            cuts[2] += history[1]


def run(env_data, state, calc_makespan_fn):
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_nodes"]
    graph, x, gains, cut = open_cut(env_data, state)
    offsets, neighbors, weights = graph
    best, best_cut = x.copy(), cut
    span = largest_gain(offsets, weights)
    cuts, free_at = np.array([cut, best_cut, 0]), np.zeros(n, dtype=np.int64)
    least = max(2, int(LEAST * n))
    limits = np.array(
        [least, max(least, int(MOST * n)), PATIENCE, BASE_TENURE, max(1, int(TENURE_SPREAD * n))]
    )
    history = np.array([0, least, -1])
    rounds = max(
        1, min(200, CHUNK_ARCS // (12 * n + 2 * span // (2 * span // 8192 + 1) + neighbors.size // 2))
    )
    while not budget.exhausted():
        break_out(
            x, gains, best, cuts, history, free_at, offsets, neighbors, weights, span, limits, DIRECTED,
            rounds, rng,
        )  # fmt: skip
        budget.charge(rounds)
    state.sequence = ((best + 1) // 2).astype(np.int32)
    return state
