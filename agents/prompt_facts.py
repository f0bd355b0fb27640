"""What prompts say of the run from their second edition on: all of it follows from the log."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal

from dga2d.agents.agent import open_basis
from dga2d.agents.bank_offers import suited_entries
from dga2d.agents.evaluator_pool import SourceReader
from dga2d.agents.gate import gate_result, tried_before
from dga2d.agents.pool_edits import edit_to_ask, parent_of, rank_among_askers
from dga2d.agents.prompt_instances import SOLVED, gap_rows, instances_text, met_rows, size_rows
from dga2d.agents.prompt_program import (
    FOURTH,
    SEVENTH,
    SIXTH,
    amount_text,
    budget_text,
    neighbours,
    program_rows,
    shown_program,
)
from dga2d.agents.proposing.blocks import read_module
from dga2d.agents.proposing.prompts import fence
from dga2d.agents.proposing.tasks import BankExample, PoolEntry, RunFacts
from dga2d.domains.core.contract import Implementation, normalised_gap
from dga2d.events import ImplementationId, InstanceKey, OperatorId
from dga2d.events.payloads import BankEntry
from dga2d.replay.state.credit import CreditTable
from dga2d.replay.state.generation_state import Proposal
from dga2d.replay.state.graph import END
from dga2d.replay.state.incumbent import incumbent
from dga2d.replay.state.outcomes import Outcome
from dga2d.replay.state.run_state import RunState, TriedCode

MOST_TRIED = 12
"""Earlier proposals that are told, the latest."""
MOST_EXAMPLE = 24_000
"""Characters of an entry of the bank; longer ones are no examples."""
MOST_DIAGNOSTIC = 1_000
"""Characters of a failure that are told."""
DIRECTIONS = (
    "the change that promises most, given what was tried before",
    "another neighbourhood, encoding of moves or search strategy than the code above has",
    "the same search, made several times faster: cheaper evaluation of moves, less copying, incremental data",
    "another method of the literature on this problem altogether",
)
"""What proposals for one operator that are asked for at the same time are to be, in turn."""


def _edition(state: RunState) -> Literal[3, 4, 5, 6, 7, 8, 9, 10]:
    match state.settings.prompt_edition:
        case 4 | 5 | 6 | 7 | 8 | 9 | 10 as edition:
            return edition
        case _:
            return 3


async def run_facts(
    state: RunState, slot: int, operator: OperatorId, others: Sequence[Implementation], sources: SourceReader
) -> RunFacts:
    """Return what a proposer is told for a slot of the open generation and its operator."""
    program = shown_program(state, slot)
    near = neighbours(program, operator)
    parent = parent_of(open_basis(state)[1], edit_to_ask(state, slot), state.settings.epsilon)
    texts = [PoolEntry(s.implementation, (await sources.implementation(state, s)).source, 0.0) for s in near]
    facts = RunFacts(
        incumbent=program_rows(state, program, operator),
        neighbours=tuple(texts),
        budget=budget_text(state, len(program), parent),
        instances=instances_text(state),
        gaps=gap_rows(state, operator),
        met=met_rows(state),
        positions=_position_rows(state, operator),
        tried=tuple(
            _tried_row(state, operator, tried) for tried in tried_before(state, operator)[-MOST_TRIED:]
        ),
        blocks=_blocks(others),
        max_tokens=state.settings.prompt_tokens,
    )
    if state.settings.prompt_edition <= 2:
        return facts
    return replace(
        facts,
        edition=_edition(state),
        kernels=_kernel_rows(state),
        examples=await _examples(state, operator, sources),
        is_incumbent=program == incumbent(state),
        sizes=size_rows(state),
        direction=_direction(state, slot),
        feedback=_feedback(state, slot),
    )


def _feedback(state: RunState, slot: int) -> tuple[str, ...]:
    """Return what the gate measured of the turn before a slot; empty at a first turn."""
    generation, basis = open_basis(state)
    draft = generation.proposals.get(slot - 1) if slot % basis.turns else None
    if draft is None:
        return ()
    result = gate_result(state, draft)
    rows = []
    for key, gain in zip(draft.instances, result.gains, strict=False):
        child = generation.gate_outcomes[draft.slot, key]
        if gain is None:
            rows.append(f"{key}: failed, {child.failure}: {child.diagnostic[:MOST_DIAGNOSTIC]}")
            break  # what comes first has to be mended first
        size = state.entry(key).size
        told = "" if size is None else f" ({size})"
        parent = generation.gate_outcomes[draft.control, key]
        rows.append(
            f"{key}{told}: {100 * gain:+.3f} points{_standing(state, key, child, parent)}; "
            f"yours {_effort(state, draft, child)}; {draft.parent} {_effort(state, draft, parent)}"
        )
    mean = "it failed" if result.mean is None else f"{100 * result.mean:+.3f}{_noise(state, result.gains)}"
    mean += "" if result.mean is None else " points in the mean"
    mean += tie_in_words(state.settings.prompt_edition, result.gains)
    return (f"{mean}, measured on {len(result.gains)} of {len(draft.instances)} instances", *rows)


def _standing(state: RunState, key: InstanceKey, child: Outcome, parent: Outcome) -> str:
    """Return how far the programs with a child and with its parent are behind the reference, from the sixth
    edition on."""
    if state.settings.prompt_edition < SIXTH or child.objective is None or parent.objective is None:
        return ""
    entry, sense = state.entry(key), state.header.sense
    yours, others = (
        100 * normalised_gap(objective, entry.reference, sense, entry.scale)
        for objective in (child.objective, parent.objective)
    )
    if yours == others and yours <= SOLVED and entry.origin is None:
        return " (both programs reach the best known objective: nothing to gain here)"
    return f" (the program is {yours:.3f} % behind the best known with yours, {others:.3f} % without it)"


def tie_in_words(edition: int, gains: Sequence[float | None]) -> str:
    """Return what it means that nothing was gained or lost anywhere, from the seventh edition on."""
    if edition < SEVENTH or not gains or any(gain != 0.0 for gain in gains):
        return ""
    return (
        " (the whole program came to the same objective with either on every one of these instances: what "
        "the code does differently is made up for by the other positions, or there is nothing left to gain)"
    )


def _noise(state: RunState, gains: Sequence[float | None]) -> str:
    """Return the standard error of the mean gain, from the sixth edition on."""
    known = [gain for gain in gains if gain is not None]
    if state.settings.prompt_edition < SIXTH or len(known) < 2:
        return ""
    return f" ± {_mean_and_error(known)[1]:.3f}"


def _effort(state: RunState, draft: Proposal, outcome: Outcome) -> str:
    """Return what the operator's positions of a measured program made of the score, and at which rate."""
    parts = []
    for place, (step, did) in enumerate(zip(draft.program, outcome.trace, strict=False), start=1):
        if step.operator != draft.operator:
            continue
        before = "nothing" if did.score_before is None else f"{did.score_before:g}"
        told = f"position {place} took {before} to {did.score_after:g} in {did.elapsed_s:.2f} s"
        if did.work and did.elapsed_s >= 0.01:
            told += f", {did.work} units, {did.work / did.elapsed_s:.3g} per second"
        parts.append(told)
    return "; ".join(parts) or "left no trace"


def edge_facts(state: RunState) -> RunFacts:
    """Return what a proposer of edges is told in the third edition."""
    return replace(_graph_facts(state), edits=_graph_edits(state))


def _graph_facts(state: RunState) -> RunFacts:
    """Return what proposers of edges and operators are told alike."""
    program = incumbent(state)
    return RunFacts(
        edition=_edition(state),
        budget=budget_text(state, len(program)),
        instances=instances_text(state),
        sizes=size_rows(state),
        incumbent=program_rows(state, program),
        gaps=gap_rows(state, None),
        max_tokens=state.settings.prompt_tokens,
    )


async def operator_facts(state: RunState, sources: SourceReader) -> RunFacts:
    """Return what a proposer of an operator is told."""
    steps = list(dict.fromkeys(incumbent(state)))
    texts = [PoolEntry(s.implementation, (await sources.implementation(state, s)).source, 0.0) for s in steps]
    number = open_basis(state)[0].number
    tried = sorted(
        (one.generation, operator, one)
        for operator, all_ in state.tried.items()
        for one in all_[:1]
        if not one.parent and one.generation < number
    )
    return replace(
        _graph_facts(state),
        met=met_rows(state),
        neighbours=tuple(texts),
        tried=tuple(_tried_operator(operator, one) for _, operator, one in tried[-MOST_TRIED:]),
        kernels=_kernel_rows(state),
    )


def _kernel_rows(state: RunState) -> tuple[str, ...]:
    """Return how each function that code may import is called, and what it computes."""
    return tuple(
        f"`{kernel.id}({', '.join(row.partition(':')[0] for row in kernel.arguments)})`: {kernel.summary} "
        f"{'; '.join(kernel.arguments)}"
        for kernel in (() if state.settings.kernels == "off" else state.header.kernels or ())
    )


def _tried_operator(operator: OperatorId, tried: TriedCode) -> str:
    known = [gain for gain in tried.gains if gain is not None]
    told = f"generation {tried.generation}, {operator}: {tried.idea}"
    if not known or len(known) < len(tried.gains):
        return f"{told} It failed."
    became = "joined the graph" if tried.is_accepted else "did not join"
    return f"{told} {100 * math.fsum(known) / len(known):+.3f} points on {len(known)} instances; {became}."


def start_facts(state: RunState) -> RunFacts:
    """Return what a proposer of the first graph is told in the third edition."""
    return RunFacts(
        edition=_edition(state),
        budget=budget_text(state, len(state.header.baseline)),
        instances=instances_text(state),
        sizes=size_rows(state),
        max_tokens=state.settings.prompt_tokens,
    )


def program_facts(state: RunState, library: Sequence[Implementation]) -> RunFacts:
    """Return what a proposer of complete programs is told, with the code of `library`."""
    return RunFacts(
        edition=3,
        budget=f"{amount_text(state)} for the whole program; compilation is not counted.",
        instances=instances_text(state),
        sizes=size_rows(state),
        blocks=tuple(f"{one.operator}:\n\n{fence(one.source, 'python')}" for one in library),
        max_tokens=state.settings.prompt_tokens,
    )


def _direction(state: RunState, slot: int) -> str:
    """Return what sets a slot apart from others that ask for code of its operator; empty where none do."""
    rank, askers = rank_among_askers(state, slot)
    if askers == 1:
        return ""
    turn = f" ({(rank - 1) // len(DIRECTIONS) + 1})" if rank > len(DIRECTIONS) else ""
    return (
        f"This is proposal {rank} of {askers}. It is to be {DIRECTIONS[(rank - 1) % len(DIRECTIONS)]}{turn}."
    )


async def _examples(state: RunState, operator: OperatorId, sources: SourceReader) -> tuple[BankExample, ...]:
    """Return the first entries of the run's bank for an operator, without those that its pool has."""
    bank, pool = state.header.bank or (), open_basis(state)[1].pools[operator]
    known = {state.sources[c] for c in pool}
    suited = [bank[entry] for entry in suited_entries(state, operator) if bank[entry].source not in known]
    found = []
    for entry in suited[: state.settings.bank_examples]:
        text = (await sources.blobs.get_blob(entry.source)).decode()
        if len(text) <= MOST_EXAMPLE:
            found.append(BankExample(f"{entry.operator} of {entry.domain}", _tell_gain(entry), text))
    return tuple(found)


def _tell_gain(entry: BankEntry) -> str:
    if entry.gain is None:
        return "its gain was not measured"
    return f"{100 * entry.gain:+.2f} points in {entry.pairs} comparisons ({entry.how})"


def _graph_edits(state: RunState) -> tuple[str, ...]:
    """Return what earlier generations changed in the edges, and the credit that new ones have now."""
    basis, rate = open_basis(state)[1], state.settings.credit_rate
    graphs = [state.history[number].graph for number in sorted(state.history)] + [basis.graph]
    rows = []
    for number, (before, after) in enumerate(pairwise(graphs), start=1):
        told = []
        for edge in sorted(after.edges - before.edges):
            if edge[0] == edge[1] and state.settings.prompt_edition >= FOURTH:
                continue  # came with a program of the races, not with an edit
            error = basis.credits.edge_error(edge, basis.pools, rate)
            credit = basis.credits.edge_credit(edge, basis.pools, state.settings.epsilon)
            became = "never used since" if error is None else f"credit {credit:+.3f} +- {error:.3f} now"
            if edge[1] == END and state.settings.prompt_edition >= SEVENTH:
                became = "an end of walks, which has no credit"
            became = became if edge in basis.graph.edges else "cut again"
            told.append(f"{edge[0]} -> {edge[1]} added ({became})")
        told += [f"{source} -> {target} cut" for source, target in sorted(before.edges - after.edges)]
        if told:
            rows.append(f"generation {number}: {', '.join(told)}")
    return tuple(rows[-MOST_TRIED:])


def pool_figures(state: RunState, c: ImplementationId) -> tuple[int, float | None]:
    """Return how often candidates used an implementation, and the standard error of its credit."""
    credits: CreditTable = open_basis(state)[1].credits
    return credits.samples(c), credits.implementation_error(c, state.settings.credit_rate)


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
                if state.settings.prompt_edition >= 3 and did.work and did.elapsed_s >= 0.01:
                    spent += f" ({did.work / did.elapsed_s:.3g} units per second)"
                where = f"position {place} of {len(pipeline.steps)}, {key}"
                rows.append(f"{step.implementation}, {where}: {before} to {did.score_after:g} in {spent}")
    return tuple(rows[:8])


def _tried_row(state: RunState, operator: OperatorId, tried: TriedCode) -> str:
    known = [gain for gain in tried.gains if gain is not None]
    idea = tried.idea or "no idea was named"
    if not known or len(known) < len(tried.gains):
        told = tried.failure[:MOST_DIAGNOSTIC] if state.settings.prompt_edition >= SEVENTH else ""
        return f"generation {tried.generation}: {idea} It failed{f' on {told}' if told else '.'}"
    mean, error = _mean_and_error(known)
    became = "joined the pool" if tried.is_accepted else "did not join"
    if tried.is_accepted and state.settings.prompt_edition >= SIXTH:
        now = state.successor(tried.implementation)
        is_used = any(state.unconfigured(step.implementation) == now for step in incumbent(state))
        became += " and is" if is_used else ", but no race has made it"
        became += " part of the program that the search works on"
    elif mean >= 0.0 and state.settings.prompt_edition >= SEVENTH and _was_outdone(state, operator, tried):
        became += ", since another answer of that generation did as well or better, and one joins"
    return (
        f"generation {tried.generation}: {idea} {100 * mean:+.3f} ± {error:.3f} points of the gap against "
        f"{tried.parent or 'the program without it'} on {len(known)} instances; {became}."
    )


def _was_outdone(state: RunState, operator: OperatorId, tried: TriedCode) -> bool:
    """Return whether other code for `operator` joined in the generation of `tried`."""
    return any(other.is_accepted and other.generation == tried.generation for other in state.tried[operator])


def _mean_and_error(gains: Sequence[float]) -> tuple[float, float]:
    """Return the mean of paired gains and its standard error in percentage points, 0 of a single one."""
    mean = math.fsum(gains) / len(gains)
    spread = math.sqrt(sum((g - mean) ** 2 for g in gains) / (len(gains) - 1)) if len(gains) > 1 else 0.0
    return mean, 100 * spread / math.sqrt(len(gains))


def _blocks(others: Sequence[Implementation]) -> tuple[str, ...]:
    names: dict[str, set[str]] = {}
    for other in others:
        found = {block.name for block in read_module(other.source).blocks}
        names.setdefault(other.operator, set()).update(found)
    return tuple(
        f"{operator}: {', '.join(sorted(found))}" for operator, found in sorted(names.items()) if found
    )
