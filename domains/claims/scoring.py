"""The claim that decoder and verifier agree on solutions, on broken states, and on what is no state at all.

Compiled code that misses a bound may end its process: try this claim in one of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.claims.examination import Contradictions
from dga2d.domains.core.contract import Decoder, Domain, Instance, State
from dga2d.domains.core.errors import describe_error
from dga2d.domains.core.oracle import MEASURED, with_record

MUTATIONS_PER_STATE = 12
MOST_COMPARED = 200
"""Solutions whose order is compared in pairs, at most."""

BREAKAGES: Mapping[str, Callable[[NDArray[np.int32]], Any]] = {
    "None": lambda good: None,
    "a list": lambda good: good.tolist(),
    "text": lambda good: "0" * good.size,
    "floats": lambda good: good.astype(float),
    "booleans": lambda good: good.astype(bool),
    "objects": lambda good: good.astype(object),
    "an empty array": lambda good: good[:0],
    "a table": lambda good: good.reshape(1, -1),
    "64-bit numbers that wrap around": lambda good: good.astype(np.int64) + 2**32,
    "huge unsigned numbers": lambda good: np.full(good.size, 2**64 - 1, np.uint64),
    "a masked array": np.ma.masked_array,
}
"""Ways in which the sequence of a valid state becomes none."""
DTYPES = ("int8", "int16", "int64", "uint8", "uint64", ">i4")


def scoring_claim(domain: Domain, instance: Instance, states: Sequence[State]) -> Contradictions:
    """Decoder and verifier agree on `states`, on mutations of them, and on things that are no states.

    `states` are solutions of `instance`, one at least.
    """
    decode = domain.decoder(domain.environment(instance))
    rng = np.random.Generator(np.random.Philox(1))
    tried, pairs = 0, list[tuple[float, float]]()
    for what, state in _specimens(states, rng):
        tried += 1
        shown = f"({instance.key}, {what}: {_abbreviate(state)})"
        try:
            score, verdict = float(decode(state)), domain.verify(instance, state)
        except Exception as error:  # the claim is that nothing is raised
            yield f"decoder or verifier raises {describe_error(error)} {shown}"
            continue
        if (score != domain.invalid_score) is not verdict.is_feasible:
            said = f"score {score:g}" if verdict.violation else "no valid state"
            judged = verdict.violation or f"objective {verdict.objective}"
            yield f"the decoder says {said}, the verifier says {judged} {shown}"
        elif verdict.objective is not None:
            pairs.append((score, verdict.objective))
            if domain.sense == "min" and score != verdict.objective:
                yield f"score {score:g} is not the objective {verdict.objective:g} {shown}"
        if (verdict.objective is None) is (verdict.violation is None):
            yield f"the verdict has both objective and violation, or neither {shown}"
    yield from _find_misordered(domain, sorted(set(pairs)))
    yield from _believed_nonsense(domain, instance, decode, states[0])
    yield from _other_layouts(domain, instance, decode, states[0])
    yield from _scribbled_on(domain, instance, states[0])
    return f"{tried} states, broken ones among them"


def _specimens(states: Sequence[State], rng: np.random.Generator) -> Iterator[tuple[str, State]]:
    for given in states:
        yield "a solution", given.copy()
        for key in ("sequence", *given.metadata):
            array = given.sequence if key == "sequence" else given.metadata[key]
            if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "iu":
                continue
            for what, mutated in _mutations(array, rng):
                state = given.copy()
                if key == "sequence":
                    state.sequence = mutated
                else:
                    state.metadata[key] = mutated
                yield f"{what} in {key}", state


def _mutations(array: NDArray[Any], rng: np.random.Generator) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield broken and unbroken variants of a one-dimensional integer array."""
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


def _find_misordered(domain: Domain, pairs: Sequence[tuple[float, float]]) -> Iterator[str]:
    """Yield the first pair of score and objective that say different things about which solution is
    better.
    """
    sign = 1.0 if domain.sense == "min" else -1.0
    for (score, value), (other, worse) in combinations(pairs[:MOST_COMPARED], 2):
        if (score < other) is not (sign * value < sign * worse):
            yield (
                f"scores {score:g} and {other:g} order two solutions otherwise than their objectives do, "
                f"{value:g} and {worse:g}, which are to be {'min' if sign > 0 else 'max'}imised"
            )
            return


def _believed_nonsense(domain: Domain, instance: Instance, decode: Decoder, start: State) -> Iterator[str]:
    """Yield what is wrong with things that are no states: they may be neither believed nor raise."""
    nothing: Any = object()
    if domain.verify(instance, nothing).is_feasible:
        yield "the verifier takes something that is no state for a solution"
    parties: dict[str, Callable[[State], bool]] = {
        "verifier": lambda state: domain.verify(instance, state).is_feasible,
        "decoder": lambda state: decode(state) != domain.invalid_score,
    }
    for what, broken in BREAKAGES.items():
        state = State(broken(start.sequence), dict(start.metadata))
        for party, believes in parties.items():
            try:
                if believes(state):
                    yield f"the {party} takes {what} for a solution"
            except Exception as error:  # the claim is that nothing is raised
                yield f"the {party} raises {describe_error(error)} when the sequence is {what}"


def _other_layouts(domain: Domain, instance: Instance, decode: Decoder, start: State) -> Iterator[str]:
    """Yield where decoder and verifier disagree on the same numbers in arrays of another type or layout."""
    layouts: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
        dtype: partial(np.asarray, dtype=dtype) for dtype in DTYPES
    }
    layouts["strided"] = lambda array: np.repeat(array, 2, axis=-1)[..., ::2]
    layouts["read-only"] = _read_only
    for what, change in layouts.items():
        state = with_arrays(start, change)
        try:
            score, verdict = float(decode(state)), domain.verify(instance, state)
        except Exception as error:  # the claim is that nothing is raised
            yield f"decoder or verifier raises on {what} arrays: {describe_error(error)}"
            continue
        if (score != domain.invalid_score) is not verdict.is_feasible:
            yield f"decoder and verifier do not agree on {what} arrays: {verdict.violation or score}"
        if what in ("strided", "read-only") and score != decode(start):
            yield f"the decoder gives {what} arrays another score"


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    frozen = array.copy()
    frozen.setflags(write=False)
    return frozen


def with_arrays(state: State, change: Callable[[NDArray[Any]], NDArray[Any]]) -> State:
    """Return the same solution with every array of its encoding changed."""
    arrays = {key: change(value) for key, value in state.metadata.items() if isinstance(value, np.ndarray)}
    return State(change(state.sequence), {**state.metadata, **arrays})


def _scribbled_on(domain: Domain, instance: Instance, start: State) -> Iterator[str]:
    """Yield what changes when an operator writes into its environment."""
    environment = domain.environment(instance)
    decode = domain.decoder(environment)
    score, objective = decode(start), domain.verify(instance, start).objective
    for value in environment.values():
        if isinstance(value, np.ndarray):
            value[...] = 0
    if decode(start) != score:
        yield "writing into the environment's arrays changes the decoder's scores; let it keep copies"
    if domain.verify(instance, start).objective != objective:
        yield "writing into the environment's arrays changes the instance; hand out copies"


def measured_claim(domain: Domain, instance: Instance, states: Sequence[State]) -> Contradictions:
    """The verifier takes answers that an oracle measured, and neither broken ones nor such that nobody
    measured."""
    for state in states:
        if not domain.verify(instance, state).is_feasible:
            yield f"the verifier refuses an answer that it took before ({instance.key})"
        if domain.verify(instance, with_record(state, {})).is_feasible:
            yield f"the verifier takes an answer that nobody measured ({instance.key})"
        for what, broken in broken_states(domain, instance, state):
            try:
                if domain.verify(instance, broken).is_feasible:
                    yield f"the verifier takes {what} for an answer"
            except Exception as error:  # the claim is that nothing is raised
                yield f"the verifier raises {describe_error(error)} when the answer is {what}"
    nothing: Any = object()
    if domain.verify(instance, nothing).is_feasible:
        yield "the verifier takes something that is no state for an answer"
    return f"{len(states)} answers, broken ones among them"


def broken_states(domain: Domain, instance: Instance, state: State) -> Iterator[tuple[str, State]]:
    """Yield what is no solution any more: the sequence of a state broken, or its arrays where it has no
    sequence, or the record where what an oracle measured is all of the solution."""
    record = {name: value for name, value in state.metadata.items() if name.startswith(MEASURED)}
    if record and domain.verify(instance, State(state.sequence[:0], dict(record))).is_feasible:
        yield "no record", with_record(state, {})
        for name, value in record.items():
            if isinstance(value, int | float):
                yield f"text as {name}", State(state.sequence, {**state.metadata, name: str(value)})
        return
    arrays = {
        name: value
        for name, value in state.metadata.items()
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and name not in record
    }
    for what, broken in BREAKAGES.items():
        if state.sequence.size or not arrays:
            yield what, State(broken(state.sequence), dict(state.metadata))
        elif what != "floats":
            spoilt = {name: broken(value) for name, value in arrays.items()}
            yield what, State(state.sequence, {**state.metadata, **spoilt})


def _abbreviate(state: State) -> str:
    entries = [str(entry) for entry in state.sequence.tolist()]
    return "sequence " + " ".join(entries if len(entries) <= 12 else [*entries[:12], "..."])
