"""Attempts to leave something behind: files, processes, settings, memory that outlasts the evaluation."""

WRITE = """
import os


def leave(path, text="import os"):
    with open(os.path.expanduser(path), "w") as file:
        file.write(text)
"""

PROGRAMS = {
    f"a file: {path}": WRITE
    + f"""

def attack(env_data, state, calc):
    leave({path!r})
    return state
"""
    for path in (
        "@FORBIDDEN_FOLDER@/evil",
        "@HOME@/.dga2d-attack",
        "@HOME@/.config/dga2d-attack.toml",
        "/var/tmp/dga2d-attack",
        "/run/dga2d-attack",
        "/etc/cron.d/dga2d-attack",
        "dga2d-attack",
        "@DECODER_FOLDER@/__pycache__/evil.pyc",
        "@OTHER_CACHE@/evil",
        "/proc/sys/kernel/core_pattern",
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/proc/self/oom_score_adj",
        "/proc/self/uid_map",
    )
} | {
    "a path for every interpreter": WRITE
    + """
import numpy


def attack(env_data, state, calc):
    leave(os.path.join(os.path.dirname(os.path.dirname(numpy.__file__)), "dga2d-attack.pth"), "import os")
    return state
""",
    "a module beside numpy's": WRITE
    + """
import numpy


def attack(env_data, state, calc):
    leave(os.path.join(os.path.dirname(numpy.__file__), "evil.py"))
    return state
""",
    "its own text": WRITE
    + """

def attack(env_data, state, calc):
    leave(__file__, "raise SystemExit")
    return state
""",
    "changed rights": """
import os


def attack(env_data, state, calc):
    os.chmod("@DATABASE@", 0o777)
    os.chown("@DATABASE@", 65534, 65534)
    return state
""",
    "a shortened log": """
import os


def attack(env_data, state, calc):
    os.truncate("@DATABASE@", 0)
    return state
""",
    "a log of another name": """
import os


def attack(env_data, state, calc):
    os.rename("@DATABASE@", "@DATABASE@.old")
    return state
""",
    "a removed log": """
import os


def attack(env_data, state, calc):
    os.unlink("@DATABASE@")
    return state
""",
    "times of another day": """
import os


def attack(env_data, state, calc):
    os.utime("@DATABASE@", (0, 0))
    return state
""",
    "a lock on the log": """
import fcntl
import os


def attack(env_data, state, calc):
    fcntl.flock(os.open("@DATABASE@", os.O_RDONLY), fcntl.LOCK_EX)
    while True:
        pass
""",
    "a pipe with a name": """
import os


def attack(env_data, state, calc):
    os.mkfifo("/tmp/dga2d-attack")
    return state
""",
    "a queue with a name": """
import ctypes


def attack(env_data, state, calc):
    if ctypes.CDLL(None, use_errno=True).mq_open(b"/dga2d-attack", 0o102, 0o600, None) < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return state
""",
    "a semaphore with a name": """
from multiprocessing import shared_memory


def attack(env_data, state, calc):
    shared_memory.SharedMemory("dga2d-attack", create=True, size=4096)
    return state
""",
    "a key in the kernel": """
import ctypes


def attack(env_data, state, calc):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(248, b"user", b"dga2d-attack", b"evil", 4, -3) < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return state
""",
    "something at the end": """
import atexit
import os
import threading


def strike():
    os.mkdir("@FORBIDDEN_FOLDER@/evil")


def attack(env_data, state, calc):
    atexit.register(strike)
    threading._register_atexit(strike)
    return state
""",
    "something when it is collected": """
import os
import weakref


class Bomb:
    def __del__(self):
        os.mkdir("@FORBIDDEN_FOLDER@/evil")


kept = Bomb()


def attack(env_data, state, calc):
    weakref.finalize(state, os.mkdir, "@FORBIDDEN_FOLDER@/evil2") if False else None
    state.metadata["bomb"] = Bomb()
    return state
""",
    "a thread that goes on": """
import threading
import time


def strike(path):
    time.sleep(0.2)
    open(path, "w").write("evil")


def attack(env_data, state, calc):
    threading.Thread(target=strike, args=("@FORBIDDEN_FOLDER@/evil",), daemon=False).start()
    return state
""",
    "modules for those to come": """
import numpy as np


def attack(env_data, state, calc):
    np.arange = lambda *_, **__: np.zeros(3, np.int32)
    np.int32 = float
    return state
""",
    "settings for those to come": """
import os
import sys


def attack(env_data, state, calc):
    os.environ["NUMBA_DISABLE_JIT"] = os.environ["PYTHONPATH"] = os.environ["LD_PRELOAD"] = "evil"
    sys.path.insert(0, "@FORBIDDEN_FOLDER@")
    sys.setrecursionlimit(20)
    os.umask(0)
    return state
""",
    "a closed standard output": """
import os


def attack(env_data, state, calc):
    for fd in (0, 1, 2):
        os.close(fd)
    os.dup2(3, 1)
    os.write(1, b"evil\\n" * 1000)
    return state
""",
    "a name for the machine": """
import socket


def attack(env_data, state, calc):
    socket.sethostname("evil")
    return state
""",
    "a group of its own": """
import os


def attack(env_data, state, calc):
    os.mkdir("/sys/fs/cgroup/dga2d-attack")
    return state
""",
}
"""Name → text that defines ``attack``."""
