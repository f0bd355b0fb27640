"""Compiled code of implementations between evaluations, kept by the trusted parent.

A preparation hands back what it compiled. It is opaque here: bytes that only sealed children of the very same
implementation will read. On disk it carries a keyed digest, and nothing passes without it, so that a file
which somebody else wrote, or which is damaged, is dropped and compiled again.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path

BYTECODE = "bytecode-"
"""What the entry of compiled code that is not numba's begins with; the digest of the text follows."""
_DIGEST_BYTES = 32
_FOLDER = "machine-code"


def bytecode_name(source: str) -> str:
    """Return the name under which compiled code holds the byte code of a text."""
    return BYTECODE + hashlib.sha256(source.encode()).hexdigest()


class CompiledCodeStore:
    """Compiled code below `root`, sealed with `key`; `platform` names processor and versions it is for."""

    def __init__(self, root: Path, key: bytes, platform: str) -> None:
        self._folder = root / _FOLDER
        self._key = key
        self._platform = hashlib.sha256(platform.encode()).hexdigest()

    def load(self, implementation_digest: str) -> bytes | None:
        """Return what :meth:`save` was given; ``None`` if there is nothing or its seal does not hold."""
        path = self._path(implementation_digest)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        seal, code = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:]
        if not secrets.compare_digest(seal, self._seal(implementation_digest, code)):
            path.unlink(missing_ok=True)
            return None
        return code

    def save(self, implementation_digest: str, code: bytes) -> None:
        """Store the `code` of an implementation, replacing what was there."""
        path = self._path(implementation_digest)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        partial = path.with_suffix(f".{os.getpid()}-{secrets.token_hex(4)}.partial")
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "wb") as file:
            file.write(self._seal(implementation_digest, code) + code)
        partial.replace(path)

    def _path(self, implementation_digest: str) -> Path:
        return self._folder / f"{implementation_digest}-{self._platform[:16]}"

    def _seal(self, implementation_digest: str, code: bytes) -> bytes:
        keyed = hashlib.blake2b(key=self._key, digest_size=_DIGEST_BYTES, person=b"dga2d-code")
        keyed.update(f"{implementation_digest}\0{self._platform}\0".encode())
        keyed.update(code)
        return keyed.digest()
