"""Start at the initial state with the nominal step.

Method: t = 0, y = y0, and the step that methods of fixed step use.
Source: E. Hairer, S. Norsett, G. Wanner, "Solving ordinary differential equations I" (1993), section II.1.
Complexity: O(n). Evaluations: none.
"""


def run(env_data, state, calc_makespan_fn):
    work = state.metadata
    work["t"], work["end"] = 0.0, float(env_data["t_end"])
    work["y"] = env_data["y0"].copy()
    work["h"] = float(env_data["nominal_step"])
    return state
