"""Solution spaces of one's own: arrays by name, each of any shape or one of the built-in spaces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dga2d.domains.core.contract import State
from dga2d.domains.own.encodings import PREFIX, VALUES, Encoding, RealVector
from dga2d.domains.own.problem import Fields

NEAR = 0.1
"""Usual step of a real number in a neighbour, as a part of its range."""


class NamedArrays(Fields):
    """A solution of several arrays: ``solution["shifts"]`` and ``solution.shifts`` alike."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the solution has no {name!r}; it has {', '.join(self)}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in vars(self):
            raise AttributeError(f"the solution has no {name!r}; it has {', '.join(self)}")
        vars(self)[name] = value

    def copy(self) -> NamedArrays:
        """Return a copy whose arrays are copies, too."""
        return NamedArrays({name: values.copy() for name, values in vars(self).items()})

    def tolist(self) -> dict[str, Any]:
        """Return the arrays as lists."""
        return {name: values.tolist() for name, values in vars(self).items()}


class Array(Encoding):
    """Numbers of any shape between bounds, a part of `Arrays`: int64, or float64 with ``dtype=float``.

    `shape` is a number or a tuple; `low` and `high` are included, and are numbers or arrays of that shape.
    """

    environment_texts: Mapping[str, str] = {
        "solution_low": "array of the solution's shape: least value of each entry",
        "solution_high": "array of the solution's shape: largest value of each entry",
    }
    move = "i, value: entry i of the flat array becomes value"
    mixes = True

    def __init__(
        self, shape: int | tuple[int, ...], low: ArrayLike, high: ArrayLike, dtype: type = int
    ) -> None:
        if dtype not in (int, float):
            raise ValueError(f"Array: expected dtype int or float, got {dtype!r}")
        self.dtype: Any = np.int64 if dtype is int else np.float64
        self.low: NDArray[Any]
        self.high: NDArray[Any]
        self.shape = tuple(int(n) for n in np.atleast_1d(shape))
        if not self.shape or min(self.shape) < 1:
            raise ValueError(f"Array: expected a shape of whole numbers of 1 or more, got {shape!r}")
        try:
            bounds = [np.broadcast_to(np.asarray(bound, np.float64), self.shape) for bound in (low, high)]
        except ValueError:
            raise ValueError(f"Array: low and high do not have the shape {self.shape}") from None
        if not (np.isfinite(bounds).all() and (bounds[0] <= bounds[1]).all()):
            raise ValueError("Array: expected finite bounds with low <= high")
        whole = [np.ceil(bounds[0]), np.floor(bounds[1])] if dtype is int else bounds
        self.low, self.high = [np.ascontiguousarray(bound, dtype=self.dtype) for bound in whole]
        self.state_text = f"{np.dtype(self.dtype)} array of {len(self.shape)} dimensions"

    def environment(self) -> dict[str, Any]:
        return {"solution_low": self.low.copy(), "solution_high": self.high.copy()}

    def violation(self, state: State) -> str | None:
        values = getattr(state, "sequence", None)
        kinds = "iu" if self.dtype is np.int64 else "iuf"
        if type(values) is not np.ndarray or values.dtype.kind not in kinds or values.shape != self.shape:
            return f"is no {np.dtype(self.dtype)} array of shape {self.shape}"
        outside = ~((self.low <= values) & (values <= self.high))
        return f"{int(outside.sum())} entries lie outside their bounds" if outside.any() else None

    def solution(self, state: State) -> NDArray[Any]:
        return np.array(state.sequence, dtype=self.dtype)

    def random(self, rng: np.random.Generator) -> NDArray[Any]:
        if self.dtype is np.int64:
            return rng.integers(self.low, self.high, endpoint=True)
        drawn: NDArray[Any] = self.low + (self.high - self.low) * rng.random(self.shape)
        return drawn

    def move_on(self, solution: NDArray[Any], *arguments: Any) -> None:
        i, value = arguments
        solution.reshape(-1)[i] = value

    def random_move(
        self, solution: NDArray[Any], other: NDArray[Any], rng: np.random.Generator
    ) -> tuple[Any, ...]:
        i = int(rng.integers(solution.size))
        return i, other.reshape(-1)[i].item()

    def neighbour(self, solution: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        changed = solution.copy()
        flat, i = changed.reshape(-1), int(rng.integers(changed.size))
        low, high = self.low.reshape(-1)[i], self.high.reshape(-1)[i]
        if self.dtype is np.float64:
            flat[i] = min(max(flat[i] + NEAR * (high - low) * rng.normal(), low), high)
        elif rng.random() < 0.5:
            flat[i] = min(max(flat[i] + (1 if rng.random() < 0.5 else -1), low), high)
        else:
            flat[i] = rng.integers(low, high, endpoint=True)
        return changed


class Arrays(Encoding):
    """A solution of several arrays by name, each an `Array` or one of the built-in spaces.

    Examples
    --------
    >>> import dga2d
    >>> space = dga2d.Arrays(
    ...     shifts=dga2d.Array((7, 5), 0, 3), first=dga2d.Permutation(5), hours=dga2d.RealVector(5, 0, 8)
    ... )
    >>> space.random(np.random.default_rng(0)).shifts.shape
    (7, 5)
    """

    folder = "arrays"
    move = "name, ...: the elementary move of the part of that name"

    def __init__(self, **parts: Encoding) -> None:
        if not parts:
            raise ValueError("Arrays: expected at least one array by name")
        for name, part in parts.items():
            if not isinstance(part, Encoding) or isinstance(part, Arrays):
                raise ValueError(f"Arrays: {name} is {part!r:.60}; expected an Array or a built-in space")
        self.parts = parts
        self.environment_texts = {
            _key(name, key): f"part {name!r}: {text}"
            for name, part in parts.items()
            for key, text in part.environment_texts.items()
        }
        self.state_text = (
            "A solution has several arrays; state.sequence stays empty. "
            + "; ".join(
                f"state.metadata[{name!r}]: {_describe_part(name, part)}" for name, part in parts.items()
            )
            + ". env_data['solution_random'](rng) returns a random state, env_data['solution_neighbour']"
            "(state, rng) a new state after one small random change, env_data['solution_crossed'](state, "
            "other, rng) a new state mixed of two; none of the three costs work"
        )

    def environment(self) -> dict[str, Any]:
        return {
            _key(name, key): value
            for name, part in self.parts.items()
            for key, value in part.environment().items()
        }

    def violation(self, state: State) -> str | None:
        metadata = getattr(state, "metadata", {})
        for name, part in self.parts.items():
            if (fault := part.violation(alone(part, metadata.get(name)))) is not None:
                return f"part {name!r}: {fault}"
        return None

    def solution(self, state: State) -> Any:
        return NamedArrays(
            {name: part.solution(alone(part, state.metadata[name])) for name, part in self.parts.items()}
        )

    def state(self, solution: Any) -> State:
        return State(None, {name: np.array(solution[name]) for name in self.parts})

    def random(self, rng: np.random.Generator) -> Any:
        return NamedArrays({name: part.random(rng) for name, part in self.parts.items()})

    def move_on(self, solution: Any, *arguments: Any) -> None:
        name, *move = arguments
        self.parts[name].move_on(solution[name], *move)

    def random_move(self, solution: Any, other: Any, rng: np.random.Generator) -> tuple[Any, ...]:
        name = self._any_part(rng)
        return name, *self.parts[name].random_move(solution[name], other[name], rng)

    def neighbour(self, solution: Any, rng: np.random.Generator) -> Any:
        name, changed = self._any_part(rng), solution.copy()
        vars(changed)[name] = self.parts[name].neighbour(changed[name], rng)
        return changed

    def crossed(self, first: Any, second: Any, rng: np.random.Generator) -> Any:
        return NamedArrays(
            {name: part.crossed(first[name], second[name], rng) for name, part in self.parts.items()}
        )

    def helpers(self) -> dict[str, Callable[..., Any]]:
        return {
            "solution_random": lambda rng: self.state(self.random(rng)),
            "solution_neighbour": lambda state, rng: self.state(self.neighbour(self.solution(state), rng)),
            "solution_crossed": lambda state, other, rng: self.state(
                self.crossed(self.solution(state), self.solution(other), rng)
            ),
        }

    def _any_part(self, rng: np.random.Generator) -> str:
        """Return a random part, one with more numbers more often."""
        sizes = np.array([part.random(np.random.default_rng(0)).size for part in self.parts.values()])
        return list(self.parts)[int(rng.choice(sizes.size, p=sizes / sizes.sum()))]


def alone(part: Encoding, values: Any) -> State:
    """Return the state that holds the values of a part as if it were the whole solution; never raises."""
    return State(None, {VALUES: values}) if isinstance(part, RealVector) else State(values)


def _key(name: str, key: str) -> str:
    return f"{PREFIX}{name}_{key.removeprefix(PREFIX)}"


def _describe_part(name: str, part: Encoding) -> str:
    text = part.state_text.partition(": ")[2] or part.state_text
    return text.partition("; state.sequence")[0].replace(f"'{PREFIX}", f"'{PREFIX}{name}_")
