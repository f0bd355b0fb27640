"""What works on this machine: cores, memory, cache folder, database, sandbox layers."""

from __future__ import annotations

import os
from typing import Any

import anyio
import psutil

from dga2d.runtime.evaluation import probe_sandbox
from dga2d.runtime.evaluator import cache_dir
from dga2d.store import MissingDatabaseError, StoreError, open_store


def examine(url: str) -> dict[str, Any]:
    """Facts about the machine; sandbox layers are proven by behaviour, not by a successful call."""
    is_usable, database = anyio.run(_database, url)
    return {
        "cores": os.cpu_count(),
        "memory_gib": psutil.virtual_memory().total / 2**30,
        "cache": str(cache_dir()),
        "store": url,
        "database": database,
        "is_database_usable": is_usable,
        "sandbox": probe_sandbox(),
    }


async def _database(url: str) -> tuple[bool, str]:
    """Whether runs can be kept at `url`, and what is there."""
    try:
        async with open_store(url, create=False, read_only=True) as store:
            return True, f"{len(await store.runs())} runs"
    except MissingDatabaseError:
        return True, "none yet, the first run creates it"
    except StoreError as error:
        return False, f"not usable: {error}"
