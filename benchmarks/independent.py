"""Proposals for the safe baseline that know nothing of each other, and the best of them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np
from programs import Program, ProgramBench

from dga2d.agents.bank_offers import has_role
from dga2d.agents.comparison import by_unit, compare_together
from dga2d.agents.conductor import validation_instances
from dga2d.agents.ports import BlobSource
from dga2d.agents.proposing.offline import OFFLINE_WAYS
from dga2d.agents.proposing.tasks import ImplementTask, OperatorContract, PoolEntry
from dga2d.agents.proposing.variation import Ways, all_ways, variations
from dga2d.agents.spreading import spread_copies
from dga2d.agents.work_calibration import units_of_a_round
from dga2d.domains.core.contract import Implementation, OperatorName
from dga2d.domains.core.tunables import find_tunables
from dga2d.events import ImplementationId, InstanceKey, OperatorId, RunId, instance_and_copy
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.fold import fold_all
from dga2d.replay.state.run_state import RunState
from dga2d.replay.streams import spawn_key
from dga2d.runtime.runs.problem import Problem
from dga2d.runtime.runs.start import baseline_of, run_started
from dga2d.store import open_store


class Best(NamedTuple):
    """What came of independent proposals."""

    program: Program
    """The baseline where nothing is better."""
    proposals: int
    """Written for it; what came from a bank is not counted."""
    evaluations: int


async def starting_state(problem: Problem, settings: RunSettings, seed: int) -> tuple[RunState, Program]:
    """Return the state of a run that has only just begun, and its baseline."""
    draft, texts = run_started(problem, settings, seed, "none", "none", {}, None)
    baseline = tuple(step.implementation for step in baseline_of(problem.domain, settings))
    with tempfile.TemporaryDirectory() as folder:
        async with (
            open_store(f"sqlite+aiosqlite:///{Path(folder) / 'run.db'}", create=True) as store,
            store.write(RunId("start"), holder="benchmark", create=True) as writer,
        ):
            return fold_all(await writer.append([draft], texts)), Program(baseline)


async def best_of_n(bench: ProgramBench, banked: Sequence[Program], n: int, evaluations: int) -> Best:
    """Let what a bank has for the baseline and `n` proposals compete on training instances, as many as the
    evaluations allow; the best must pass the validation that a run ends with, by its test and with all of its
    error rate. Where there are fewer instances they come again under other random streams."""
    validation = validation_instances(bench.state, is_last=True)
    keys = [entry.key for entry in bench.state.header.splits.train]
    training = spread_copies(keys, max(1, (evaluations - 2 * len(validation)) // (len(banked) + n + 1)))
    await bench.calibrate([bench.baseline])
    best, tried = bench.baseline, 0
    best_gap = _mean(await gaps_of(bench, best, training, "evaluation"))
    written = proposals(bench, n, OFFLINE_WAYS[bench.state.settings.llm])
    for program in (*banked, *written):
        await bench.calibrate([program])
        gap, tried = _mean(await gaps_of(bench, program, training, "evaluation")), tried + 1
        if gap is not None and (best_gap is None or gap < best_gap):
            best, best_gap = program, gap
    kept = await gaps_of(bench, bench.baseline, validation, "validation")
    found = await gaps_of(bench, best, validation, "validation")
    spent = (tried + 1) * len(training) + 2 * len(validation)
    is_better = p_value(bench.state, validation, kept, found) <= bench.state.settings.checkpoint_error
    return Best(best if is_better else bench.baseline, tried - len(banked), spent)


def p_value(
    state: RunState, keys: Sequence[InstanceKey], kept: Sequence[float | None], found: Sequence[float | None]
) -> float:
    """Return the probability, by the test of a run's validations, of gaps at least so much smaller than those
    of what is `kept` if nothing were gained."""
    worst = -100.0 * state.settings.failure_reward
    kept, found = ([worst if gap is None else gap for gap in gaps] for gaps in (kept, found))
    pairs = {
        (instance_and_copy(key)[0], 0, i): theirs - ours
        for i, (key, theirs, ours) in enumerate(zip(keys, kept, found, strict=True))
    }
    return compare_together(state.settings, [by_unit(state.settings, pairs)])[0].p_value


def _mean(gaps: Sequence[float | None]) -> float | None:
    known = [gap for gap in gaps if gap is not None]
    return fmean(known) if len(known) == len(gaps) else None


async def gaps_of(
    bench: ProgramBench, program: Program, keys: Sequence[InstanceKey], purpose: str
) -> list[float | None]:
    """Return gaps with random numbers that all programs have in common; an instance that comes again, under
    the name of a copy, is met with others."""
    found = []
    for name in keys:
        key, copy = instance_and_copy(name)
        where = spawn_key(purpose, 0, copy - 1, bench.problem.index(key))
        found.append(bench.gap_percent(await bench.run(program, key, where, "calibrated"), key))
    return found


async def banked_programs(state: RunState, baseline: Program, blobs: BlobSource) -> list[Program]:
    """Return the baseline with each entry that its run's bank has of the domain, the best first: in place of
    every position with the entry's role, and behind the last one where it takes and leaves a solution."""
    roles = {operator.id: operator for operator in state.header.library}
    found = []
    for entry in state.header.bank or ():
        if entry.domain != state.header.domain:
            continue
        text = (await blobs.get_blob(entry.source)).decode()
        for number, part in enumerate(baseline.parts):
            if has_role(entry, roles[OperatorId(part.operator)]):
                found.append(baseline.replaced(number, Implementation(part.operator, text, "bank")))
        if entry.requires == entry.provides == "complete":
            last = Implementation(OperatorName(entry.operator), text, "bank")
            found.append(Program((*baseline.parts, last)))
    return found


def proposals(
    bench: ProgramBench, n: int, ways: Ways = all_ways, structure_only: bool = False
) -> Iterator[Program]:
    """Yield `n` programs: the baseline with one new implementation, its positions in turn."""
    baseline = bench.baseline
    live = []
    for number, part in enumerate(baseline.parts):
        rng = np.random.default_rng((bench.state.header.seed, number))
        live.append((number, variations(implement_task(bench, part, structure_only), rng, ways)))
    for made in range(n):
        while live:
            number, texts = live[made % len(live)]
            if (text := next(texts, None)) is not None:
                break
            live.remove((number, texts))
        else:
            return
        child = Implementation(baseline.parts[number].operator, text, "proposed")
        if without_constants(text) == without_constants(baseline.parts[number].source):
            bench.inherit_rate(child, baseline.parts[number])
        yield baseline.replaced(number, child)


def without_constants(source: str) -> bytes:
    """Return the text with the values of its tunables left out."""
    data = source.encode()
    for tunable in sorted(find_tunables(source), key=lambda t: -t.start):
        data = data[: tunable.start] + data[tunable.end :]
    return data


def implement_task(bench: ProgramBench, part: Implementation, structure_only: bool) -> ImplementTask:
    """Return the question for a new implementation in place of `part`, as a first generation asks it."""
    offered = set(bench.state.operator_of.values())
    library = bench.problem.domain.operators()
    operators = [op for op in library if OperatorId(op.id) in offered]
    operator = next(op for op in operators if op.id == part.operator)
    entries = tuple(PoolEntry(ImplementationId(c.id), c.source, 0.0) for c in operator.implementations)
    others = [(op, c) for op in operators if op is not operator for c in op.implementations]

    def of_category(category: str) -> tuple[Implementation, ...]:
        return tuple(c for op, c in others if op.category == category)

    return ImplementTask(
        card=bench.problem.domain.card,
        operator=OperatorContract.of(operator),
        mode="add",
        pool=entries,
        parent=next(entry for entry in entries if entry.source == part.source),
        others=tuple(c for _, c in others),
        perturbations=of_category("perturbation"),
        improvers=of_category("local_search"),
        intensifiers=of_category("intensification"),
        unused=tuple(
            (OperatorContract.of(op), c)
            for op in library
            if OperatorId(op.id) not in offered
            for c in op.implementations
        ),
        structure_only=structure_only,
        round_units=units_of_a_round(bench.state),
    )
