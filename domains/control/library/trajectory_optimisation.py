"""Plans the inputs of the next seconds by differential dynamic programming, and follows the plan with
feedback.

Method: control-limited DDP from several first guesses, the regulator's cost-to-go at the horizon's end. The
plan is followed with the feedback that comes with it; it is made anew when the believed parameters change,
and improved when the plant is off it or the horizon comes near.
Source: Y. Tassa, N. Mansard, E. Todorov, "Control-limited differential dynamic programming" (2014); Y. Tassa,
T. Erez, E. Todorov, "Synthesis and stabilization of complex behaviors through online trajectory optimization"
(2012).
Complexity: O(horizon n³) per iteration, O(n) in steps that follow the plan.
"""

import numpy as np
from numba import njit
from parts.models import error_of, model_number, rates, stepped
from parts.riccati import hand_over, regulated, regulator_at_target
from parts.wrapping import error_at

HORIZON = 250  # tunable: int 40..600
GUESSES = 12  # tunable: int 2..60
TRIALS = 25  # tunable: int 2..100
ITERATIONS = 100  # tunable: int 10..400
OFF = 0.02  # tunable: float 0.0001..1.0
NEW = 0.002  # tunable: float 0.0001..0.1
KEEP = 0.5  # tunable: float 0.1..0.9
NEAR = 1.0  # tunable: float 0.001..100.0
HOLD = 25  # tunable: int 1..200


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


def first_guesses(rng, gain, target, bound):
    """Yield inputs, states and feedback around them: the regulator alone, then pushes of changing
    direction."""
    goal = np.tile(target, (HORIZON + 1, 1))
    none = np.zeros((HORIZON, gain.size))
    yield np.zeros(HORIZON), goal, none - gain
    yield np.zeros(HORIZON), goal, none
    for number in range(GUESSES - 2):
        us, place, sign = np.zeros(HORIZON), 0, 1.0 if number % 2 else -1.0
        for _ in range(1 + number // 2):
            length = int(rng.integers(10, 70))
            us[place : place + length] = sign * bound * float(rng.uniform(0.4, 1.0))
            place, sign = place + length, -sign
        yield us, goal, none


def continued(plan, step, gain, target):
    """Return what is left of a plan, and the regulator for the time after it."""
    us, xs, feedback = plan
    later = np.tile(-gain, (step, 1))
    return (
        np.append(us[step:], np.zeros(step)),
        np.vstack((xs[step:], np.tile(target, (step, 1)))),
        np.vstack((feedback[step:], later)),
    )


def planned(env_data, data, begins):
    """Return inputs, states and feedback from the measured state on."""
    model, p, bound = model_number(env_data), data["parameters"], env_data["bound"]
    target, weight, dt = env_data["target"] * 1.0, env_data["input_weight"], env_data["dt"]
    is_angle = np.zeros(target.size, np.bool_)
    is_angle[env_data["angles"]] = True
    gain, final = regulator_at_target(env_data, data, weight)
    x = data["x"] * 1.0

    def better(us, xs, feedback, iterations):
        us, cost, xs, feedback = improved(
            model, p, x, us, xs, feedback, bound, dt, weight, target, is_angle, final, iterations, 1e-8
        )
        return cost, (us, xs, feedback)

    guesses = [continued(data["plan"], data["plan_step"], gain, target)] if "plan" in data else []
    if begins:
        guesses += first_guesses(env_data["rng"], gain, target, bound)
    tried = sorted([better(*guess, TRIALS) for guess in guesses], key=lambda found: found[0])
    found = [better(*plan, ITERATIONS) for _, plan in tried[: 2 if begins else 1]]
    return min(found, key=lambda each: each[0])[1]


def run(env_data, state, calc_makespan_fn):
    data = state.metadata
    data.pop("gain", None)
    u, ahead = regulated(env_data, data, env_data["input_weight"])
    if ahead < NEAR and abs(u) < env_data["bound"]:
        hand_over(env_data, data, env_data["input_weight"], HOLD)
        return state
    p, begins, changed = data["parameters"], "plan" not in data, False
    if not begins:
        off = error_of(env_data, data["x"] - data["plan"][1][data["plan_step"]] + env_data["target"])
        begins = bool(np.abs(p - data["plan_for"]).max() > NEW * np.abs(p).max())
        changed = bool((p != data["plan_for"]).any())
    if begins or changed or np.abs(off).max() > OFF or data["plan_step"] > KEEP * HORIZON:
        data["plan"], data["plan_step"], data["plan_for"] = planned(env_data, data, begins), 0, p.copy()
        off = np.zeros(env_data["dimension"])
    us, _, feedback = data["plan"]
    step = data["plan_step"]
    data["u"] = float(us[step] + feedback[step] @ off)
    data["plan_step"] = step + 1
    return state
