"""Generations that are sampled before they start (``sample_ahead``)."""

from __future__ import annotations

from dga2d.replay.state.generation_state import GenerationState
from dga2d.replay.state.incumbent import incumbent
from dga2d.replay.state.run_state import RunState


def generation_to_sample(state: RunState) -> GenerationState | None:
    """Return the first generation that still lacks candidates which are sampled now: the open one, then those
    ahead of it; ``None`` if there is none.

    All this is done before the open generation is scored: then credits, policy, graph and pools are those
    with which it began, whatever evaluators were quick or slow.
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
