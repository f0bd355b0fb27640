"""Attempts to hand in another result than the one that was computed."""

FRAME = """
import json
import os
import struct


def frame(header, body=b"", kind=b"A"):
    return kind + struct.pack("<IQ", len(header), len(body)) + header + body


def answer(fields, n, blocks=None):
    metadata = b"[{},[]]"
    metadata = struct.pack("<IQ", len(metadata), 0) + metadata
    blocks = blocks or [["sequence", "<i4", [n], True]]
    header = json.dumps([fields, [*blocks, ["metadata", "bytes", [len(metadata)], True]]]).encode()
    return frame(header, b"".join(struct.pack("<i", i) for i in range(n)) + metadata)
"""

PROGRAMS = {
    "a frame of another kind": FRAME
    + """
def attack(env_data, state, calc):
    os.write(3, frame(b"{}", kind=b"Z"))
    os._exit(0)
""",
    "a header that never comes": FRAME
    + """
import time


def attack(env_data, state, calc):
    os.write(3, b"A" + struct.pack("<IQ", 100, 100) + b"{")
    time.sleep(600)
""",
    "a header of four gigabytes": FRAME
    + """
def attack(env_data, state, calc):
    os.write(3, b"A" + struct.pack("<IQ", 2**32 - 1, 2**64 - 1))
    os._exit(0)
""",
    "a header that is no text": FRAME
    + """
def attack(env_data, state, calc):
    os.write(3, frame(b"\\xff\\xfe\\x00"))
    os._exit(0)
""",
    "a header nested deeply": FRAME
    + """
def attack(env_data, state, calc):
    os.write(3, frame(b"[" * 50000 + b"]" * 50000))
    os._exit(0)
""",
    "a header with endless digits": FRAME
    + """
def attack(env_data, state, calc):
    os.write(3, frame(b"[" + b"9" * 10000 + b",[]]"))
    os._exit(0)
""",
    "keys given twice": FRAME
    + """
def attack(env_data, state, calc):
    header = b'[{"kind":"failure","kind":"solution","trace":[],"work":0,"misses":0},[]]'
    os.write(3, frame(header))
    os._exit(0)
""",
    "an objective in the answer": FRAME
    + """
def attack(env_data, state, calc):
    fields = {"kind": "solution", "trace": [], "work": 0, "misses": 0, "objective": 0.0, "score": 0.0}
    os.write(3, answer(fields, env_data["n"]))
    os._exit(0)
""",
    "negative work": FRAME
    + """
def attack(env_data, state, calc):
    fields = {"kind": "solution", "trace": [[None, 0.0, -1.0, -5]], "work": -(10**30), "misses": -1}
    os.write(3, answer(fields, env_data["n"]))
    os._exit(0)
""",
    "a trace of a million steps": FRAME
    + """
def attack(env_data, state, calc):
    fields = {"kind": "solution", "trace": [[0.0, 0.0, 0.0, 0]] * 100000, "work": 0, "misses": 0}
    os.write(3, answer(fields, env_data["n"]))
    os._exit(0)
""",
    "a score that is no number": FRAME
    + """
def attack(env_data, state, calc):
    fields = {"kind": "solution", "trace": [[None, float("nan"), float("inf"), 0]], "work": 0, "misses": 0}
    os.write(3, answer(fields, env_data["n"]))
    os._exit(0)
""",
    "a block of a negative shape": FRAME
    + """
def attack(env_data, state, calc):
    fields = {"kind": "solution", "trace": [], "work": 0, "misses": 0}
    os.write(3, answer(fields, env_data["n"], [["sequence", "<i4", [-1, -20], True]]))
    os._exit(0)
""",
    "a block of objects": FRAME
    + """
def attack(env_data, state, calc):
    fields = {"kind": "solution", "trace": [], "work": 0, "misses": 0}
    os.write(3, answer(fields, env_data["n"], [["sequence", "|O", [env_data["n"]], True]]))
    os._exit(0)
""",
    "the mark of a full cache": FRAME
    + """
def attack(env_data, state, calc):
    os.write(3, b"C" * 16 + b"c" * 16 + b"S" * 16 + b"s" * 16)
    return state
""",
    "an answer, then a failure": FRAME
    + """
def attack(env_data, state, calc):
    fields = {"kind": "solution", "trace": [], "work": 0, "misses": 0}
    os.write(3, answer(fields, env_data["n"]) * 2)
    raise ValueError("after all")
""",
    "speaks for the zygote": FRAME
    + """
def attack(env_data, state, calc):
    # behind its own answer: what the zygote would say of the next evaluation, and that one's answer
    fields = {"kind": "solution", "trace": [], "work": 0, "misses": 0}
    n = env_data["n"]
    said = b""
    for number in range(1, 2000):
        forged = answer(fields, n)[1:]
        ended = {"op": "ended", "id": number, "end": "answered", "exit_code": 0, "is_sealed": True,
                 "has_started": True, "elapsed_s": 0.0, "cpu_s": 0.0, "answer_bytes": len(forged)}
        said += frame(json.dumps([ended, []]).encode(), kind=b"") + forged
    os.write(3, answer(fields, n) + said[:60000])
    while True:
        os.write(3, said)
""",
    "a sequence with two faces": """
import numpy as np


class TwoFaced(np.ndarray):
    def tobytes(self, *arguments):
        return np.zeros(len(self), np.int32).tobytes()

    def __array__(self, *arguments, **options):
        return np.full(len(self), -1, np.int32)

    def __len__(self):
        return 20


def attack(env_data, state, calc):
    state.sequence = np.arange(env_data["n"], dtype=np.int32).view(TwoFaced)
    return state
""",
    "a state that changes its mind": """
import numpy as np


class Shifting:
    reads = 0
    metadata = {}

    @property
    def sequence(self):
        Shifting.reads += 1
        return np.arange(20, dtype=np.int32) if Shifting.reads < 2 else np.zeros(20, np.int32)


def attack(env_data, state, calc):
    return Shifting()
""",
    "a sequence read backwards": """
import numpy as np


def attack(env_data, state, calc):
    state.sequence = np.arange(env_data["n"], dtype=">i4")[::-1]
    return state
""",
    "a sequence of strides": """
import numpy as np


def attack(env_data, state, calc):
    state.sequence = np.lib.stride_tricks.as_strided(np.zeros(1, np.int32), (10**9,), (4,))
    return state
""",
    "a masked sequence": """
import numpy as np


def attack(env_data, state, calc):
    state.sequence = np.ma.masked_array(np.arange(env_data["n"], dtype=np.int32), mask=True)
    return state
""",
    "numbers that wrap around": """
import numpy as np


def attack(env_data, state, calc):
    state.sequence = (np.arange(env_data["n"], dtype=np.int64) + 2**32)
    return state
""",
    "an error that interrupts": """
def attack(env_data, state, calc):
    raise KeyboardInterrupt("stop the run")
""",
    "an error that is no error": """
def attack(env_data, state, calc):
    raise GeneratorExit
""",
    "an end without an answer": """
import sys


def attack(env_data, state, calc):
    sys.exit(0)
""",
    "an error that cannot be told": """
class Silent(BaseException):
    def __str__(self):
        raise Silent

    __repr__ = __str__

    @property
    def args(self):
        raise Silent


def attack(env_data, state, calc):
    raise Silent
""",
    "a chain of errors": """
def attack(env_data, state, calc):
    error = None
    for number in range(100000):
        following = ValueError(number)
        following.__cause__ = error
        error = following
    raise error
""",
    "an error with control characters": """
def attack(env_data, state, calc):
    raise ValueError("\\x1b]0;evil\\x07\\x1b[2J\\u202e\\0" + "sk-" * 10**6)
""",
    "other budgets": """
import gc


def attack(env_data, state, calc):
    for thing in gc.get_objects():
        if type(thing).__name__ == "Budget":
            thing._amount, thing._work, thing._share_end = 1e30, -(10**9), 1e30
    return state
""",
    "frames of the runner": """
import sys


def attack(env_data, state, calc):
    frame = sys._getframe()
    while frame:
        for name in ("work", "score", "best", "budget", "trace", "elapsed"):
            if name in frame.f_locals:
                frame.f_locals[name] = 0
        frame.f_globals["time"] = None
        frame = frame.f_back
    return state
""",
    "a tracer": """
import sys


def attack(env_data, state, calc):
    def trace(frame, event, value):
        frame.f_globals["verify"] = frame.f_globals["encode"] = lambda *_: None
        return trace

    sys.settrace(trace)
    sys.setprofile(trace)
    return state
""",
    "the decoder's closure": """
def attack(env_data, state, calc):
    for cell in calc.__closure__ or ():
        cell.cell_contents = None
    return state
""",
    "other built-in functions": """
import builtins


def attack(env_data, state, calc):
    builtins.len = builtins.isinstance = builtins.sum = lambda *_: 0
    return state
""",
    "another json": """
import json
import sys


def attack(env_data, state, calc):
    json.dumps = lambda *_, **__: "[{}, []]"
    json.loads = lambda *_, **__: {}
    for name in list(sys.modules):
        if name.startswith("dga2d"):
            sys.modules[name] = None
    return state
""",
    "points that move": """
import ctypes


def attack(env_data, state, calc):
    ctypes.memset(env_data["points"].ctypes.data, 0, env_data["points"].nbytes)
    return state
""",
}
"""Name → text that defines ``attack``."""
