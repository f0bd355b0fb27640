"""Circle packing in the unit square: real numbers, an exact inner problem, proof with rational numbers.

Evolved on 12 to 24 circles, tested on 26, the number that other systems show.

    dga2d evolve examples/circles.py --time-limit 5 --generations 8 --test
"""

from fractions import Fraction

import numpy as np
from numba import njit

import dga2d


class CirclePacking(dga2d.Problem):
    """Circles in the unit square whose radii add up to as much as possible.

    The solution holds the centres of n circles: the n abscissae, then the n ordinates. The radii are the best
    for these centres: no two circles overlap, none leaves the square. The score is the sum of the radii.
    """

    sense = "max"
    fields = {"n": "number of circles"}

    def instances(self):
        """Each number of circles is an instance; the held-out one is tried eight times, with eight seeds."""
        return dga2d.Split(
            train={f"n{n}": {"n": n} for n in (12, 14, 16, 18, 20, 22)},
            validation={f"n{n}": {"n": n} for n in (15, 17, 19, 21, 23, 24)},
            test={f"n26-{number}": {"n": 26} for number in range(1, 9)},
        )

    def encoding(self, instance):
        """Two numbers per circle, between 0 and 1."""
        return dga2d.RealVector(2 * instance.n, 0.0, 1.0)

    def score(self, instance, centres):
        """Sum of the radii, to be large."""
        return radii_of(centres).sum()

    def verify(self, instance, centres):
        """Prove with rational numbers that no circle overlaps another or leaves the square."""
        n = instance.n
        x = [Fraction(value) for value in centres[:n].tolist()]
        y = [Fraction(value) for value in centres[n:].tolist()]
        radii = [Fraction(value) for value in radii_of(centres).tolist()]
        for i in range(n):
            if radii[i] < 0 or radii[i] > min(x[i], 1 - x[i], y[i], 1 - y[i]):
                return f"circle {i} leaves the square"
            for j in range(i):
                if (radii[i] + radii[j]) ** 2 > (x[i] - x[j]) ** 2 + (y[i] - y[j]) ** 2:
                    return f"circles {j} and {i} overlap"
        return None

    def write(self, instance, centres):
        """One line per circle: abscissa, ordinate and radius."""
        n, radii = instance.n, radii_of(centres).tolist()
        places = centres.tolist()
        return "".join(f"{places[i]!r} {places[n + i]!r} {radii[i]!r}\n" for i in range(n))


@njit(cache=True)
def radii_of(centres):
    """Best radii for the centres, float64 (n,), rounded so that they hold exactly.

    The linear program max Σ r_i, r_i + r_j <= d_ij, r_i <= b_i (b_i: distance to the border) is half the
    assignment problem with costs d_ij and 2 b_i on the diagonal: with its dual variables u and v the radii
    are (u_i + v_i) / 2. Should one be negative, it becomes 0 and its neighbours give way.
    """
    n = centres.size // 2
    costs = np.empty((n, n))
    for i in range(n):
        x, y = centres[i], centres[n + i]
        costs[i, i] = 2.0 * min(x, 1.0 - x, y, 1.0 - y)
        for j in range(i):
            costs[i, j] = costs[j, i] = np.hypot(x - centres[j], y - centres[n + j])
    rows, columns = assignment_duals(costs)
    radii = np.maximum((rows + columns) / 2.0, 0.0)
    for i in range(n):
        room = costs[i, i] / 2.0
        for j in range(n):
            if j != i:
                room = min(room, costs[i, j] - radii[j])
        radii[i] = max(min(radii[i], room) - 1e-15, 0.0)
    return radii


@njit(cache=True)
def assignment_duals(costs):
    """Dual variables of rows and columns of an assignment problem, by shortest augmenting paths.

    R. Jonker, A. Volgenant, "A shortest augmenting path algorithm for dense and sparse linear assignment
    problems" (1987).
    """
    n = costs.shape[0]
    u, v = np.zeros(n + 1), np.zeros(n + 1)
    row_of = np.zeros(n + 1, np.int64)
    before = np.zeros(n + 1, np.int64)
    for row in range(1, n + 1):
        row_of[0] = row
        column = 0
        least = np.full(n + 1, np.inf)
        is_done = np.zeros(n + 1, np.bool_)
        while row_of[column] != 0:
            is_done[column] = True
            i, step, following = row_of[column], np.inf, 0
            for j in range(1, n + 1):
                if not is_done[j]:
                    reduced = costs[i - 1, j - 1] - u[i] - v[j]
                    if reduced < least[j]:
                        least[j], before[j] = reduced, column
                    if least[j] < step:
                        step, following = least[j], j
            for j in range(n + 1):
                if is_done[j]:
                    u[row_of[j]] += step
                    v[j] -= step
                else:
                    least[j] -= step
            column = following
        while column != 0:
            row_of[column] = row_of[before[column]]
            column = before[column]
    return u[1:], v[1:]
