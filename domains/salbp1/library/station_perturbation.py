"""Perturbation of the line: random tasks move to other stations they may have, whatever the loads.

Method: some tasks are given a random station between those of their predecessors and successors. The
tasks are then read station by station, so that first fit repairs overloads by moving tasks on; the line
may become longer.

Source: A. Scholl, S. Voss, Simple assembly line balancing: heuristic approaches, 1996 (shifts); H. R.
Lourenço, O. C. Martin, T. Stützle, Iterated local search, 2003.

Complexity: O(d) per move with d relations of a task.
"""

from numba import njit
from parts.stations import in_order_of_stations, open_line, station_window

MOVE_SHARE = 0.1  # tunable: float 0.01..1.0
REACH = 3  # tunable: int 1..1000


# exchangeable: place-draw
@njit(cache=True)
def place_draw(low, high, here, reach, draw):
    """A station in low..high at most `reach` from `here`; `draw` is uniform on [0, 1)."""
    low, high = max(low, here - reach), min(high, here + reach)
    return low + int(draw * (high - low + 1))


@njit(cache=True)
def move_tasks(moves, reach, station, used, graph, rng):
    """Move random tasks, `moves` times."""
    for _ in range(moves):
        task = int(rng.random() * station.size)
        low, high = station_window(task, -1, station, used, graph)
        station[task] = place_draw(low, high, station[task], reach, rng.random())


def run(env_data, state, calc_makespan_fn):
    """Move a share of the tasks of `state`; the result may be worse."""
    budget, rng = env_data["budget"], env_data["rng"]
    (_capacity, times, graph), sequence, station, _load, used = open_line(env_data, state)
    moves = max(1, int(MOVE_SHARE * times.size))
    move_tasks(moves, REACH, station, used, graph, rng)
    budget.charge(1)
    state.sequence = in_order_of_stations(sequence, station)
    return state
