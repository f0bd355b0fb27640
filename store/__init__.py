"""The append-only event log and the content-addressed blobs, on SQLAlchemy's asynchronous Core.

>>> async with open_store("sqlite+aiosqlite:///dga2d.db") as store:
...     async with store.write(run_id, holder="demo", create=True) as writer:
...         await writer.append([Draft("conductor", payload)])
"""

from dga2d.store._open import open_store
from dga2d.store.contract import (
    DEFAULT_URL,
    LLM_CALLS,
    LLM_MICROUSD,
    LLM_TOKENS,
    EventStore,
    EventWriter,
    Head,
    RunSummary,
    Snapshot,
)
from dga2d.store.errors import (
    BlobMissingError,
    CorruptBlobError,
    CorruptEventError,
    DuplicateOperationError,
    ForeignDatabaseError,
    LeaseLostError,
    MissingDatabaseError,
    QuotaExceededError,
    RunBusyError,
    RunExistsError,
    StaleVersionError,
    StoreClosedError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    UnknownEventError,
    UnknownRunError,
)
from dga2d.store.verification import check_page, verified

if not __name__.startswith("dga2d."):
    raise ImportError("import dga2d.store, not store")

__all__ = [
    "DEFAULT_URL",
    "LLM_CALLS",
    "LLM_MICROUSD",
    "LLM_TOKENS",
    "BlobMissingError",
    "CorruptBlobError",
    "CorruptEventError",
    "DuplicateOperationError",
    "EventStore",
    "EventWriter",
    "ForeignDatabaseError",
    "Head",
    "LeaseLostError",
    "MissingDatabaseError",
    "QuotaExceededError",
    "RunBusyError",
    "RunExistsError",
    "RunSummary",
    "Snapshot",
    "StaleVersionError",
    "StoreClosedError",
    "StoreError",
    "StoreFullError",
    "StoreLockedError",
    "UnknownEventError",
    "UnknownRunError",
    "check_page",
    "open_store",
    "verified",
]
