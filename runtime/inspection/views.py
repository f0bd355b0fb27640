"""What the offline commands show, as plain JSON-able values in a stable shape (`docs/reference/cli.md`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dga2d.events.payloads import Step, TestCandidate
from dga2d.replay.state.digest import state_digest
from dga2d.replay.state.graph import OperatorGraph
from dga2d.replay.state.ledger import Call, Ledger
from dga2d.replay.state.run_state import RunState, ScoredProgram
from dga2d.store import RunSummary

if TYPE_CHECKING:
    from dga2d.runtime.inspection.verdict import Achievement


def percent(gap: float | None) -> float | None:
    """Return a gap as a percentage with four decimals."""
    return None if gap is None else round(100.0 * gap, 4)


def gap_of(score: float, failure_reward: float) -> float | None:
    """Return the gap in percent behind a score; ``None`` for R_fail, which stands for a failure."""
    return None if score <= failure_reward else percent(-score)


def best_gap(state: RunState) -> float | None:
    """Return the gap in percent of A*, ``None`` while there is none."""
    return None if state.best is None else gap_of(state.best.score, state.settings.failure_reward)


def run_row(run: RunSummary) -> dict[str, Any]:
    """Return a line of ``dga2d runs``."""
    return {
        "run": run.run_id,
        "domain": run.domain,
        "created_at": run.created_at,
        "events": run.head_seq,
        "last_event": run.last_type,
        "last_recorded_at": run.last_recorded_at,
        "in_use": run.is_leased,
        "parent": run.parent,
        "parent_seq": run.parent_seq,
        "head_hash": run.head_hash.hex(),
    }


def steps_view(steps: tuple[Step, ...]) -> list[dict[str, str]]:
    """Return a pipeline as operators and implementations."""
    return [{"operator": s.operator, "implementation": s.implementation} for s in steps]


def program_view(state: RunState, program: ScoredProgram | None) -> dict[str, Any] | None:
    """Return A* or the checkpoint; the gap is the negated score, ``None`` where the program failed."""
    if program is None:
        return None
    return {
        "generation": program.generation,
        "candidate": program.candidate if program.candidate >= 0 else None,
        "score": program.score,
        "gap_percent": gap_of(program.score, state.settings.failure_reward),
        "is_safe_baseline": program.steps == state.header.baseline,
        "pipeline": steps_view(program.steps),
    }


def figure_text(view: Mapping[str, Any]) -> str:
    """Return ``gap_percent`` for people, with ``interval_percent`` and ``instances`` where they are known."""
    if view["gap_percent"] is None:
        return "failed"
    bounds, instances = view.get("interval_percent"), view.get("instances")
    facts = [] if bounds is None else [f"95 % interval {bounds[0]:.2f} to {bounds[1]:.2f}"]
    if instances is not None:
        facts.append(count_instances(instances))
    return f"{view['gap_percent']:.2f} %" + (f" ({', '.join(facts)})" if facts else "")


def test_label(candidate: TestCandidate) -> str:
    """Return what a candidate of a held-out test is called, with its limit where it has one of its own."""
    limit = "" if candidate.time_limit_s is None else f" in {candidate.time_limit_s:g} s"
    return f"{candidate.label}{limit}"


def count_instances(number: int, kind: str = "") -> str:
    """Return a number of instances in words, e.g. ``"1 instance"`` or ``"8 held-out instances"``."""
    return f"{number} {kind + ' ' if kind else ''}instance{'' if number == 1 else 's'}"


def test_texts(view: Mapping[str, Any]) -> dict[str, str]:
    """Return the figures of a finished `test_view` for people, by ``evolved`` and ``baseline``."""
    return {
        label: figure_text(
            {
                "gap_percent": view["gap_percent"][label],
                "interval_percent": view["interval_percent"][label],
                "instances": view["instances"],
            }
        )
        for label in ("evolved", "baseline")
    }


def results_view(state: RunState, achievement: Achievement) -> dict[str, Any]:
    """Return A*, the checkpoint, the held-out test and the verdict."""
    best, checkpoint = program_view(state, state.best), program_view(state, state.checkpoint)
    if best is not None:
        best |= {"interval_percent": None, "instances": len(state.header.batch)}
    if checkpoint is not None:
        estimate = {} if achievement.validation is None else achievement.validation.view()
        checkpoint |= {key: estimate.get(key) for key in ("interval_percent", "instances")}
    verdict = achievement.verdict
    return {
        "best": best,
        "checkpoint": checkpoint,
        "test": test_view(state, achievement),
        "verdict": None if verdict is None else verdict.view(),
    }


def algorithm_text(program: Mapping[str, Any]) -> str:
    """Return the operators of a `program_view`, and say if it is the safe baseline."""
    names = " → ".join(step["operator"] for step in program["pipeline"])
    return f"{names} (the safe baseline)" if program["is_safe_baseline"] else names


def graph_view(graph: OperatorGraph, max_length: int) -> dict[str, Any]:
    """Return the operators, edges and the number of pipelines W of at most `max_length` operators."""
    return {
        "operators": list(graph.operators),
        "initialisers": sorted(graph.initialisers),
        "edges": sorted([list(edge) for edge in graph.edges]),
        "pipelines": graph.count_pipelines(max_length),
    }


def ledger_view(ledger: Ledger) -> dict[str, Any]:
    """Return the totals of the model-call ledger and a table per purpose."""
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
        "prompt_tokens": ledger.prompt_tokens,
        "completion_tokens": ledger.completion_tokens,
        "cost_usd": ledger.cost_usd,
        "status": dict(sorted(Counter(call.status for call in calls).items())),
        "by_purpose": {
            purpose: totals_of([call for call in calls if call.purpose == purpose]) for purpose in purposes
        },
    }


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


def history_view(state: RunState) -> list[dict[str, Any]]:
    """Return one row per closed generation; a gap is ``None`` where every candidate failed."""
    failed = state.settings.failure_reward
    return [
        {
            "generation": s.number,
            "candidates": s.candidates,
            "failures": s.failures,
            "mean_score": s.mean,
            "best_gap_percent": gap_of(s.best, failed),
            "best_so_far_percent": gap_of(s.best_so_far, failed),
            "validation_gap_percent": None if s.validation is None else gap_of(s.validation, failed),
            "calls": s.calls,
            "state_digest": s.state_digest,
        }
        for _, s in sorted(state.history.items())
    ]


def diagnostics_view(state: RunState) -> list[dict[str, Any]]:
    """Return the policy's update and the theory's figures (`replay/theory.py`), a row per generation."""
    from dga2d.replay.theory import generation_theory  # numpy; listing runs does without

    rows = []
    for row in generation_theory(state):
        update = state.history[row.generation].policy
        rows.append(
            {
                "generation": row.generation,
                "loss": update.loss,
                "gradient_norm": update.gradient_norm,
                "entropy_nats": update.entropy,
                "kl_to_initial_nats": update.kl_to_initial,
                "pipelines": row.pipelines,
                "growth_rate": row.growth_rate,
                "largest_credit": row.largest_credit,
                "credit_bound": row.credit_bound,
                "context_cells": dict(row.cells),
            }
        )
    return rows


def operator_credits(state: RunState) -> list[dict[str, Any]]:
    """Return every operator of the graph with its credit and its pool, lowest credit first."""
    epsilon = state.settings.epsilon
    rows = [
        {
            "operator": operator,
            "credit": state.credits.operator_credit(pool, epsilon),
            "implementations": [
                {"id": c, "credit": state.credits.implementation_credit(c, epsilon)} for c in pool
            ],
        }
        for operator, pool in state.pools.items()
    ]
    return sorted(rows, key=lambda row: (row["credit"], row["operator"]))


def state_view(run_id: str, state: RunState, achievement: Achievement) -> dict[str, Any]:
    """Return what ``dga2d show`` prints: the state at one event."""
    return {**run_view(run_id, state, achievement), "diagnostics": diagnostics_view(state)}


def run_view(run_id: str, state: RunState, achievement: Achievement) -> dict[str, Any]:
    """Return the state at one event without the theory's figures, which take longer than all the rest."""
    header = state.header
    return {
        "run": run_id,
        "seq": state.seq,
        "status": state.status,
        "reason": state.reason,
        "suspension": state.suspension or None,
        "forked_from": None if state.parent is None else {"run": state.parent[0], "seq": state.parent[1]},
        "domain": header.domain,
        "seed": header.seed,
        "code_version": header.code_version,
        "settings": state.settings.model_dump(),
        "completed_generations": state.completed,
        "open_generation": None if state.generation is None else state.generation.number,
        "state_digest": state_digest(state),
        "graph": None if state.graph is None else graph_view(state.graph, state.settings.max_length),
        "operators": operator_credits(state),
        **results_view(state, achievement),
        "history": history_view(state),
        "ledger": ledger_view(state.ledger),
        "policy": policy_view(state),
    }


def policy_view(state: RunState) -> dict[str, Any]:
    """Return the policy now, its saved states, and the event that selected the checkpoint.

    Of the saved states the last two and the checkpoint's are on the disk; the state at the checkpoint's event
    has its graph, pools and credits.
    """
    return {
        "updates": state.policy_updates,
        "digest": state.policy_digest,
        "saved": [{"updates": s.updates, "files": s.digest, "seq": s.seq} for s in state.saved_policies],
        "checkpoint_updates": state.checkpoint_updates if state.checkpoint_seq else None,
        "checkpoint_seq": state.checkpoint_seq or None,
    }


def test_view(state: RunState, achievement: Achievement) -> dict[str, Any] | None:
    """Return the held-out test, ``None`` when there was none."""
    test = state.test
    if test is None:
        return None
    estimates = {label: estimate.view() for label, estimate in (achievement.test or {}).items()}
    return {
        "attempt": test.attempt,
        "forced": test.forced,
        "instances": len(test.instances),
        "finished": test.mean_gaps is not None,
        **{
            key: {label: estimates[label][key] if estimates else None for label in ("evolved", "baseline")}
            for key in ("gap_percent", "interval_percent")
        },
    }
