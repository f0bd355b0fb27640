"""One instance and the schedule that is searched, for moves of operations across their block."""

import numpy as np
from parts.crossing_moves import load
from parts.tabu import lower_bound

TENURE = 10  # tunable: int 4..30
TENURE_WIDTH = 1.4  # tunable: float 1.1..2.5


class Shop:
    """The arrays of one instance and of the schedule that is searched."""

    def __init__(self, env_data):
        machines, times = np.asarray(env_data["machines_matrix"]), np.asarray(env_data["times_matrix"])
        n, m = times.shape
        size = n * (m + 1) + 1
        self.rng, self.budget = env_data["rng"], env_data["budget"]
        self.ids = (np.arange(n)[:, None] * (m + 1) + np.arange(1, m + 1)).ravel().astype(np.int32)
        machine, job, p = np.zeros(size, np.int32), np.zeros(size, np.int32), np.full(size, -1, np.int32)
        machine[self.ids], p[self.ids] = machines.ravel(), times.ravel()
        job[self.ids] = np.repeat(np.arange(n), m)
        self.problem = (n, m, machine, job, p)
        self.topology = np.zeros(n * m, np.int32), np.zeros(size, np.int32)
        self.links = tuple(np.zeros(size, np.int32) for _ in range(4))
        path, row, moved = (np.zeros(n * m, np.int32) for _ in range(3))
        self.space = (path, row, np.zeros(size, np.bool_), moved, np.zeros((4 * n * m, 3), np.int32))
        self.until = np.zeros((size, n), np.int32)
        low = TENURE + n // m
        self.tenure = (low, int(np.ceil(TENURE_WIDTH * low)))
        self.target = lower_bound(env_data)

    def operations(self, sequence):
        """The operations of a sequence of jobs, in its order."""
        order = np.empty(self.ids.size, np.int32)
        order[np.argsort(sequence, kind="stable")] = self.ids
        return order

    def load(self, order):
        """Make `order` the schedule that is searched; its makespan."""
        self.topology[0][:] = order
        return load(*self.topology, self.problem[2], self.problem[4], *self.links)
