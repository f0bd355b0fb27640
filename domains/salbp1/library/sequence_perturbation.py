"""Perturbation of the sequence: a few windows are put in another order that keeps precedence.

Method: windows of consecutive tasks at random places are rebuilt by drawing, again and again, a random
one of the window's tasks whose predecessors within the window are placed. Tasks outside keep their order.

Source: H. R. Lourenço, O. C. Martin, T. Stützle, Iterated local search, 2003 (local rearrangement).

Complexity: O(w² + d) per window of w tasks with d relations.
"""

import numpy as np

WINDOWS = 2  # tunable: int 1..20
WINDOW_SHARE = 0.15  # tunable: float 0.01..1.0


# exchangeable: window-order
def window_order(tasks, blockers, rng):
    """A random order of `tasks` in which each follows its blockers (sets of tasks, by task)."""
    order, rest = [], list(tasks)
    while rest:
        placed = set(order)
        ready = [task for task in rest if blockers[task] <= placed]
        task = ready[int(rng.integers(len(ready)))]
        order.append(task)
        rest.remove(task)
    return order


def run(env_data, state, calc_makespan_fn):
    """Rearrange WINDOWS windows of `state`; the result may be worse."""
    rng = env_data["rng"]
    sequence = np.array(state.sequence, dtype=np.int32)
    length = min(sequence.size, 100, max(3, int(WINDOW_SHARE * sequence.size)))
    edges = np.array(env_data["edges"]).reshape(-1, 2)
    for _ in range(WINDOWS):
        start = int(rng.integers(sequence.size - length + 1))
        tasks = sequence[start : start + length].tolist()
        blockers = {task: set() for task in tasks}
        inside = np.isin(edges[:, 0], tasks) & np.isin(edges[:, 1], tasks)
        for before, after in edges[inside].tolist():
            blockers[after].add(before)
        sequence[start : start + length] = window_order(tasks, blockers, rng)
    env_data["budget"].charge(WINDOWS)
    state.sequence = sequence
    return state
