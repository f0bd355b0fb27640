"""Writes an answer of its own: an impossible tour, said to be perfect."""
# sandbox: infeasible
# rules: forbidden

import json
import os
import struct


def attack(env_data, state, calc_makespan_fn):
    body = bytes(4 * env_data["n"])
    nothing = b"[{},[]]"
    nothing = struct.pack("<IQ", len(nothing), 0) + nothing
    fields = {"kind": "solution", "trace": [[None, 0.0, 0.0, 0]], "work": 0, "misses": 0}
    blocks = [["sequence", "<i4", [env_data["n"]], True], ["metadata", "bytes", [len(nothing)], True]]
    header = json.dumps([fields, blocks]).encode()
    body += nothing
    os.write(3, b"A" + struct.pack("<IQ", len(header), len(body)) + header + body)
    os._exit(0)
