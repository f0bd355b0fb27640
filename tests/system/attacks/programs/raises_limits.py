"""Lifts its own limits."""
# sandbox: forbidden
# rules: forbidden

import resource


def attack(env_data, state, calc_makespan_fn):
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return state
