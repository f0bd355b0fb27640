"""What a prompt of the second edition says of the run: all of it follows from the log."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from dga2d.agents.agent import open_basis
from dga2d.agents.evaluator_pool import SourceReader
from dga2d.agents.gate import tried_before
from dga2d.agents.proposing import PoolEntry, RunFacts
from dga2d.agents.proposing.blocks import read_module
from dga2d.domains.core.contract import Implementation, normalised_gap
from dga2d.events import ImplementationId, OperatorId
from dga2d.events.payloads import Step
from dga2d.replay.state.credit import CreditTable
from dga2d.replay.state.incumbent import incumbent
from dga2d.replay.state.run_state import RunState, TriedCode

MOST_TRIED = 12
"""Earlier proposals that are told, the latest."""


async def run_facts(
    state: RunState, operator: OperatorId, others: Sequence[Implementation], sources: SourceReader
) -> RunFacts:
    """Return what a proposer is told for an operator of the open generation."""
    program = incumbent(state)
    near = _neighbours(program, operator)
    texts = [PoolEntry(s.implementation, (await sources.implementation(state, s)).source, 0.0) for s in near]
    return RunFacts(
        incumbent=_incumbent_rows(state, program, operator),
        neighbours=tuple(texts),
        budget=_budget(state, len(program)),
        instances=_instances(state),
        gaps=_gap_rows(state, operator),
        positions=_position_rows(state, operator),
        tried=tuple(_tried_row(tried) for tried in tried_before(state, operator)[-MOST_TRIED:]),
        blocks=_blocks(others),
        max_tokens=state.settings.prompt_tokens,
    )


def pool_figures(state: RunState, c: ImplementationId) -> tuple[int, float | None]:
    """Return how often candidates used an implementation, and the standard error of its credit."""
    credits: CreditTable = open_basis(state)[1].credits
    return credits.samples(c), credits.implementation_error(c, state.settings.credit_rate)


def _neighbours(program: Sequence[Step], operator: OperatorId) -> list[Step]:
    """Return the steps of other operators beside each position of an operator; the last ones where it is not
    part of the program."""
    places = [i for i, step in enumerate(program) if step.operator == operator]
    beside = [i + d for i in places for d in (-1, 1)] if places else range(len(program) - 2, len(program))
    steps = [program[i] for i in beside if 0 <= i < len(program)]
    return list(dict.fromkeys(step for step in steps if step.operator != operator))


def _incumbent_rows(state: RunState, program: Sequence[Step], operator: OperatorId) -> tuple[str, ...]:
    rows = []
    for number, step in enumerate(program, start=1):
        found = state.contributions.get(step.implementation)
        told = (
            ""
            if found is None or not found.runs
            else (
                f": {100 * found.effort / found.runs:.0f} % of the effort and "
                f"{100 * found.gain / found.runs:.0f} % of the improvement of the pipelines it was part of"
            )
        )
        mark = "   <- the operator in question" if step.operator == operator else ""
        rows.append(f"{number}. {step.implementation}{told}{mark}")
    return tuple(rows)


def _budget(state: RunState, positions: int) -> str:
    amount, unit = state.settings.budget
    per_step = f"{amount:g} work units" if unit == "work" else f"{amount:g} seconds"
    whole = f"{per_step} per instance for the whole pipeline, of {positions} positions in the incumbent"
    return (
        f"{whole}. Each position gets its part of what is left when it begins, so what it leaves goes to "
        "those behind it; compilation is not counted. The result is the best complete state after a position."
    )


def _instances(state: RunState) -> str:
    train = state.header.splits.train
    groups = Counter(entry.key.partition("/")[0] for entry in train)
    told = ", ".join(f"{group} ({count})" for group, count in sorted(groups.items()))
    points = state.work_rates.reference
    sizes = sorted({point.size for point in points})
    if sizes:
        told += f"; their data hold {sizes[0]} to {sizes[-1]} numbers"
    references = sorted(entry.reference for entry in train)
    middle = references[len(references) // 2]
    return (
        f"{len(train)} training instances by group: {told}. Best known objectives, against which gaps are "
        f"measured: {references[0]:g} to {references[-1]:g}, {middle:g} in the middle."
    )


def _gap_rows(state: RunState, operator: OperatorId) -> tuple[str, ...]:
    """Return for each instance of the batch the gaps of this generation's candidates."""
    generation, rows = open_basis(state)[0], []
    for key in state.header.batch:
        entry = state.entry(key)
        gaps: dict[bool, list[float]] = {True: [], False: []}
        for j, pipeline in sorted(generation.pipelines.items()):
            objective = generation.outcomes[j, key].objective
            if objective is not None:
                gap = normalised_gap(objective, entry.reference, state.header.sense, entry.scale)
                gaps[any(s.operator == operator for s in pipeline.steps)].append(100 * gap)
        told = [
            f"{name} {min(found):.2f} to {max(found):.2f} %"
            for name, found in (("with this operator", gaps[True]), ("without it", gaps[False]))
            if found
        ]
        rows.append(f"{key}: {', '.join(told) or 'all failed'}")
    return tuple(rows)


def _position_rows(state: RunState, operator: OperatorId) -> tuple[str, ...]:
    """Return what the operator's implementations did at each place of this generation's candidates."""
    generation, rows = open_basis(state)[0], []
    for j, pipeline in sorted(generation.pipelines.items()):
        for key in state.header.batch:
            trace = generation.outcomes[j, key].trace
            for place, (step, did) in enumerate(zip(pipeline.steps, trace, strict=False), start=1):
                if step.operator != operator:
                    continue
                before = "nothing" if did.score_before is None else f"{did.score_before:g}"
                spent = f"{did.work} units" if state.settings.work is not None else f"{did.elapsed_s:.2f} s"
                where = f"position {place} of {len(pipeline.steps)}, {key}"
                rows.append(f"{step.implementation}, {where}: {before} to {did.score_after:g} in {spent}")
    return tuple(rows[:8])


def _tried_row(tried: TriedCode) -> str:
    known = [gain for gain in tried.gains if gain is not None]
    idea = tried.idea or "no idea was named"
    if not known or len(known) < len(tried.gains):
        return f"generation {tried.generation}: {idea} It failed."
    mean = math.fsum(known) / len(known)
    spread = math.sqrt(sum((g - mean) ** 2 for g in known) / (len(known) - 1)) if len(known) > 1 else 0.0
    error = 100 * spread / math.sqrt(len(known))
    became = "joined the pool" if tried.is_accepted else "did not join"
    return (
        f"generation {tried.generation}: {idea} {100 * mean:+.3f} ± {error:.3f} points of the gap against "
        f"{tried.parent} on {len(known)} instances; {became}."
    )


def _blocks(others: Sequence[Implementation]) -> tuple[str, ...]:
    names: dict[str, set[str]] = {}
    for other in others:
        found = {block.name for block in read_module(other.source).blocks}
        names.setdefault(other.operator, set()).update(found)
    return tuple(
        f"{operator}: {', '.join(sorted(found))}" for operator, found in sorted(names.items()) if found
    )
