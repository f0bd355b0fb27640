"""The system calls a child may make: an allow-list, compiled to BPF once by libseccomp. Linux only.

Everything that is not listed fails with ``EPERM``: sockets, processes, threads, exec, ptrace, signals,
mounts, keys, BPF, io_uring, clocks, changes of limits or privileges, changes of the file tree.
"""

from __future__ import annotations

import ctypes
import errno
import tempfile

from dga2d.runtime.evaluation.sandbox.libc import call

_ALWAYS = """
    read readv write writev pread64 preadv lseek close close_range fstat stat lstat newfstatat statx
    access faccessat faccessat2 open openat readlink readlinkat getdents64 getdents getcwd fcntl dup
    pipe2 poll ppoll select pselect6 mmap munmap mprotect mremap madvise brk membarrier rt_sigaction
    rt_sigprocmask rt_sigreturn rt_sigpending sigaltstack restart_syscall futex set_robust_list
    get_robust_list rseq set_tid_address sched_yield sched_getaffinity getcpu clock_gettime
    clock_getres gettimeofday time times nanosleep clock_nanosleep getpid gettid getppid getuid
    geteuid getgid getegid getresuid getresgid getgroups getrusage getrlimit sysinfo uname getrandom
    arch_prctl exit exit_group
"""
_STARTING_PROCESSES = "clone clone3 fork vfork wait4 waitid"
_TERMINAL_ATTRIBUTES = (0x5401, 0x80045432, 0x5451, 0x5450, 0x5421)
"""ioctl requests Python makes when it opens a file: TCGETS, TIOCGPTN, FIOCLEX, FIONCLEX, FIONBIO."""
_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2
_INSTRUCTION_BYTES = 8


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def build(starts_processes: bool = False) -> bytes:
    """Compile the BPF program.

    Raises
    ------
    OSError
        libseccomp refuses.
    RuntimeError
        libseccomp is not installed.
    ImportError
        pyseccomp is not installed.
    """
    import pyseccomp

    names = _ALWAYS.split()
    if starts_processes:
        names += _STARTING_PROCESSES.split()
    rules = pyseccomp.SyscallFilter(pyseccomp.ERRNO(errno.EPERM))
    for name in names:
        _allow(rules, name)
    for request in _TERMINAL_ATTRIBUTES:
        rules.add_rule(pyseccomp.ALLOW, "ioctl", pyseccomp.Arg(1, pyseccomp.MASKED_EQ, 0xFFFFFFFF, request))
    rules.add_rule(pyseccomp.ALLOW, "prlimit64", pyseccomp.Arg(2, pyseccomp.EQ, 0))
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()


def _allow(rules: object, name: str) -> None:
    import pyseccomp

    try:
        rules.add_rule(pyseccomp.ALLOW, name)  # type: ignore[attr-defined]
    except OSError:  # a call this architecture or libseccomp does not know stays forbidden
        return


class Filter:
    """A compiled program, ready to be installed by any number of processes forked from this one."""

    def __init__(self, program: bytes) -> None:
        self._memory = ctypes.create_string_buffer(program, len(program))
        address = ctypes.cast(self._memory, ctypes.c_void_p)
        self._described = ctypes.byref(_Program(len(program) // _INSTRUCTION_BYTES, address))

    def install(self) -> None:
        """Bind the calling process to the program, for good. Needs no-new-privileges."""
        call("prctl", _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, self._described, 0, 0)
