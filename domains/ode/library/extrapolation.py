"""Gragg's method with extrapolation, of variable order and step.

Method: the midpoint rule with 2, 4, 6, ... parts over one large step, extrapolated in the square of the
part's length by Aitken and Neville's scheme; the row at which the estimate meets the tolerance gives the
order, and the cheaper of the neighbouring orders is taken for the next step. One accepted or refused step
per pass.
Source: W. Gragg, "On extrapolation algorithms for ordinary initial value problems" (1965); E. Hairer, S.
Norsett, G. Wanner, "Solving ordinary differential equations I" (1993), section II.9 (program ODEX).
Complexity: O(n k^2) per step of order 2k. Evaluations: k (k + 1) + 1 per step.
"""

import numpy as np
from parts.steps import begin, commit, propose, slope

RELATIVE = 1e-14  # tunable: float 1e-15..1e-3
ABSOLUTE = 1e-15  # tunable: float 1e-16..1e-5
ROWS = 10  # tunable: int 3..14


def gragg(rhs, t, y, f, h, parts):
    """Return the increment of the midpoint rule over `parts` (even) parts."""
    part = h / parts
    before, now = np.zeros(y.size), part * f
    for i in range(1, parts):
        before, now = now, before + 2.0 * part * rhs(t + i * part, y + now)
    return 0.5 * (before + now + part * rhs(t + h, y + now))


def run(env_data, state, calc_makespan_fn):
    work, rhs, budget = state.metadata, env_data["rhs"], env_data["budget"]
    h = begin(work)
    if h == 0.0:
        return state
    t, y, f = work["t"], work["y"], slope(work, rhs)
    wanted = min(int(work.get("rows", ROWS - 2)), ROWS - 1)
    scale = ABSOLUTE + RELATIVE * np.abs(y)
    table, steps, prices = [], [], []
    spent = 1.0
    for k in range(ROWS):
        if budget.exhausted():
            return state
        row = [gragg(rhs, t, y, f, h, 2 * k + 2)]
        spent += 2.0 * k + 2.0
        for j in range(k):
            ratio = ((k + 1.0) / (k - j)) ** 2
            row.append(row[j] + (row[j] - table[j]) / (ratio - 1.0))
        error = np.inf if k == 0 else float(np.sqrt(np.mean(((row[k] - row[k - 1]) / scale) ** 2)))
        error = error if np.isfinite(error) else np.inf
        table = row
        power = 1.0 / (2.0 * k + 1.0)
        factor = (
            0.05
            if not np.isfinite(error)
            else min(max(0.94 * (0.65 / max(error, 1e-10)) ** power, 0.05), 4.0)
        )
        steps.append(h * factor)
        prices.append(spent / (h * factor))
        if k >= 2 and error <= 1.0:
            propose(work, row[k], h)
            commit(work)
            best = min(range(2, k + 1), key=lambda i: prices[i])
            work["rows"] = min(best + 1, ROWS - 1) if best == k else best
            work["h"] = max(steps[best], 0.05 * h)
            return state
        if k > wanted and error > 1e6:
            break
    best = min(range(2, len(prices)), key=lambda i: prices[i])
    work["rows"], work["h"] = best, min(steps[best], 0.7 * h)
    if work["h"] <= 1e-15 * work["end"]:
        work["failed"] = True
    return state
