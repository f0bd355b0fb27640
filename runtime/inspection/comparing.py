"""Several runs beside each other: the held-out tests of their algorithms, instance by instance.

Every run has had its test. What is compared are means over the instances that all of them were tested on, and
differences pair by pair with a correction for looking at many. Nothing is evaluated here; `head_to_head`
solves these instances again, beside classical methods.

References
----------
S. Holm, "A simple sequentially rejective multiple test procedure", Scand. Journal of Statistics 6, 1979.
J. Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006 (paired tests).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from dga2d.events import InstanceKey, RunId, instance_and_copy
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.errors import RunStateError, UsageError
from dga2d.runtime.inspection.measures import measure_of
from dga2d.runtime.inspection.pairs import Gaps, interval, pair_gaps
from dga2d.runtime.inspection.validations import common_references
from dga2d.runtime.inspection.verdict import held_out_gaps
from dga2d.runtime.runs.states import load_state
from dga2d.store import open_store

LEVEL = 0.05
"""Corrected p-value below which two algorithms are called different."""
BASELINE, HAND_TUNED = "safe baseline", "hand-tuned"


@dataclass(frozen=True)
class Arm:
    """An algorithm that was tested."""

    name: str
    """Of the run whose evolved algorithm it is, or of what it is otherwise."""
    run: str | None
    """The run in whose test it was; ``None`` for a method that was given beside the runs."""
    method: str | None
    """How it was found; ``None`` for what was not evolved."""
    calls: int | None
    candidates: int | None
    """Algorithms evaluated in training."""
    gaps: Gaps


async def read_comparison(url: str, runs: Sequence[str]) -> dict[str, Any]:
    """Return how the algorithms of `runs` did in their held-out tests; see `comparison_view`.

    Raises
    ------
    RunStateError, UsageError
        As `comparison_view`.
    UnknownRunError, CorruptEventError, ReplayError, EventError
        There is no such run, or its log does not hold.
    """
    async with open_store(url, create=False, read_only=True) as store:
        states = {run: await load_state(store, RunId(run)) for run in runs}
    return comparison_view(states)


def comparison_view(states: Mapping[str, RunState]) -> dict[str, Any]:
    """Return the tested algorithms of `states`, best mean first, and how each two of them differ.

    Raises
    ------
    RunStateError
        A run has had no held-out test.
    UsageError
        The runs are of different domains, instances or budgets.
    """
    check_alike(states, has_same_budget=True)
    first = next(iter(states.values()))
    keys = common_instances(states)
    view = view_of_arms(first, _arms(states), keys, _budget(first))
    return view | {"references_of": ruler_of(states, keys)}


def ruler_of(states: Mapping[str, RunState], keys: Sequence[InstanceKey]) -> str | None:
    """Return the run whose references all gaps on `keys` are measured against; ``None`` where all runs have
    the same.
    """
    known = []
    for state in states.values():
        entries = common_references([state.header])
        found = (entries.get(key) or entries[instance_and_copy(key)[0]] for key in keys)
        known.append([(entry.reference, entry.scale) for entry in found])
    return None if all(one == known[0] for one in known) else next(iter(states))


def view_of_arms(
    first: RunState, arms: Sequence[Arm], keys: Sequence[InstanceKey], budget: str
) -> dict[str, Any]:
    """Return the comparison of `arms` on the instances `keys`, best mean first, under `budget` in words;
    `first` is a run of the same domain."""
    ranked = sorted(arms, key=lambda arm: _rank(arm, keys))
    return {
        "domain": first.header.domain,
        "budget": budget,
        **measure_of(first.header).entry,
        "instances": len(keys),
        "algorithms": [_algorithm(arm, keys) for arm in ranked],
        "pairs": _pairs(ranked, keys),
    }


def common_instances(states: Mapping[str, RunState]) -> list[InstanceKey]:
    """Return the instances that all of `states` were tested on.

    Raises
    ------
    UsageError
        There is none.
    """
    tests = [held_out_gaps(state) or {} for state in states.values()]
    keys = sorted(set.intersection(*({*gaps} for test in tests for gaps in test.values())))
    if not keys:
        raise UsageError("the runs were tested on no instance in common (see the setting test_instances)")
    return keys


def check_alike(states: Mapping[str, RunState], has_same_budget: bool) -> None:
    """Refuse runs without a test, and runs of different domains, instances or, if these count, budgets.

    Raises
    ------
    RunStateError
        A run has no events, or has had no held-out test.
    UsageError
        Two runs differ in what they have to have in common.
    """
    facts: dict[str, tuple[str, str]] = {}
    for name, state in states.items():
        if state.started is None:
            raise RunStateError(f"run {name} has no events")
        if held_out_gaps(state) is None:
            raise RunStateError(f"run {name} has had no held-out test; make it with `dga2d test {name}`")
        found = {"domain": state.header.domain, "instances": state.header.splits.digest}
        if has_same_budget:
            found["budget per instance"] = _budget(state)
        for fact, value in found.items():
            other, known = facts.setdefault(fact, (name, value))
            if value != known:
                raise UsageError(f"{other} and {name} differ in their {fact}: {known} and {value}")


def _budget(state: RunState) -> str:
    amount, unit = state.settings.budget
    if unit == "s":
        return f"{amount:g} s"
    if state.settings.sizes_work:
        return f"{amount:g} calibrated work units on an instance of middle size"
    return f"{amount:g} {state.settings.calibration.replace('measured', 'calibrated')} work units"


def _arms(states: Mapping[str, RunState]) -> list[Arm]:
    """Return the evolved algorithm of every run, and each baseline once, from the first test it was in."""
    arms, others = [], dict[tuple[str, object], Arm]()
    common = common_references(state.header for state in states.values())
    for name, state in states.items():
        gaps = held_out_gaps(state, common=common) or {}
        arms.append(evolved_arm(name, state, gaps["evolved"]))
        test = state.test
        assert test is not None
        programs = {str(candidate.label): candidate.pipeline for candidate in test.candidates}
        for label, told in (("baseline", BASELINE), ("hand_tuned", HAND_TUNED)):
            if label in gaps:
                arm = Arm(told, name, None, None, None, gaps[label])
                others.setdefault((label, programs[label]), arm)
    counts = {told: sum(arm.name == told for arm in others.values()) for told in (BASELINE, HAND_TUNED)}
    for arm in others.values():
        told = arm.name if counts[arm.name] == 1 else f"{arm.name} of {arm.run}"
        arms.append(Arm(told, arm.run, None, None, None, arm.gaps))
    return arms


def evolved_arm(name: str, state: RunState, gaps: Gaps) -> Arm:
    """Return the evolved algorithm of the run `name` with the gaps it has."""
    candidates = sum(summary.candidates for summary in state.history.values())
    return Arm(name, name, state.settings.method, state.ledger.used, candidates, gaps)


def _solved_gaps(arm: Arm, keys: Sequence[InstanceKey]) -> list[float]:
    return [gap for key in keys if (gap := arm.gaps[key]) is not None]


def _rank(arm: Arm, keys: Sequence[InstanceKey]) -> tuple[int, float, str]:
    """Return what algorithms are ordered by: fewer failures first, then the smaller mean gap."""
    solved = _solved_gaps(arm, keys)
    return len(keys) - len(solved), interval(solved).mean if solved else 0.0, arm.name


def _algorithm(arm: Arm, keys: Sequence[InstanceKey]) -> dict[str, Any]:
    solved = _solved_gaps(arm, keys)
    found = interval(solved) if solved else None
    return {
        "name": arm.name,
        "run": arm.run,
        "method": arm.method,
        "calls": arm.calls,
        "candidates": arm.candidates,
        "gap_percent": None if found is None else round(found.mean, 4),
        "interval_percent": None if found is None else found.bounds,
        "failures": len(keys) - len(solved),
    }


def _pairs(arms: Sequence[Arm], keys: Sequence[InstanceKey]) -> list[dict[str, Any]]:
    """Return how each two algorithms differ, the better of them first, with p-values corrected by Holm."""
    both = list(combinations(arms, 2))
    values = [two_sided(_differences(ours, theirs, keys)) for ours, theirs in both]
    rows = []
    for (ours, theirs), p_value, corrected in zip(both, values, holm(values), strict=True):
        found = pair_gaps({k: ours.gaps[k] for k in keys}, {k: theirs.gaps[k] for k in keys})
        rows.append(
            {
                "first": ours.name,
                "second": theirs.name,
                **found.view(),
                "p_value": p_value,
                "p_corrected": corrected,
                "is_different": corrected is not None and corrected < LEVEL,
            }
        )
    return rows


def _differences(ours: Arm, theirs: Arm, keys: Sequence[InstanceKey]) -> list[float]:
    pairs = ((ours.gaps[key], theirs.gaps[key]) for key in keys)
    return [b - a for a, b in pairs if a is not None and b is not None]


def two_sided(differences: Sequence[float]) -> float | None:
    """Return the p-value of "the mean difference is zero", by Student's and Wilcoxon's tests together;
    ``None`` where there is no difference to test."""
    if not any(differences):
        return None
    from dga2d.agents.comparison import compare_gains  # SciPy; other commands do without

    sides = (differences, [-difference for difference in differences])
    return min(1.0, 2.0 * min(compare_gains(side).p_value for side in sides))


def holm(values: Sequence[float | None]) -> list[float | None]:
    """Return p-values corrected for their number; those that are ``None`` stay so and do not count."""
    tested = sorted((value, i) for i, value in enumerate(values) if value is not None)
    corrected: list[float | None] = [None] * len(values)
    largest = 0.0
    for rank, (value, i) in enumerate(tested):
        largest = max(largest, min(1.0, value * (len(tested) - rank)))
        corrected[i] = float(f"{largest:.6g}")
    return corrected
