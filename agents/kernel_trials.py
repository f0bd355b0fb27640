"""Trials of a faster kernel: is it equal, call by call and in compiled runs, and clearly faster in these?

All runs are evaluations in the sandbox, of texts that hold the old or the new kernel. What comes out is an
observation; what follows from it is a rule over the pairs of runs that were recorded, `judge_speed`.

References
----------
W. J. Dixon, A. M. Mood, "The statistical sign test", Journal of the American Statistical Association 41,
1946.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from dga2d.agents.agent import present_graph
from dga2d.agents.ports import EvaluationReply, EvaluationRequest
from dga2d.agents.proposing.errors import ProposalError
from dga2d.agents.proposing.kernel_code import replace_kernel
from dga2d.agents.proposing.kernel_harness import CALL_UNITS, OPERATOR, write_comparison
from dga2d.agents.smoke_trials import SMOKE_WORK, TrialRunner
from dga2d.domains.core.contract import Implementation, Instance, OperatorName
from dga2d.domains.source_rules import check_source
from dga2d.events import ImplementationId, InstanceKey, OperatorId
from dga2d.events.payloads import KernelCheck, KernelPair
from dga2d.replay.state.run_state import RunState
from dga2d.replay.streams import spawn_key

LEAST_PAIRS = 6
"""Pairs without which nothing is clear: with fewer the sign test cannot come to its level."""
SIGN_ERROR = 0.02
"""Probability with which a kernel that is no faster wins so many pairs."""
LEAST_FACTOR = 1.02
"""Geometric mean of the old time by the new one from which a gain is worth a change of texts."""
LEAST_HOST_FACTOR = 0.97
"""The same in each implementation: none may become slower than noise explains."""


class Speed(NamedTuple):
    """What the pairs of a measurement come to."""

    factor: float
    """Geometric mean of the old time by the new one."""
    is_faster: bool
    reason: str
    """In words."""


def judge_speed(pairs: Sequence[KernelPair]) -> Speed:
    """Return whether the new kernel is clearly faster over the recorded pairs of runs."""
    if len(pairs) < LEAST_PAIRS:
        return Speed(1.0, False, f"it was timed in {len(pairs)} pairs of runs, {LEAST_PAIRS} are needed")
    factor = _factor(pairs)
    won = sum(pair.after_s < pair.before_s for pair in pairs)
    told = f"{factor:.3f} times as fast in {len(pairs)} pairs of runs, {won} of them faster"
    if factor < LEAST_FACTOR or _sign_test(won, len(pairs)) > SIGN_ERROR:
        return Speed(factor, False, f"it is not clearly faster: {told}")
    hosts = dict.fromkeys(pair.host for pair in pairs)
    slow = [host for host in hosts if _factor(_of(pairs, host)) < LEAST_HOST_FACTOR]
    if slow:
        return Speed(factor, False, f"{slow[0]} becomes slower: {told}")
    return Speed(factor, True, told)


def _of(pairs: Sequence[KernelPair], host: ImplementationId) -> list[KernelPair]:
    return [pair for pair in pairs if pair.host == host]


def _factor(pairs: Sequence[KernelPair]) -> float:
    return math.exp(math.fsum(math.log(pair.before_s / pair.after_s) for pair in pairs) / len(pairs))


def _sign_test(won: int, pairs: int) -> float:
    """Return how likely so many pairs or more are won by chance."""
    return math.fsum(math.comb(pairs, k) for k in range(won, pairs + 1)) / 2.0**pairs


MOST_HOSTS = 3
"""Implementations in which a kernel is tried, the first that can be."""
MOST_CALLS = 300
"""Calls that are compared in one implementation on one instance."""
LEAST_CALLS = 50
"""Calls that must have been compared in all."""
CHECK_CPU_S = 20.0
"""Processor seconds of one comparison, in plain Python."""
RUN_CPU_S = 30.0
"""Processor seconds of one compiled run."""
PAIRS = 3
"""Pairs of compiled runs for each implementation and instance that are timed."""
AIM_S = 0.3
"""Processor seconds that a timed run should take."""
LONGEST_S = 2.0
LEAST_S = 0.1
"""An implementation that ends earlier whatever it may spend is compared, and not timed."""
MOST_WORK = 20_000_000


class KernelTrial(NamedTuple):
    """What was observed of a new kernel."""

    checks: tuple[KernelCheck, ...] = ()
    pairs: tuple[KernelPair, ...] = ()
    stage: str = ""
    """What it failed; empty where it failed nothing."""
    diagnostic: str = ""


class KernelFailure(Exception):
    """A new kernel fails a trial."""

    def __init__(self, stage: str, diagnostic: str) -> None:
        super().__init__(diagnostic)
        self.stage = stage
        self.diagnostic = diagnostic


@dataclass(frozen=True)
class KernelRunner:
    """Tries new kernels through the same contained evaluator as everything else."""

    trials: TrialRunner

    async def try_kernel(
        self, state: RunState, name: str, old: str, new: str, hosts: Sequence[Implementation]
    ) -> KernelTrial:
        """Compare and time `new` against `old` in the first of the `hosts` that can be tried."""
        usable, checks, pairs = list[Implementation](), list[KernelCheck](), list[KernelPair]()
        try:
            for number, host in enumerate(hosts):
                if len(usable) == MOST_HOSTS:
                    break
                found = await self._compare(state, number, host, name, old, new)
                if found:
                    usable.append(host)
                    checks += found
            if sum(check.calls for check in checks) < LEAST_CALLS:
                raise KernelFailure("unchecked", "too few of its calls could be compared")
            for number, host in enumerate(usable):
                pairs += await self._time(state, number, host, name, old, new)
        except KernelFailure as failure:
            return KernelTrial(tuple(checks), tuple(pairs), failure.stage, failure.diagnostic[:1500])
        return KernelTrial(tuple(checks), tuple(pairs))

    # ------------------------------------------------------------ call by call

    async def _compare(
        self, state: RunState, number: int, host: Implementation, name: str, old: str, new: str
    ) -> list[KernelCheck]:
        """Return how many calls were the same on each small instance; nothing where the implementation cannot
        be run as plain Python with its own kernel.

        Raises
        ------
        KernelFailure
            ``unequal``: a call was not the same; ``unequal`` too where the comparison fails otherwise.
        """
        found = list[KernelCheck]()
        for place, instance in enumerate(self._small_instances(state)):
            seed = (state.header.seed, *spawn_key("kernel", _generation(state), 0, number, place))
            control = await self._run_text(state, self._text(state, host, name, old), instance, seed)
            if control.failure is not None:
                continue
            reply = await self._run_text(state, self._text(state, host, name, new), instance, seed)
            if reply.failure is not None:
                told = reply.diagnostic.strip().rpartition("\n")[2].rpartition("KernelFault: ")[2]
                raise KernelFailure("unequal", f"in {host.id}, as plain Python: {reply.failure}: {told}")
            calls = reply.trace[-1].work // CALL_UNITS
            if calls != control.trace[-1].work // CALL_UNITS:
                raise KernelFailure("unequal", f"{host.id} makes another number of calls with it")
            if calls:
                found.append(
                    KernelCheck(
                        host=ImplementationId(host.id), instance=InstanceKey(instance.key), calls=calls
                    )
                )
        return found

    def _text(self, state: RunState, host: Implementation, name: str, kernel: str) -> Implementation:
        text = write_comparison(
            host.source,
            kernel,
            name,
            is_initialiser=self._is_initialiser(state, host),
            most_calls=MOST_CALLS,
            units=SMOKE_WORK,
        )
        return Implementation(OperatorName(OPERATOR), text, origin=f"kernel:{name}")

    async def _run_text(
        self, state: RunState, text: Implementation, instance: Instance, seed: tuple[int, ...]
    ) -> EvaluationReply:
        steps = (await self._initialiser(state), text)
        return await self.trials.evaluator.evaluate(
            EvaluationRequest(
                key=f"kernel/{text.id}",
                instance=instance,
                steps=steps,
                seed=seed,
                budget=2 * SMOKE_WORK,
                cpu_limit_s=CHECK_CPU_S,
            )
        )

    # ------------------------------------------------------------ compiled

    async def _time(
        self, state: RunState, number: int, host: Implementation, name: str, old: str, new: str
    ) -> list[KernelPair]:
        """Run both, compiled, with the same random numbers and work, and return how long they took.

        Raises
        ------
        KernelFailure
            ``compiled``: with the new kernel a run fails, or it ends in another solution or with other work.
        """
        try:
            changed = replace(host, source=replace_kernel(host.source, old, new, name))
        except ProposalError as error:
            raise KernelFailure("compiled", f"{host.id}: {error.diagnostic}") from None
        if broken := check_source(changed.source):
            raise KernelFailure("compiled", f"{host.id} with it: {broken[0].message}")
        pairs = list[KernelPair]()
        for place, instance in enumerate(self._ordinary_instances(state)):
            seed = (state.header.seed, *spawn_key("kernel", _generation(state), 1, number, place))
            work, seconds = await self._suitable_work(state, host, instance, seed)
            is_timed = seconds >= LEAST_S  # else noise is all that would be seen
            for turn in range(0 if work == 0 else PAIRS if is_timed else 1):
                order = (host, changed) if turn % 2 == 0 else (changed, host)
                replies = {one.id: await self._timed(state, one, instance, seed, work) for one in order}
                before, after = replies[host.id], replies[changed.id]
                _require_same(host, before, after)
                if is_timed:
                    pairs.append(
                        KernelPair(
                            host=ImplementationId(host.id),
                            instance=InstanceKey(instance.key),
                            before_s=_seconds(before),
                            after_s=_seconds(after),
                            work=before.work,
                        )
                    )
        return pairs

    async def _suitable_work(
        self, state: RunState, host: Implementation, instance: Instance, seed: tuple[int, ...]
    ) -> tuple[int, float]:
        """Return a budget with which the implementation runs for about `AIM_S`, and how long it did; 0 where
        it cannot be run."""
        work, seconds = state.settings.work or 20 * SMOKE_WORK, 0.0
        for _ in range(3):
            reply = await self._timed(state, host, instance, seed, work)
            if reply.failure is not None:
                return 0, 0.0
            seconds = _seconds(reply)
            if AIM_S / 2 <= seconds <= LONGEST_S or reply.work < work // 2:
                break
            work = min(max(int(work * AIM_S / max(seconds, 0.001)), SMOKE_WORK), MOST_WORK)
        return work, seconds

    async def _timed(
        self, state: RunState, host: Implementation, instance: Instance, seed: tuple[int, ...], work: int
    ) -> EvaluationReply:
        """Return a run in which nothing was compiled, if there is one in three."""
        is_first = self._is_initialiser(state, host)
        steps = (host,) if is_first else (await self._initialiser(state), host)
        request = EvaluationRequest(
            key=f"kernel/{host.id}",
            instance=instance,
            steps=steps,
            seed=seed,
            budget=work,
            cpu_limit_s=RUN_CPU_S,
            shares=() if is_first else (1.0, 9.0),
        )
        for _ in range(2):
            reply = await self.trials.evaluator.evaluate(request)
            if not reply.has_compiled:
                return reply
        return await self.trials.evaluator.evaluate(request)

    # ------------------------------------------------------------ where

    async def _initialiser(self, state: RunState) -> Implementation:
        return await self.trials.sources.implementation(state, state.header.baseline[0])

    @staticmethod
    def _is_initialiser(state: RunState, host: Implementation) -> bool:
        return OperatorId(host.operator) in present_graph(state).initialisers

    def _small_instances(self, state: RunState) -> Iterator[Instance]:
        yield self.trials.instances.smoke_instance()
        for key in self._by_size(state)[:2]:
            yield self.trials.instances.instance(key)

    def _ordinary_instances(self, state: RunState) -> Iterator[Instance]:
        keys = self._by_size(state)
        for key in dict.fromkeys((keys[len(keys) // 3], keys[2 * len(keys) // 3])):
            yield self.trials.instances.instance(key)

    def _by_size(self, state: RunState) -> list[str]:
        keys = [entry.key for entry in state.header.splits.train]
        return sorted(keys, key=lambda key: (self.trials.instances.size(key), key))


def _generation(state: RunState) -> int:
    assert state.generation is not None
    return state.generation.number


def _seconds(reply: EvaluationReply) -> float:
    return reply.cpu_s or reply.elapsed_s


def _require_same(host: Implementation, before: EvaluationReply, after: EvaluationReply) -> None:
    if before.failure is not None:
        raise KernelFailure("compiled", f"{host.id} fails as it is: {before.failure}")
    if after.failure is not None:
        raise KernelFailure("compiled", f"{host.id} with it: {after.failure}: {after.diagnostic}")
    same = (before.solution, before.objective, before.work) == (after.solution, after.objective, after.work)
    scores = [(t.work, t.score_before, t.score_after) for t in before.trace]
    if not same or scores != [(t.work, t.score_before, t.score_after) for t in after.trace]:
        raise KernelFailure("compiled", f"{host.id} comes to another solution with it, or by other work")
