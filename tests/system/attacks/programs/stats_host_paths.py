"""Asks whether files of the host exist, without opening them."""
# sandbox: forbidden
# rules: forbidden

import os


def attack(env_data, state, calc_makespan_fn):
    for path in ("/etc/passwd", "@DATABASE@", "@FORBIDDEN_FOLDER@", "/proc/1", "/sys", "/var"):
        try:
            os.stat(path)
        except FileNotFoundError as error:
            refusal = error
            continue
        raise SystemExit("it is there")
    raise refusal
