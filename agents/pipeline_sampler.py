"""PipelineSampler: owns the policy π_θ; samples pipelines, updates the policy, decodes for validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

import anyio.to_thread
import numpy as np

from dga2d.agents.agent import Decision, GenerationDuty, open_generation, present_graph
from dga2d.agents.comparison import checkpoint_or_baseline, choose_undecided
from dga2d.agents.conductor import validation_is_due
from dga2d.agents.policy.archive import PolicyArchive, SavedFiles
from dga2d.agents.policy.contract import DecodedWalk, PipelinePolicy, PolicyContext, UpdateReport, WalkStep
from dga2d.agents.policy.walks import ActionTable, draw_walk, is_feasible
from dga2d.agents.ports import EventAppender
from dga2d.agents.scoring import best_implementations, sample_implementations
from dga2d.agents.trial_walks import certain_steps, owed_samples
from dga2d.events import AgentName, Draft, OperatorId, Payload
from dga2d.events import payloads as p
from dga2d.replay.state.generation_state import GenerationState
from dga2d.replay.state.incumbent import generation_to_sample
from dga2d.replay.state.run_state import RunState
from dga2d.replay.state.search_state import PROGRAM
from dga2d.replay.streams import stream


@dataclass(frozen=True)
class PolicyPromptContext:
    """What the policy is told about the problem; part of its prompt."""

    domain_summary: str
    instance_summary: str
    titles: Mapping[OperatorId, str]


class SamplePipelines(GenerationDuty):
    """Sample the candidates of a generation that the log lacks."""


class UpdatePolicy(GenerationDuty):
    """Learn from the rewards of a generation."""


class DecodePipelines(GenerationDuty):
    """Search for the pipelines that the validation of a generation compares."""


SamplerDuty = SamplePipelines | UpdatePolicy | DecodePipelines


class ReadTables(NamedTuple):
    """What the policy gave at every step of the walks of some candidates."""

    tables: Mapping[int, Sequence[ActionTable]]
    """By candidate; the last table of each is that of the step to ``END``."""


class PolicyUpdate(NamedTuple):
    """Figures of an update and, where the policy was saved, its files."""

    report: UpdateReport
    files: SavedFiles | None


class Decoded(NamedTuple):
    """What the beam search found, best first."""

    walks: Sequence[DecodedWalk]


class PipelineSampler:
    """Owns P_{t,j} and θ (Algorithm 1, lines 6–15 and 30)."""

    name: AgentName = "pipeline_sampler"

    def __init__(
        self,
        log: EventAppender,
        policy: PipelinePolicy,
        prompt_context: PolicyPromptContext,
        archive: PolicyArchive | None = None,
    ) -> None:
        """`archive` takes saved states of the policy; without one it is rebuilt from the log alone."""
        self._log = log
        self._policy = policy
        self._prompt_context = prompt_context
        self._archive = archive

    def duties(self, state: RunState) -> Sequence[SamplerDuty]:
        return duties(state)

    async def perform(self, duty: SamplerDuty, state: RunState) -> None:
        match duty:
            case SamplePipelines():
                observed: ReadTables | PolicyUpdate | Decoded = await self._sample(state)
            case UpdatePolicy():
                observed = await self._update(state)
            case DecodePipelines():
                observed = await self._decode(state)
        await self._log.append(*decide(state, duty, observed))
        if isinstance(observed, PolicyUpdate) and self._archive is not None and observed.files is not None:
            kept = policies_to_keep(state, observed.files.digest)
            await anyio.to_thread.run_sync(self._archive.prune, kept)

    async def _sample(self, state: RunState) -> ReadTables:
        generation = _to_sample(state)
        drawn = generation.size - len(owed_samples(state, generation))
        missing = [j for j in range(drawn) if j not in generation.pipelines]
        draws = [_walk_stream(state, generation, j) for j in missing]
        context = policy_context(state, self._prompt_context, generation)
        walks = await anyio.to_thread.run_sync(self._policy.sample, context, draws)
        return ReadTables({j: walk.steps for j, walk in zip(missing, walks, strict=True)})

    async def _update(self, state: RunState) -> PolicyUpdate:
        generation = open_generation(state)
        context = update_context(state, self._prompt_context)
        walks, rewards = training_batch(state, context)
        report = await anyio.to_thread.run_sync(self._policy.update, context, walks, rewards)
        if self._archive is None or not checkpoint_is_due(state, generation.number):
            return PolicyUpdate(report, None)
        return PolicyUpdate(report, await anyio.to_thread.run_sync(self._archive.save, self._policy))

    async def _decode(self, state: RunState) -> Decoded:
        if not state.settings.evolves_pipelines:
            return Decoded(())
        context = policy_context(state, self._prompt_context)
        width = state.settings.beam_width
        return Decoded(await anyio.to_thread.run_sync(self._policy.decode, context, width))

    def restore(self, state: RunState) -> int:
        """Load the policy's last saved state and return how many updates it has learned from, 0 if none.

        Raises
        ------
        PolicyCheckpointError
            The files are missing or damaged.
        """
        if self._archive is None or not state.saved_policies:
            return 0
        last = state.saved_policies[-1]
        self._archive.load(self._policy, last.digest)
        return last.updates

    def rebuild(self, before: RunState) -> str:
        """Apply again the update that the log records after state `before`; return the new digest."""
        context = update_context(before, self._prompt_context)
        walks, rewards = training_batch(before, context)
        return self._policy.update(context, walks, rewards).parameters_digest


def duties(state: RunState) -> tuple[SamplerDuty, ...]:
    """Return what the policy is needed for now."""
    generation = state.generation
    if state.status != "running" or generation is None:
        return ()
    owed: list[SamplerDuty] = []
    if (to_sample := generation_to_sample(state)) is not None:
        owed.append(SamplePipelines(generation.seq, to_sample.number))
    if generation.scoring is not None and not generation.policy_updated_seq:
        owed.append(UpdatePolicy(generation.scoring.seq, generation.number))
    validation = generation.validation
    if validation is not None and validation.pipelines is None:
        owed.append(DecodePipelines(validation.seq, generation.number))
    return tuple(owed)


def decide(state: RunState, duty: SamplerDuty, observed: ReadTables | PolicyUpdate | Decoded) -> Decision:
    """Return the sampled candidates, the figures of the update, or the pipelines to be validated."""
    payloads: list[Payload]
    match observed:
        case ReadTables(tables=tables):
            payloads = _candidates(state, tables)
        case PolicyUpdate(report=report, files=files):
            payloads = _record_update(state, report, files)
        case Decoded(walks=walks):
            payloads = [pipelines_to_validate(state, walks)]
    return Decision(
        tuple(Draft("pipeline_sampler", payload, duty.number, duty.caused_by) for payload in payloads)
    )


def _to_sample(state: RunState) -> GenerationState:
    """Return the generation that is sampled now; there must be one."""
    generation = generation_to_sample(state)
    assert generation is not None
    return generation


def _walk_stream(state: RunState, generation: GenerationState, candidate: int) -> np.random.Generator:
    return stream(state.header.seed, "pipeline", generation.number, candidate)


def _candidates(state: RunState, tables: Mapping[int, Sequence[ActionTable]]) -> list[Payload]:
    """Return the candidates that are drawn, in order, then those that try something."""
    generation = _to_sample(state)
    trials = owed_samples(state, generation)
    drawn = generation.size - len(trials)
    return [
        *(_draw_candidate(state, generation, j, tables[j]) for j in sorted(tables) if j < drawn),
        *(
            _trial_candidate(state, generation, drawn + i, steps)
            for i, steps in enumerate(trials)
            if drawn + i not in generation.pipelines
        ),
    ]


def _trial_candidate(
    state: RunState, generation: GenerationState, candidate: int, steps: tuple[p.Step, ...]
) -> p.PipelineSampled:
    """Return a candidate that is not drawn: each decision of its walk has probability 1."""
    walk = tuple(step.operator for step in steps)
    decisions = certain_steps(present_graph(state), walk, state.settings.max_length)
    return _sampled_pipeline(state, generation, candidate, steps, decisions)


def _draw_candidate(
    state: RunState, generation: GenerationState, candidate: int, tables: Sequence[ActionTable]
) -> p.PipelineSampled:
    """Return a candidate: its walk, and implementations drawn from a stream of their own."""
    walk = draw_walk(tables, _walk_stream(state, generation, candidate))
    draws = stream(state.header.seed, "implementation", generation.number, candidate)
    steps = sample_implementations(walk.operators, state.pools, state.credits, state.temperature, draws)
    return _sampled_pipeline(state, generation, candidate, steps, walk.steps)


def _sampled_pipeline(
    state: RunState,
    generation: GenerationState,
    candidate: int,
    steps: tuple[p.Step, ...],
    decisions: Sequence[WalkStep],
) -> p.PipelineSampled:
    return p.PipelineSampled(
        generation=generation.number,
        candidate=candidate,
        steps=steps,
        policy_steps=tuple(p.PolicyStep(**vars(step)) for step in decisions),
        policy_updates=state.policy_updates,
    )


def _record_update(state: RunState, report: UpdateReport, files: SavedFiles | None) -> list[Payload]:
    number = open_generation(state).number
    updated = p.PolicyUpdated(generation=number, **asdict(report))
    if files is None:
        return [updated]
    saved = p.PolicyCheckpointed(
        generation=number,
        policy_updates=state.policy_updates + 1,
        parameters_digest=report.parameters_digest,
        files_digest=files.digest,
        size_bytes=files.size_bytes,
    )
    return [updated, saved]


def policy_context(
    state: RunState, prompt_context: PolicyPromptContext, generation: GenerationState | None = None
) -> PolicyContext:
    """Return what the policy is conditioned on at this state, for a generation (``None``: the open one)."""
    generation = open_generation(state) if generation is None else generation
    return PolicyContext(
        graph=present_graph(state),
        max_length=state.settings.max_length,
        temperature=state.temperature,
        guide=generation.guide,
        focus=state.settings.policy_focus,
        **vars(prompt_context),
    )


def update_context(state: RunState, prompt_context: PolicyPromptContext) -> PolicyContext:
    """Return the context in which the open generation was sampled: edges may have been edited since."""
    context, generation = policy_context(state, prompt_context), open_generation(state)
    if generation.graph is not None:
        return replace(context, graph=generation.graph)
    return context if generation.basis is None else replace(context, graph=generation.basis.graph)


def checkpoint_is_due(state: RunState, number: int) -> bool:
    """Return whether the policy is saved after the update of generation `number`: at the set interval, and
    whenever a validation follows, because that may select this policy.
    """
    return number % state.settings.policy_checkpoint_interval == 0 or validation_is_due(state, number)


def policies_to_keep(state: RunState, newest: str) -> frozenset[str]:
    """Return the digests of the saved states that stay on the disk: the last two and the checkpoint's."""
    kept = {newest, *(saved.digest for saved in state.saved_policies[-1:])}
    kept.update(s.digest for s in state.saved_policies if s.updates == state.checkpoint_updates)
    return frozenset(kept)


def training_batch(
    state: RunState, context: PolicyContext
) -> tuple[list[tuple[OperatorId, ...]], tuple[float, ...]]:
    """Return the walks and rewards of a scored generation, in candidate order; where good walks are learned
    again, that of the incumbent behind them, if the graph still has it."""
    generation = open_generation(state)
    assert generation.scoring is not None
    walks = [tuple(step.operator for step in generation.pipelines[j].steps) for j in range(generation.size)]
    rewards = generation.scoring.rewards
    if state.settings.policy_replay and is_feasible(context, generation.guide):
        return [*walks, generation.guide], (*rewards, state.settings.policy_replay)
    return walks, rewards


def pipelines_to_validate(state: RunState, walks: Sequence[DecodedWalk]) -> p.PipelinesDecoded:
    """Return the pipelines that the checkpoint is chosen from, each once (`docs/decisions.md`).

    First come the beam's pipelines with their best implementations, then the champion of the races (A* if
    there are none), then, the first time, the safe baseline. Where a margin counts, the checkpoint itself is
    validated again, to be compared pair by pair, and the baseline where pipelines are tested against that;
    where validations are pooled, so are the most promising challengers of earlier ones. Methods of complete
    programs have no beam: the best of the population take its place.
    """
    pipelines: list[tuple[p.Step, ...]] = []
    scores: list[float] = []
    if not state.settings.evolves_pipelines:
        best = state.search.population[: state.settings.beam_width]
        pipelines += [(p.Step(operator=PROGRAM, implementation=name),) for name in best]
    for walk in walks:
        pipelines.append(best_implementations(walk.operators, state.pools, state.credits))
        scores.append(walk.log_probability)
    found = state.best if state.champion is None else state.champion
    extra = [] if found is None else [found.steps]
    if state.checkpoint is None:
        extra.append(state.header.baseline)
    elif state.settings.checkpoint_margin > 0.0:
        extra.append(state.checkpoint.steps)
        if state.settings.tests_against_baseline:
            extra.append(state.header.baseline)
    for steps in extra:
        if steps not in pipelines:
            pipelines.append(steps)
    if state.settings.pools_validations:
        pipelines += choose_undecided(state, checkpoint_or_baseline(state), pipelines)
    return p.PipelinesDecoded(
        generation=open_generation(state).number,
        pipelines=tuple(pipelines),
        log_probabilities=tuple(scores),
    )
