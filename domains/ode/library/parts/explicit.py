"""Explicit Runge-Kutta methods from their tableaus."""

import numpy as np
from parts.steps import begin, propose, slope


def explicit_step(env_data, work, nodes, rows, weights, error_weights=(), order=0):
    """Propose a step; `error_weights` give the error of order + 1, of one entry more than stages if the slope
    at the end of the step is among them, which then serves the next step."""
    h = begin(work)
    if h == 0.0:
        return
    rhs, t, y = env_data["rhs"], work["t"], work["y"]
    slopes = np.empty((len(nodes) + 1, y.size))
    slopes[0] = slope(work, rhs)
    for i in range(1, len(nodes)):
        row = np.array(rows[i])
        slopes[i] = rhs(t + nodes[i] * h, y + h * (row @ slopes[:i]))
    increment = h * (np.array(weights) @ slopes[: len(nodes)])
    if len(error_weights) == 0:
        propose(work, increment, h)
        return
    used = len(error_weights)
    if used > len(nodes):
        slopes[-1] = rhs(t + h, y + increment)
        work["f_new"] = slopes[-1].copy()
    propose(work, increment, h, h * (np.array(error_weights) @ slopes[:used]), order)
