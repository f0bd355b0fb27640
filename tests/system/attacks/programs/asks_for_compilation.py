"""Says that it compiles, so that it is run again where it may write; keeps what it finds there."""
# sandbox: forbidden
# rules: forbidden

import os


def attack(env_data, state, calc_makespan_fn):
    os.write(3, b"CcCcCc")
    for folder in (os.path.dirname(__file__), "@OTHER_CACHE@", "@FORBIDDEN_FOLDER@", "/tmp", "/dev/shm"):
        try:
            with open(os.path.join(folder, "kept"), "wb") as file:
                file.write(state.sequence.tobytes())
        except OSError as error:
            refusal = error
            continue
        raise SystemExit(folder)
    raise refusal
