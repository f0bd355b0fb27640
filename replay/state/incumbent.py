"""The incumbent, the program that the search works on, and the generations that are sampled around it.

With ``sample_ahead`` some are sampled before they start.
"""

from __future__ import annotations

from dga2d.events.payloads import Step
from dga2d.replay.state.generation_state import GenerationState
from dga2d.replay.state.run_state import RunState


def incumbent(state: RunState) -> tuple[Step, ...]:
    """Return the champion of the races, else the checkpoint if one was selected by a margin, else A*, else
    the safe baseline.

    Where races are still to come A* has to prove itself in one. A checkpoint without a margin is the highest
    of several noisy means, no better founded than A* on the training batch. The steps may name
    implementations that have left their pools since, and the walk may use edges that were cut. What left its
    pool for the same with a faster kernel is named as that: it computes the same.
    """
    steps = _incumbent(state)
    return rename_steps(state, steps) if state.successors else steps


def _incumbent(state: RunState) -> tuple[Step, ...]:
    if state.champion is not None:
        return state.champion.steps
    if state.checkpoint is not None and state.settings.checkpoint_margin > 0.0:
        return state.checkpoint.steps
    is_raced = state.settings.race_contenders > 0
    return state.header.baseline if state.best is None or is_raced else state.best.steps


def rename_steps(state: RunState, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return steps with what their implementations have become by faster kernels."""
    return tuple(
        step.model_copy(update={"implementation": state.successor(step.implementation)}) for step in steps
    )


def generation_to_sample(state: RunState) -> GenerationState | None:
    """Return the first generation that still lacks candidates, the open one or one ahead of it, or ``None``.

    Generations are sampled ahead only until the open one is scored: credits, policy, graph and pools are
    then those with which it began, no matter how fast the evaluators are.
    """
    generation, settings = state.generation, state.settings
    if generation is None or not settings.evolves_pipelines:
        return None
    if len(generation.pipelines) < generation.size:
        return generation
    if generation.scores:
        return None
    for number in range(generation.number + 1, last_ahead(state, generation) + 1):
        ahead = state.ahead.get(number) or sampled_now(state, number)
        if len(ahead.pipelines) < ahead.size:
            return ahead
    return None


def last_ahead(state: RunState, generation: GenerationState) -> int:
    """Return the last generation that is sampled while `generation` is open."""
    return min(generation.number + state.settings.sample_ahead, state.settings.generations)


def sampled_now(state: RunState, number: int) -> GenerationState:
    """Return generation `number` without candidates, as it is sampled ahead in this state."""
    guide = tuple(step.operator for step in incumbent(state))
    return GenerationState(number, 0, state.settings.pipelines, guide, state.graph)
