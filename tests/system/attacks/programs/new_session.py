"""Leaves a child behind in a session of its own."""
# sandbox: forbidden
# rules: forbidden

import subprocess


def attack(env_data, state, calc_makespan_fn):
    subprocess.Popen(["/bin/sleep", "600"], start_new_session=True)
    return state
