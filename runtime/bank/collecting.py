"""What a run brings into a bank, and what people and programs see of a bank.

A run brings the implementations that it accepted, with what its log says they gained.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dga2d.agents.proposing.answers import idea_of
from dga2d.domains.core.contract import normalised_gap
from dga2d.events import ImplementationId, InstanceKey, OperatorId, RecordedEvent, RunId, instance_and_copy
from dga2d.events import payloads as p
from dga2d.replay.settings import RunSettings
from dga2d.runtime.bank.entries import Bank, BankError, Entry, How, Measurement, merge, read_bank, write_bank
from dga2d.runtime.errors import UsageError
from dga2d.runtime.runs.states import is_file, open_file
from dga2d.store import EventStore, open_store, verify_events

Accepted = p.ImplementationAdded | p.ImplementationReplaced | p.OperatorProposed
Role = p.LibraryOperator | p.OperatorProposed
Gaps = dict[InstanceKey, float]
"""By instance, as fractions; a failure counts as the worst gap."""


@dataclass
class _Seen:
    """What the log said so far."""

    header: p.RunStarted | None = None
    roles: dict[OperatorId, Role] = field(default_factory=dict)
    operators: dict[int, p.OperatorProposed] = field(default_factory=dict)
    """Proposed operators by generation, which bring their first implementation."""
    accepted: dict[ImplementationId, tuple[int, Accepted]] = field(default_factory=dict)
    models: dict[int, str] = field(default_factory=dict)
    proposed: dict[tuple[int, int], ImplementationId] = field(default_factory=dict)
    gate: dict[ImplementationId, list[float]] = field(default_factory=dict)
    sampled: dict[tuple[int, int], tuple[p.Step, ...]] = field(default_factory=dict)
    decoded: dict[int, tuple[tuple[p.Step, ...], ...]] = field(default_factory=dict)
    training: dict[tuple[int, int], Gaps] = field(default_factory=lambda: defaultdict(dict))
    validation: dict[tuple[int, int], Gaps] = field(default_factory=lambda: defaultdict(dict))


async def collect(store: EventStore, run: RunId, licence: str) -> Bank:
    """Return the entries of a run: what it accepted from a model or from a bank.

    Raises
    ------
    BankError
        It accepted nothing.
    UnknownRunError, CorruptEventError, BlobMissingError, CorruptBlobError
        There is no such run, or its log does not hold.
    """
    seen = _Seen()
    async for event in verify_events(store.read(run)):
        _note(seen, event)
    if not seen.accepted or seen.header is None:
        raise BankError(run, "the run", "accepted no implementation, so it brings nothing into a bank")
    log = (await store.head(run)).hash.hex()
    entries = []
    for name in sorted(seen.accepted):
        source = (await store.get_blob(seen.accepted[name][1].source)).decode()
        entries.append(_entry(seen, seen.header, str(run), log, name, source, licence))
    return tuple(entries)


def _note(seen: _Seen, event: RecordedEvent) -> None:
    payload = event.payload
    match payload:
        case p.RunStarted(library=operators):
            seen.header, seen.roles = payload, {o.id: o for o in operators}
        case p.LLMCallReserved():
            seen.models[payload.call] = payload.model
        case p.ImplementationProposed():
            seen.proposed[payload.generation, payload.slot] = payload.implementation
        case p.ImplementationMeasured():
            known = [gain for gain in payload.gains if gain is not None]
            seen.gate[seen.proposed[payload.generation, payload.slot]] = known
        case p.ImplementationAdded() | p.ImplementationReplaced():
            seen.accepted.setdefault(payload.implementation, (event.seq, payload))
        case p.OperatorProposed():
            seen.operators[payload.generation] = payload
        case p.OperatorAdded():
            new = seen.roles[payload.operator] = seen.operators[payload.generation]
            seen.accepted.setdefault(payload.implementation, (event.seq, new))
            seen.gate[payload.implementation] = [gain for gain in payload.gains if gain is not None]
        case p.PipelineSampled():
            seen.sampled[payload.generation, payload.candidate] = payload.steps
        case p.PipelinesDecoded():
            seen.decoded[payload.generation] = payload.pipelines
        case p.EvaluationRecorded() if payload.split in ("train", "validation"):
            assert seen.header is not None
            rows = seen.training if payload.split == "train" else seen.validation
            rows[payload.generation, payload.candidate][payload.instance] = _gap(seen.header, payload)


def _gap(header: p.RunStarted, result: p.EvaluationRecorded) -> float:
    """Return the gap of an evaluation, at most what a failure counts."""
    worst = -float(header.settings.get("failure_reward", RunSettings().failure_reward))
    if result.objective is None:
        return worst
    name = instance_and_copy(result.instance)[0]
    entries = (*header.splits.train, *header.splits.validation)
    entry = next(e for e in entries if e.key == name)
    return min(normalised_gap(result.objective, entry.reference, header.sense, entry.scale), worst)


def _entry(
    seen: _Seen, header: p.RunStarted, run: str, log: str, name: ImplementationId, source: str, licence: str
) -> Entry:
    seq, payload = seen.accepted[name]
    role = seen.roles[payload.operator]
    gains: Mapping[How, Sequence[float]] = {
        "gate": seen.gate.get(name, []),
        "validation": _validated_gain(seen, header, name),
        "training": _training_means(seen, name),
    }
    origin, model = run, "" if payload.call is None else seen.models[payload.call]
    if payload.offer is not None and header.bank is not None:
        offered = header.bank[payload.offer]
        origin, model = offered.run, offered.model
    return Entry(
        domain=header.domain,
        operator=payload.operator,
        digest=payload.source,
        category=role.category,
        requires=role.requires,
        provides=role.provides,
        idea=idea_of(source),
        run=origin,
        log=log,
        seq=seq,
        model=model,
        licence=licence,
        measurements=tuple(_measurement(header, run, how, found) for how, found in gains.items() if found),
        source=source,
    )


def _measurement(header: p.RunStarted, run: str, how: How, gains: Sequence[float]) -> Measurement:
    spread = statistics.stdev(gains) if len(gains) > 1 else None
    mean = math.fsum(gains) / len(gains)
    return Measurement(
        run=run,
        library=header.settings.get("library", RunSettings().library),
        how=how,
        gain=round(mean, 8),
        spread=None if spread is None else round(spread, 8),
        pairs=len(gains),
    )


def _holds(steps: Iterable[p.Step], name: ImplementationId) -> bool:
    return any(step.implementation == name for step in steps)


def _validated_gain(seen: _Seen, header: p.RunStarted, name: ImplementationId) -> list[float]:
    """Return what the best validated pipeline with an implementation gained over the safe baseline, by
    instance; nothing where there was none, or the baseline did not take part."""
    found: list[list[float]] = []
    for generation, pipelines in seen.decoded.items():
        if header.baseline not in pipelines:
            continue
        control = seen.validation[generation, pipelines.index(header.baseline)]
        for number, steps in enumerate(pipelines):
            row = seen.validation[generation, number]
            if _holds(steps, name) and row.keys() == control.keys() and row:
                found.append([control[key] - row[key] for key in sorted(row)])
    return max(found, key=lambda gains: math.fsum(gains) / len(gains), default=[])


def _training_means(seen: _Seen, name: ImplementationId) -> list[float]:
    """Return by generation and instance the mean gap of candidates without an implementation less that of
    those with it; nothing where it was never sampled."""
    by_generation: dict[int, tuple[list[Gaps], list[Gaps]]] = defaultdict(lambda: ([], []))
    for (generation, candidate), steps in seen.sampled.items():
        if row := seen.training.get((generation, candidate)):
            by_generation[generation][_holds(steps, name)].append(row)
    gains = []
    for without, using in by_generation.values():
        if not (without and using):
            continue
        for key in sorted(set.intersection(*(set(row) for row in (*without, *using)))):
            before = statistics.fmean(row[key] for row in without)
            gains.append(before - statistics.fmean(row[key] for row in using))
    return gains


async def add_runs(url: str, runs: Sequence[str], path: Path, licence: str) -> dict[str, Any]:
    """Add what runs accepted to the bank of a file, which is made if it is not there.

    Raises
    ------
    BankError
        The bank cannot be used, or a run brings nothing; the file stays as it was.
    """
    before = read_bank(str(path)) if path.exists() else ()
    bank = before
    for run in runs:
        if is_file(run):
            async with open_file(Path(run).expanduser()) as (store, name):
                bank = merge(bank, await collect(store, name, licence))
        else:
            async with open_store(url, create=False, read_only=True) as store:
                bank = merge(bank, await collect(store, RunId(run), licence))
    write_bank(path, bank)
    return {
        "bank": str(path),
        "runs": list(runs),
        "added": len(bank) - len(before),
        "entries": len(bank),
    }


def entry_view(entry: Entry) -> dict[str, Any]:
    """Return an entry without its source text."""
    evidence = entry.evidence
    return {
        **entry.model_dump(mode="json", exclude={"source"}),
        "chars": len(entry.source),
        "how": None if evidence is None else evidence.how,
        "gain_points": None if evidence is None else round(100 * evidence.gain, 4),
        "pairs": 0 if evidence is None else evidence.pairs,
    }


def find_entry(bank: Bank, digest: str) -> Entry:
    """Return the entry whose digest begins with `digest`.

    Raises
    ------
    UsageError
        There is none, or several.
    """
    found = {entry.digest: entry for entry in bank if entry.digest.startswith(digest)}
    if len(found) != 1:
        raise UsageError(f"{len(found)} entries of the bank have a digest that begins with {digest!r}")
    return next(iter(found.values()))
