"""Start at the initial state with a step of the n-th part of the interval.

Method: t = 0, y = y0, and a step for methods that need it shorter or longer than the nominal one.
Source: E. Hairer, S. Norsett, G. Wanner, "Solving ordinary differential equations I" (1993), section II.1.
Complexity: O(n). Evaluations: none.
"""

PARTS = 1000  # tunable: int 10..20000


def run(env_data, state, calc_makespan_fn):
    work = state.metadata
    work["t"], work["end"] = 0.0, float(env_data["t_end"])
    work["y"] = env_data["y0"].copy()
    work["h"] = work["end"] / PARTS
    return state
