"""Attempts to use up what others need: memory, time, descriptors, the parent's patience."""

PROGRAMS = {
    "memory nobody touches": """
import mmap


def attack(env_data, state, calc):
    pages = [mmap.mmap(-1, 1 << 30) for _ in range(1000)]
    return state if pages else None
""",
    "a string that doubles": """
def attack(env_data, state, calc):
    text = "x"
    while True:
        text += text
""",
    "a dictionary without end": """
def attack(env_data, state, calc):
    table, number = {}, 0
    while True:
        table[number] = (number, str(number))
        number += 1
""",
    "a number without end": """
def attack(env_data, state, calc):
    number = 3
    while True:
        number *= number
""",
    "a number written out": """
import sys


def attack(env_data, state, calc):
    sys.set_int_max_str_digits(0)
    return len(str(7 ** 10**8))
""",
    "a loop inside the interpreter": """
def attack(env_data, state, calc):
    sum(range(10**18))
    return state
""",
    "a pattern that backtracks": """
import re


def attack(env_data, state, calc):
    re.match(r"(a+)+$", "a" * 64 + "b")
    return state
""",
    "a bomb of zeros": """
import zlib


def attack(env_data, state, calc):
    packed = zlib.compress(zlib.compress(bytes(1 << 26)))
    data = []
    while True:
        data.append(zlib.decompress(zlib.decompress(packed)))
""",
    "an expression too deep to compile": """
def attack(env_data, state, calc):
    compile("(" * 90 + "-" * 10**6 + "1" + ")" * 90, "", "eval")
    return state
""",
    "a function too long to compile": """
import numba


@numba.njit
def long(x):
    y0 = x
"""
    + "".join(f"    y{i} = x * {i} + y{i - 1} ** {i % 7}\n" for i in range(1, 700))
    + """    return y699


def attack(env_data, state, calc):
    long(1.0)
    return state
""",
    "as many files as there are": """
import os


def attack(env_data, state, calc):
    files = []
    while True:
        files.append(os.open("/dev/null", os.O_RDONLY))
""",
    "as many pipes as there are": """
import os


def attack(env_data, state, calc):
    pipes = []
    while True:
        pipes.append(os.pipe())
        os.set_blocking(pipes[-1][1], False)
        try:
            os.write(pipes[-1][1], bytes(1 << 20))
        except BlockingIOError:
            continue
""",
    "threads of the kernel": """
import _thread
import time


def attack(env_data, state, calc):
    for _ in range(10000):
        _thread.start_new_thread(time.sleep, (600,))
    return state
""",
    "shared memory of the system": """
import ctypes


def attack(env_data, state, calc):
    libc = ctypes.CDLL(None, use_errno=True)
    for key in range(1000):
        if libc.shmget(0x6A2D0000 + key, 1 << 26, 0o1600) < 0:
            raise OSError(ctypes.get_errno(), "refused")
    return state
""",
    "message queues of the system": """
import ctypes


def attack(env_data, state, calc):
    libc = ctypes.CDLL(None, use_errno=True)
    for key in range(1000):
        if libc.msgget(0x6A2D0000 + key, 0o1600) < 0:
            raise OSError(ctypes.get_errno(), "refused")
    return state
""",
    "locked pages": """
import ctypes


def attack(env_data, state, calc):
    if ctypes.CDLL(None, use_errno=True).mlockall(7):
        raise OSError(ctypes.get_errno(), "refused")
    return state
""",
    "the highest priority": """
import os


def attack(env_data, state, calc):
    os.setpriority(os.PRIO_PROCESS, 0, -20)
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(99))
    while True:
        pass
""",
    "waits for a signal": """
import signal


def attack(env_data, state, calc):
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    signal.pause()
""",
    "waits for itself": """
import threading


def attack(env_data, state, calc):
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()
""",
    "waits for its own pipe": """
import os


def attack(env_data, state, calc):
    read, write = os.pipe()
    os.read(read, 1)
""",
    "reads the order again": """
import os


def attack(env_data, state, calc):
    for fd in range(64):
        try:
            os.read(fd, 1)
        except OSError:
            continue
    return state
""",
    "sleeps while it collects": """
import gc


class Tough:
    def __del__(self):
        while True:
            pass


def attack(env_data, state, calc):
    circle = Tough()
    circle.self = circle
    del circle
    gc.collect()
    return state
""",
    "never ends its answer": """
import numpy as np


class Slow(dict):
    def items(self):
        while True:
            yield "x", np.zeros(1)


def attack(env_data, state, calc):
    state.metadata = Slow()
    return state
""",
    "a million keys": """
def attack(env_data, state, calc):
    state.metadata = {str(number): number for number in range(10**6)}
    return state
""",
    "a circle in the answer": """
def attack(env_data, state, calc):
    state.metadata["again"] = state.metadata
    return state
""",
    "a stack in the machine's code": """
import ctypes


def attack(env_data, state, calc):
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)

    @kind
    def deeper(depth):
        return deeper(depth + 1)

    return deeper(0)
""",
    "sort by asking back": """
class Endless:
    def __lt__(self, other):
        while True:
            pass


def attack(env_data, state, calc):
    sorted([Endless(), Endless()])
    return state
""",
    "permutations": """
import itertools


def attack(env_data, state, calc):
    return len(list(itertools.permutations(range(16))))
""",
    "a matrix too large": """
import numpy as np


def attack(env_data, state, calc):
    big = np.ones((60000, 60000))
    state.sequence = (big @ big).astype(np.int32)[0]
    return state
""",
    "counts down from an alarm": """
import signal


def attack(env_data, state, calc):
    def again(*_):
        signal.setitimer(signal.ITIMER_REAL, 0.0001)
        raise MemoryError

    signal.signal(signal.SIGALRM, again)
    signal.setitimer(signal.ITIMER_REAL, 0.0001)
    while True:
        try:
            while True:
                pass
        except MemoryError:
            continue
""",
}
"""Name → text that defines ``attack``."""
