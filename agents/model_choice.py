"""Which of several language models is asked: a bandit over what their answers gained.

References
----------
W. R. Thompson, "On the likelihood that one unknown probability exceeds another in view of the evidence of two
samples", Biometrika, 1933: arms are drawn by the chance that they are the best.
"""

from __future__ import annotations

import math

from dga2d.events.payloads import CallPurpose
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.run_state import RunState
from dga2d.replay.streams import stream

PRIOR_MEAN, PRIOR_CALLS = 0.5, 1.0
"""Reward that a model is taken to have had per call before its first, and for how many."""
FOR_CODE = ("implement", "operator", "kernel", "program")
"""Purposes of calls that the bandit chooses models for."""
DEVIATION = 0.5
"""Standard deviation of a call's reward, which is between 0 and 1."""


def models_of(settings: RunSettings) -> tuple[str, ...]:
    """Return all models that a run may ask, each once; those for code first."""
    edges = () if settings.llm_edges is None else (settings.llm_edges,)
    return tuple(dict.fromkeys((settings.llm, *settings.llm_others, *edges)))


def ranked_models(
    state: RunState, purpose: CallPurpose, slot: int, attempt: int, subject: str
) -> tuple[str, ...]:
    """Return the models for a call, the chosen one first and behind it those that answer where it is down;
    empty where a run has a single one.

    Edges go to the model named for them, the first graph to the first; code to the bandit. It learns from
    calls of earlier generations alone: within one, answers come in any order. Models whose call for the same
    subject was lost come last.
    """
    settings = state.settings
    names = models_of(settings)
    if len(names) == 1:
        return ()
    if purpose == "connect" and settings.llm_edges is not None:
        ranked = [settings.llm_edges]
    elif purpose in FOR_CODE:
        ranked = _by_gain(state, slot, attempt)
    else:
        ranked = [settings.llm]
    ranked += [name for name in names if name not in ranked]
    lost = {call.choice for call in state.ledger.calls_for(subject) if call.status == "abandoned"}
    return tuple(sorted(ranked, key=lambda name: name in lost))


def _by_gain(state: RunState, slot: int, attempt: int) -> list[str]:
    """Return the models for code, by a draw of the mean reward of each, the highest first."""
    arms = dict.fromkeys((state.settings.llm, *state.settings.llm_others))
    number = 0 if state.generation is None else state.generation.number
    draws = stream(state.header.seed, "model", number, slot, attempt)
    rewards = call_rewards(state, number)
    scores = {}
    for arm in arms:
        own = rewards.get(arm, [])
        count = len(own) + PRIOR_CALLS
        mean = (math.fsum(own) + PRIOR_MEAN * PRIOR_CALLS) / count
        scores[arm] = mean + DEVIATION / math.sqrt(count) * float(draws.normal())
    return sorted(arms, key=lambda arm: -scores[arm])


def call_rewards(state: RunState, before: int) -> dict[str, list[float]]:
    """Return by model the rewards of its calls for code in generations before `before`.

    The reward is the mean gain that the gate measured, as a part of the largest so far; 0 where nothing was
    gained or measured. Without a gate it is 1 for what was accepted.
    """
    gains: dict[int | None, float] = {}
    largest = 0.0
    for all_ in state.tried.values():
        for tried in all_:
            known = [gain for gain in tried.gains if gain is not None]
            if len(known) == len(tried.gains):
                gains[tried.call] = gain = max(0.0, math.fsum(known) / len(known))
                largest = max(largest, gain if tried.generation < before else 0.0)
    found: dict[str, list[float]] = {}
    for number, call in sorted(state.ledger.calls.items()):
        if call.choice is None or call.purpose not in FOR_CODE or not call.taken_in:
            continue
        if call.taken_in >= before:
            continue
        is_sound = call.verdict == "accepted" or (call.diagnostic or "").startswith("gate:")
        gain = gains.get(number, 0.0)
        reward = gain / largest if largest > 0.0 else float(call.verdict == "accepted")
        found.setdefault(call.choice, []).append(reward if is_sound else 0.0)
    return found
