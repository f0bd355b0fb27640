"""Fold handlers for the races around the incumbent, for validations, and the checkpoint that they select."""

from __future__ import annotations

from immutables import Map

from dga2d.events import InstanceKey, RecordedEvent, instance_and_copy
from dga2d.events import payloads as p
from dga2d.replay.state.generation_state import MeanGain, RaceState, ValidationState, closed_round
from dga2d.replay.state.graph import END, START, structure_violation
from dga2d.replay.state.handler import folds, open_generation, replace, require
from dga2d.replay.state.outcomes import BestMet
from dga2d.replay.state.run_state import (
    Champion,
    MoveRecord,
    Promising,
    RunState,
    ScoredProgram,
    Screened,
    ScreenedProgram,
    TriedConstant,
    program_key,
)

FAR = 24
"""Programs that are kept because they went far; several may have a text in common."""


def _open_race(state: RunState, event: RecordedEvent, number: int) -> RaceState:
    race = require(open_generation(state, event, number).race, event, "no race is open")
    require(not race.selected_seq, event, "the race is over")
    return race


@folds(p.RaceStarted)
def _race_started(state: RunState, event: RecordedEvent, payload: p.RaceStarted) -> RunState:
    generation = open_generation(state, event, payload.generation)
    require(generation.basis, event, "the credits have not been updated")
    require(generation.race is None, event, "the generation has had its race")
    require(generation.validation is None, event, "the generation is being validated")
    for new in payload.configurations:
        parent = require(state.operator_of.get(new.parent), event, f"{new.parent} is not known")
        require(new.implementation not in state.sources, event, f"{new.implementation} is known already")
        require(new.implementation.startswith(f"{parent}."), event, f"{new.implementation} belongs elsewhere")
        state = replace(
            state,
            sources=state.sources.set(new.implementation, new.source),
            operator_of=state.operator_of.set(new.implementation, parent),
            configured=state.configured.set(new.implementation, new.parent)
            if new.constants
            else state.configured,
        )
    pipelines = [contender.pipeline for contender in payload.contenders]
    known = all(
        state.operator_of.get(step.implementation) == step.operator for steps in pipelines for step in steps
    )
    require(pipelines and all(pipelines) and known, event, "a contender uses an unknown implementation")
    train = {entry.key for entry in state.header.splits.train}
    require(set(payload.instances) <= train, event, "an instance is not of the training split")
    sizes = payload.rounds
    grows = list(sizes) == sorted({*sizes}) and (sizes[-1] if sizes else 0) == len(payload.instances)
    require(grows and all(size > 0 for size in sizes), event, "the rounds do not fit the instances")
    require(0 <= payload.selecting <= len(sizes), event, "more rounds select than there are")
    race = RaceState(
        event.seq,
        payload.contenders,
        payload.instances,
        sizes,
        payload.selecting,
        tuple(range(1, len(pipelines))),
        payload.configurations,
        round_seq=event.seq,
    )
    return replace(state, generation=replace(generation, race=race))


@folds(p.RaceRoundScored)
def _race_round_scored(state: RunState, event: RecordedEvent, payload: p.RaceRoundScored) -> RunState:
    race = _open_race(state, event, payload.generation)
    require(not race.is_decided and payload.round == race.round, event, "the round is not under way")
    missing = any(key not in race.outcomes for key in race.awaited())
    require(not missing, event, "evaluations of the round are missing")
    require(
        tuple(standing.contender for standing in payload.standings) == race.left,
        event,
        "one standing per contender that is left",
    )
    if race.is_screen:
        gains = [(race.contenders[s.contender], s.gain) for s in payload.standings]
        rows = tuple(ScreenedProgram(c.pipeline, gain) for c, gain in gains if c.move != "code")
        state = replace(state, screened=Screened(race.contenders[0].pipeline, rows, len(race.instances)))
    elif race.round == 0:
        state = _with_first_round(state, race, payload.standings)
    left = tuple(s.contender for s in payload.standings if s.verdict == "stays")
    later = payload.standings if race.round else ()
    outranked = [s for s in later if s.verdict == "outranked" and (s.gain or 0.0) > 0.0]
    race = replace(
        race,
        outranked=tuple(s.contender for s in sorted(outranked, key=lambda s: (-(s.gain or 0.0), s.contender)))
        + race.outranked,
        found=race.found_with(payload.standings),
        round=max(race.round + 1, race.selecting if len(left) == 1 else 0),
        round_seq=event.seq,
        left=left,
        standings=payload.standings,
    )
    return replace(state, generation=replace(open_generation(state, event, payload.generation), race=race))


def _with_first_round(state: RunState, race: RaceState, standings: tuple[p.Standing, ...]) -> RunState:
    """Return the state with the records of moves and constants that later races draw from."""
    moves, tried = state.moves, list(state.tried_constants)
    configurations = {new.implementation: new for new in race.configurations}
    for standing in standings:
        contender, stayed = race.contenders[standing.contender], standing.verdict == "stays"
        is_ahead = stayed and (standing.gain or 0.0) > 0.0
        record = moves.get(contender.move, MoveRecord())
        record = MoveRecord(record.entered + 1, record.stayed + stayed, record.ahead + is_ahead)
        moves = moves.set(contender.move, record)
        for step in contender.pipeline:
            if (new := configurations.get(step.implementation)) is not None:
                name = state.unconfigured(new.parent)
                tried += [
                    TriedConstant(name, constant, float(value), stayed)
                    for constant, value in sorted(new.constants.items())
                    if isinstance(value, int | float)
                ]
    return replace(state, moves=moves, tried_constants=tuple(tried))


@folds(p.IncumbentSelected)
def _incumbent_selected(state: RunState, event: RecordedEvent, payload: p.IncumbentSelected) -> RunState:
    race = _open_race(state, event, payload.generation)
    require(race.is_decided, event, "the race is not decided")
    require(payload.contender in (0, *race.left), event, "the contender has left the race")
    selected = race.contenders[payload.contender]
    require(payload.pipeline == selected.pipeline, event, "the contender is another program")
    state = _with_edges(state, event, payload.added_edges)
    for change in payload.pool_changes:
        state = _with_pool_change(state, event, change)
    if payload.contender:
        champion = Champion(payload.generation, selected.move, payload.pipeline)
    else:
        champion = state.champion or Champion(0, selected.move, payload.pipeline)
    ahead = next((s.contender for s in race.standings if s.verdict == "uncertain"), None)
    runners_up = race.outranked[: state.settings.race_returns]
    promising = _promising(state, race, payload) if state.settings.race_memory else ()
    going_on = {ahead, payload.contender, *runners_up}
    to_meet = {old.steps for old in promising}
    lost = [c for j, c in enumerate(race.contenders) if j not in going_on and c.pipeline not in to_meet]
    if race.is_screen:  # what is to return has not raced, and what it asked about has not lost
        lost = [c for c in lost if c.move == "code"]
    else:
        state = replace(
            state,
            finalist=() if ahead is None or payload.contender else race.contenders[ahead].pipeline,
            runners_up=tuple(race.contenders[j].pipeline for j in runners_up),
            outrun=race.contenders[0].pipeline,
            screened=None,
            far=_far(state, race, payload) if state.settings.race_children else (),
        )
    generation = open_generation(state, event, payload.generation)
    race = replace(race, selected_seq=event.seq, winner=payload.contender)
    return replace(
        state,
        champion=champion,
        promising=promising,
        raced=state.raced | {program_key(c.pipeline) for c in lost},
        solved=_solved_instances(state, race),
        best_met=_best_met(state, race) if state.settings.tells_races else state.best_met,
        generation=replace(generation, race=race),
    )


def _far(state: RunState, race: RaceState, payload: p.IncumbentSelected) -> tuple[tuple[p.Step, ...], ...]:
    """Return the incumbent and the programs that went beyond the first round of this race or of one before,
    the latest race first, and of one race the best."""
    ahead = (race.contenders[s.contender].pipeline for s in race.standings if s.verdict == "uncertain")
    outranked = (race.contenders[j].pipeline for j in race.outranked)
    return tuple(dict.fromkeys((payload.pipeline, *ahead, *outranked, *state.far)))[:FAR]


def _promising(state: RunState, race: RaceState, payload: p.IncumbentSelected) -> tuple[Promising, ...]:
    """Return the programs with new code that are ahead of the incumbent, as they are to be met again.

    What they change of one that has lost its place is put into the winner.
    """
    before = race.contenders[0].pipeline
    raced = {contender.pipeline for contender in race.contenders}
    known = {old.steps for old in state.promising}
    found = [old for old in state.promising if old.steps not in raced]
    for number, contender in enumerate(race.contenders):
        is_new_code = contender.move == "code" or contender.pipeline in known
        if number != payload.contender and is_new_code:
            gain = race.gain_of(number)
            if gain is not None and gain.gain > 0.0:
                found.append(Promising(contender.pipeline, gain))
    if before == payload.pipeline:
        return tuple(found)
    moved = dict[tuple[p.Step, ...], Promising]()
    for old in found:
        new = _beside(old, before, payload.pipeline)
        if new is not None and new.steps != payload.pipeline:
            moved.setdefault(new.steps, new)
    return tuple(moved.values())


def _beside(promising: Promising, before: tuple[p.Step, ...], after: tuple[p.Step, ...]) -> Promising | None:
    """Return a program that was ahead of the incumbent `before` as a change of the one `after`, without pairs
    where both change the same position; ``None`` where their lengths differ."""
    if not len(promising.steps) == len(before) == len(after):
        return None
    positions = list(zip(promising.steps, before, after, strict=True))
    steps = tuple(new if new != old else now for new, old, now in positions)
    is_apart = all(new == old or old == now for new, old, now in positions)
    return Promising(steps, promising.gain if is_apart else MeanGain(0.0, 0))


def _solved_instances(state: RunState, race: RaceState) -> frozenset[InstanceKey]:
    """Return the training instances that are known to be solved after a race whose winner is known.

    A reference that the safe baseline reached, or one of a score, may be surpassed.
    """
    if state.settings.solved_share == 1.0:
        return state.solved
    found: dict[InstanceKey, bool] = {}
    for repeat, key in race.trials:
        if (outcome := race.outcomes.get((race.candidate(race.winner, repeat), key))) is not None:
            entry = state.entry(key)
            is_best_known = entry.scale is None and entry.origin is None
            is_solved = is_best_known and outcome.objective == entry.reference
            found[key] = is_solved and found.get(key, True)
    return (state.solved - found.keys()) | {key for key, is_solved in found.items() if is_solved}


def _best_met(state: RunState, race: RaceState) -> Map[InstanceKey, BestMet]:
    """Return the best objectives after a race, with its incumbent's."""
    is_min, found = state.header.sense == "min", dict(state.best_met)
    for contender in range(len(race.contenders)):
        for repeat, key in race.trials:
            outcome = race.outcomes.get((race.candidate(contender, repeat), key))
            if outcome is not None and (objective := outcome.objective) is not None:
                best = found.get(key)
                if best is None:
                    found[key] = BestMet(objective)
                else:
                    found[key] = best.after(objective, (objective < best.objective) == is_min)
    return Map(found)


def _with_edges(state: RunState, event: RecordedEvent, added: tuple[p.Edge, ...]) -> RunState:
    if not added:
        return state
    before = require(state.graph, event, "there is no graph yet")
    sources, targets = {START, *before.operators}, {END, *before.operators}
    require(all(s in sources and t in targets for s, t in added), event, "an edge leads out of the graph")
    require(not set(added) & before.edges, event, "an added edge is in the graph already")
    graph = before.edit((), added)
    broken = structure_violation(graph.edges, state.settings.structure)
    require(broken is None, event, "the structure would be lost")
    return replace(state, graph=graph, graph_seq=event.seq)


def _with_pool_change(state: RunState, event: RecordedEvent, change: p.PoolChange) -> RunState:
    pool = require(state.pools.get(change.operator), event, f"{change.operator} is not in the graph")
    require(change.added not in pool, event, f"{change.added} is in the pool already")
    belongs = state.operator_of.get(change.added) == change.operator
    require(belongs, event, f"{change.added} belongs elsewhere")
    credits = state.credits
    if change.removed is None:
        require(len(pool) < state.settings.pool_limit, event, "the pool is full")
    else:
        require(change.removed in pool, event, f"{change.removed} is not in the pool of {change.operator}")
        credits = credits.replace_implementation(change.removed, change.added)
    kept = tuple(sorted({*pool, change.added} - {change.removed}))
    return replace(state, pools=state.pools.set(change.operator, kept), credits=credits)


@folds(p.ValidationStarted)
def _validation_started(state: RunState, event: RecordedEvent, payload: p.ValidationStarted) -> RunState:
    generation = open_generation(state, event, payload.generation)
    require(generation.validation is None, event, "the generation was validated before")
    known = {entry.key for entry in state.header.splits.validation}
    require(
        payload.instances
        and all(known.intersection((k, instance_and_copy(k)[0])) for k in payload.instances),
        event,
        "an instance is not of the validation split",
    )
    return replace(
        state,
        generation=replace(generation, validation=ValidationState(event.seq, payload.instances)),
    )


@folds(p.PipelinesDecoded)
def _pipelines_decoded(state: RunState, event: RecordedEvent, payload: p.PipelinesDecoded) -> RunState:
    generation = open_generation(state, event, payload.generation)
    validation = require(generation.validation, event, "no validation waits for pipelines")
    require(validation.pipelines is None, event, "no validation waits for pipelines")
    known = all(
        state.operator_of.get(step.implementation) == step.operator
        for steps in payload.pipelines
        for step in steps
    )
    require(payload.pipelines and known, event, "a decoded pipeline uses an unknown implementation")
    validation = replace(validation, pipelines=payload.pipelines, decoded_seq=event.seq)
    return replace(state, generation=replace(generation, validation=validation))


@folds(p.ChallengersCompared)
def _challengers_compared(state: RunState, event: RecordedEvent, payload: p.ChallengersCompared) -> RunState:
    generation = open_generation(state, event, payload.generation)
    validation = require(generation.validation, event, "no validation is open")
    require(state.settings.pools_validations, event, "validations are not pooled")
    require(validation.comparison is None, event, "the pipelines were compared before")
    rows = (*payload.comparisons, *(payload.over_baseline or ()))
    numbers = {*payload.better, payload.checkpoint, *(row.candidate for row in rows)}
    known = range(len(validation.pipelines or ()))
    require(all(number in known for number in numbers), event, "no such validated pipeline")
    require(0.0 <= payload.error < 1.0, event, "its error rate is no probability")
    validation = replace(validation, comparison=payload)
    return replace(state, generation=replace(generation, validation=validation))


@folds(p.ValidationScored)
def _validation_scored(state: RunState, event: RecordedEvent, payload: p.ValidationScored) -> RunState:
    generation = open_generation(state, event, payload.generation)
    validation = require(generation.validation, event, "no validation is open")
    pipelines = require(validation.pipelines, event, "evaluations of the validation are missing")
    needed = len(pipelines) * len(validation.instances)
    require(len(validation.outcomes) == needed, event, "evaluations of the validation are missing")
    require(validation.scores is None, event, "the validation was scored before")
    require(len(payload.scores) == len(pipelines), event, "one score per pipeline")
    validated = state.validated
    if state.settings.pools_validations:
        validated = (*validated, closed_round(generation.number, validation))
    validation = replace(validation, scores=payload.scores, scored_seq=event.seq)
    return replace(state, validated=validated, generation=replace(generation, validation=validation))


@folds(p.CheckpointSelected)
def _checkpoint_selected(state: RunState, event: RecordedEvent, payload: p.CheckpointSelected) -> RunState:
    open_generation(state, event, payload.generation)
    former = state.checkpoint
    if state.settings.compares_checkpoints_by_pairs:
        is_second = former is not None and former.generation == payload.generation
        require(not is_second, event, "the validation selected a checkpoint before")
    else:
        is_better = former is None or payload.score > former.score
        require(is_better, event, "the checkpoint is no better than the one before")
    checkpoint = ScoredProgram(payload.generation, -1, payload.score, payload.pipeline)
    return replace(
        state,
        checkpoint=checkpoint,
        checkpoint_seq=event.seq,
        checkpoint_updates=payload.policy_updates,
    )
