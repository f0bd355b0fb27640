"""Errors of the event store. Driver errors are translated into these at the edge and chained.

Dga2dError
└── StoreError                   anything the database refused for a reason not named below
    ├── UnknownRunError          no such run
    ├── UnknownEventError        no such event in a run
    ├── RunExistsError           a run with that id is already there
    ├── RunBusyError             another live process writes this run
    ├── LeaseLostError           another process took this run over
    ├── StaleVersionError        the log does not end where the writer left it
    ├── DuplicateOperationError  the operation is already in the log
    ├── QuotaExceededError       a numbered reservation lies beyond its limit
    ├── CorruptEventError        stored events do not form the chain they claim to form
    ├── BlobMissingError         no blob has that digest
    ├── CorruptBlobError         a blob's bytes do not have its digest
    ├── ForeignDatabaseError     not a log of this program, unreadable, or of a newer version
    │   └── MissingDatabaseError there is no database yet
    ├── StoreFullError           disk full or input/output error
    ├── StoreLockedError         another process kept the database locked for too long
    ├── StoreUnavailableError    the server cannot be reached, or ended the connection
    ├── RowRefusedError          a constraint or trigger refused a row; never leaves the package
    └── StoreClosedError         the writer or the store was used after its end
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from dga2d.events import Dga2dError


class StoreError(Dga2dError):
    """Root of the errors of the event store."""


class UnknownRunError(StoreError, KeyError):
    """There is no run with this id; `known` are those that there are."""

    def __init__(self, run_id: str, known: Sequence[str] = ()) -> None:
        self.run_id = run_id
        near = difflib.get_close_matches(run_id, known, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        super().__init__(f"there is no run {run_id!r} in this database{hint}")

    def __str__(self) -> str:
        return str(self.args[0])  # a KeyError would quote it


class UnknownEventError(StoreError, LookupError):
    """Run `run_id` has no event number `seq`."""

    def __init__(self, run_id: str, seq: int) -> None:
        self.run_id = run_id
        self.seq = seq
        super().__init__(f"run {run_id!r} has no event {seq}")


class RunExistsError(StoreError):
    """A run with this id is already in the database."""

    def __init__(self, run_id: str, reason: str = "") -> None:
        self.run_id = run_id
        super().__init__(f"run {run_id!r} already exists {reason}".rstrip())


class RunBusyError(StoreError):
    """Another live process holds the lease of this run. `holder` says which."""

    def __init__(self, run_id: str, holder: str) -> None:
        self.run_id = run_id
        self.holder = holder
        super().__init__(f"run {run_id!r} is being written by {holder}")


class LeaseLostError(StoreError):
    """This writer's `epoch` is over: another process took the run over. Nothing more was written."""

    def __init__(self, run_id: str, epoch: int) -> None:
        self.run_id = run_id
        self.epoch = epoch
        super().__init__(f"run {run_id!r} was taken over by another process (our epoch was {epoch})")


class StaleVersionError(StoreError):
    """The log ends at event `actual` where the writer `expected` another; nothing was written."""

    def __init__(self, run_id: str, expected: int, actual: int) -> None:
        self.run_id = run_id
        self.expected = expected
        self.actual = actual
        super().__init__(f"run {run_id!r}: expected the log to end at event {expected}, it ends at {actual}")


class DuplicateOperationError(StoreError):
    """The operation was completed before (``Payload.operation``)."""

    def __init__(self, operation: str) -> None:
        self.operation = operation
        super().__init__(f"operation {operation!r} is already in the log")


class QuotaExceededError(StoreError):
    """A reservation of `kind` lies outside 1 … `amount`, or claims more (`claimed`) than is `left`."""

    def __init__(self, kind: str, amount: int, claimed: int | None = None, left: int | None = None) -> None:
        self.kind = kind
        self.amount = amount
        self.claimed = claimed
        self.left = left
        super().__init__(
            f"the limit of {amount} {kind} reservations is reached"
            if claimed is None
            else f"of {amount} {kind} {left} are left, {claimed} may be needed"
        )


class CorruptEventError(StoreError):
    """Event `seq` is missing, altered, out of order, or does not link to the one before."""

    def __init__(self, run_id: str, seq: int, reason: str) -> None:
        self.run_id = run_id
        self.seq = seq
        self.reason = reason
        super().__init__(f"run {run_id!r}, event {seq}: {reason}")


class BlobMissingError(StoreError, LookupError):
    """No blob with this digest is stored."""

    def __init__(self, digest: str) -> None:
        self.digest = digest
        super().__init__(f"blob {digest} is missing")


class CorruptBlobError(StoreError):
    """The stored bytes do not have this digest."""

    def __init__(self, digest: str) -> None:
        self.digest = digest
        super().__init__(f"blob {digest} is corrupt: its bytes have another digest")


class ForeignDatabaseError(StoreError):
    """The database at `url` is not an event log this program can use."""

    def __init__(self, url: str, reason: str) -> None:
        self.url = url
        self.reason = reason
        super().__init__(f"{url}: {reason}")


class MissingDatabaseError(ForeignDatabaseError):
    """There is no database at `url`, and none may be created."""


class StoreFullError(StoreError, OSError):
    """The disk is full or failed: this append is not stored; everything acknowledged before is."""


class StoreLockedError(StoreError, TimeoutError):
    """Another process kept the database locked longer than the busy timeout."""


class StoreUnavailableError(StoreError, ConnectionError):
    """The server cannot be reached, or the connection to it was lost: everything acknowledged is stored."""


class RowRefusedError(StoreError):
    """A constraint or trigger refused a row. What that means, the caller in this package knows."""


class StoreClosedError(StoreError):
    """The store or writer was used after it was closed."""
