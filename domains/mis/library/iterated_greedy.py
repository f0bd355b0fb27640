"""Iterated greedy: part of the set is taken out and rebuilt by a randomised minimum-degree rule.

Method: a share RUIN of the set leaves, either at random or around a random vertex. Free vertices join
again; of SAMPLE random ones the one with fewest free neighbours is taken. A smaller result is undone.

Source: R. Ruiz, T. Stutzle, A simple and effective iterated greedy algorithm, 2007; G. Schrimpf and others,
Record breaking optimization results using the ruin and recreate principle, 2000.

Complexity: O(RUIN k SAMPLE degree) per round, k: size of the set. Work units: one per
vertex that joins or leaves.
"""

from numba import njit
from parts.independent_set import copy_set, enter, leave, open_set, undo
from parts.xorshift import draw

RUIN = 0.15  # tunable: float 0.01..0.9
SAMPLE = 4  # tunable: int 1..50

CHUNK_WORK = 4_000_000
TRAIL = 100_000


# exchangeable: recreation-choice
@njit(cache=True)
def recreation_choice(order, place, size, free, first, near, sample, ties):
    """The next of the vertices order[size:size + free] to join: of `sample`, one with fewest free neighbours.

    `ties` is a random number below 2^31.
    """
    best, choice = 1 << 60, order[size]
    for k in range(min(sample, free)):
        v = order[size + (ties + 7919 * k) % free]
        crossed = 0
        for i in range(first[v], first[v + 1]):
            crossed += size <= place[near[i]] < size + free
        if crossed < best:
            best, choice = crossed, v
    return choice


# exchangeable: acceptance
@njit(cache=True)
def is_accepted(size, before, most, ties):
    """Whether a set of `size` replaces one of `before`; `most`: best so far; `ties`: random below 2^31."""
    return size >= before


@njit(cache=True)
def rounds(first, near, order, place, tight, counts, trail, best, n_rounds, stream):
    """Make `n_rounds` rounds; a round whose set is not accepted is undone. Copies larger sets into `best`."""
    n, most = order.size, best.sum()
    for _ in range(n_rounds):
        counts[2] = 0
        size = counts[0]
        wanted = 1 + int(RUIN * size)
        centre = draw(stream, n)
        reach = first[centre + 1] - first[centre]
        is_local = draw(stream, 2) == 0 and reach > 0
        for _ in range(wanted):
            if counts[0] == 0:
                break
            v = order[draw(stream, counts[0])]
            if is_local:
                near_centre = near[first[centre] + draw(stream, reach)]
                if place[near_centre] < counts[0]:
                    v = near_centre
            leave(v, first, near, order, place, tight, counts, trail)
        while counts[1] > 0:
            v = recreation_choice(
                order, place, counts[0], counts[1], first, near, SAMPLE, draw(stream, 1 << 31)
            )
            enter(v, first, near, order, place, tight, counts, trail)
        if counts[0] > most:
            most = copy_set(order, counts[0], best)
        elif not is_accepted(counts[0], size, most, draw(stream, 1 << 31)):
            undo(first, near, order, place, tight, counts, trail)


def run(env_data, state, calc_makespan_fn):
    """Rebuild parts of `state` until the share of the budget is spent."""
    budget, n = env_data["budget"], env_data["num_vertices"]
    _adj, stream, best, lists = open_set(env_data, state, TRAIL)
    first, near, order, place, tight, counts, trail = lists
    n_rounds = max(5, CHUNK_WORK // (200 + 20 * (len(near) + n)))
    while not budget.exhausted():
        before = int(counts[4])
        rounds(first, near, order, place, tight, counts, trail, best, n_rounds, stream)
        budget.charge(int(counts[4]) - before + 1)
    state.sequence = best
    return state
