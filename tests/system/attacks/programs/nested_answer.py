"""Writes an answer that would exhaust a parser's stack."""
# sandbox: crashed
# rules: forbidden

import os
import struct


def attack(env_data, state, calc_makespan_fn):
    header = b"[" * 100_000
    os.write(3, b"A" + struct.pack("<IQ", len(header), 0))
    written = 0
    while written < len(header):
        written += os.write(3, header[written:])
    os._exit(0)
