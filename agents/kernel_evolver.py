"""KernelEvolver: asks for faster versions of functions that implementations share.

It works when everything else of a generation is decided, before its race. What an answer does is observed in
the sandbox and recorded; whether it takes the kernel's place follows from the record. All implementations of
the pools that hold the kernel are replaced by the same text with the new one, in one event: they compute the
same, so that credits and everything measured of them carry over.

References
----------
DGA2D paper: its implementations stand alone; kernels that are shared and improved apart are our own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from dga2d.agents import calls
from dga2d.agents.agent import Decision, Duty, GenerationDuty, decide_on, open_basis
from dga2d.agents.calls import AbandonCall, AskModel, GiveUp, JudgeAnswer, NoRoom, Quoted
from dga2d.agents.conductor import operators_closed
from dga2d.agents.evaluator_pool import SourceReader
from dga2d.agents.evolver import Evolver
from dga2d.agents.kernel_texts import PoolTexts, change_kernels, change_texts, kernel_texts, read_pools
from dga2d.agents.kernel_trials import KernelRunner, KernelTrial, judge_speed
from dga2d.agents.pool_edits import contribution
from dga2d.agents.prompt_instances import size_rows
from dga2d.agents.proposing.errors import ProposalError
from dga2d.agents.proposing.kernel_answers import parse_kernel
from dga2d.agents.proposing.kernel_code import holds_kernel
from dga2d.agents.proposing.tasks import KernelTask, PromptContext
from dga2d.events import AgentName, ImplementationId, Payload, blob_digest
from dga2d.events import payloads as p
from dga2d.replay.state.generation_state import GenerationState
from dga2d.replay.state.incumbent import incumbent
from dga2d.replay.state.run_state import RunState, TriedKernel

SLOT = 0
"""There is one request in a generation at most."""
LEAST_HOSTS = 2
"""Implementations that must hold a kernel; of the incumbent's a single one is enough."""
MOST_TOLD = 12
"""Implementations and earlier requests that a prompt names."""


class ChooseKernel(GenerationDuty):
    """Record which kernel a faster version is asked for, or that none is."""


@dataclass(frozen=True)
class KeepKernels(Duty):
    """Record that no kernel changes, for want of an answer."""

    generation: int
    reason: str = field(compare=False)


@dataclass(frozen=True)
class JudgeKernel(Duty):
    """Record the verdict that follows from what was measured."""

    generation: int
    call: int


KernelDuty = AskModel | JudgeAnswer | AbandonCall | ChooseKernel | KeepKernels | JudgeKernel


class KernelAnswer(NamedTuple):
    """An answer, what it was asked for, and what was observed of it."""

    task: KernelTask
    text: str
    trial: KernelTrial | None = None
    """``None`` where it was not tried, since it breaks a rule."""


class ReadTexts(NamedTuple):
    """The texts that a choice and a verdict rest on."""

    pools: PoolTexts
    kernels: Mapping[str, str]
    new: str = ""
    """The measured kernel's."""


Observed = KernelAnswer | ReadTexts | Quoted | NoRoom | None


class KernelEvolver(Evolver[KernelDuty]):
    """Owns the kernels, and the texts of the pools that hold them."""

    name: AgentName = "kernel_evolver"

    def duties(self, state: RunState) -> Sequence[KernelDuty]:
        return duties(state)

    async def _task(self, state: RunState, duty: AskModel) -> KernelTask:
        return await read_task(state, duty.attempt, self._context, self._trials.sources)

    async def _decision(self, state: RunState, duty: KernelDuty) -> Decision:
        if not isinstance(duty, JudgeAnswer):
            return decide(state, duty, await read_texts(state, duty, self._trials.sources))
        answer = await read_answered(state, duty, self._context, self._trials.sources)
        try:
            new = parse_kernel(answer.text, answer.task.source, answer.task.kernel)
        except ProposalError:
            return decide(state, duty, answer)
        choice = _choice(state)
        pools = await read_pools(state, self._trials.sources)
        hosts = [pools[name] for name in choice.hosts]
        trial = await KernelRunner(self._trials).try_kernel(
            state, choice.kernel, answer.task.source, new, hosts
        )
        return decide(state, duty, answer._replace(trial=trial))


def duties(state: RunState) -> tuple[KernelDuty, ...]:
    """Return what is owed towards the verdict of the open generation, when everything else has its own."""
    generation = state.generation
    if state.status != "running" or generation is None or generation.basis is None:
        return ()
    if not generation.basis.kernel_slots or generation.kernel_verdict:
        return ()
    closed = operators_closed(generation)
    if closed is None:
        return ()
    if generation.kernel_choice is None:
        return (ChooseKernel(closed, generation.number),)
    if (measured := generation.kernel_measured) is not None:
        return (JudgeKernel(generation.kernel_measured_seq, generation.number, measured.call),)
    made = len(state.ledger.calls_for(calls.call_subject(state, "kernel", SLOT)))
    step = calls.next_call(state, "kernel", SLOT, generation.kernel_chosen_seq, made + state.ledger.left)
    if isinstance(step, GiveUp):
        return (KeepKernels(step.caused_by, generation.number, step.reason),)
    return () if step is None else (step,)


def _open(state: RunState) -> GenerationState:
    return open_basis(state)[0]


def _choice(state: RunState) -> p.KernelChosen:
    """Return the kernel that the open generation asks for; it must have been chosen."""
    choice = _open(state).kernel_choice
    assert choice is not None
    return choice


# ---------------------------------------------------------------- decisions


def decide(state: RunState, duty: KernelDuty, observed: Observed) -> Decision:
    """Return the kernel that is asked for, what was observed of an answer, the verdict, or what the ledger
    records."""
    match duty, observed:
        case AskModel() | AbandonCall(), Quoted() | NoRoom():
            return calls.decide(state, duty, observed)
        case AbandonCall(), None:
            return calls.decide(state, duty, observed)
        case ChooseKernel(), ReadTexts():
            return _decision(state, duty, _choose(state, observed))
        case JudgeAnswer(), KernelAnswer():
            return _record_observation(state, duty, observed)
        case JudgeKernel(), ReadTexts():
            return _verdict(state, duty, observed)
        case KeepKernels(), None:
            kept = p.KernelsKept(generation=duty.generation, reason=duty.reason)
            return _decision(state, duty, kept)
    raise TypeError(f"{duty} is not decided by {type(observed).__name__}")


_decision = partial(decide_on, "kernel_evolver")


def _choose(state: RunState, texts: ReadTexts) -> Payload:
    """Return the kernel asked for least so far; of several the one that more of the incumbent's
    implementations hold, then more of the pools'."""
    program = {step.implementation for step in incumbent(state)}
    asked = [tried.kernel for tried in state.tried_kernels]
    found = list[tuple[int, int, int, str, list[ImplementationId]]]()
    asked_for = {kernel.id for kernel in state.header.kernels or () if kernel.evolves}
    for name, text in texts.kernels.items():
        if name not in asked_for:
            continue
        hosts = [c for c, one in texts.pools.items() if holds_kernel(one.source, text, name)]
        used = sum(c in program for c in hosts)
        if len(hosts) >= LEAST_HOSTS or used:
            hosts.sort(key=lambda c: (c not in program, -_effort(state, c), c))
            found.append((asked.count(name), -used, -len(hosts), name, hosts))
    number = _open(state).number
    if not found:
        return p.KernelsKept(generation=number, reason="no kernel is in several implementations of the pools")
    *_, name, hosts = min(found)
    return p.KernelChosen(generation=number, kernel=name, source=state.kernels[name], hosts=tuple(hosts))


def _effort(state: RunState, name: ImplementationId) -> float:
    """Return the mean part of the effort that an implementation accounted for; 0 where none is known."""
    share = contribution(state, name)
    return share.effort / share.runs if share.runs else 0.0


def _record_observation(state: RunState, duty: JudgeAnswer, observed: KernelAnswer) -> Decision:
    """Return what was observed of an answer, or that it breaks a rule."""
    choice = _choice(state)
    try:
        source = parse_kernel(observed.text, observed.task.source, choice.kernel).encode()
    except ProposalError as error:
        return _decision(state, duty, _reject(state, duty.call, error))
    trial = observed.trial or KernelTrial()
    payload = p.KernelMeasured(
        generation=choice.generation,
        kernel=choice.kernel,
        call=duty.call,
        source=blob_digest(source),
        checks=trial.checks,
        pairs=trial.pairs,
        stage=trial.stage,
        diagnostic=trial.diagnostic,
    )
    return _decision(state, duty, payload, source)


def _verdict(state: RunState, duty: JudgeKernel, texts: ReadTexts) -> Decision:
    """Return that the measured kernel takes the old one's place, or why not."""
    measured, name = _open(state).kernel_measured, _choice(state).kernel
    assert measured is not None
    if measured.stage:
        error = ProposalError(measured.stage, measured.diagnostic)
        return _decision(state, duty, _reject(state, measured.call, error))
    speed = judge_speed(measured.pairs)
    if not speed.is_faster:
        return _decision(state, duty, _reject(state, measured.call, ProposalError("speed", speed.reason)))
    old = texts.kernels[name]
    hosts, sources = change_texts(state, texts.pools, old, texts.new, name)
    if not hosts:
        error = ProposalError("speed", "it can be put into no implementation of the pools")
        return _decision(state, duty, _reject(state, measured.call, error))
    versions = change_kernels(texts.kernels, old, texts.new, name)
    payload = p.KernelReplaced(
        generation=measured.generation,
        kernel=name,
        call=measured.call,
        factor=speed.factor,
        versions=tuple(
            p.KernelVersion(kernel=kernel, source=blob_digest(text.encode()))
            for kernel, text in sorted(versions.items())
        ),
        replaced=hosts,
    )
    return _decision(state, duty, payload, *sources, *(text.encode() for text in versions.values()))


FINAL_STAGES = ("no_change", "speed")
"""Stages behind which there is nothing to repair."""


def _reject(state: RunState, call: int, error: ProposalError) -> p.KernelRejected:
    attempt = state.ledger.calls[call].attempt
    is_last = attempt + 1 >= state.settings.attempts_per_edit or state.ledger.left <= 0
    choice = _choice(state)
    return p.KernelRejected(
        generation=choice.generation,
        kernel=choice.kernel,
        call=call,
        attempt=attempt,
        stage=error.stage,
        diagnostic=error.diagnostic,
        is_final=is_last or error.stage in FINAL_STAGES,
    )


# ---------------------------------------------------------------- what is asked


async def read_texts(state: RunState, duty: KernelDuty, sources: SourceReader) -> ReadTexts | None:
    """Return the texts that a duty is decided on; ``None`` where it needs none."""
    if not isinstance(duty, ChooseKernel | JudgeKernel):
        return None
    measured = _open(state).kernel_measured
    new = "" if measured is None else (await sources.blobs.get_blob(measured.source)).decode()
    return ReadTexts(await read_pools(state, sources), await kernel_texts(state, sources), new)


async def read_answered(
    state: RunState, duty: JudgeAnswer, context: PromptContext, sources: SourceReader
) -> KernelAnswer:
    """Return what the log holds of an answer; no trial has been made."""
    call = state.ledger.calls[duty.call]
    task = await read_task(state, call.attempt, context, sources)
    return KernelAnswer(task, await calls.read_answer(call, sources.blobs))


async def read_task(
    state: RunState, attempt: int, context: PromptContext, sources: SourceReader
) -> KernelTask:
    """Return what a proposer is asked for, with what was wrong with the answer before."""
    past = await calls.read_past_attempts(state, "kernel", SLOT, attempt, sources.blobs)
    choice = _choice(state)
    kernel = next(kernel for kernel in state.header.kernels or () if kernel.id == choice.kernel)
    tried = [tried for tried in state.tried_kernels if tried.kernel == choice.kernel]
    return KernelTask(
        card=context.card,
        kernel=kernel.id,
        summary=kernel.summary,
        arguments=kernel.arguments,
        source=(await sources.blobs.get_blob(choice.source)).decode(),
        hosts=_host_rows(state, choice.hosts),
        sizes=size_rows(state),
        tried=tuple(_tried_row(one) for one in tried[-MOST_TOLD:]),
        **vars(past),
    )


def _host_rows(state: RunState, hosts: Sequence[ImplementationId]) -> tuple[str, ...]:
    program, rows = {step.implementation for step in incumbent(state)}, list[str]()
    for host in hosts[:MOST_TOLD]:
        known = contribution(state, host).runs > 0
        told = f", {100 * _effort(state, host):.0f} % of the effort where it was used" if known else ""
        rows.append(f"{host}{' (of the program that the search works on)' if host in program else ''}{told}")
    more = len(hosts) - len(rows)
    return (*rows, f"and {more} more") if more else tuple(rows)


def _tried_row(tried: TriedKernel) -> str:
    if tried.factor is not None:
        return f"generation {tried.generation}: taken, the algorithms were {tried.factor:.2f} times as fast"
    return f"generation {tried.generation}: not taken, {' '.join(tried.diagnostic.split())[:400]}"
