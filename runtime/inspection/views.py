"""What the offline commands show, as plain JSON-able values in a stable shape (`docs/reference/cli.md`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from dga2d.events.payloads import (
    ChallengerComparison,
    ChallengersCompared,
    RunStarted,
    Step,
    TestCandidate,
    shares_of,
)
from dga2d.replay.state.digest import state_digest
from dga2d.replay.state.graph import OperatorGraph
from dga2d.replay.state.run_state import RaceSummary, RunState, ScoredProgram
from dga2d.runtime.inspection.call_views import ledger_view, search_view
from dga2d.runtime.inspection.measures import Measure, measure_in, measure_of, percent
from dga2d.store import RunSummary

if TYPE_CHECKING:
    from dga2d.runtime.inspection.verdict import Achievement


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


def steps_view(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """Return a pipeline as operators and implementations, with the parts of the budget that its positions
    are given where these are not equal."""
    rows: list[dict[str, Any]] = [{"operator": s.operator, "implementation": s.implementation} for s in steps]
    for row, part in zip(rows, _budget_parts(steps), strict=False):
        row["budget_percent"] = percent(part)
    return rows


def pipeline_text(operators: Sequence[str], parts: Sequence[float] = ()) -> str:
    """Return a pipeline for people: operators, with the `parts` of the budget where these are not equal."""
    named = zip_longest(operators, parts)
    return " → ".join(name if part is None else f"{name} ({part:.0%})" for name, part in named)


def steps_text(steps: Sequence[Step]) -> str:
    """Return the same of recorded steps."""
    return pipeline_text([step.operator for step in steps], _budget_parts(steps))


def _budget_parts(steps: Sequence[Step]) -> tuple[float, ...]:
    """Return the fractions of the budget by position; empty where they are equal."""
    if not (shares := shares_of(steps)):
        return ()
    from dga2d.domains.budget import bounded_shares  # a log is read without the domains

    return bounded_shares(shares)


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
        **measure_of(state.header).entry,
    }


def comparison_view(comparison: ChallengersCompared, candidate: int) -> dict[str, Any] | None:
    """Return how a validated pipeline compared with the checkpoint of that time, in percentage points of the
    gap, and with the safe baseline, where it was tested against that instead; ``None`` for that checkpoint
    itself."""
    if (beside := _gain_view(comparison.comparisons, candidate)) is None:
        return None
    over_baseline = _gain_view(comparison.over_baseline or (), candidate)
    return {**beside, "is_better": candidate in comparison.better, "over_baseline": over_baseline}


def _gain_view(rows: Sequence[ChallengerComparison], candidate: int) -> dict[str, Any] | None:
    for row in rows:
        if row.candidate == candidate:
            bounds = None if row.interval is None else [percent(bound) for bound in row.interval]
            figures = {"points": percent(row.mean_gain), "interval_points": bounds}
            return {**figures, "pairs": row.pairs, "won": row.won, "lost": row.lost, "p_value": row.p_value}
    return None


def comparison_text(view: Mapping[str, Any], measure: Measure) -> str:
    """Return a `comparison_view`, or its ``over_baseline``, for people."""
    bounds = view["interval_points"]
    interval = "" if bounds is None else f"95 % interval {measure.gain_span(bounds)}, "
    counts = f"{view['won']} won and {view['lost']} lost of {view['pairs']}, p = {view['p_value']:.2g}"
    return f"{measure.gain(view['points'], '+')}{measure.gain_unit} ({interval}{counts})"


def validations_view(state: RunState) -> list[dict[str, Any]]:
    """Return the closed validations, where they are pooled: what was compared with the checkpoint."""
    rows = []
    for round_ in state.validated:
        if (comparison := round_.comparison) is not None:
            found = [
                {"pipeline": steps_view(steps), **view}
                for j, steps in enumerate(round_.pipelines)
                if (view := comparison_view(comparison, j)) is not None
            ]
            kept = steps_view(round_.pipelines[comparison.checkpoint])
            head = {"generation": round_.generation, "error": comparison.error, "checkpoint": kept}
            rows.append({**head, "comparisons": found})
    return rows


def _selection_view(state: RunState) -> dict[str, Any] | None:
    """Return the comparison that selected the checkpoint; ``None`` where there was none."""
    for round_ in state.validated:
        checkpoint, comparison = state.checkpoint, round_.comparison
        if checkpoint is not None and comparison is not None and round_.generation == checkpoint.generation:
            return comparison_view(comparison, round_.pipelines.index(checkpoint.steps))
    return None


def unmeasured_work(state: RunState) -> str | None:
    """Return what a run lacks whose safe baseline could not be measured; ``None`` if it has rates."""
    rates = state.work_rates
    if not rates.reference_seq or rates.reference:
        return None
    return (
        "the safe baseline has nothing to do, or fails, on the training instances that were tried: "
        "a unit of work counts as the code says, without a limit of processor time, and there is no test "
        "in equal seconds; other instances or --time-limit make budgets comparable"
    )


def figure_text(view: Mapping[str, Any]) -> str:
    """Return ``gap_percent`` for people, with ``interval_percent`` and ``instances`` where they are known."""
    if view["gap_percent"] is None:
        failures = view.get("failures")
        return f"failed on {failures} of {count_instances(view['instances'])}" if failures else "failed"
    measure, instances = measure_in(view), view.get("instances")
    facts = []
    if span := measure.span(view.get("interval_percent")):
        facts.append(f"95 % interval {span}")
    if instances is not None:
        facts.append(count_instances(instances))
    return measure.text(view["gap_percent"]) + (f" ({', '.join(facts)})" if facts else "")


def test_label(candidate: TestCandidate) -> str:
    """Return what a candidate of a held-out test is called, with its limit where it has one of its own."""
    limit = "" if candidate.time_limit_s is None else f" in {candidate.time_limit_s:g} s"
    return f"{candidate.label.replace('_', '-')}{limit}"


def count_instances(number: int, kind: str = "") -> str:
    """Return a number of instances in words, e.g. ``"1 instance"`` or ``"8 held-out instances"``."""
    return f"{number} {kind + ' ' if kind else ''}instance{'' if number == 1 else 's'}"


def test_texts(view: Mapping[str, Any]) -> dict[str, str]:
    """Return the figures of a finished `test_view` for people, by ``evolved``, ``baseline`` and, where it was
    tested, ``hand_tuned``."""
    return {
        label: figure_text(
            {
                "gap_percent": view["gap_percent"][label],
                "interval_percent": view["interval_percent"][label],
                "instances": view["instances"],
                "measure": measure_in(view).word,
            }
        )
        for label in view["gap_percent"]
    }


def gaps_against(header: RunStarted) -> str:
    """Return what the run's gaps are measured against, in words."""
    if header.own_score is not None:
        return "a score of 0"
    splits = header.splits
    origins = {entry.origin for part in (splits.train, splits.validation, splits.test) for entry in part}
    baseline = "what the safe baseline reached before the run began"
    if origins == {"baseline"}:
        return baseline
    known = "the best known objective"
    return f"{known}, and where none is known {baseline}" if "baseline" in origins else known


def incumbent_view(state: RunState) -> dict[str, Any] | None:
    """Return what the races found, and how the last one ended; ``None`` before the first has ended."""
    champion = state.champion
    if champion is None:
        return None
    rounds = [(number, race) for number, s in sorted(state.history.items()) if (race := s.race) is not None]
    raced = [(number, race) for number, race in rounds if not race.is_screen]
    return {
        "generation": champion.generation or None,
        "move": champion.move,
        "is_safe_baseline": champion.steps == state.header.baseline,
        "pipeline": steps_view(champion.steps),
        "races": len(raced),
        "screens": len(rounds) - len(raced),
        "won": sum(race.winner is not None for _, race in raced),
        "last_race": None if not raced else race_view(*raced[-1]),
    }


def race_view(generation: int, race: RaceSummary) -> dict[str, Any]:
    """Return how the race of a generation ended."""
    return {
        "generation": generation,
        "contenders": race.contenders,
        "evaluations": race.evaluations,
        "winner": race.winner,
        "change": race.change,
        "gain_points": percent(race.gain),
        "is_screen": race.is_screen,
    }


def results_view(state: RunState, achievement: Achievement) -> dict[str, Any]:
    """Return A*, the checkpoint, the held-out test and the verdict."""
    best, checkpoint = program_view(state, state.best), program_view(state, state.checkpoint)
    if best is not None:
        best |= {"interval_percent": None, "instances": len(state.header.batch)}
    if checkpoint is not None:
        estimate = {} if achievement.validation is None else achievement.validation.view()
        checkpoint["comparison"] = _selection_view(state)
        checkpoint |= {key: estimate.get(key) for key in ("interval_percent", "instances")}
    verdict = achievement.verdict
    return {
        "gaps_against": gaps_against(state.header),
        **measure_of(state.header).entry,
        "best": best,
        "checkpoint": checkpoint,
        "incumbent": incumbent_view(state),
        "test": test_view(state, achievement),
        "verdict": None if verdict is None else verdict.view(),
    }


def algorithm_text(program: Mapping[str, Any]) -> str:
    """Return the operators of a `program_view`, and say if it is the safe baseline."""
    parts = [step["budget_percent"] / 100.0 for step in program["pipeline"] if "budget_percent" in step]
    names = pipeline_text([step["operator"] for step in program["pipeline"]], parts)
    return f"{names} (the safe baseline)" if program["is_safe_baseline"] else names


def graph_view(graph: OperatorGraph, max_length: int) -> dict[str, Any]:
    """Return the operators, edges and the number of pipelines W of at most `max_length` operators."""
    return {
        "operators": list(graph.operators),
        "initialisers": sorted(graph.initialisers),
        "edges": sorted([list(edge) for edge in graph.edges]),
        "pipelines": graph.count_pipelines(max_length),
    }


def all_failed(state: RunState) -> bool:
    """Return whether generations have closed and none of their candidates could be scored."""
    return bool(state.history) and all(s.failures == s.candidates for s in state.history.values())


class Failures:
    """Failed evaluations, counted by what is wrong."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._first: dict[str, str] = {}
        """Reason → the instance that it was met on first."""

    def note(self, kind: str, diagnostic: str, instance: str) -> None:
        """Count a failure."""
        reason = f"{kind}: {' '.join(diagnostic.split())[:300]}"
        self._counts[reason] += 1
        self._first.setdefault(reason, instance)

    def sentence(self, failed: int, candidates: int) -> str | None:
        """Return how many candidates failed, and the commonest reason; ``None`` if nothing was noted."""
        if not self._counts:
            return None
        ((reason, count),) = self._counts.most_common(1)
        who = "every candidate" if failed == candidates else f"{failed} of {candidates} candidates"
        times = "once" if count == 1 else f"{count} times"
        return f"{who} failed, most often ({times}, first on {self._first[reason]}): {reason}"


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
            "race": None if s.race is None else race_view(s.number, s.race),
        }
        for _, s in sorted(state.history.items())
    ]


def diagnostics_view(state: RunState) -> list[dict[str, Any]]:
    """Return the policy's update and the theory's figures (`replay/theory.py`), a row per generation."""
    from dga2d.replay.theory import generation_theory  # numpy; listing runs does without

    rows = []
    for row in generation_theory(state):
        update = state.history[row.generation].policy
        if update is None:  # a method without a policy
            continue
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
        "settings": state.settings.model_dump(mode="json"),
        "completed_generations": state.completed,
        "open_generation": None if state.generation is None else state.generation.number,
        "state_digest": state_digest(state),
        "graph": None if state.graph is None else graph_view(state.graph, state.settings.max_length),
        "operators": operator_credits(state),
        **results_view(state, achievement),
        "validations": validations_view(state),
        "history": history_view(state),
        "ledger": ledger_view(state),
        "policy": policy_view(state),
        "search": search_view(state),
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
    labels = dict.fromkeys(["evolved", "baseline", *(candidate.label for candidate in test.candidates)])
    return {
        "attempt": test.attempt,
        "forced": test.forced,
        "instances": len(test.instances),
        "finished": test.mean_gaps is not None,
        **{
            key: {label: estimates[label][key] if estimates else None for label in labels}
            for key in ("gap_percent", "interval_percent")
        },
        **measure_of(state.header).entry,
    }
