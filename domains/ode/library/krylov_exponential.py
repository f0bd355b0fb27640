"""Krylov approximation of the matrix exponential, for linear systems.

Method: Arnoldi's method with differences of slopes, which are exact for a linear right-hand side, in place of
products with the matrix, and the exponential of the small matrix; a step is as long as the space allows. It
goes to the end of the interval. What is not linear it leaves to others, after 4 evaluations.
Source: Y. Saad, "Analysis of some Krylov subspace approximations to the matrix exponential operator"
(1992); M. Hochbruck, C. Lubich, H. Selhofer, "Exponential integrators for large systems of differential
equations" (1998).
Complexity: O(n m^2 + m^3) per step for a space of m dimensions. Evaluations: 1 + m per step.
"""

import numpy as np
from parts.exponential import phi_times
from parts.steps import commit, propose, slope

DIMENSIONS = 40  # tunable: int 5..100
RELATIVE = 1e-14  # tunable: float 1e-16..1e-4


def is_linear(work, rhs):
    """Return whether slopes at points on two lines through y, at two times, are as those of a linear
    function."""
    t, y, f = work["t"], work["y"], slope(work, rhs)
    away = 1.0 + np.abs(y) * np.cos(np.arange(y.size))
    late = t + 0.375 * (work["end"] - t)
    ahead, behind = rhs(late, y + away), rhs(late, y - away)
    further = rhs(t, y + 2.0 * away)
    size = np.max(np.abs(f)) + np.max(np.abs(ahead)) + np.max(np.abs(behind)) + np.max(np.abs(further))
    bend = max(np.max(np.abs(ahead + behind - 2.0 * f)), np.max(np.abs(further - 2.0 * ahead + f)))
    return bool(bend <= 1e-13 * size)


def left_out(small, size, h, length):
    """About the part of the increment that lies outside of the space: Saad's estimate."""
    unit = np.zeros(size)
    unit[0] = h * length
    return float(abs(h * small[size, size - 1] * phi_times(h * small[:size, :size], unit)[-1]))


def arnoldi(rhs, work, f, h, tolerance, most):
    """Return basis, small matrix, dimensions and whether they suffice for a step h."""
    t, y = work["t"], work["y"]
    length = float(np.linalg.norm(f))
    shift = max(float(np.linalg.norm(y)), 1e-8)
    basis, small = np.zeros((most + 1, y.size)), np.zeros((most + 1, most))
    basis[0] = f / length
    for k in range(most):
        new = (rhs(t, y + shift * basis[k]) - f) / shift
        for _ in range(2):
            shares = basis[: k + 1] @ new
            small[: k + 1, k] += shares
            new = new - shares @ basis[: k + 1]
        small[k + 1, k] = np.linalg.norm(new)
        if small[k + 1, k] <= 1e-14 * np.linalg.norm(small[: k + 2, : k + 1]):
            return basis, small, k + 1, True
        basis[k + 1] = new / small[k + 1, k]
        if k >= 4 and k % 3 == 0 and left_out(small, k + 1, h, length) <= tolerance:
            return basis, small, k + 1, True
    return basis, small, most, False


def run(env_data, state, calc_makespan_fn):
    work, rhs, budget = state.metadata, env_data["rhs"], env_data["budget"]
    commit(work)
    if work["t"] >= work["end"] or not work.get("is_linear", True):
        return state
    work["is_linear"] = is_linear(work, rhs)
    while work["is_linear"] and work["t"] < work["end"] and not budget.exhausted():
        h, y, f = work["end"] - work["t"], work["y"], slope(work, rhs)
        length = float(np.linalg.norm(f))
        if length == 0.0 or not np.isfinite(length):
            propose(work, h * f, h)
            commit(work)
            break
        tolerance = RELATIVE * max(float(np.linalg.norm(y)), 1e-12)
        basis, small, used, is_enough = arnoldi(rhs, work, f, h, tolerance, min(DIMENSIONS, y.size))
        step = h
        while (
            not is_enough and left_out(small, used, step, length) > tolerance * step / h and step > 1e-6 * h
        ):
            step *= 0.85
        unit = np.zeros(used)
        unit[0] = step * length
        propose(work, phi_times(step * small[:used, :used], unit) @ basis[:used], step)
        commit(work)
    return state
