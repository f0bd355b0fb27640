"""The library ``eventsourcing`` beside our log, and the events that both append (see ``log.py``)."""

from __future__ import annotations

import functools
import time
from pathlib import Path
from typing import Any

import synthetic_run

from dga2d.events import Draft, InstanceKey

Figures = dict[str, float]
"""Measured values by name."""


def drafts(count: int, start: int = 0) -> list[Draft]:
    """Evaluations, each another operation."""
    key = InstanceKey("g/i0")
    return [
        Draft("evaluator_pool", synthetic_run.evaluation(1 + n // 100, n % 100, key), 1 + n // 100, 1)
        for n in range(start, start + count)
    ]


@functools.cache
def _aggregate_type() -> Any:
    from eventsourcing.domain import Aggregate, event

    class Bench(Aggregate):  # type: ignore[misc]
        @event("Evaluated")  # type: ignore[untyped-decorator]
        def evaluate(self, body: dict[str, Any]) -> None:
            self.last = body

    return Bench


class Rival:
    """The library ``eventsourcing`` on SQLite, which sets a write-ahead log and leaves SQLite's own default,
    ``synchronous = FULL``."""

    def __init__(self, path: Path) -> None:
        from eventsourcing.application import Application

        self.application: Any = Application(
            env={
                "PERSISTENCE_MODULE": "eventsourcing.sqlite",
                "SQLITE_DBNAME": str(path),
                "SQLITE_LOCK_TIMEOUT": "10",
            }
        )

    def append(self, count: int, batch: int) -> Figures:
        bodies = [d.payload.model_dump(mode="json") for d in drafts(count)]
        aggregate = _aggregate_type()()
        self.application.save(aggregate)
        start, cpu = time.perf_counter(), time.process_time()
        for first in range(0, count, batch):
            for body in bodies[first : first + batch]:
                aggregate.evaluate(body)
            self.application.save(aggregate)
        busy = time.process_time() - cpu
        return {"per_s": count / (time.perf_counter() - start), "per_cpu_s": count / busy}

    def read(self) -> Figures:
        """Events per second, and per processor second, of reading all, and of reading and decoding all."""
        raw, typed = self._read(decode=False), self._read(decode=True)
        return {
            "raw": raw[0],
            "raw, per cpu s": raw[1],
            "domain events": typed[0],
            "domain events, per cpu s": typed[1],
        }

    def _read(self, *, decode: bool) -> tuple[float, float]:
        """The whole notification log, 1,000 events at a time."""
        start, cpu, first, seen = time.perf_counter(), time.process_time(), 1, 0
        while found := self.application.recorder.select_notifications(first, 1000):
            for item in found:
                if decode:
                    self.application.mapper.to_domain_event(item)
                seen += 1
            first = found[-1].id + 1
        return seen / (time.perf_counter() - start), seen / (time.process_time() - cpu)

    def __enter__(self) -> Rival:
        return self

    def __exit__(self, *_: object) -> None:
        self.application.close()
