"""A thousand logs, each with one change: every one is found, most without knowing anything but the log."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import orjson

from dga2d.events import (
    AGENT_NAMES,
    GENESIS_HASH,
    PAYLOAD_TYPES,
    BlobDigest,
    EventError,
    RecordedEvent,
    blob_digest,
    canonical_bytes,
    link_hash,
    referenced_blobs,
)
from dga2d.replay.errors import ReplayError
from dga2d.replay.state.fold import fold
from dga2d.replay.state.run_state import RunState
from dga2d.store import EMPTY_LOG, CorruptEventError, check_page

if TYPE_CHECKING:
    from tests.agents.simulation import Simulation

Log = list[RecordedEvent]
Blobs = dict[BlobDigest, bytes]
MUTATIONS = 1000


def linked(events: Log, start: int = 0) -> Log:
    """The events with a chain that holds from number `start` on."""
    done = list(events[:start])
    prev = done[-1].hash if done else GENESIS_HASH
    for event in events[start:]:
        link = link_hash(prev, event.header_bytes(), event.payload_bytes)
        done.append(event._replace(prev_hash=prev, hash=link))
        prev = link
    return done


def found_by(events: Log, blobs: Blobs, head: bytes) -> str | None:
    """Which check notices that the log is not the one whose last event had the hash `head`."""
    try:
        check_page(events, EMPTY_LOG)
    except CorruptEventError:
        return "chain"
    state = RunState()
    try:
        for event in events:
            state = fold(state, event)
            for digest in referenced_blobs(event):
                if digest not in blobs or blob_digest(blobs[digest]) != digest:
                    return "blobs"
    except (EventError, ReplayError):
        return "fold"
    return None if events and events[-1].hash == head else "kept head"


def a_byte(rng: random.Random, events: Log, blobs: Blobs) -> Log:
    at = rng.randrange(len(events))
    data = bytearray(events[at].payload_bytes)
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return [*events[:at], events[at]._replace(payload_bytes=bytes(data)), *events[at + 1 :]]


def a_field(rng: random.Random, events: Log, blobs: Blobs) -> Log:
    at = rng.randrange(len(events))
    name = rng.choice([name for name in RecordedEvent._fields if name != "payload_bytes"])
    value = getattr(events[at], name)
    others: dict[type, list[Any]] = {
        int: [-1, 0, 10**6, 2**62],
        str: [*AGENT_NAMES, *PAYLOAD_TYPES, "", "x"],
        bytes: [bytes(32), b"", rng.randbytes(32)],
        type(None): [0, 1, 7],
    }
    other = rng.choice(others[type(value)])
    return [*events[:at], events[at]._replace(**{name: other}), *events[at + 1 :]]


def the_order(rng: random.Random, events: Log, blobs: Blobs) -> Log:
    changed = list(events)
    one, other = rng.sample(range(len(events)), 2)
    changed[one], changed[other] = changed[other], changed[one]
    return changed


def a_deletion(rng: random.Random, events: Log, blobs: Blobs) -> Log:
    first = rng.randrange(len(events))
    return [*events[:first], *events[first + rng.choice([1, 1, 1, 2, len(events)]) :]]


def a_duplication(rng: random.Random, events: Log, blobs: Blobs) -> Log:
    at, to = rng.randrange(len(events)), rng.randrange(len(events) + 1)
    return [*events[:to], events[at], *events[to:]]


def swapped_blobs(rng: random.Random, events: Log, blobs: Blobs) -> Log:
    named = sorted({digest for event in events for digest in referenced_blobs(event)})
    one, other = rng.sample(named, 2)
    blobs[one], blobs[other] = blobs[other], blobs[one]
    return events


def a_lost_or_changed_blob(rng: random.Random, events: Log, blobs: Blobs) -> Log:
    digest = rng.choice(sorted({digest for event in events for digest in referenced_blobs(event)}))
    if rng.random() < 0.5:
        del blobs[digest]
    else:
        blobs[digest] += b" "
    return events


def a_forged_digest(rng: random.Random, events: Log, blobs: Blobs) -> Log:
    """A recorded state digest is another one, and the chain is made to fit."""
    at = rng.choice([i for i, e in enumerate(events) if e.type in ("GenerationCompleted", "RunCompleted")])
    values = orjson.loads(events[at].payload_bytes)
    values["state_digest"] = rng.randbytes(32).hex()
    changed = events[at]._replace(payload_bytes=canonical_bytes(values))
    return linked([*events[:at], changed, *events[at + 1 :]], at)


def a_rehashed_suffix(rng: random.Random, events: Log, blobs: Blobs) -> Log:
    """Some number or text of an event is another one, and the chain is made to fit."""
    at = rng.randrange(len(events))
    values = orjson.loads(events[at].payload_bytes)
    key = rng.choice(sorted(values) or ["none"])
    values[key] = _other(rng, values.get(key))
    changed = events[at]._replace(payload_bytes=canonical_bytes(values))
    return linked([*events[:at], changed, *events[at + 1 :]], at)


def a_rehashed_writer(rng: random.Random, events: Log, blobs: Blobs) -> Log:
    """An event is said to be another agent's, and the chain is made to fit."""
    at = rng.randrange(len(events))
    others = [name for name in AGENT_NAMES if name not in PAYLOAD_TYPES[events[at].type].owners]
    return linked([*events[:at], events[at]._replace(agent=rng.choice(others)), *events[at + 1 :]], at)


def a_rehashed_deletion(rng: random.Random, events: Log, blobs: Blobs) -> Log:
    """An event is gone, and all that follow are renumbered and the chain is made to fit."""
    at = rng.randrange(len(events))
    rest = [event._replace(seq=event.seq - 1) for event in events[at + 1 :]]
    return linked([*events[:at], *rest], at)


def _other(rng: random.Random, value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int | float):
        return value + rng.choice([-1, 1])
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, list) and value:
        at = rng.randrange(len(value))
        return [*value[:at], _other(rng, value[at]), *value[at + 1 :]]
    if isinstance(value, dict) and value:
        key = rng.choice(sorted(value))
        return {**value, key: _other(rng, value[key])}
    return ["x"]


KINDS: tuple[Callable[[random.Random, Log, Blobs], Log], ...] = (
    a_byte,
    a_field,
    the_order,
    a_deletion,
    a_duplication,
    swapped_blobs,
    a_lost_or_changed_blob,
    a_forged_digest,
    a_rehashed_suffix,
    a_rehashed_writer,
    a_rehashed_deletion,
)


def test_every_one_of_a_thousand_changes_is_found(simulation: Simulation) -> None:
    small = simulation.changed(generations=2, pipelines=2, batch_size=1, validation_interval=1)
    _, memory = small.run()
    events, blobs = linked(memory.events), dict(memory.blobs)
    head = events[-1].hash
    assert found_by(events, blobs, head) is None
    rng, found = random.Random(7), Counter[tuple[str, str]]()
    for number in range(MUTATIONS):
        kind = KINDS[number % len(KINDS)]
        kept = dict(blobs)
        changed = kind(rng, events, kept)
        if changed == events and kept == blobs:
            continue  # a value was exchanged for itself
        check = found_by(changed, kept, head)
        assert check is not None, f"change {number} ({kind.__name__}) was not found"
        found[kind.__name__, check] += 1
    assert sum(found.values()) > 0.97 * MUTATIONS
    for kind in (a_byte, a_field, the_order, a_duplication):
        assert {check for name, check in found if name == kind.__name__} == {"chain"}
    for kind in (a_forged_digest, a_rehashed_writer):
        assert {check for name, check in found if name == kind.__name__} == {"fold"}
    # Only what was made to fit needs a hash that was kept elsewhere: a rewritten log, or one cut off.
    needed = {name for name, check in found if check == "kept head"}
    assert needed <= {"a_deletion", "a_rehashed_suffix", "a_rehashed_deletion"}
    assert found["a_rehashed_suffix", "fold"] > 0
    assert found["a_rehashed_deletion", "fold"] > found["a_rehashed_deletion", "kept head"]
