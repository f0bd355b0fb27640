"""PipelineSampler: owns the policy π_θ; samples pipelines, updates the policy, decodes for validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import anyio.to_thread

from dga2d.agents.agent import Duty
from dga2d.agents.conductor import validation_is_due
from dga2d.agents.instantiation import best_implementations, sample_implementations
from dga2d.agents.policy import DecodedWalk, PipelinePolicy, PolicyArchive, PolicyContext, SampledWalk
from dga2d.agents.ports import EventAppender
from dga2d.events import AgentName, Draft, OperatorId
from dga2d.events.payloads import (
    PipelineSampled,
    PipelinesDecoded,
    PolicyCheckpointed,
    PolicyStep,
    PolicyUpdated,
    Step,
)
from dga2d.replay.state.run_state import GenerationState, RunState
from dga2d.replay.streams import stream


@dataclass(frozen=True)
class PolicyPromptContext:
    """What the policy is told about the problem; part of its prompt."""

    domain_summary: str
    instance_summary: str
    titles: Mapping[OperatorId, str]


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

    def duties(self, state: RunState) -> Sequence[Duty]:
        generation = state.generation
        if state.status != "running" or generation is None:
            return ()
        number, owed = generation.number, []
        if len(generation.pipelines) < generation.size:
            owed.append(Duty(f"sample/{number}", generation.seq, ("sample",)))
        if generation.scoring is not None and not generation.policy_updated_seq:
            owed.append(Duty(f"update/{number}", generation.scoring.seq, ("update",)))
        validation = generation.validation
        if validation is not None and validation.pipelines is None:
            owed.append(Duty(f"decode/{number}", validation.seq, ("decode",)))
        return owed

    async def perform(self, duty: Duty, state: RunState) -> None:
        assert state.generation is not None
        action = {"sample": self._sample, "update": self._update, "decode": self._decode}
        await action[str(duty.subject[0])](state, state.generation, duty.caused_by)

    async def _sample(self, state: RunState, generation: GenerationState, caused_by: int) -> None:
        missing = [j for j in range(generation.size) if j not in generation.pipelines]
        seed = state.header.seed
        draws = [stream(seed, "pipeline", generation.number, j) for j in missing]
        context = policy_context(state, self._prompt_context)
        walks = await anyio.to_thread.run_sync(self._policy.sample, context, draws)
        await self._log.append(
            [
                Draft(self.name, sampled(state, j, walk), generation.number, caused_by)
                for j, walk in zip(missing, walks, strict=True)
            ]
        )

    async def _update(self, state: RunState, generation: GenerationState, caused_by: int) -> None:
        context = update_context(state, self._prompt_context)
        walks, rewards = training_batch(state, generation)
        report = await anyio.to_thread.run_sync(self._policy.update, context, walks, rewards)
        updated = PolicyUpdated(
            generation=generation.number,
            loss=report.loss,
            gradient_norm=report.gradient_norm,
            entropy=report.entropy,
            kl_to_initial=report.kl_to_initial,
            parameters_digest=report.parameters_digest,
        )
        drafts = [Draft(self.name, updated, generation.number, caused_by)]
        if self._archive is None or not checkpoint_is_due(state, generation.number):
            await self._log.append(drafts)
            return
        files = await anyio.to_thread.run_sync(self._archive.save, self._policy)
        saved = PolicyCheckpointed(
            generation=generation.number,
            policy_updates=state.policy_updates + 1,
            parameters_digest=report.parameters_digest,
            files_digest=files.digest,
            size_bytes=files.size_bytes,
        )
        await self._log.append([*drafts, Draft(self.name, saved, generation.number, caused_by)])
        await anyio.to_thread.run_sync(self._archive.prune, kept_policies(state, files.digest))

    async def _decode(self, state: RunState, generation: GenerationState, caused_by: int) -> None:
        context = policy_context(state, self._prompt_context)
        walks = await anyio.to_thread.run_sync(self._policy.decode, context, state.settings.beam_width)
        decoded = validated_pipelines(state, walks)
        await self._log.append([Draft(self.name, decoded, generation.number, caused_by)])

    def restore(self, state: RunState) -> int:
        """Load the policy's last saved state; returns how many updates it has learned from, 0 if none.

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
        """Apply again the update that the log records after state `before`; returns the new digest."""
        assert before.generation is not None
        walks, rewards = training_batch(before, before.generation)
        return self._policy.update(
            update_context(before, self._prompt_context), walks, rewards
        ).parameters_digest


def policy_context(state: RunState, prompt_context: PolicyPromptContext) -> PolicyContext:
    """What the policy sees at this state."""
    assert state.graph is not None
    return PolicyContext(
        graph=state.graph,
        max_length=state.settings.max_length,
        temperature=state.temperature,
        domain_summary=prompt_context.domain_summary,
        instance_summary=prompt_context.instance_summary,
        titles=prompt_context.titles,
    )


def update_context(state: RunState, prompt_context: PolicyPromptContext) -> PolicyContext:
    """What the policy saw when it sampled the open generation: edges may have been edited since."""
    context = policy_context(state, prompt_context)
    assert state.generation is not None
    basis = state.generation.basis
    return context if basis is None else replace(context, graph=basis.graph)


def checkpoint_is_due(state: RunState, number: int) -> bool:
    """Whether the policy is saved after the update of generation `number`: at the set interval, and
    whenever a validation follows, because that may select this policy.
    """
    return number % state.settings.policy_checkpoint_interval == 0 or validation_is_due(state, number)


def kept_policies(state: RunState, newest: str) -> frozenset[str]:
    """Digests of the saved states that stay on the disk: the last two and the checkpoint's."""
    kept = {newest, *(saved.digest for saved in state.saved_policies[-1:])}
    kept.update(s.digest for s in state.saved_policies if s.updates == state.checkpoint_updates)
    return frozenset(kept)


def training_batch(
    state: RunState, generation: GenerationState
) -> tuple[list[tuple[OperatorId, ...]], tuple[float, ...]]:
    """Walks and rewards of a scored generation, in candidate order."""
    assert generation.scoring is not None
    walks = [tuple(step.operator for step in generation.pipelines[j].steps) for j in range(generation.size)]
    return walks, generation.scoring.rewards


def sampled(state: RunState, candidate: int, walk: SampledWalk) -> PipelineSampled:
    """The decision about one candidate: its walk with implementations drawn from their own stream."""
    assert state.generation is not None
    number = state.generation.number
    draws = stream(state.header.seed, "implementation", number, candidate)
    steps = sample_implementations(walk.operators, state.pools, state.credits, state.temperature, draws)
    return PipelineSampled(
        generation=number,
        candidate=candidate,
        steps=steps,
        policy_steps=tuple(
            PolicyStep(actions=s.actions, probabilities=s.probabilities, chosen=s.chosen) for s in walk.steps
        ),
        policy_updates=state.policy_updates,
    )


def validated_pipelines(state: RunState, walks: Sequence[DecodedWalk]) -> PipelinesDecoded:
    """The beam's pipelines with their best implementations, then A*, then (the first time) the safe
    baseline, each once: what the checkpoint is chosen from (`docs/decisions.md`). Where a margin counts, the
    checkpoint itself comes too, to be compared pair by pair.
    """
    assert state.generation is not None
    pipelines: list[tuple[Step, ...]] = []
    scores: list[float] = []
    for walk in walks:
        pipelines.append(best_implementations(walk.operators, state.pools, state.credits))
        scores.append(walk.log_probability)
    extra = [] if state.best is None else [state.best.steps]
    if state.checkpoint is None:
        extra.append(state.header.baseline)
    elif state.settings.checkpoint_margin > 0.0:
        extra.append(state.checkpoint.steps)
    for steps in extra:
        if steps not in pipelines:
            pipelines.append(steps)
    return PipelinesDecoded(
        generation=state.generation.number,
        pipelines=tuple(pipelines),
        log_probabilities=tuple(scores),
    )
