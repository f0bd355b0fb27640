"""CreditKeeper: when all evaluations of a generation are in, scores it and updates the credits."""

from __future__ import annotations

from collections.abc import Sequence

from dga2d.agents.agent import Decision, GenerationDuty, open_generation
from dga2d.agents.ports import EventAppender
from dga2d.agents.scoring import score_candidates, standardise, update_credits
from dga2d.events import AgentName, Draft, Payload
from dga2d.events.payloads import CandidateScored, CreditsUpdated, GenerationScored, TransitionCredit
from dga2d.replay.state.incumbent import generation_to_sample
from dga2d.replay.state.run_state import RunState


class ScoreGeneration(GenerationDuty):
    """Score the candidates of a generation and update the credits."""


class CreditKeeper:
    """Owns S, R̃, Q and n (Algorithm 1, lines 18–40)."""

    name: AgentName = "credit_keeper"

    def __init__(self, log: EventAppender) -> None:
        self._log = log

    def duties(self, state: RunState) -> Sequence[ScoreGeneration]:
        return duties(state)

    async def perform(self, duty: ScoreGeneration, state: RunState) -> None:
        await self._log.append(*decide(state, duty))


def duties(state: RunState) -> tuple[ScoreGeneration, ...]:
    """Return the generation to be scored, once all of it is evaluated."""
    generation = state.generation
    if state.status != "running" or generation is None or generation.basis is not None:
        return ()
    if not state.settings.evolves_pipelines:
        return _owed_of_round(state)
    if len(generation.outcomes) < generation.size * len(state.header.batch):
        return ()
    if generation_to_sample(state) is not None:  # by the credits from before
        return ()
    return (ScoreGeneration(max(generation.seq, generation.outcomes_seq), generation.number),)


def _owed_of_round(state: RunState) -> tuple[ScoreGeneration, ...]:
    """Return the round of a method to be scored, once it has all its programs and they are evaluated."""
    generation = open_generation(state)
    evaluated = round_evaluated(state)
    if evaluated is None or len(generation.scores) == len(generation.pipelines):
        return ()
    return (ScoreGeneration(evaluated, generation.number),)


def round_evaluated(state: RunState) -> int | None:
    """Return the event with which the open round of a method had all its slots decided and its programs
    evaluated; ``None`` before."""
    generation = open_generation(state)
    planned = generation.round
    if planned is None or len(planned.verdicts) < len(planned.asks):
        return None
    if len(generation.outcomes) < len(generation.pipelines) * len(state.header.batch):
        return None
    verdicts: list[int] = [*planned.verdicts.values()]
    return max(generation.outcomes_seq, *verdicts)


def _round_scores(state: RunState, duty: ScoreGeneration) -> Decision:
    """Return the scores of a round's programs that the log lacks; programs have no credits."""
    generation = open_generation(state)
    slots = [slot for slot in sorted(generation.pipelines) if slot not in generation.scores]
    scored = score_candidates(state, generation.outcomes, slots, state.header.batch)
    payloads = [
        CandidateScored(generation=duty.number, candidate=slot, score=s.score, gaps=s.gaps)
        for slot, s in zip(slots, scored, strict=True)
    ]
    return Decision(tuple(Draft("credit_keeper", p, duty.number, duty.caused_by) for p in payloads))


def decide(state: RunState, duty: ScoreGeneration) -> Decision:
    """Return the candidates' scores, the rewards and the credits of a fully evaluated generation; of a
    method's round the scores alone.

    What the log holds of them already is left out (a log that was cut within the append).
    """
    if not state.settings.evolves_pipelines:
        return _round_scores(state, duty)
    generation = open_generation(state)
    settings = state.settings
    scored = score_candidates(state, generation.outcomes, range(generation.size), state.header.batch)
    standard = standardise([s.score for s in scored], settings.epsilon)
    walks = [[step.implementation for step in generation.pipelines[j].steps] for j in range(generation.size)]
    changed = update_credits(state.credits, walks, standard.rewards, settings.credit_rate)
    number = generation.number
    payloads: list[Payload] = [
        CandidateScored(generation=number, candidate=j, score=s.score, gaps=s.gaps)
        for j, s in enumerate(scored)
        if j not in generation.scores
    ]
    if generation.scoring is None:
        payloads.append(GenerationScored(generation=number, **standard._asdict()))
    transitions = tuple(
        TransitionCredit(source=t.source, target=t.target, credit=r.credit, activations=r.activations)
        for t, r in changed
    )
    payloads.append(CreditsUpdated(generation=number, transitions=transitions))
    return Decision(tuple(Draft("credit_keeper", payload, number, duty.caused_by) for payload in payloads))
