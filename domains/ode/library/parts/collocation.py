"""Radau IIA methods of any number of stages."""

import math

import numpy as np
from parts.implicit import jacobian, renew, shrink, solve
from parts.steps import begin, propose, slope


def jacobi_matrix(size):
    """Return the matrix of the recurrence of Legendre's polynomials; its eigenvalues are Gauss's nodes."""
    k = np.arange(1.0, size)
    beside = k / np.sqrt(4.0 * k * k - 1.0)
    return np.diag(beside, 1) + np.diag(beside, -1)


def radau_nodes(stages):
    """Return the nodes of Radau's right formula on [0, 1] (Golub, "Some modified matrix eigenvalue
    problems")."""
    matrix = jacobi_matrix(stages)
    unit = np.zeros(stages - 1)
    unit[-1] = matrix[-1, -2] ** 2
    matrix[-1, -1] = 1.0 + np.linalg.solve(matrix[:-1, :-1] - np.eye(stages - 1), unit)[-1]
    nodes = (np.sort(np.linalg.eigvalsh(matrix)) + 1.0) / 2.0
    nodes[-1] = 1.0
    return nodes


def collocation_matrix(nodes):
    """Return the matrix whose rows integrate the polynomial through values at `nodes` from 0 to each node.

    By Gauss's formula, which is exact for it: no ill-conditioned system is solved. What rounding leaves of a
    row's sum is taken from its largest entry: a last row that does not sum to 1 is a wrong length of time,
    the same in every step.
    """
    stages = nodes.size
    points, vectors = np.linalg.eigh(jacobi_matrix(stages))
    weights = 2.0 * vectors[0] ** 2
    matrix = np.empty((stages, stages))
    for j in range(stages):
        others = np.delete(nodes, j)
        for i in range(stages):
            x = nodes[i] * (points + 1.0) / 2.0
            values = np.prod((x[:, None] - others) / (nodes[j] - others), axis=1)
            matrix[i, j] = nodes[i] / 2.0 * (weights @ values)
    for i in range(stages):
        for _ in range(2):
            matrix[i, np.argmax(np.abs(matrix[i]))] -= math.fsum((*matrix[i], -nodes[i]))
    return matrix


def radau_step(env_data, work, stages, relative, absolute):
    """Propose a step of Radau IIA of order 2 `stages` - 1; Newton's method for all stages, a system of n
    complex equations for each (Butcher's transformation).

    The error is the difference to a formula of order `stages` that also uses the slope at the beginning,
    damped by the inverse of I - h g J, as in Hairer and Wanner's program.
    """
    h = begin(work, is_implicit=True)
    if h == 0.0:
        return
    t, y, n = work["t"], work["y"], work["y"].size
    if "radau" not in work or work["radau"][0] != stages:
        nodes = radau_nodes(stages)
        matrix = collocation_matrix(nodes)
        values, vectors = np.linalg.eig(matrix)
        work["radau"] = (stages, nodes, matrix, values, vectors, np.linalg.inv(vectors))
    nodes, matrix, values, vectors, back = work["radau"][1:]
    jac = jacobian(env_data, work)
    if work.get("inverse_of") != (stages, h, work["jac_t"]):
        work["inverse"] = (np.linalg.inv(np.eye(n) - (h * values)[:, None, None] * jac),)
        work["inverse_of"] = (stages, h, work["jac_t"])
    scale = np.tile(absolute + relative * np.abs(y), stages)

    def residual(z):
        return z - h * (matrix @ env_data["rhs_many"](t + nodes * h, y + z.reshape(stages, n))).ravel()

    def correct(defect):
        apart = back @ defect.reshape(stages, n)
        return np.real(vectors @ (work["inverse"][0] @ apart[:, :, None])[:, :, 0]).ravel()

    guess = _extrapolated(work, h, nodes, stages, n)
    z, rate = solve(residual, correct, guess, scale, 12, 1e-2)
    if not np.isfinite(rate):
        shrink(work)
        return
    increments = z.reshape(stages, n)
    slopes = np.linalg.solve(h * matrix, increments)
    f = slope(work, env_data["rhs"])
    real = float(np.real(values[np.argmin(np.abs(np.imag(values)))]))
    defect = h * real * f + _error_weights(nodes, real) @ (h * slopes)
    error = np.linalg.solve(np.eye(n) - h * real * jac, defect)
    propose(work, increments[-1].copy(), h, error, stages)
    work["radau_last"] = (h, increments.copy())
    if rate > 1e-2:
        renew_after(work)


def renew_after(work):
    """Let the next step compute its Jacobian anew, wherever it begins."""
    work["jac_t"] = -1.0
    renew(work)


def _extrapolated(work, h, nodes, stages, n):
    """Return the last step's polynomial at the new nodes, minus its end."""
    if "radau_last" not in work or work["radau_last"][1].shape != (stages, n) or work.get("refused", False):
        return np.zeros(stages * n)
    last, values = work["radau_last"]
    old = np.concatenate((np.zeros(1), nodes))
    table = np.vstack((np.zeros((1, n)), values)) - values[-1]
    new = 1.0 + nodes * h / last
    out = np.zeros((stages, n))
    for j in range(stages + 1):
        others = np.delete(old, j)
        out += np.prod((new[:, None] - others) / (old[j] - others), axis=1)[:, None] * table[j]
    return out.ravel()


def _error_weights(nodes, real):
    """Weights e with h(real f0 + sum e_i f_i) = O(h^(stages + 1)): minus the solution, plus a formula with
    f0."""
    stages = nodes.size
    powers = nodes ** np.arange(stages)[:, None]
    wanted = 1.0 / np.arange(1, stages + 1)
    with_start = wanted.copy()
    with_start[0] -= real
    return np.linalg.solve(powers, with_start) - np.linalg.solve(powers, wanted)
