"""What models were asked in a run and what became of it: the ledger, its calls, what a bank offered, and what
a method of complete programs has found.

Plain JSON-able values in a stable shape (``docs/reference/cli.md``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from dga2d.events.payloads import BankEntry
from dga2d.replay.state.graph import END, START
from dga2d.replay.state.ledger import BY_TASK, Call, Ledger
from dga2d.replay.state.run_state import RunState
from dga2d.replay.state.search_state import ProgramRecord
from dga2d.runtime.inspection.measures import percent


def ledger_view(state: RunState) -> dict[str, Any]:
    """Return the totals of the model-call ledger, a table per purpose, and what came to a trial."""
    ledger = state.ledger
    calls = list(ledger.calls.values())
    purposes = sorted({call.purpose for call in calls})
    return {
        "limit": ledger.limit,
        "used": ledger.used,
        "left": ledger.left,
        "token_limit": ledger.token_limit,
        "charged_tokens": ledger.charged_tokens,
        "money_limit_usd": None if ledger.microusd_limit is None else ledger.microusd_limit / 1e6,
        "charged_usd": ledger.charged_microusd / 1e6,
        "refused": len(ledger.refusals),
        "rejections": rejections_view(ledger),
        "trials": trials_view(state),
        "bank": bank_view(state),
        "recorded": recorded_view(ledger),
        "prompt_tokens": ledger.prompt_tokens,
        "completion_tokens": ledger.completion_tokens,
        "cost_usd": ledger.cost_usd,
        "status": dict(sorted(Counter(call.status for call in calls).items())),
        "by_purpose": {
            purpose: totals_of([call for call in calls if call.purpose == purpose]) for purpose in purposes
        },
    }


def recorded_view(ledger: Ledger) -> dict[str, Any]:
    """Return how many calls a recording answered: those whose prompt it holds, and others of the same kind;
    the sentence is ``None`` where it answered none of the latter."""
    names = [call.model for call in ledger.calls.values() if call.model.startswith("recorded:")]
    by_task = [name.removesuffix(BY_TASK) for name in names if name.endswith(BY_TASK)]
    sources = ", ".join(sorted({name.partition(":")[2] for name in by_task}))
    told = f"{len(by_task)} answers are those of {sources} to other prompts, by kind of request and operator"
    return {
        "same_prompt": len(names) - len(by_task),
        "same_task": len(by_task),
        "sentence": told if by_task else None,
    }


def _bank(state: RunState) -> Sequence[BankEntry]:
    """Return what the run took along of a bank; nothing where a damaged log does not say how it began."""
    return (state.started.bank if state.started else None) or ()


def bank_view(state: RunState) -> dict[str, Any]:
    """Return what the run's bank holds and what of it was offered, which costs no call; the sentence is
    ``None`` where no bank is used."""
    bank, offers = _bank(state), state.offers
    entries = len(bank)
    accepted = sum(offer.verdict == "accepted" for offer in offers)
    told = f"{len(offers)} offers of {entries} entries, {accepted} accepted; they cost no call"
    return {
        "entries": entries,
        "offered": len(offers),
        "accepted": accepted,
        "rejected": sum(offer.verdict == "rejected" for offer in offers),
        "sentence": told if entries else None,
    }


def offers_view(state: RunState) -> list[dict[str, Any]]:
    """Return every offer of the bank with its origin, the gain it came with and its outcome."""
    bank = _bank(state)
    return [
        {
            "entry": offer.entry,
            "operator": offer.operator,
            "generation": offer.generation,
            "implementation": offer.implementation,
            "verdict": offer.verdict,
            "diagnostic": offer.diagnostic,
            "domain": bank[offer.entry].domain,
            "run": bank[offer.entry].run,
            "model": bank[offer.entry].model,
            "gain_points": percent(bank[offer.entry].gain),
            "how": bank[offer.entry].how,
        }
        for offer in sorted(state.offers, key=lambda o: (o.generation, o.slot, o.entry))
    ]


WORDS = ("initialize", "reflect", "describe")
"""Purposes of calls that ask for no code or edges."""


def trials_view(state: RunState) -> dict[str, Any]:
    """Return how many calls for code or edges were answered, and how many of them led to a trial: what they
    brought was part of a candidate, or was measured against its parent."""
    calls = [c for c in state.ledger.calls.values() if c.purpose not in WORDS and c.status == "settled"]
    walks = {walk for summary in state.history.values() for walk in summary.walks}
    if state.generation is not None:
        sampled = state.generation.pipelines.values()
        walks |= {tuple(step.implementation for step in pipeline.steps) for pipeline in sampled}
    used: set[str] = set()
    for walk in walks:
        used.update(walk)
        nodes = (START, *(step.rpartition(".")[0] for step in walk), END)
        used.update(">".join(edge) for edge in pairwise(nodes))
    tried = sum(not used.isdisjoint(c.bought) or (c.diagnostic or "").startswith("gate:") for c in calls)
    share = round(tried / len(calls), 4) if calls else None
    return {"answered": len(calls), "tried": tried, "tried_share": share}


REJECTIONS_OF_NOTE = 6
"""From so many answers with code rejected one after the other, a person is told."""


def rejections_view(ledger: Ledger) -> dict[str, Any]:
    """Return how many answers with code were rejected one after the other, and why; the sentence is ``None``
    while there are too few to speak of.
    """
    found = ledger.rejections
    sentence = found.sentence if found.in_a_row >= REJECTIONS_OF_NOTE else None
    return {**found._asdict(), "sentence": sentence}


def totals_of(calls: Sequence[Call]) -> dict[str, Any]:
    """Return the numbers of calls by outcome, and what they cost together."""
    return {
        "calls": len(calls),
        "accepted": sum(call.verdict == "accepted" for call in calls),
        "rejected": sum(call.verdict == "rejected" for call in calls),
        "abandoned": sum(call.status == "abandoned" for call in calls),
        "prompt_tokens": sum(call.prompt_tokens for call in calls),
        "completion_tokens": sum(call.completion_tokens for call in calls),
        "cost_usd": sum(call.cost_usd for call in calls),
    }


def calls_view(ledger: Ledger) -> list[dict[str, Any]]:
    """Return every call with its outcome."""
    return [
        {
            "call": call.number,
            "purpose": call.purpose,
            "agent": call.agent,
            "generation": call.generation,
            "subject": call.subject,
            "attempt": call.attempt,
            "model": call.model,
            "status": call.status,
            "verdict": call.verdict,
            "diagnostic": call.diagnostic,
            "prompt_tokens": call.prompt_tokens,
            "completion_tokens": call.completion_tokens,
            "is_estimated": call.is_estimated,
            "cost_usd": call.cost_usd,
            "reserved_tokens": call.reserved_tokens,
            "charged_tokens": call.charged_tokens,
            "charged_usd": call.charged_microusd / 1e6,
            "refused_attempts": call.refused_attempts,
            "elapsed_s": call.elapsed_s,
            "response_id": call.response_id,
            "reason": call.reason,
            "prompt": call.prompt,
            "response": call.response,
        }
        for _, call in sorted(ledger.calls.items())
    ]


def search_view(state: RunState) -> dict[str, Any] | None:
    """Return population, archive, programs and reflections; ``None`` for a run that evolves pipelines."""
    if state.settings.evolves_pipelines:
        return None
    search = state.search
    programs = sorted(search.programs.values(), key=lambda program: program.number)
    return {
        "method": state.settings.method,
        "population": list(search.population),
        "archive": list(search.archive),
        "nodes": len(search.tree),
        "programs": [_program(state, program) for program in programs],
        "reflections": [
            {"round": r.round, "slot": r.slot, "variation": r.variation, "text": r.text}
            for r in search.reflections
        ],
    }


def _program(state: RunState, program: ProgramRecord) -> dict[str, Any]:
    return {
        "id": program.id,
        "number": program.number,
        "round": program.round,
        "slot": program.slot,
        "variation": program.variation,
        "parents": list(program.parents),
        "gap_percent": None if program.failed else -100.0 * program.score,
        "effort": program.effort,
        "idea": program.idea,
        "description": program.description,
        "is_in_population": program.id in state.search.population,
    }
