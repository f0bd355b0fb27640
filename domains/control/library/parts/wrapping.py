"""How far a state is from a target, angles the short way round."""

import math

from numba import njit


@njit(cache=True)
def error_at(x, target, is_angle, e):
    for i in range(x.size):
        e[i] = x[i] - target[i]
        if is_angle[i]:
            e[i] = (e[i] + math.pi) % (2.0 * math.pi) - math.pi
