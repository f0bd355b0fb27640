"""Start of an episode: the initial state, no input, and the nominal parameters as what is believed.

Method: nothing is applied; the first pass of the law decides.
Source: K. J. Åström, R. M. Murray, "Feedback systems" (2008), section 2.2.
Complexity: O(n).
"""


def run(env_data, state, calc_makespan_fn):
    data = state.metadata
    data["x"] = env_data["x0"].copy()
    data["x_last"] = env_data["x0"].copy()
    data["u"], data["u_last"], data["t"] = 0.0, 0.0, 0
    data["parameters"] = env_data["parameters"].copy()
    return state
