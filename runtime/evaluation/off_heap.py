"""Files for what a zygote must not hold in memory, where a candidate forked from it could read it.

Instances, programs and answers pass through a zygote in files without a name: they are copied from one
descriptor to another and never become objects. A child closes them before the candidate's code runs.
"""

from __future__ import annotations

import os
import sys
import tempfile

_CHUNK = 1 << 16
_buffer = bytearray(_CHUNK)
"""The one place in memory that the bytes pass through; :func:`wipe` clears it."""


class OffHeapFile:
    """A file without a name that grows at its end."""

    def __init__(self) -> None:
        self._descriptor = _nameless_file()
        self.size = 0

    def write(self, data: bytes | memoryview) -> None:
        """Append `data`."""
        while data:
            written = os.write(self._descriptor, data)
            self.size += written
            data = data[written:]

    def fill(self, source: int, size: int) -> bool:
        """Append the next `size` bytes that can be read from `source`; ``False`` if it ended before."""
        end = self.size + size
        while self.size < end:
            chunk = read_chunk(source, end - self.size)
            if not chunk:
                return False
            self.write(chunk)
        wipe()
        return True

    def send(self, target: int, offset: int, end: int | None = None) -> int:
        """Write bytes from `offset` to `end` to `target`, as many as it takes at once; their number.

        Raises
        ------
        BlockingIOError
            `target` does not block and takes none.
        """
        left = (self.size if end is None else min(end, self.size)) - offset
        if sys.platform == "linux":
            return os.sendfile(target, self._descriptor, offset, left)
        return os.write(target, os.pread(self._descriptor, min(_CHUNK, left), offset))

    def send_all(self, target: int, size: int) -> None:
        """Write the first `size` bytes to `target` and no more: what follows was not asked for."""
        offset = 0
        while offset < size:
            offset += self.send(target, offset, size)

    def read(self) -> bytes:
        """Return all bytes. Call in a process that no candidate is forked from."""
        return os.pread(self._descriptor, self.size, 0)

    def clear(self) -> None:
        """Forget all bytes."""
        os.ftruncate(self._descriptor, 0)
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        self.size = 0

    def close(self) -> None:
        """Give the file up."""
        os.close(self._descriptor)


def _nameless_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("dga2d")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def read_chunk(source: int, limit: int = _CHUNK) -> memoryview:
    """Return the next bytes of `source`, `limit` at most, empty at its end; valid until the next call.

    Raises
    ------
    BlockingIOError
        `source` does not block and has none.
    """
    view = memoryview(_buffer)[: min(limit, _CHUNK)]
    return view[: os.readv(source, [view])]


def wipe() -> None:
    """Clear the buffer of :func:`read_chunk`."""
    _buffer[:] = bytes(_CHUNK)
