"""Racer: lets programs near the incumbent race against it, and says who wins.

In the selecting rounds a part of the contenders stays, the best of them or, by the older rule, of those ahead
of the incumbent, and meets it on more instances; what the gate measured of new code against the incumbent can
count there, too. The finalist meets the incumbent on instances that took no part in its selection; it takes
the incumbent's place where Student's and Wilcoxon's tests together refuse, at the stated error, that it is no
better. All contenders have the same random stream on an instance.

References
----------
K. Jamieson, A. Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization", AISTATS
2016 (successive halving). M. López-Ibáñez et al., "The irace package", Operations Research Perspectives 3,
2016.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from dga2d.agents.agent import Decision, Duty, GenerationDuty, open_generation, open_race, present_graph
from dga2d.agents.comparison import compare_gains
from dga2d.agents.conductor import edits_closed, instances_to_compare_on, race_is_due
from dga2d.agents.evaluator_pool import SourceReader
from dga2d.agents.gate import evidence
from dga2d.agents.ports import BlobSource, EventAppender
from dga2d.agents.proposing.tasks import OperatorContract, PromptContext, known_contracts
from dga2d.agents.race_material import NewContender, RaceMaterial
from dga2d.agents.race_moves import draw_proposals
from dga2d.agents.race_screens import after_screen, draw_screen, most_programs, screen_is_due
from dga2d.agents.spreading import spread_order
from dga2d.domains.core.contract import normalised_gap
from dga2d.events import AgentName, Draft, ImplementationId, InstanceKey, OperatorId, Payload, blob_digest
from dga2d.events import payloads as p
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.generation_state import MeanGain, RaceState
from dga2d.replay.state.graph import END, START
from dga2d.replay.state.incumbent import incumbent
from dga2d.replay.state.run_state import RunState
from dga2d.replay.streams import stream


class RaceSources(NamedTuple):
    """What contenders are made of, besides the state."""

    texts: Mapping[ImplementationId, str]
    """Sources of the implementations of the incumbent, of the programs of the last screen, and of those that
    went far in races."""
    contracts: Mapping[OperatorId, OperatorContract]
    donors: Mapping[ImplementationId, str]
    """Sources of the pools' implementations, where races exchange marked functions."""


class StartRace(GenerationDuty):
    """Draw the contenders of a generation's race."""


@dataclass(frozen=True)
class ScoreRound(Duty):
    """Say who stays in a race after a round."""

    number: int
    round: int


class SelectIncumbent(GenerationDuty):
    """End a race."""


RacerDuty = StartRace | ScoreRound | SelectIncumbent


class Racer:
    """Owns the races and the incumbent."""

    name: AgentName = "racer"

    def __init__(self, log: EventAppender, source: BlobSource, context: PromptContext) -> None:
        self._log = log
        self._sources = SourceReader(source)
        self._context = context

    def duties(self, state: RunState) -> Sequence[RacerDuty]:
        return duties(state)

    async def perform(self, duty: RacerDuty, state: RunState) -> None:
        observed = await read_sources(state, self._context, self._sources)
        await self._log.append(*decide(state, duty, observed))


async def read_sources(state: RunState, context: PromptContext, sources: SourceReader) -> RaceSources:
    """Return what the contenders of a race are made of."""
    steps = incumbent(state)
    texts = {step.implementation: (await sources.implementation(state, step)).source for step in steps}
    donors: dict[ImplementationId, str] = {}
    rules = state.settings
    drawn = (rules.race_blocks, rules.race_assemblies, rules.race_opening, rules.race_children)
    needs_donors = any(drawn) or rules.screen_functions
    for operator, pool in state.pools.items() if needs_donors else ():
        for name in pool:
            step = p.Step(operator=operator, implementation=name)
            donors[name] = (await sources.implementation(state, step)).source
    screened = () if state.screened is None else state.screened.programs
    for program in (*(row.steps for row in screened), *state.far):
        for step in program:
            texts[step.implementation] = (await sources.implementation(state, step)).source
    return RaceSources(texts, known_contracts(state, context), donors)


def duties(state: RunState) -> tuple[RacerDuty, ...]:
    """Return the next step of the race of the open generation."""
    generation = state.generation
    if state.status != "running" or generation is None:
        return ()
    race = generation.race
    if race is None:
        closed = edits_closed(generation)
        return () if closed is None or not race_is_due(state) else (StartRace(closed, generation.number),)
    if race.selected_seq:
        return ()
    if race.is_decided:
        return (SelectIncumbent(race.round_seq, generation.number),)
    if any(key not in race.outcomes for key in race.awaited()):
        return ()
    return (ScoreRound(race.outcomes_seq, generation.number, race.round),)


def decide(state: RunState, duty: RacerDuty, observed: RaceSources) -> Decision:
    """Return the event that fulfils a duty."""
    payload: Payload
    blobs: tuple[bytes, ...] = ()
    match duty:
        case StartRace():
            screen = _screen(state, duty, observed)
            proposals = _proposals(state, observed, screen)
            payload = _race(state, duty, proposals, is_screen=bool(screen))
            texts = (c.text.source.encode() for proposal in proposals for c in proposal.configured)
            blobs = tuple(dict.fromkeys(texts))
        case ScoreRound():
            standings = _standings(state, open_race(state), observed)
            payload = p.RaceRoundScored(generation=duty.number, round=duty.round, standings=standings)
        case SelectIncumbent():
            payload = _selection(state, duty)
    return Decision((Draft("racer", payload, duty.number, duty.caused_by),), blobs)


# ---------------------------------------------------------------- the start


def _material(state: RunState, observed: RaceSources, *more: int) -> RaceMaterial:
    draws = stream(state.header.seed, "race", open_generation(state).number, *more)
    return RaceMaterial(state, observed.texts, observed.contracts, draws, observed.donors)


def _screen(state: RunState, duty: StartRace, observed: RaceSources) -> list[NewContender]:
    """Return what a screen asks about; nothing where the race is none."""
    return draw_screen(_material(state, observed, 2)) if screen_is_due(state, duty.number) else []


def _proposals(state: RunState, observed: RaceSources, screen: Sequence[NewContender]) -> list[NewContender]:
    return draw_proposals(_material(state, observed), state.settings.race_contenders, screen)


def _race(
    state: RunState, duty: StartRace, proposals: Sequence[NewContender], *, is_screen: bool
) -> p.RaceStarted:
    configurations = {
        c.text.id: p.Configuration(
            implementation=ImplementationId(c.text.id),
            source=blob_digest(c.text.source.encode()),
            parent=c.parent,
            constants=dict(c.constants),
        )
        for proposal in proposals
        for c in proposal.configured
        if ImplementationId(c.text.id) not in state.sources
    }
    rounds, selecting = plan_rounds(state.settings, len(proposals))
    if is_screen:
        rounds, selecting = (state.settings.screen_instances,), 1
    own = p.Contender(move="incumbent", change="", pipeline=incumbent(state))
    others = (p.Contender(move=new.move, change=new.change, pipeline=new.steps) for new in proposals)
    return p.RaceStarted(
        generation=duty.number,
        contenders=(own, *others),
        configurations=tuple(configurations[name] for name in sorted(configurations)),
        instances=race_instances(state, rounds[-1] if rounds else 0),
        rounds=rounds,
        selecting=selecting,
    )


def plan_rounds(settings: RunSettings, contenders: int) -> tuple[tuple[int, ...], int]:
    """Return the instances used up to the end of each round, and how many rounds select.

    The first round has as many instances as the batch, each selecting round `race_growth` times those of the
    one before, at most as many as the finalist meets the incumbent on; that is done in two halves.
    """
    sizes = list[int]()
    left, size = contenders, float(settings.batch_size)
    while left > 1:
        sizes.append(min(math.ceil(size), settings.race_instances))
        left, size = stay_of(left, settings.race_growth), size * settings.race_growth
    rounds = sorted({*sizes})
    selecting = len(rounds)
    if contenders:
        used = rounds[-1] if rounds else 0
        rounds += [used + settings.race_instances // 2, used + settings.race_instances]
    return tuple(rounds), selecting


def race_evaluations(settings: RunSettings, contenders: int) -> int:
    """Return how many evaluations a race takes if no contender leaves it early."""
    rounds, selecting = plan_rounds(settings, contenders)
    left, used, total = contenders, 0, 0
    for number, size in enumerate(rounds):
        total += (1 + left) * (size - used)
        used = size
        if number < selecting:
            left = stay_of(left, settings.race_growth)
    return total


def opening_evaluations(settings: RunSettings) -> int:
    """Return how many evaluations the texts of an opening add to the first race, at most."""
    if not settings.race_contenders:
        return 0
    with_opening = race_evaluations(settings, settings.race_contenders + settings.race_opening)
    return with_opening - race_evaluations(settings, settings.race_contenders)


def mean_race_evaluations(settings: RunSettings) -> int:
    """Return how many evaluations a race takes in the mean if every other one is a screen of as many
    constants as it may ask about, and no contender leaves the others early."""
    each = race_evaluations(settings, settings.race_contenders)
    if not settings.screen_instances or not settings.race_contenders:
        return each
    return (each + (1 + most_programs(settings)) * settings.screen_instances) // 2


def stay_of(left: int, growth: float) -> int:
    """Return how many of `left` contenders stay at most after a selecting round."""
    return max(1, min(left - 1, math.ceil(left / growth)))


def race_instances(state: RunState, count: int) -> tuple[InstanceKey, ...]:
    """Return training instances for a race; all that it may use before any comes again.

    They are stratified: the first few are as evenly spread over the sorted list, which goes by group and
    name, as all are (`spread_order`). Where they begin is drawn.
    """
    draws = stream(state.header.seed, "race", open_generation(state).number, 1)
    keys = instances_to_compare_on(state, draws)
    order = spread_order(len(keys))
    found: list[InstanceKey] = []
    while len(found) < count:
        start = int(draws.integers(len(keys)))
        found += [keys[(start + i) % len(keys)] for i in order]
    return tuple(found[:count])


# ---------------------------------------------------------------- rounds


def _standings(state: RunState, race: RaceState, observed: RaceSources) -> tuple[p.Standing, ...]:
    """Return how all contenders that are left stand, and who of them stays; after a screen nobody does."""
    is_selecting, is_last = race.round < race.selecting, race.round == len(race.rounds) - 1
    trials = race.trials[race.used]
    own, known = _gaps(state, race, 0, trials), evidence(state) if is_selecting else {}
    remembered = _remembered(state, observed) if is_selecting else {}
    rules = state.settings
    found: list[p.Standing] = []
    for contender in race.left:
        gaps = _gaps(state, race, contender, trials)
        worst = -state.settings.failure_reward
        pairs = zip(own, gaps, strict=True)
        gains = [(worst if b is None else b) - (worst if a is None else a) for b, a in pairs]
        program = race.contenders[contender].pipeline
        gains += known.get(program, ())
        mean, p_value = MeanGain(math.fsum(gains) / len(gains), len(gains)), None
        if program in remembered:
            mean = mean.pooled(remembered[program])
        gain = mean.gain
        is_tied = is_selecting and rules.race_ties and not any(gains) and gain == 0.0
        may_be_behind = is_tied or (is_selecting and rules.race_behind == "stay")
        is_behind = gain <= 0.0 and not may_be_behind
        verdict: p.RaceVerdict = "failed" if None in gaps else "behind" if is_behind else "stays"
        if not is_selecting and verdict == "stays":
            p_value = compare_gains(gains).p_value
            verdict = "uncertain" if is_last and p_value > rules.race_error else "stays"
        found.append(
            p.Standing(
                contender=contender,
                gain=None if None in gaps else gain,
                won=sum(g > 0.0 for g in gains),
                lost=sum(g < 0.0 for g in gains),
                p=p_value,
                verdict=verdict,
                pairs=mean.pairs if rules.race_memory or rules.race_shrinkage else None,
            )
        )
    if is_selecting:
        ahead = sorted((-_rank(s, rules), s.contender) for s in found if s.verdict == "stays")
        stay = 0 if race.is_screen else stay_of(len(found), rules.race_growth)
        outranked = {j for _, j in ahead[stay:]}
        left = {"verdict": "outranked"}
        found = [s.model_copy(update=left) if s.contender in outranked else s for s in found]
    return tuple(found)


def _remembered(state: RunState, observed: RaceSources) -> dict[tuple[p.Step, ...], MeanGain]:
    """Return what is known of programs beside their pairs in a race."""
    found = {old.steps: old.gain for old in state.promising}
    advised = after_screen(_material(state, observed)) if state.screened is not None else ()
    for contender, expected in advised:
        found.setdefault(contender.steps, expected)
    return found


def _rank(standing: p.Standing, rules: RunSettings) -> float:
    """Return the mean gain by which contenders are ranked."""
    if standing.gain is None or standing.pairs is None:
        return standing.gain or 0.0
    return MeanGain(standing.gain, standing.pairs).shrunken(rules.race_shrinkage)


def _gaps(
    state: RunState, race: RaceState, contender: int, trials: Sequence[tuple[int, InstanceKey]]
) -> list[float | None]:
    found: list[float | None] = []
    for repeat, key in trials:
        objective = race.outcomes[race.candidate(contender, repeat), key].objective
        known, sense = state.entry(key), state.header.sense
        found.append(
            None if objective is None else normalised_gap(objective, known.reference, sense, known.scale)
        )
    return found


# ---------------------------------------------------------------- the end


def _selection(state: RunState, duty: SelectIncumbent) -> p.IncumbentSelected:
    race = open_race(state)
    winner = race.left[0] if race.left else 0
    steps = race.contenders[winner].pipeline
    return p.IncumbentSelected(
        generation=duty.number,
        contender=winner,
        pipeline=steps,
        pool_changes=_pool_changes(state, steps) if winner else (),
        added_edges=_added_edges(state, steps) if winner else (),
    )


def _pool_changes(state: RunState, steps: Sequence[p.Step]) -> tuple[p.PoolChange, ...]:
    """Return how a winner's implementations join the pools: in the place of what they configure, otherwise
    where there is room."""
    changes: list[p.PoolChange] = []
    pools = {operator: list(pool) for operator, pool in state.pools.items()}
    for step in dict.fromkeys(steps):
        pool, name = pools.get(step.operator), step.implementation
        if pool is None or name in pool:
            continue
        parent: ImplementationId | None = name
        while parent is not None and parent not in pool:
            parent = state.configured.get(parent)
        if parent is None and len(pool) >= state.settings.pool_limit:
            continue
        if parent is not None:
            pool.remove(parent)
        pool.append(name)
        changes.append(p.PoolChange(operator=step.operator, added=name, removed=parent))
    return tuple(changes)


def _added_edges(state: RunState, steps: Sequence[p.Step]) -> tuple[tuple[str, str], ...]:
    """Return the edges of the walk that the graph lacks, where its operators are all in the graph and its
    structure leaves edges free."""
    graph, walk = present_graph(state), [step.operator for step in steps]
    if state.settings.structure != "dg" or not set(walk) <= set(graph.operators):
        return ()
    return tuple(sorted(set(pairwise((START, *walk, END))) - graph.edges))
