"""Fold handlers for kernels: chosen, measured, put into all texts that hold the old one, or refused."""

from __future__ import annotations

from dga2d.events import RecordedEvent
from dga2d.events import payloads as p
from dga2d.replay.state.generation_state import GenerationState
from dga2d.replay.state.handler import folds, judge, open_generation, replace, require
from dga2d.replay.state.incumbent import rename_steps
from dga2d.replay.state.run_state import OwedTrial, RunState, TriedKernel


def _asked(state: RunState, event: RecordedEvent, number: int) -> GenerationState:
    """Return the open generation, which must owe a verdict on a kernel."""
    generation = open_generation(state, event, number)
    basis = require(generation.basis, event, "the credits have not been updated")
    require(basis.kernel_slots, event, "no kernel is asked for in this generation")
    require(not generation.kernel_verdict, event, "the generation has its verdict on kernels")
    require(generation.closed_slots == basis.slots, event, "other edits have no verdict yet")
    is_open = basis.operator_slots and not generation.operator_verdict
    require(not is_open, event, "new operators have no verdict yet")
    return generation


@folds(p.KernelChosen)
def _kernel_chosen(state: RunState, event: RecordedEvent, payload: p.KernelChosen) -> RunState:
    generation = _asked(state, event, payload.generation)
    require(generation.kernel_choice is None, event, "the generation has its kernel")
    require(state.kernels.get(payload.kernel) == payload.source, event, f"{payload.kernel} has another text")
    members = {name for pool in state.pools.values() for name in pool}
    require(payload.hosts and set(payload.hosts) <= members, event, "what holds it is in no pool")
    chosen = replace(generation, kernel_choice=payload, kernel_chosen_seq=event.seq)
    return replace(state, generation=chosen)


@folds(p.KernelMeasured)
def _kernel_measured(state: RunState, event: RecordedEvent, payload: p.KernelMeasured) -> RunState:
    generation = _asked(state, event, payload.generation)
    choice = require(generation.kernel_choice, event, "no kernel was chosen")
    require(choice.kernel == payload.kernel, event, "another kernel was chosen")
    require(generation.kernel_measured is None, event, "an answer that was measured has no verdict yet")
    call = require(state.ledger.calls.get(payload.call), event, f"call {payload.call} was never reserved")
    require(call.purpose == "kernel" and call.status == "settled", event, "it is no answer with a kernel")
    require(call.verdict is None, event, f"call {payload.call} was judged before")
    hosts = {check.host for check in payload.checks} | {pair.host for pair in payload.pairs}
    require(hosts <= set(choice.hosts), event, "it was tried in what does not hold the kernel")
    require(payload.pairs or payload.stage, event, "nothing was measured")
    measured = replace(generation, kernel_measured=payload, kernel_measured_seq=event.seq)
    return replace(state, generation=measured)


@folds(p.KernelReplaced)
def _kernel_replaced(state: RunState, event: RecordedEvent, payload: p.KernelReplaced) -> RunState:
    generation = _asked(state, event, payload.generation)
    measured = require(generation.kernel_measured, event, "nothing was measured")
    is_it = (payload.kernel, payload.call) == (measured.kernel, measured.call)
    require(is_it, event, "something else was measured")
    require(not measured.stage, event, "the new kernel is not equal to the old one")
    versions = {version.kernel: version.source for version in payload.versions}
    require(set(versions) <= set(state.kernels), event, "it brings a kernel that the run has not")
    require(versions.get(payload.kernel) == measured.source, event, "it is another text than was measured")
    require(payload.replaced, event, "it replaces nothing")
    bought = tuple(host.implementation for host in payload.replaced)
    state = judge(state, event, payload.call, "accepted", bought=bought)
    state = replace(state, kernels=state.kernels.update(versions))
    for host in payload.replaced:
        state = _with_host(state, event, host)
    tried = TriedKernel(payload.generation, payload.kernel, payload.factor)
    return _with_verdict(_with_programs(state), event, generation, tried)


def _with_host(state: RunState, event: RecordedEvent, host: p.KernelHost) -> RunState:
    """Return the state with an implementation in the place of one that computes the same."""
    pool = require(state.pools.get(host.operator), event, f"{host.operator} is not in the graph")
    old, new = host.removed, host.implementation
    require(old in pool, event, f"{old} is not in the pool of {host.operator}")
    require(new not in state.operator_of, event, f"{new} is known already")
    require(new.startswith(f"{host.operator}."), event, f"{new} belongs elsewhere")
    shares = state.contributions
    if old in shares:
        shares = shares.set(new, shares[old])
    return replace(
        state,
        pools=state.pools.set(host.operator, tuple(sorted({*pool, new} - {old}))),
        sources=state.sources.set(new, host.source),
        operator_of=state.operator_of.set(new, host.operator),
        credits=state.credits.replace_implementation(old, new),
        contributions=shares,
        successors=state.successors.set(old, new),
    )


def _with_programs(state: RunState) -> RunState:
    """Return the state in which what races and trials go on with names the new implementations. Programs that
    were measured keep their names: best, checkpoint, champion of an earlier race."""
    trials = (
        trial
        if trial.implementation is None
        else replace(trial, implementation=state.successor(trial.implementation))
        for trial in state.owed_trials
    )
    configured = state.configured
    for old, new in state.successors.items():
        if (base := configured.get(old)) in state.successors and base is not None:
            configured = configured.set(new, state.successors[base])
    return replace(
        state,
        configured=configured,
        owed_trials=tuple(sorted(trials, key=_trial_key)),
        finalist=rename_steps(state, state.finalist),
        runners_up=tuple(rename_steps(state, steps) for steps in state.runners_up),
        far=tuple(rename_steps(state, steps) for steps in state.far),
        outrun=rename_steps(state, state.outrun),
        promising=tuple(old._replace(steps=rename_steps(state, old.steps)) for old in state.promising),
    )


def _trial_key(trial: OwedTrial) -> tuple[int, str, str]:
    return trial.key


def _with_verdict(
    state: RunState, event: RecordedEvent, generation: GenerationState, tried: TriedKernel | None
) -> RunState:
    done = replace(generation, kernel_measured=None, kernel_verdict=event.seq)
    kept = state.tried_kernels if tried is None else (*state.tried_kernels, tried)
    return replace(state, generation=done, tried_kernels=kept)


@folds(p.KernelRejected)
def _kernel_rejected(state: RunState, event: RecordedEvent, payload: p.KernelRejected) -> RunState:
    generation = _asked(state, event, payload.generation)
    require(generation.kernel_choice, event, "no kernel was chosen")
    diagnostic = f"{payload.stage}: {payload.diagnostic}"
    state = judge(state, event, payload.call, "rejected", diagnostic)
    if payload.is_final:
        tried = TriedKernel(payload.generation, payload.kernel, None, diagnostic)
        return _with_verdict(state, event, generation, tried)
    return replace(state, generation=replace(generation, kernel_measured=None))


@folds(p.KernelsKept)
def _kernels_kept(state: RunState, event: RecordedEvent, payload: p.KernelsKept) -> RunState:
    generation = _asked(state, event, payload.generation)
    choice = generation.kernel_choice
    tried = None if choice is None else TriedKernel(payload.generation, choice.kernel, None, payload.reason)
    return _with_verdict(state, event, generation, tried)
