"""Claims that are tried in another process, which broken compiled code may take with it.

:func:`examine_decoder` gives decoder and verifier the same states, valid and broken; :func:`examine_manners`
calls every operator as an evaluation does, and looks at what it leaves behind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.budget import Budget
from dga2d.domains.core.contract import Decoder, Domain, Implementation, Instance, InstanceRef, State
from dga2d.domains.core.plugins import load_again
from dga2d.domains.core.registry import get_domain, loaded_plugin
from dga2d.domains.execution import load_implementation

Arrays: TypeAlias = dict[str, Any]
"""A state as plain arrays: ``sequence`` and the entries of its metadata."""
MUTATIONS_PER_STATE = 12
MANNERS_SEED = 7
READINGS = (3, 12, 40)
"""Times a clock is read before the budget is over."""
LATE_READINGS = 3
"""Times an operator may ask for the budget after it is over."""


@dataclass(frozen=True)
class Place:
    """Where the other process finds the domain."""

    name: str
    plugin: Mapping[str, str] | None

    @classmethod
    def of(cls, domain: Domain) -> Place:
        """The place of a domain that is known by its name."""
        plugin = loaded_plugin(domain.name)
        return cls(domain.name, None if plugin is None else plugin.address())

    def domain(self) -> Domain:
        """The domain, in the process that asks."""
        return get_domain(self.name) if self.plugin is None else load_again(self.plugin)


@dataclass(frozen=True)
class Outcome:
    """What was seen."""

    tried: int
    contradictions: tuple[str, ...]


def arrays_of(state: State) -> Arrays:
    """A state as it is sent to another process."""
    return {"sequence": state.sequence, "metadata": dict(state.metadata)}


def _state(arrays: Arrays) -> State:
    return State(np.array(arrays["sequence"]), {k: np.copy(v) for k, v in arrays["metadata"].items()})


def _instance(domain: Domain, ref: InstanceRef | None) -> Instance:
    return domain.smoke_instance() if ref is None else domain.load(ref)


# -------------------------------------------------------------------- decoder and verifier


def examine_decoder(place: Place, ref: InstanceRef | None, states: Sequence[Arrays]) -> Outcome:
    """Decoder against verifier on `states`, on mutations of them, and on things that are no states.

    `ref` is the instance, ``None`` for the smoke instance.
    """
    domain = place.domain()
    instance = _instance(domain, ref)
    decode = domain.decoder(domain.environment(instance))
    rng = np.random.Generator(np.random.Philox(1))
    tried, wrong, pairs = 0, list[str](), list[tuple[float, float]]()
    for what, state in _specimens(states, rng):
        tried += 1
        shown = f"({instance.key}, {what}: {_shown(state)})"
        try:
            score, verdict = float(decode(state)), domain.verify(instance, state)
        except Exception as error:  # the claim is that nothing is raised
            wrong.append(f"decoder or verifier raises {type(error).__name__}: {error} {shown}")
            continue
        if (score != domain.invalid_score) is not verdict.is_feasible:
            said = f"score {score:g}" if verdict.violation else "no valid state"
            judged = verdict.violation or f"objective {verdict.objective}"
            wrong.append(f"the decoder says {said}, the verifier says {judged} {shown}")
        elif verdict.objective is not None:
            pairs.append((score, verdict.objective))
            if domain.sense == "min" and score != verdict.objective:
                wrong.append(f"score {score:g} is not the objective {verdict.objective:g} {shown}")
        if (verdict.objective is None) is (verdict.violation is None):
            wrong.append(f"the verdict has both objective and violation, or neither {shown}")
    wrong += _misordered(domain, sorted(set(pairs)))
    wrong += _believed_nonsense(domain, instance, decode, states[0])
    return Outcome(tried, tuple(wrong))


def _specimens(states: Sequence[Arrays], rng: np.random.Generator) -> Iterator[tuple[str, State]]:
    for arrays in states:
        yield "a solution", _state(arrays)
        for key in ("sequence", *arrays["metadata"]):
            array = arrays["sequence"] if key == "sequence" else arrays["metadata"][key]
            if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "iu":
                continue
            for what, mutated in _mutations(array, rng):
                state = _state(arrays)
                if key == "sequence":
                    state.sequence = mutated
                else:
                    state.metadata[key] = mutated
                yield f"{what} in {key}", state


def _mutations(array: NDArray[Any], rng: np.random.Generator) -> Iterator[tuple[str, NDArray[Any]]]:
    """Broken and unbroken variants of a one-dimensional integer array."""
    n = array.size
    yield "random order", rng.permutation(array)
    yield "reversed order", array[::-1].copy()
    yield "last entry missing", array[:-1].copy()
    yield "one entry more", np.append(array, array[:1])
    yield "nothing", array[:0].copy()
    if not n:
        return
    yield "all entries equal", np.full_like(array, array[0])
    for value in (-1, int(array.max()) + 1, np.iinfo(np.int32).max, np.iinfo(np.int32).min):
        yield f"an entry {value}", _with(array, int(rng.integers(n)), value)
    for _ in range(MUTATIONS_PER_STATE):
        i, j = rng.integers(n, size=2)
        swapped = array.copy()
        swapped[i], swapped[j] = array[j], array[i]
        yield "two entries exchanged", swapped
        yield "an entry repeated", _with(array, int(i), int(array[j]))
        yield "an entry drawn anew", _with(array, int(i), int(rng.integers(int(array.max()) + 2)))


def _with(array: NDArray[Any], place: int, value: int) -> NDArray[Any]:
    changed = array.copy()
    changed[place] = value
    return changed


def _misordered(domain: Domain, pairs: Sequence[tuple[float, float]]) -> Iterator[str]:
    """Pairs of score and objective that say different things about which solution is better."""
    sign = 1.0 if domain.sense == "min" else -1.0
    for (score, value), (other, worse) in combinations(pairs[:200], 2):
        if (score < other) is not (sign * value < sign * worse):
            yield (
                f"scores {score:g} and {other:g} order two solutions otherwise than their objectives do, "
                f"{value:g} and {worse:g}, which are to be {'min' if sign > 0 else 'max'}imised"
            )
            return


def _believed_nonsense(domain: Domain, instance: Instance, decode: Decoder, start: Arrays) -> Iterator[str]:
    """Things that are no states, though some look like `start`; nobody may believe them or raise."""
    array = np.array(start["sequence"])
    things: dict[str, Any] = {
        "None": None,
        "text": "0123",
        "a list": array.tolist(),
        "floats": array.astype(np.float64),
        "a table": array.reshape(1, -1),
        "an empty array": array[:0],
    }
    for what, thing in things.items():
        try:
            party = "verifier"
            is_believed = domain.verify(instance, State(thing, dict(start["metadata"]))).is_feasible
            if not is_believed:
                party = "decoder"
                is_believed = decode(State(thing, dict(start["metadata"]))) != domain.invalid_score
            if is_believed:
                yield f"the {party} takes {what} for a solution"
        except Exception as error:  # the claim is that nothing is raised
            yield f"the {party} raises {type(error).__name__} when the sequence is {what}: {error}"


def _shown(state: State) -> str:
    entries = [str(entry) for entry in state.sequence.tolist()]
    return "sequence " + " ".join(entries if len(entries) <= 12 else [*entries[:12], "..."])


# -------------------------------------------------------------------- operators' manners


class JumpingClock:
    """Stands still for `readings` readings, then is past every deadline; counts the later readings."""

    def __init__(self, readings: int) -> None:
        self.left = readings
        self.late = 0

    def __call__(self) -> float:
        """The time in seconds."""
        self.left -= 1
        self.late += self.left < 0
        return 0.0 if self.left >= 0 else 1e9


def examine_manners(place: Place, start: Arrays, cache_dir: Path) -> Outcome:
    """Whether operators leave what is not theirs alone and stop when their share is spent.

    `start` is a valid state of the smoke instance; compiled code is found and kept below `cache_dir`.
    """
    domain = place.domain()
    tried, wrong = 0, list[str]()
    for operator in domain.operators():
        for implementation in operator.implementations:
            tried += 1
            given = State() if operator.is_initialiser else _state(start)
            wrong += _manners(domain, implementation, given, cache_dir)
    return Outcome(tried, tuple(wrong))


def _manners(domain: Domain, implementation: Implementation, given: State, cache_dir: Path) -> Iterator[str]:
    run = load_implementation(implementation, cache_dir)
    instance = domain.smoke_instance()
    environment = domain.environment(instance)
    decode = domain.decoder(environment)

    def call(state: State, budget: Budget) -> State:
        rng = np.random.Generator(np.random.Philox(MANNERS_SEED))

        def charged(trial: State) -> float:
            budget.charge(1)
            return decode(trial)

        return run({**environment, "rng": rng, "budget": budget}, state, charged)

    kept = given.copy()
    sequence = given.sequence
    call(State(sequence, dict(given.metadata)), Budget(200, "work", 1))
    if not np.array_equal(sequence, kept.sequence):
        yield f"{implementation.origin} writes into the array it is given; let it work on a copy"
    fresh = domain.environment(instance)
    for key, value in environment.items():
        if not np.array_equal(value, fresh[key]):
            yield f"{implementation.origin} changes env_data[{key!r}], which later operators read"
    for readings in READINGS:
        clock = JumpingClock(readings)
        state = call(kept.copy(), Budget(10.0, "s", 1, clock=clock))
        if clock.late > LATE_READINGS:
            yield f"{implementation.origin} goes on after its share is spent: it asks {clock.late} times more"
        violation = domain.verify(instance, state).violation
        if violation is not None:
            yield f"{implementation.origin} returns a broken state when time is short: {violation}"
