"""Iterated tabu search with a small elite and restarts between elite schedules.

Method: short tabu searches follow one another. Each starts from a schedule between the current one and a
random member of the elite, so that the search stays in the region where good schedules gather; when the
two have become alike, random critical moves push it away. The result replaces the current schedule unless it
is worse by more than a small fraction.

Source: E. Nowicki, C. Smutnicki, An advanced tabu search algorithm for the job shop problem, 2005 (elite,
paths between elite schedules); E. Balas, A. Vazacopoulos, 1998 (moves and their rating).

Complexity: O(N) per tabu iteration for N operations.
"""

import numpy as np
from parts.between_sequences import machine_distance, path_point
from parts.block_insertions import block_moves as block_moves
from parts.critical_moves import shake
from parts.schedule import lay_out
from parts.tabu import improve, open_search

ELITE_SIZE = 6  # tunable: int 2..30
PATIENCE = 3000  # tunable: int 500..30000
SHARE = 0.25  # tunable: float 0.05..0.6
TOLERANCE = 0.005  # tunable: float 0.0..0.05
RESTART_MOVES = 20  # tunable: int 1..200


def shaken(search, sequence, moves):
    """`sequence` after random critical moves."""
    lay_out(sequence, search.problem, search.topology, search.links)
    shake(moves, search.problem, search.topology, search.links, search.work, search.memory[2], search.rng)
    return search.topology[0] // np.int32(search.problem[1])


def restart(search, current, elite):
    """Where the next search starts: part of the way to an elite schedule, or off at random."""
    guide = elite[int(search.rng.random() * len(elite))][1]
    if machine_distance(current, guide, *search.problem[:3]) < 4 * RESTART_MOVES:
        return shaken(search, current, RESTART_MOVES)
    child = np.empty(current.size, np.int32)
    path_point(current, guide, SHARE, *search.problem[:2], child, search.rng)
    return child


def remember(search, elite, entry):
    """Keep the elite sorted and free of copies, at most ELITE_SIZE members."""
    for value, member in elite:
        if value == entry[0] and machine_distance(entry[1], member, *search.problem[:3]) == 0:
            return
    elite.append(entry)
    elite.sort(key=lambda member: member[0])
    del elite[ELITE_SIZE:]


def warm_up(search, sequence):
    """Call the kernels of later phases once, so that none is compiled in the middle of a timed run."""
    shaken(search, sequence, 0)
    machine_distance(sequence, sequence, *search.problem[:3])
    path_point(sequence, sequence, SHARE, *search.problem[:2], sequence.copy(), search.rng)


def run(env_data, state, calc_makespan_fn):
    """Improve `state` until the share of the budget is spent or a lower bound is met."""
    search = open_search(env_data)
    sequence = np.array(state.sequence, dtype=np.int32)
    warm_up(search, sequence)
    current = improve(search, sequence, PATIENCE)
    elite = [current]
    while len(elite) < ELITE_SIZE and elite[0][0] > search.target and not search.budget.exhausted():
        remember(search, elite, improve(search, shaken(search, current[1], 5 * RESTART_MOVES), PATIENCE))
        if search.budget.remaining() < 0.7:
            break
    while elite[0][0] > search.target and not search.budget.exhausted():
        found = improve(search, restart(search, current[1], elite), PATIENCE)
        if found[0] <= current[0] * (1.0 + TOLERANCE):
            current = found
        remember(search, elite, found)
    state.sequence = elite[0][1]
    return state
