"""Richardson extrapolation of the classical Runge-Kutta method.

Method: one step and two of half its length; their difference gives the error, and with it order 5.
Source: L. Richardson, J. Gaunt, "The deferred approach to the limit" (1927).
Complexity: O(n). Evaluations: 11 per step.
"""

from parts.steps import begin, propose, slope


def classical(rhs, t, y, f, h):
    k2 = rhs(t + 0.5 * h, y + 0.5 * h * f)
    k3 = rhs(t + 0.5 * h, y + 0.5 * h * k2)
    k4 = rhs(t + h, y + h * k3)
    return h / 6.0 * (f + 2.0 * k2 + 2.0 * k3 + k4)


def run(env_data, state, calc_makespan_fn):
    work, rhs = state.metadata, env_data["rhs"]
    h = begin(work)
    if h == 0.0:
        return state
    t, y, f = work["t"], work["y"], slope(work, rhs)
    once = classical(rhs, t, y, f, h)
    half = classical(rhs, t, y, f, 0.5 * h)
    middle = y + half
    twice = half + classical(rhs, t + 0.5 * h, middle, rhs(t + 0.5 * h, middle), 0.5 * h)
    error = (twice - once) / 15.0
    propose(work, twice + error, h, error, 4)
    return state
