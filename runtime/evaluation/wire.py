"""Messages between parent, zygote and child: JSON and raw array bytes, never pickle.

A message is a flat mapping. Arrays and bytes travel behind a JSON header that names their dtype and shape, so
reading a message executes nothing and allocates no more than its own length.

Layout: header length (u32, little endian) · body length (u64) · header · body.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from dga2d.runtime.evaluation.errors import WireError

Message = dict[str, Any]
PREFIX = struct.Struct("<IQ")
DTYPES = frozenset({"|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f4", "<f8"})
"""Array element types that may cross."""
MAX_EMPTY_ROWS = 1 << 20
"""Rows of an array without a value; they take no bytes here, but memory where they become lists."""
MAX_DIMENSIONS = 8


def encode(fields: Mapping[str, Any]) -> bytes:
    """Encode one message; values are JSON values, bytes, or arrays of :data:`DTYPES`.

    Raises
    ------
    WireError
        A value is none of these.
    """
    plain: dict[str, Any] = {}
    blocks: list[list[Any]] = []
    body: list[bytes] = []
    for name, value in fields.items():
        if isinstance(value, bytes):
            blocks.append([name, "bytes", [len(value)], True])
            body.append(value)
        elif isinstance(value, np.ndarray):
            if value.dtype.str not in DTYPES:
                raise WireError(f"{name}: arrays of {value.dtype} cannot be sent")
            blocks.append([name, value.dtype.str, list(value.shape), bool(value.flags.writeable)])
            body.append(value.tobytes())
        else:
            plain[name] = value
    try:
        header = json.dumps([plain, blocks], separators=(",", ":"), default=_scalar).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise WireError(f"not plain data: {error}") from error
    joined = b"".join(body)
    return PREFIX.pack(len(header), len(joined)) + header + joined


def _scalar(value: object) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not plain data")


def decode(data: bytes) -> Message:
    """Return the fields of one message that fills `data` exactly.

    Arrays are fresh, C-contiguous and aligned; their writeable flag is that of the sender's array.

    Raises
    ------
    WireError
        `data` is not a valid message.
    """
    if len(data) < PREFIX.size:
        raise WireError("message is shorter than its prefix")
    header_bytes, body_bytes = PREFIX.unpack_from(data)
    if len(data) != PREFIX.size + header_bytes + body_bytes:
        raise WireError("message length does not match its prefix")
    start = PREFIX.size + header_bytes
    try:
        plain, blocks = json.loads(data[PREFIX.size : start])
        if not isinstance(plain, dict):
            raise WireError("fields are no mapping")
        message: Message = dict(plain)
        for name, dtype, shape, writeable in blocks:
            size = _block_bytes(name, dtype, shape)
            if start + size > len(data):
                raise WireError(f"{name} is longer than the message")
            message[name] = _block(data[start : start + size], dtype, shape, bool(writeable))
            start += size
    except (ValueError, TypeError, RecursionError) as error:
        raise WireError(f"malformed message: {error}") from error
    if start != len(data):
        raise WireError("bytes left over after the last field")
    return message


def _block_bytes(name: object, dtype: object, shape: object) -> int:
    if not isinstance(name, str) or not isinstance(shape, list) or len(shape) > MAX_DIMENSIONS:
        raise WireError("malformed array description")
    if dtype != "bytes" and dtype not in DTYPES:
        raise WireError(f"{name}: dtype not allowed")
    if not all(isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 1 << 40 for n in shape):
        raise WireError(f"{name}: malformed shape")
    if 0 in shape and math.prod(max(n, 1) for n in shape) > MAX_EMPTY_ROWS:
        raise WireError(f"{name}: an empty array of shape {shape}")
    return math.prod(shape) * (1 if dtype == "bytes" else np.dtype(str(dtype)).itemsize)


def _block(raw: bytes, dtype: str, shape: list[int], writeable: bool) -> bytes | np.ndarray[Any, Any]:
    if dtype == "bytes":
        return raw
    array = np.frombuffer(raw, dtype=np.dtype(dtype)).reshape(shape).copy()
    array.flags.writeable = writeable
    return array
