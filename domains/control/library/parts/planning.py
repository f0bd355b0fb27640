"""Control-limited differential dynamic programming for one input; states are unwrapped, costs wrap angles.

Source: Y. Tassa, N. Mansard, E. Todorov, "Control-limited differential dynamic programming" (2014).
"""

import math

import numpy as np
from numba import njit
from parts.models import rates, stepped


@njit(cache=True)
def error_at(x, target, is_angle, e):
    for i in range(x.size):
        e[i] = x[i] - target[i]
        if is_angle[i]:
            e[i] = (e[i] + math.pi) % (2.0 * math.pi) - math.pi


@njit(cache=True)
def rolled(model, p, us, gains, changes, old, alpha, bound, dt, weight, target, is_angle, final, xs, new):
    """Write states (from the first one on) and inputs of a rollout with feedback around `old`; the cost."""
    n, cost = old.shape[1], 0.0
    e, off = np.empty(n), np.empty(n)
    for t in range(us.size):
        error_at(xs[t], target, is_angle, e)
        error_at(xs[t], old[t], is_angle, off)
        u = us[t] + alpha * changes[t]
        for i in range(n):
            u += gains[t, i] * off[i]
            cost += e[i] * e[i]
        new[t] = u = min(max(u, -bound), bound)
        cost += weight * u * u
        xs[t + 1] = stepped(model, p, xs[t], u, dt)
    error_at(xs[us.size], target, is_angle, e)
    for i in range(n):
        for j in range(n):
            cost += e[i] * final[i, j] * e[j]
    return cost if cost < 1e18 else 1e18


@njit(cache=True)
def step_matrices(model, p, x, after, u, dt, a, b):
    """Write A and b of a step: the exponential, to third order, of the slopes half way, by differences."""
    n = x.size
    middle, plus, minus, slopes = np.empty(n), np.empty(n), np.empty(n), np.empty((n, n))
    for i in range(n):
        middle[i] = 0.5 * (x[i] + after[i])
    for j in range(n):
        value = middle[j]
        middle[j] = value + 1e-5
        rates(model, p, middle, u, plus)
        middle[j] = value - 1e-5
        rates(model, p, middle, u, minus)
        middle[j] = value
        for i in range(n):
            slopes[i, j] = dt * (plus[i] - minus[i]) / 2e-5
    rates(model, p, middle, u + 1e-3, plus)
    rates(model, p, middle, u - 1e-3, minus)
    for i in range(n):
        b[i] = dt * (plus[i] - minus[i]) / 2e-3
        for j in range(n):
            total = 0.0
            for k in range(n):
                total += slopes[i, k] * slopes[k, j]
            a[i, j] = 0.5 * total
    for i in range(n):  # the third order: M³/6 = (M² / 2) M / 3
        for j in range(n):
            total = 0.0
            for k in range(n):
                total += a[i, k] * slopes[k, j]
            middle[j] = total / 3.0
        for j in range(n):
            minus[j] = a[i, j] + middle[j] + slopes[i, j]
        plus[i] = 0.0
        for j in range(n):
            plus[i] += (0.5 * slopes[i, j] + a[i, j] / 3.0) * b[j]
        for j in range(n):
            slopes_ij = minus[j]
            a[i, j] = slopes_ij
        a[i, i] += 1.0
    for i in range(n):
        b[i] += plus[i]


@njit(cache=True)
def backward(model, p, xs, us, bound, dt, weight, target, is_angle, final, damping, gains, changes):
    """Write feedback and changes of inputs; return the expected decrease, -1.0 where it failed."""
    horizon, n = us.size, xs.shape[1]
    vxx, vx, e, qux, w = final.copy(), np.zeros(n), np.empty(n), np.empty(n), np.empty(n)
    a, b, va, ahead = np.empty((n, n)), np.empty(n), np.empty((n, n)), np.empty(n)
    error_at(xs[horizon], target, is_angle, e)
    for i in range(n):
        for j in range(n):
            vx[i] += final[i, j] * e[j]
    expected = 0.0
    for t in range(horizon - 1, -1, -1):
        step_matrices(model, p, xs[t], xs[t + 1], us[t], dt, a, b)
        quu, qu = weight + damping, weight * us[t]
        for i in range(n):
            w[i] = 0.0
            for j in range(n):
                w[i] += vxx[i, j] * b[j]
            quu += b[i] * w[i]
            qu += b[i] * vx[i]
        if not quu > 0.0:
            return -1.0
        du, low, high = -qu / quu, -bound - us[t], bound - us[t]
        is_free = low <= du <= high
        du = min(max(du, low), high)
        changes[t] = du
        expected -= du * (qu + 0.5 * quu * du)
        for i in range(n):
            qux[i], ahead[i] = 0.0, 0.0
            for j in range(n):
                qux[i] += a[j, i] * w[j]
                ahead[i] += a[j, i] * vx[j]
                va[i, j] = 0.0
                for k in range(n):
                    va[i, j] += vxx[i, k] * a[k, j]
            gains[t, i] = -qux[i] / quu if is_free else 0.0
        error_at(xs[t], target, is_angle, e)
        plain = quu - damping
        for i in range(n):
            k = gains[t, i]
            vx[i] = e[i] + ahead[i] + k * (qu + plain * du) + qux[i] * du
            for j in range(n):
                total = 0.0
                for m in range(n):
                    total += a[m, i] * va[m, j]
                vxx[i, j] = total + plain * k * gains[t, j] + k * qux[j] + qux[i] * gains[t, j]
            vxx[i, i] += 1.0
    return expected


@njit(cache=True)
def improved(
    model, p, x0, us, old, feedback, bound, dt, weight, target, is_angle, final, iterations, tolerance
):
    """Return better inputs than `us` with `feedback`, `(horizon, n)`, around the states `old`, their cost,
    their states and the feedback around these."""
    horizon, n = us.size, x0.size
    gains, changes = feedback.copy(), np.zeros(horizon)
    xs, other = np.zeros((horizon + 1, n)), np.zeros((horizon + 1, n))
    best, new = us.copy(), us.copy()
    xs[0], other[0] = x0, x0
    cost = rolled(
        model, p, us, gains, changes, old, 0.0, bound, dt, weight, target, is_angle, final, xs, best
    )
    damping = 0.0
    for _ in range(iterations):
        expected = backward(
            model, p, xs, best, bound, dt, weight, target, is_angle, final, damping, gains, changes
        )
        gained, alpha = 0.0, 1.0
        while expected > 0.0 and alpha > 1e-3:
            tried = rolled(
                model,
                p,
                best,
                gains,
                changes,
                xs,
                alpha,
                bound,
                dt,
                weight,
                target,
                is_angle,
                final,
                other,
                new,
            )
            if tried < cost:
                gained = cost - tried
                break
            alpha *= 0.4
        if gained > 0.0:
            cost -= gained
            xs, other = other, xs
            best, new = new, best
            damping = damping * 0.2 if damping > 1e-6 else 0.0
            if gained < tolerance * cost:
                break
        elif 0.0 <= expected < tolerance * cost:
            break
        else:
            damping = max(damping * 6.0, 1e-4)
            if damping > 1e6:
                break
    return best, cost, xs, gains
