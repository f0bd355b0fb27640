"""Plants machine code in the decoder's cache."""
# sandbox: forbidden
# rules: forbidden

import os


def attack(env_data, state, calc_makespan_fn):
    folder = os.path.join("@DECODER_FOLDER@", "__pycache__")
    with open(os.path.join(folder, "evil.nbi"), "wb") as file:
        file.write(b"evil")
    return state
