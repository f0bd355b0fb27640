"""Announces an array of a terabyte."""
# sandbox: crashed
# rules: forbidden

import os
import struct


def attack(env_data, state, calc_makespan_fn):
    header = b'[{"kind":"solution","trace":[],"work":0,"misses":0},[["sequence","<i4",[274877906944],true]]]'
    os.write(3, b"A" + struct.pack("<IQ", len(header), 0) + header)
    os._exit(0)
