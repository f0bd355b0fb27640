"""Whether a validated pipeline is better than the checkpoint, at an error rate that holds for the whole run.

The gains of a challenger are those over the checkpoint, pair by pair: one instance under one random stream.
They are pooled over all validations in which both took part, each with streams of its own. What is tested
each time is that the mean gain on the validation instances is not above zero, or, where an instance with the
mean of its pairs is one observation (`checkpoint_unit`), that on instances drawn as these were. Over all
validations of a run, and all challengers in them, the checkpoint is replaced by something no better with a
probability of at most `checkpoint_error`. Where challengers are tested against the safe baseline instead
(`checkpoint_against`), that is the probability with which anything no better than it becomes the checkpoint.

References
----------
S. Holm, "A simple sequentially rejective multiple test procedure", Scand. Journal of Statistics 6, 1979.
K. Kim, D. L. DeMets, "Design and analysis of group sequential tests based on the type I error spending rate
function", Biometrika 74, 1987 (powers of the part that is over).
K. K. G. Lan, D. L. DeMets, "Discrete sequential boundaries for clinical trials", Biometrika 70, 1983.
R. E. Tarone, "A modified Bonferroni method for discrete data", Biometrics 46, 1990.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from dga2d.agents.sign_flips import joint_p_values
from dga2d.domains.core.contract import normalised_gap
from dga2d.events import InstanceKey, instance_and_copy
from dga2d.events.payloads import ChallengerComparison, Step
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.generation_state import ValidatedRound
from dga2d.replay.state.run_state import RunState

RESERVE = 0.1
"""Part of the error rate not spent before the last validation that is planned: a resumed run may go on."""
LATENESS = 3
"""Power of the part of the validations that is over by which the error rate is spent, if ``late``."""
BROUGHT_BACK = 2
"""Most challengers that a validation takes over from earlier ones, to look at them again."""


LEAST_INSTANCES = 6
"""Fewest instances that are observations: five won of five come to 2/2⁵ by ranks, which is never enough."""


class PairedGains(NamedTuple):
    """How much better a challenger was, as a fraction of the reference; failures count with −R_fail."""

    pairs: int
    """Observations: pairs, or instances with the mean of theirs."""
    mean_gain: float
    interval: tuple[float, float] | None
    """Student's 95 % interval of the mean; ``None`` for a single pair."""
    won: int
    lost: int
    p_value: float
    """Of "the mean gain is not above zero": by Student's and Wilcoxon's tests together or, among several
    challengers, as `compare_together` says."""


def compare_gains(gains: Sequence[float]) -> PairedGains:
    """Return the figures of `gains`, one at least, rounded so that they are the same on every machine.

    Student's test tells where gains are alike, Wilcoxon's where they differ by orders of magnitude, as
    between small and large instances; the smaller of their p-values counts twice.

    References
    ----------
    Student, "The probable error of a mean", Biometrika 6, 1908.
    F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1, 1945.
    """
    from scipy.special import stdtr, stdtrit  # SciPy takes a moment; only where validations are compared

    n, mean = len(gains), math.fsum(gains) / len(gains)
    variance = math.fsum((gain - mean) ** 2 for gain in gains) / (n - 1) if n > 1 else 0.0
    error = math.sqrt(variance / n)
    reach = float(stdtrit(n - 1, 0.975)) * error if n > 1 else 0.0
    moved = [gain for gain in gains if gain != 0.0]
    by_mean = float(stdtr(n - 1, -mean / error)) if error > 0.0 else 1.0
    by_rank = 1.0
    if moved:
        least = 0.5 ** len(moved)  # what that many pairs can show at best
        by_rank = max(least, signed_rank_p(moved))
    return PairedGains(
        n,
        _round_figure(mean),
        (_round_figure(mean - reach), _round_figure(mean + reach)) if n > 1 else None,
        sum(gain > 0.0 for gain in gains),
        sum(gain < 0.0 for gain in gains),
        _round_figure(min(1.0, 2.0 * min(by_mean, by_rank))) if mean > 0.0 else 1.0,
    )


def signed_rank_p(gains: Sequence[float]) -> float:
    """Return Wilcoxon's one-sided p-value of `gains`, none of them 0: that they are not above zero.

    Exact where no two gains are equally large or at most 13 are given, the normal approximation otherwise and
    beyond 50. `scipy.stats.wilcoxon` gives the same, but its import costs every run and every decision replay
    half a second.

    References
    ----------
    F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1, 1945.
    """
    n = len(gains)
    sizes = sorted(abs(gain) for gain in gains)
    ranks = {size: sizes.index(size) + 1 + bisect_right(sizes, size) for size in sizes}
    """Twice the mean rank of each size, so that ranks of ties are whole numbers as well."""
    positive = sum(ranks[gain] for gain in gains if gain > 0.0)
    if n <= (13 if len(ranks) < n else 50):
        return _tail([ranks[size] for size in sizes], positive)
    from scipy.special import ndtr

    ties = [bisect_right(sizes, size) - sizes.index(size) for size in ranks]
    spread = n * (n + 1.0) * (2.0 * n + 1.0) - sum(t**3 - t for t in ties) / 2.0
    return float(ndtr((n * (n + 1.0) / 4.0 - positive / 2.0) / math.sqrt(spread / 24.0)))


def _tail(ranks: Sequence[int], least: int) -> float:
    """Return how probable a sum of at least `least` is when each of `ranks` counts with probability 1/2."""
    ways = [1]
    for rank in ranks:
        ways = [a + b for a, b in zip_longest(ways, [0] * rank + ways, fillvalue=0)]
    return float(sum(ways[least:]) / 2 ** len(ranks))


def _round_figure(value: float) -> float:
    return float(f"{value:.6g}")


Observation = tuple[InstanceKey, int, int]
"""An instance, its validation and its place there; both 0 for an instance with the mean of all its pairs."""


def pooled_gains(
    state: RunState, challenger: tuple[Step, ...], kept: tuple[Step, ...], rounds: Sequence[ValidatedRound]
) -> dict[Observation, float]:
    """Return the gains of `challenger` over `kept` in all `rounds` in which both took part, by pair or, if
    the settings say so and there are enough, in the mean by instance."""
    found: dict[Observation, float] = {}
    for number, round_ in enumerate(rounds):
        if challenger in round_.pipelines and kept in round_.pipelines:
            for i, (ours, theirs) in enumerate(zip(round_.row(challenger), round_.row(kept), strict=True)):
                gain = _gap(state, round_, i, theirs) - _gap(state, round_, i, ours)
                found[instance_and_copy(round_.instances[i])[0], number, i] = gain
    return by_unit(state.settings, found)


def by_unit(settings: RunSettings, pairs: Mapping[Observation, float]) -> dict[Observation, float]:
    """Return gains of pairs as the observations that a test counts: as they are or, if the settings say so
    and there are enough instances, in the mean by instance."""
    by_instance: dict[InstanceKey, list[float]] = defaultdict(list)
    for (key, *_), gain in pairs.items():
        by_instance[key].append(gain)
    if settings.checkpoint_unit == "instance" and len(by_instance) >= LEAST_INSTANCES:
        return {(key, 0, 0): math.fsum(gains) / len(gains) for key, gains in by_instance.items()}
    return dict(pairs)


def compare_together(
    settings: RunSettings,
    challengers: Sequence[Mapping[Observation, float]],
    left_behind: Sequence[Mapping[Observation, float]] = (),
) -> list[PairedGains]:
    """Return the figures of each of `challengers`; where `checkpoint_test` is ``joint`` their p-values hold
    for all of them together with those `left_behind`, else for each alone."""
    found = [compare_gains([*gains.values()]) for gains in challengers]
    if settings.checkpoint_test != "joint":
        return found
    p_values = joint_p_values([*challengers, *left_behind])[: len(found)]
    return [
        row._replace(p_value=p_value if row.mean_gain > 0.0 else 1.0)
        for row, p_value in zip(found, p_values, strict=True)
    ]


def _gap(state: RunState, round_: ValidatedRound, instance: int, objective: float | None) -> float:
    if objective is None:
        return -state.settings.failure_reward
    entry = state.entry(round_.instances[instance])
    return normalised_gap(objective, entry.reference, state.header.sense, entry.scale)


def clearly_better(p_values: Sequence[float], level: float, weights: Sequence[float] = ()) -> list[int]:
    """Return the numbers of the challengers that are better by Holm's procedure.

    `level` is the probability of any error among all of them; `weights`, each above 0, share it out, evenly
    if there are none.
    """
    weights = weights or [1.0] * len(p_values)
    order = sorted(range(len(p_values)), key=lambda j: (p_values[j] / weights[j], j))
    found: list[int] = []
    for rank, j in enumerate(order):
        if p_values[j] > level * weights[j] / math.fsum(weights[i] for i in order[rank:]):
            break
        found.append(j)
    return found


def found_better(
    state: RunState, rows: Sequence[ChallengerComparison], pipelines: Sequence[tuple[Step, ...]], error: float
) -> set[int]:
    """Return which of the challengers in `rows` are better than what they were compared with, at an error
    rate for all of them; what never differs needs no part of it (Tarone)."""
    tested = [row for row in rows if row.won or row.lost]
    if state.settings.checkpoint_test == "joint":
        return {row.candidate for row in tested if row.p_value <= error}
    weights = error_weights(state, [pipelines[row.candidate] for row in tested])
    return {tested[i].candidate for i in clearly_better([row.p_value for row in tested], error, weights)}


def error_weights(state: RunState, challengers: Sequence[tuple[Step, ...]]) -> list[float]:
    """Return by which weights challengers share an error rate: the champion of the races has the part that
    is set for it, the others have the rest alike; all alike where it is not among them."""
    share, champion = state.settings.champion_share, state.champion
    if not share or champion is None or champion.steps not in challengers or len(challengers) < 2:
        return [1.0] * len(challengers)
    rest = (1.0 - share) / (len(challengers) - 1)
    return [share if steps == champion.steps else rest for steps in challengers]


def error_to_spend(state: RunState) -> float:
    """Return the error rate of the open validation: of what is left, the part that `error_spending` gives it
    among those still planned, the open one included."""
    spent = [r.comparison.error for r in state.validated if r.comparison is not None]
    left = max(state.settings.checkpoint_error - math.fsum(spent), 0.0)
    planned = 1 + _validations_to_come(state)
    if state.settings.error_spending == "even":
        return _round_figure((1.0 - RESERVE) * left / planned)
    over = len(spent)
    before, after, at_last = (number**LATENESS for number in (over, over + 1, over + planned))
    return _round_figure((1.0 - RESERVE) * left * (after - before) / (at_last - before))


def _validations_to_come(state: RunState) -> int:
    """Return how many validations follow the open one, of a method's run about how many."""
    settings, generation = state.settings, state.generation
    assert generation is not None
    if not settings.evolves_pipelines:
        if state.ledger.spent_reason is not None:
            return 0
        interval = calls_between_validations(state)
        return 1 if interval is None else math.ceil(state.ledger.left / interval)
    last, interval = settings.generations, settings.validation_interval
    if settings.evolution and state.ledger.spent_reason is not None:
        last = generation.number
    due = {last} | (set(range(interval, last + 1, interval)) if interval else set())
    return sum(number > generation.number for number in due)


def calls_between_validations(state: RunState) -> float | None:
    """Return after how many calls a method's population is validated: as many as `validation_interval` of
    `generations` would use; ``None`` where only the last round is validated."""
    settings = state.settings
    if not settings.validation_interval:
        return None
    return max(state.ledger.limit * settings.validation_interval / settings.generations, 1.0)


def checkpoint_or_baseline(state: RunState) -> tuple[Step, ...]:
    """Return what validated pipelines are compared with."""
    return state.header.baseline if state.checkpoint is None else state.checkpoint.steps


def choose_undecided(
    state: RunState, kept: tuple[Step, ...], known: Sequence[tuple[Step, ...]]
) -> list[tuple[Step, ...]]:
    """Return the challengers of earlier validations that look best beside `kept` and are not `known`."""
    found: list[tuple[float, int, tuple[Step, ...]]] = []
    for steps, gains in _pooled_over_earlier(state, kept, known, state.validated):
        if (compared := compare_gains([*gains.values()])).mean_gain > 0.0:
            found.append((compared.p_value, len(found), steps))
    return [steps for _, _, steps in sorted(found, key=lambda entry: entry[:2])[:BROUGHT_BACK]]


def gains_left_behind(
    state: RunState,
    other: tuple[Step, ...],
    present: Sequence[tuple[Step, ...]],
    rounds: Sequence[ValidatedRound],
) -> list[dict[Observation, float]]:
    """Return the pooled gains over `other` of the challengers that earlier validations compared and that are
    not `present`; none where a validation counts its own alone."""
    if state.settings.checkpoint_family == "validation":
        return []
    return [gains for _, gains in _pooled_over_earlier(state, other, present, rounds)]


def _pooled_over_earlier(
    state: RunState,
    other: tuple[Step, ...],
    known: Sequence[tuple[Step, ...]],
    rounds: Sequence[ValidatedRound],
) -> Iterator[tuple[tuple[Step, ...], dict[Observation, float]]]:
    """Yield the pipelines of earlier validations that are not `known`, each once, with their gains over
    `other` in all `rounds` in which both took part."""
    for steps in dict.fromkeys(steps for round_ in state.validated for steps in round_.pipelines):
        if steps in known or steps == other:
            continue
        if gains := pooled_gains(state, steps, other, rounds):
            yield steps, gains
