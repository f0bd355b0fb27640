"""The beginning of a run: its library, its shared batch, references where none are known (what the safe
baseline reaches), and ``RunStarted``.
"""

from __future__ import annotations

import math
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import anyio

from dga2d.agents.conductor import draw_batch
from dga2d.agents.pipeline_sampler import PolicyPromptContext
from dga2d.agents.ports import EvaluationReply, EvaluationRequest, Evaluator
from dga2d.agents.proposing.recipes import Recipe, write_program
from dga2d.domains.core.components import Component, components_of
from dga2d.domains.core.contract import (
    Domain,
    Implementation,
    Operator,
    OperatorName,
    PipelineStep,
    Reference,
    own_score_of,
)
from dga2d.domains.core.kernels import Kernel, kernels_of
from dga2d.domains.core.registry import loaded_plugin
from dga2d.events import Draft, ImplementationId, InstanceKey, OperatorId, RunId, blob_digest
from dga2d.events import payloads as p
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.run_state import RunState
from dga2d.replay.state.search_state import PROGRAM
from dga2d.replay.streams import spawn_key
from dga2d.runtime.bank.choosing import NO_ENTRIES, BankOfRun, bank_for
from dga2d.runtime.errors import UsageError
from dga2d.runtime.runs.code_version import present_version
from dga2d.runtime.runs.problem import Problem

_ALPHABET = "abcdefghjkmnpqrstvwxyz23456789"


def new_run_id(domain: str) -> RunId:
    """Return a fresh name such as ``jsp-k3v9q2``; names carry no meaning and enter no decision."""
    return RunId(f"{domain}-" + "".join(secrets.choice(_ALPHABET) for _ in range(6)))


def checked_run_id(name: str) -> RunId:
    """Return `name` as the name of a run.

    Raises
    ------
    UsageError
        It is not 1 to 64 ASCII letters, digits, ``.``, ``_`` and ``-``, the first a letter or digit.
    """
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name) is None:
        raise UsageError(
            f"run id {name!r}: expected 1 to 64 letters, digits, '.', '_' or '-', not '.', '_' or '-' first"
        )
    return RunId(name)


def library_of(domain: Domain, settings: RunSettings) -> tuple[Operator, ...]:
    """Return the operators a run may start from."""
    operators = domain.operators()
    return operators if settings.library == "full" else tuple(o for o in operators if o.tier == "basic")


def program_operator(domain: Domain, settings: RunSettings) -> Operator:
    """Return the operator of runs whose method evolves complete programs; its only implementation is the
    safe baseline as one program, or the skeleton with its simple rule where a component is evolved.

    Raises
    ------
    UsageError
        The domain has an operator of that name, its baseline cannot be one program, or it has no such
        component.
    """
    if settings.evolves_component:
        component = _component(domain, settings.space.partition(":")[2])
        return _program_operator(component.source, f"library:components/{component.name}.py")
    steps = baseline_of(domain, settings)
    library = {str(step.implementation.id): step.implementation for step in steps}
    text = write_program(Recipe("chain", tuple(str(step.implementation.id) for step in steps)), library)
    if text is None or any(str(operator.id) == PROGRAM for operator in domain.operators()):
        raise UsageError(
            f"setting method = {settings.method!r}: the safe baseline of {domain.name} cannot be written as "
            "one program; only dga2d can evolve it"
        )
    return _program_operator(text, "library:baseline")


def _component(domain: Domain, name: str) -> Component:
    """Return the component of that name, or the first where none is named."""
    offered = components_of(domain)
    for component in offered:
        if name in ("", component.name):
            return component
    has = ", ".join(component.name for component in offered)
    wanted = f"component {name!r}" if name and offered else "component"
    raise UsageError(f"setting space: {domain.name} has no {wanted}" + (f"; it has {has}" if has else ""))


def _program_operator(text: str, origin: str) -> Operator:
    name = OperatorName(PROGRAM)
    return Operator(
        id=name,
        title="Complete program",
        summary="From nothing to a solution.",
        category="program",
        requires="none",
        provides="complete",
        tier="basic",
        complexity="",
        source="",
        implementations=(Implementation(name, text, origin),),
    )


def baseline_of(domain: Domain, settings: RunSettings) -> tuple[PipelineStep, ...]:
    """Return the safe baseline that belongs to the library."""
    return domain.safe_baseline() if settings.library == "full" else domain.basic_baseline()


def start_of(domain: Domain, settings: RunSettings) -> tuple[PipelineStep, ...]:
    """Return the program that a run begins with: the safe baseline, or the skeleton with its simple rule
    where a component is evolved.

    Raises as `program_operator`.
    """
    if not settings.evolves_component:
        return baseline_of(domain, settings)
    program = program_operator(domain, settings)
    return (PipelineStep(program.id, program.implementations[0]),)


def hand_tuned_baseline(problem: Problem, state: RunState) -> tuple[p.LibraryOperator, ...]:
    """Return the operators of the whole library's safe baseline, each with the implementation it uses;
    nothing where the run began with that baseline."""
    steps = problem.domain.safe_baseline()
    if recorded_steps(steps) == state.header.baseline:
        return ()
    operators = {operator.id: operator for operator in problem.domain.operators()}
    return tuple(
        library_operator(replace(operators[step.operator], implementations=(step.implementation,)))
        for step in steps
    )


def shared_batch(problem: Problem, settings: RunSettings, seed: int) -> tuple[InstanceKey, ...]:
    """Return k training instances drawn without replacement (Algorithm 1, line 4), sorted."""
    keys = [ref.key for ref in problem.splits.train]
    if len(keys) < settings.batch_size:
        raise UsageError(
            f"batch_size is {settings.batch_size}, but the training split has {len(keys)} instances"
        )
    return draw_batch(keys, settings.batch_size, seed)


def run_started(
    problem: Problem,
    settings: RunSettings,
    seed: int,
    policy: str,
    llm: str,
    sandbox: dict[str, str],
    data_dir: Path | None,
    measured: Mapping[str, p.InstanceEntry] = MappingProxyType({}),
    bank: BankOfRun = NO_ENTRIES,
) -> tuple[Draft, list[bytes]]:
    """Return the first event of a run and the source texts of its library and its part of the bank.

    `measured` has an entry of the manifest for each instance that has no reference.
    """
    domain = problem.domain
    library, score = library_of(domain, settings), own_score_of(domain)
    baseline, kernels = start_of(domain, settings), kernels_for(domain, settings)
    if not settings.evolves_pipelines:
        library = (*library, program_operator(domain, settings))
    payload = p.RunStarted(
        domain=domain.name,
        sense=domain.sense,
        seed=seed,
        settings=settings.model_dump(),
        code_version=present_version(domain.name),
        library=tuple(library_operator(operator) for operator in library),
        baseline=recorded_steps(baseline),
        splits=problem.manifest(
            measured, tells_sizes=settings.prompt_edition >= 3, tells_values=settings.prompt_edition >= 7
        ),
        batch=shared_batch(problem, settings, seed),
        policy=policy,
        llm=llm,
        sandbox=sandbox,
        data_dir=None if data_dir is None else str(data_dir),
        problem_file=problem_file(domain.name),
        bank=bank.entries,
        kernels=tuple(map(library_kernel, kernels)) or None,
        own_score=None if score is None else p.ScoreEntry(failure=score.failure, formula=score.formula),
    )
    sources = [i.source.encode() for operator in library for i in operator.implementations]
    sources += [kernel.source.encode() for kernel in kernels]
    return Draft("conductor", payload), [*sources, *bank.sources]


def kernels_for(domain: Domain, settings: RunSettings) -> tuple[Kernel, ...]:
    """Return the kernels that a run offers: none in a domain whose walks repeat, whose code is never run on
    its own, and where a method evolves whole programs."""
    if settings.kernels == "off" or not settings.evolves_pipelines or domain.card.repeats:
        return ()
    return kernels_of(domain)


def library_kernel(kernel: Kernel) -> p.LibraryKernel:
    """Return a kernel as ``RunStarted`` names it."""
    return p.LibraryKernel(
        id=kernel.id,
        summary=kernel.summary,
        arguments=kernel.arguments,
        source=blob_digest(kernel.source.encode()),
        evolves=kernel.evolves,
    )


def bank_of(problem: Problem, settings: RunSettings) -> BankOfRun:
    """Return what the bank of the settings holds for a run. Raises BankError where it cannot be used."""
    library = [library_operator(operator) for operator in library_of(problem.domain, settings)]
    return bank_for(settings.bank, problem.domain.name, problem.domain.card, library, settings.library)


def recorded_steps(steps: Sequence[PipelineStep]) -> tuple[p.Step, ...]:
    """Return a pipeline as events name it."""
    return tuple(
        p.Step(operator=OperatorId(s.operator), implementation=ImplementationId(s.implementation.id))
        for s in steps
    )


def library_operator(operator: Operator) -> p.LibraryOperator:
    """Return an operator as ``RunStarted`` names it: implementations by the digests of their sources."""
    return p.LibraryOperator(
        id=OperatorId(operator.id),
        category=operator.category,
        requires=operator.requires,
        provides=operator.provides,
        tier=operator.tier,
        implementations=tuple(
            p.LibraryImplementation(id=ImplementationId(i.id), source=blob_digest(i.source.encode()))
            for i in operator.implementations
        ),
    )


def problem_file(domain: str) -> str | None:
    """Return where the file of a problem in one file is; ``None`` for other domains."""
    plugin = loaded_plugin(domain)
    return None if plugin is None or plugin.plugin.file is None else str(plugin.plugin.file)


def policy_prompt_context(problem: Problem, batch: Sequence[InstanceKey]) -> PolicyPromptContext:
    """Return what the policy's prompt says of domain and instances: scalar sizes and array shapes."""
    domain = problem.domain
    lines = []
    for key in batch:
        environment = domain.environment(problem.instance(key))
        parts = []
        for name in sorted(environment):
            value = environment[name]
            shape = getattr(value, "shape", None)
            parts.append(f"{name} {'x'.join(map(str, shape))}" if shape is not None else f"{name}={value}")
        lines.append("; ".join(parts))
    titles = {OperatorId(o.id): o.title for o in domain.operators()}
    summary = f"{domain.card.title}. {domain.card.objective}"
    return PolicyPromptContext(summary, "\n".join(lines), titles)


LEAST_SCALE = 0.1
"""A gap's scale is at least this part of what the baseline improved on its own start: where optima are zero,
gaps stay in proportion."""
REAL_SCORE = 1e29
"""Scores above are penalties of broken solutions."""


async def measure_references(
    problem: Problem, baseline: Sequence[PipelineStep], evaluator: Evaluator, seed: int
) -> dict[str, p.InstanceEntry]:
    """Run the baseline once on every instance without a reference, or with one too small to divide by;
    return entries of the manifest by key. Where objectives are scores nothing is run: references are 0.

    Raises
    ------
    UsageError
        It fails on an instance; the message says why.
    """
    if own_score_of(problem.domain) is not None:
        keys = [InstanceKey(ref.key) for part in problem.splits for ref in part]
        return {key: p.InstanceEntry(key=key, reference=0.0, scale=1.0) for key in keys}
    every = {ref.key: ref.reference for part in problem.splits for ref in part}
    refs = [key for key, known in every.items() if known is None or abs(known.value) < 1.0]
    steps = tuple(step.implementation for step in baseline)
    replies: dict[str, EvaluationReply] = {}

    async def evaluate(key: str) -> None:
        seeds = (seed, *spawn_key("reference", problem.index(key)))
        request = EvaluationRequest(f"reference {key}", problem.instance(key), steps, seeds)
        replies[key] = await evaluator.evaluate(request)

    async with anyio.create_task_group() as group:
        for key in refs:
            group.start_soon(evaluate, key)
    for key, reply in sorted(replies.items()):
        if reply.objective is None:
            reason = " ".join(reply.diagnostic.split())
            hint = f"`dga2d domains check {problem.domain.name}` tries its parts one by one"
            if reply.failure == "infeasible":
                hint = f"give it a larger budget, or the problem a reference; {hint}"
            found = f"the safe baseline finds none ({reply.failure}: {reason})"
            raise UsageError(f"{key} has no reference, and {found}; {hint}")
    return entries(every, replies, problem.domain.sense)


def entries(
    given: Mapping[str, Reference | None],
    replies: Mapping[str, EvaluationReply],
    sense: Literal["min", "max"],
) -> dict[str, p.InstanceEntry]:
    """Return the entries of the manifest that follow from the baseline's replies."""
    scales = {key: scale_of(reply, sense) for key, reply in replies.items()}
    known = [scale for scale in scales.values() if scale > 0.0]
    usual = math.fsum(known) / len(known) if known else 1.0
    made = {}
    for key, reply in replies.items():
        given_one = given[key]
        reached = float(reply.objective or 0.0)
        made[key] = p.InstanceEntry(
            key=InstanceKey(key),
            reference=reached if given_one is None else given_one.value,
            scale=scales[key] or usual,
            origin="baseline" if given_one is None else None,
        )
    return made


def scale_of(reply: EvaluationReply, sense: Literal["min", "max"]) -> float:
    """Return the objective that counts as a gap of 1: that of the baseline, or a tenth of what it gained."""
    reached = float(reply.objective or 0.0)
    score = reached if sense == "min" else -reached
    start = reply.trace[0].score_after if reply.trace else score
    gained = abs(start - score) if abs(start) < REAL_SCORE else 0.0
    return max(abs(reached), LEAST_SCALE * gained)
