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
from parts.models import error_of, model_number
from parts.planning import improved
from parts.riccati import hand_over, regulated, regulator_at_target

HORIZON = 250  # tunable: int 40..600
GUESSES = 12  # tunable: int 2..60
TRIALS = 25  # tunable: int 2..100
ITERATIONS = 100  # tunable: int 10..400
OFF = 0.02  # tunable: float 0.0001..1.0
NEW = 0.002  # tunable: float 0.0001..0.1
KEEP = 0.5  # tunable: float 0.1..0.9
NEAR = 1.0  # tunable: float 0.001..100.0
HOLD = 25  # tunable: int 1..200


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
