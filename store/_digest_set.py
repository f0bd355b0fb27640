"""A set of blob digests of any size, kept in a temporary file where memory would not do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator

from dga2d.events import BlobDigest


class DigestSet:
    """Digests that are added in any order, any number of times, and come out sorted, once each."""

    def __init__(self) -> None:
        self._connection = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._connection.execute("CREATE TABLE digests (digest TEXT PRIMARY KEY) WITHOUT ROWID")
        self._connection.execute("BEGIN")

    def __enter__(self) -> DigestSet:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def add(self, digests: Iterable[BlobDigest]) -> None:
        """Add several."""
        self._connection.executemany("INSERT OR IGNORE INTO digests VALUES (?)", ((d,) for d in digests))

    def __contains__(self, digest: object) -> bool:
        found = self._connection.execute("SELECT 1 FROM digests WHERE digest = ?", (digest,))
        return found.fetchone() is not None

    def __len__(self) -> int:
        [count] = self._connection.execute("SELECT count(*) FROM digests").fetchone()
        return int(count)

    def __iter__(self) -> Iterator[BlobDigest]:
        for (digest,) in self._connection.execute("SELECT digest FROM digests ORDER BY digest"):
            yield BlobDigest(digest)
