"""The append-only event log and the content-addressed blobs, on SQLAlchemy's asynchronous Core.

>>> async with open_store("sqlite+aiosqlite:///dga2d.db") as store:
...     async with store.write(run_id, holder="demo", create=True) as writer:
...         await writer.append([Draft("conductor", payload)])
"""

from dga2d.store._contract import (
    DEFAULT_URL,
    EMPTY_LOG,
    LLM_CALLS,
    LLM_MICROUSD,
    LLM_TOKENS,
    EventStore,
    EventWriter,
    Head,
    RunImport,
    RunSummary,
    Snapshot,
    check_page,
    database_url,
    shown_url,
    verify_events,
)
from dga2d.store._digest_set import DigestSet
from dga2d.store._errors import (
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
    StoreUnavailableError,
    UnknownEventError,
    UnknownRunError,
)
from dga2d.store._open import open_store

if not __name__.startswith("dga2d."):
    raise ImportError("import dga2d.store, not store")

__all__ = [
    "DEFAULT_URL",
    "EMPTY_LOG",
    "LLM_CALLS",
    "LLM_MICROUSD",
    "LLM_TOKENS",
    "BlobMissingError",
    "CorruptBlobError",
    "CorruptEventError",
    "DigestSet",
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
    "RunImport",
    "RunSummary",
    "Snapshot",
    "StaleVersionError",
    "StoreClosedError",
    "StoreError",
    "StoreFullError",
    "StoreLockedError",
    "StoreUnavailableError",
    "UnknownEventError",
    "UnknownRunError",
    "check_page",
    "database_url",
    "open_store",
    "shown_url",
    "verify_events",
]
