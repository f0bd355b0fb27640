"""A work budget that is asked for in seconds: how many units of the safe baseline they are."""

from __future__ import annotations

from dga2d.agents.ports import Evaluator
from dga2d.agents.work_calibration import KnownRates, RateMeter
from dga2d.events import InstanceKey
from dga2d.events import payloads as p
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.run_state import RunState
from dga2d.replay.state.work_rates import BASELINE
from dga2d.runtime.errors import UsageError
from dga2d.runtime.evaluator import OutsideEvaluator, open_run_evaluator
from dga2d.runtime.runs.problem import Problem
from dga2d.runtime.runs.start import run_started, start_of

FIRST_WORK = 1000
"""Units with which the first measurement begins."""


async def settle_work(
    problem: Problem,
    settings: RunSettings,
    seed: int,
    known: KnownRates,
    outside: OutsideEvaluator | None = None,
) -> tuple[RunSettings, KnownRates]:
    """Return the settings of a run that begins, with its budget in work units if it was asked for in seconds,
    and the rates that are known.

    The baseline's rate is that of the run whose rates are taken over (`known`), or is measured, and then is
    what the run itself goes by. The budget is rounded to two digits.

    Raises
    ------
    UsageError
        The baseline finds all training instances solved, or fails on them: there is no rate.
    """
    seconds = settings.work_seconds
    if settings.work is not None or seconds is None:
        return settings, known
    settings = settings.model_copy(update={"work": FIRST_WORK})
    state = _before_the_run(problem, settings, seed)
    if (points := known.points.get(BASELINE)) is None:
        points = await _measure(problem, state, outside)
        known = KnownRates(known.run, {**known.points, BASELINE: points})
    middle = state.work_rates.with_reference(points, 1).middle
    if middle is None:
        raise UsageError(
            f"setting work_seconds = {seconds:g}: the safe baseline does no work on training "
            "instances that could be measured; give work or time_limit"
        )
    units = middle.rate * seconds
    return settings.model_copy(update={"work": max(1, round(float(f"{units:.2g}")))}), known


def _before_the_run(problem: Problem, settings: RunSettings, seed: int) -> RunState:
    """Return what calibration must know of a run; references play no part."""
    every = [ref.key for part in problem.splits for ref in part]
    unknown = {key: p.InstanceEntry(key=InstanceKey(key), reference=0.0) for key in every}
    draft, _ = run_started(problem, settings, seed, "", "", {}, None, unknown)
    assert isinstance(draft.payload, p.RunStarted)
    return RunState(started=draft.payload, settings=settings)


async def _measure(
    problem: Problem, state: RunState, outside: OutsideEvaluator | None
) -> tuple[p.WorkRatePoint, ...]:
    one = 1 if isinstance(state.settings.evaluators, int) else state.settings.evaluators
    settings = state.settings.model_copy(update={"evaluators": one})
    baseline = tuple(step.implementation for step in start_of(problem.domain, settings))
    async with open_run_evaluator(problem.domain.name, settings) as pool:
        evaluator: Evaluator = pool if outside is None else outside.around(pool)
        return await RateMeter(evaluator, problem).measure(state, BASELINE, baseline)
