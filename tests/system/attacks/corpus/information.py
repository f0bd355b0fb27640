"""Attempts to learn what a candidate must not know, and to say it in the answer or in an error."""

TELL = """
import os


def tell(text):
    raise ValueError(text)


def read(path):
    with open(path, "rb") as file:
        return repr(file.read(100000))
"""

PROGRAMS = {
    f"reads {path}": TELL
    + f"""

def attack(env_data, state, calc):
    tell(read(os.path.expanduser({path!r})))
"""
    for path in (
        "/etc/shadow",
        "/proc/1/environ",
        "/proc/1/cmdline",
        "/proc/1/maps",
        "/proc/kcore",
        "/proc/self/environ",
        "/proc/sys/kernel/hostname",
        "/dev/mem",
        "/dev/kmsg",
        "/proc/net/tcp",
        "@DATABASE@",
        "@OTHER_CANDIDATE@",
        "@HOME@/.ssh/id_ed25519",
        "@HOME@/.netrc",
        "@HOME@/.bash_history",
    )
} | {
    "lists what runs": TELL
    + """

def attack(env_data, state, calc):
    pids = [name for name in os.listdir("/proc") if name.isdigit()]
    tell([read(f"/proc/{pid}/cmdline") for pid in pids if int(pid) != os.getpid()])
""",
    "looks at what is mounted": TELL
    + """

def attack(env_data, state, calc):
    tell(read("/proc/self/mountinfo"))
""",
    "the environment of the process": TELL
    + """
import ctypes


def attack(env_data, state, calc):
    names = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
    found, i = [], 0
    while names[i]:
        found.append(names[i])
        i += 1
    tell([*found, dict(os.environ)])
""",
    "the memory of the process": TELL
    + """

def attack(env_data, state, calc):
    found = []
    for line in open("/proc/self/maps"):
        start, end = (int(part, 16) for part in line.split()[0].split("-"))
        if " rw" in line and end - start < 1 << 26:
            with open("/proc/self/mem", "rb", 0) as memory:
                memory.seek(start)
                data = memory.read(end - start)
            at = data.find(b"sk-secret")
            found += [data[at : at + 9]] if at >= 0 else []
    tell(found)
""",
    "the objects of the process": TELL
    + """
import gc


def attack(env_data, state, calc):
    tell([thing for thing in gc.get_objects() if "sk-" in str(thing)[:10000]])
""",
    "references beside the program": TELL
    + """
import numpy


def attack(env_data, state, calc):
    found = []
    for root, _, names in os.walk(os.path.dirname(os.path.dirname(numpy.__file__))):
        found += [read(os.path.join(root, name)) for name in names if name == "references.json"]
    tell(found)
""",
    "the registry of problems": TELL
    + """

def attack(env_data, state, calc):
    from dga2d.domains.core.registry import domain_names, get_domain

    tell([str(get_domain(name).generated()[:3]) for name in domain_names()])
""",
    "the names of instances": TELL
    + """
import sys


def attack(env_data, state, calc):
    frame, found = sys._getframe(), []
    while frame:
        found += [repr(value)[:200] for value in frame.f_locals.values() if "line20" in repr(value)[:2000]]
        frame = frame.f_back
    if found:
        tell(found)
    return state
""",
    "the log of the kernel": TELL
    + """
import ctypes


def attack(env_data, state, calc):
    buffer = ctypes.create_string_buffer(10000)
    length = ctypes.CDLL(None, use_errno=True).klogctl(3, buffer, 10000)
    if length < 0:
        raise OSError(ctypes.get_errno(), "refused")
    tell(buffer.raw[:length])
""",
    "the users of the machine": TELL
    + """
import pwd


def attack(env_data, state, calc):
    tell(pwd.getpwall())
""",
    "a name server": """
import socket


def attack(env_data, state, calc):
    socket.getaddrinfo("secret.example.org", 80)
    return state
""",
    "a letter to itself": """
import socket


def attack(env_data, state, calc):
    one, other = socket.socketpair()
    one.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, bytes(12))])
    return state
""",
    "whoever watches files": """
import ctypes


def attack(env_data, state, calc):
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init()
    if watch < 0 or libc.inotify_add_watch(watch, b"@FORBIDDEN_FOLDER@", 0xFFF) < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return state
""",
    "what the time of a read tells": TELL
    + """

def attack(env_data, state, calc):
    tell([os.path.getsize("@DATABASE@"), os.path.getsize("@OTHER_CANDIDATE@")])
""",
    "copied without reading": """
import os


def attack(env_data, state, calc):
    source = os.open("@DATABASE@", os.O_RDONLY)
    os.sendfile(3, source, 0, 1000)
    return state
""",
}
"""Name → text that defines ``attack``."""
