"""Solution spaces that the program knows: how a solution is stored, checked, drawn at random and changed.

An operator sees a solution as a :class:`~dga2d.domains.core.contract.State`, a problem's author sees an
array. Each encoding brings its operators, those of the folder that `folder` names.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dga2d.domains.core.contract import State
from dga2d.domains.core.encoding import array_violation, permutation_violation

PREFIX = "solution_"
"""Begins the keys of ``env_data`` that describe the solution space."""
VALUES = "x"
"""Key of ``state.metadata`` that holds a real vector."""


class Encoding(ABC):
    """Base of the solution spaces of one instance."""

    folder: ClassVar[str]
    """Folder of its operators below ``domains/own``."""
    environment_texts: Mapping[str, str]
    """What operators are told of it: key of ``env_data`` → meaning."""
    state_text: str
    """How operators store a solution."""
    move: ClassVar[str]
    """Arguments and meaning of its elementary move."""
    mixes: ClassVar[bool] = False
    """Whether entries of two solutions can be mixed one by one."""

    @abstractmethod
    def environment(self) -> dict[str, Any]:
        """Return the values of `environment_texts`."""

    @abstractmethod
    def violation(self, state: State) -> str | None:
        """Return why `state` is no solution of this space; ``None`` if it is. Never raises."""

    def solution(self, state: State) -> NDArray[Any]:
        """Return the solution in a state that has no violation."""
        return np.array(state.sequence, dtype=np.int32)

    def state(self, solution: ArrayLike) -> State:
        """Return the state that holds a solution."""
        return State(np.array(solution, dtype=np.int32))

    @abstractmethod
    def random(self, rng: np.random.Generator) -> NDArray[Any]:
        """Return a random solution."""

    @abstractmethod
    def move_on(self, solution: NDArray[Any], *arguments: Any) -> None:
        """Make the elementary move in `solution`."""

    def random_move(
        self, solution: NDArray[Any], other: NDArray[Any], rng: np.random.Generator
    ) -> tuple[Any, ...]:
        """Return the arguments of a random move: a position, and its value in another solution."""
        i = int(rng.integers(solution.size))
        return i, other[i].item()

    def neighbour(self, solution: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        """Return a copy of `solution` after one small random change."""
        changed = solution.copy()
        self.move_on(changed, *self.random_move(solution, self.random(rng), rng))
        return changed

    def crossed(self, first: NDArray[Any], second: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        """Return a solution that has of both, or is a copy of one where they cannot be mixed."""
        if self.mixes:
            return np.where(rng.random(first.shape) < 0.5, first, second)
        return (first if rng.random() < 0.5 else second).copy()

    def helpers(self) -> dict[str, Callable[..., Any]]:
        """Return functions for operators, by their keys in ``env_data``; calling them costs no work."""
        return {}


def _size(name: str, n: int) -> int:
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise ValueError(f"{name}: expected a whole number of 1 or more, got {n!r}")
    return int(n)


class _Order(Encoding):
    """Base of the encodings whose elementary move exchanges two entries."""

    folder = "permutation"
    move = "i, j: the entries at positions i and j change places"

    def random_move(
        self, solution: NDArray[Any], other: NDArray[Any], rng: np.random.Generator
    ) -> tuple[Any, ...]:
        i, j = rng.integers(solution.size, size=2).tolist()
        return i, j

    def move_on(self, solution: NDArray[Any], *arguments: Any) -> None:
        i, j = arguments
        solution[i], solution[j] = solution[j], solution[i]


class Permutation(_Order):
    """An order of 0, …, `n` − 1: int32 `(n,)`, each once."""

    environment_texts: Mapping[str, str] = {"solution_size": "int: number n of entries of the order"}
    state_text = "state.sequence: int32 (n,), a permutation of 0..n-1 with n = env_data['solution_size']"

    def __init__(self, n: int) -> None:
        self.n = _size("Permutation", n)

    def environment(self) -> dict[str, Any]:
        return {"solution_size": self.n}

    def violation(self, state: State) -> str | None:
        return permutation_violation(getattr(state, "sequence", None), self.n, "entry")

    def random(self, rng: np.random.Generator) -> NDArray[Any]:
        return rng.permutation(self.n).astype(np.int32)


class Sequence(_Order):
    """An order with repetitions: value v occurs ``counts[v]`` times; int32 `(sum(counts),)`."""

    environment_texts: Mapping[str, str] = {
        "solution_size": "int: number n of places",
        "solution_counts": "int64 (k,): how often value v occurs in every solution",
    }
    state_text = (
        "state.sequence: int32 (n,) with n = env_data['solution_size'], in which value v occurs "
        "env_data['solution_counts'][v] times"
    )

    def __init__(self, counts: Iterable[int]) -> None:
        self.counts = np.array(list(counts), dtype=np.int64)
        if self.counts.ndim != 1 or self.counts.size == 0 or self.counts.min() < 0 or not self.counts.any():
            raise ValueError(f"Sequence: expected how often each value occurs, got {counts!r}")
        self.n = int(self.counts.sum())

    def environment(self) -> dict[str, Any]:
        return {"solution_size": self.n, "solution_counts": self.counts.copy()}

    def violation(self, state: State) -> str | None:
        sequence = getattr(state, "sequence", None)
        if (fault := array_violation(sequence, self.n)) is not None:
            return fault
        found = [0] * self.counts.size
        for value in state.sequence.tolist():
            if not 0 <= value < self.counts.size:
                return f"entry {value} is not in 0..{self.counts.size - 1}"
            found[value] += 1
        for value, (count, wanted) in enumerate(zip(found, self.counts.tolist(), strict=True)):
            if count != wanted:
                return f"entry {value} occurs {count} times, expected {wanted}"
        return None

    def random(self, rng: np.random.Generator) -> NDArray[Any]:
        return rng.permutation(np.repeat(np.arange(self.counts.size), self.counts)).astype(np.int32)


class Assignment(Encoding):
    """A group 0, …, `k` − 1 for each of `n` items: int32 `(n,)`."""

    folder = "assignment"
    environment_texts: Mapping[str, str] = {
        "solution_size": "int: number n of items",
        "solution_groups": "int: number k of groups",
    }
    state_text = (
        "state.sequence: int32 (n,), the group of each item in 0..k-1 with n = env_data['solution_size'] and "
        "k = env_data['solution_groups']"
    )
    move = "i, g: item i goes to group g"
    mixes = True

    def __init__(self, n: int, k: int) -> None:
        self.n, self.k = _size("Assignment", n), _size("Assignment", k)

    def environment(self) -> dict[str, Any]:
        return {"solution_size": self.n, "solution_groups": self.k}

    def violation(self, state: State) -> str | None:
        sequence = getattr(state, "sequence", None)
        if (fault := array_violation(sequence, self.n)) is not None:
            return fault
        outside = [value for value in state.sequence.tolist() if not 0 <= value < self.k]
        return f"group {outside[0]} is not in 0..{self.k - 1}" if outside else None

    def random(self, rng: np.random.Generator) -> NDArray[Any]:
        return rng.integers(self.k, size=self.n).astype(np.int32)

    def move_on(self, solution: NDArray[Any], *arguments: Any) -> None:
        item, group = arguments
        solution[item] = group


class Subset(Encoding):
    """A choice among `n` items: int32 `(n,)` of 0 and 1; of `size` items where that is given."""

    folder = "subset"
    environment_texts: Mapping[str, str] = {
        "solution_size": "int: number n of items",
        "solution_chosen": "int: number of items that every solution chooses; -1 if it may be any",
    }
    state_text = (
        "state.sequence: int32 (n,) with n = env_data['solution_size'], 1 for each chosen item and 0 for the "
        "others; exactly env_data['solution_chosen'] ones unless that is -1"
    )
    move = "i: item i is chosen if it was not, and the other way round"

    def __init__(self, n: int, size: int | None = None) -> None:
        self.n = _size("Subset", n)
        if size is not None and not 0 <= size <= n:
            raise ValueError(f"Subset: expected a size of 0 to {n}, got {size!r}")
        self.size = -1 if size is None else int(size)

    def environment(self) -> dict[str, Any]:
        return {"solution_size": self.n, "solution_chosen": self.size}

    def violation(self, state: State) -> str | None:
        sequence = getattr(state, "sequence", None)
        if (fault := array_violation(sequence, self.n)) is not None:
            return fault
        values = state.sequence.tolist()
        outside = [value for value in values if value not in (0, 1)]
        if outside:
            return f"entry {outside[0]} is not 0 or 1"
        if self.size >= 0 and sum(values) != self.size:
            return f"{sum(values)} items are chosen, expected {self.size}"
        return None

    def random(self, rng: np.random.Generator) -> NDArray[Any]:
        chosen = np.zeros(self.n, np.int32)
        n_chosen = self.size if self.size >= 0 else int(rng.integers(self.n + 1))
        chosen[rng.permutation(self.n)[:n_chosen]] = 1
        return chosen

    def random_move(
        self, solution: NDArray[Any], other: NDArray[Any], rng: np.random.Generator
    ) -> tuple[Any, ...]:
        return (int(rng.integers(solution.size)),)

    def neighbour(self, solution: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        if not 0 < self.size < self.n:
            return super().neighbour(solution, rng) if self.size < 0 else solution.copy()
        changed = solution.copy()
        changed[rng.choice(np.flatnonzero(solution == 1))] = 0
        changed[rng.choice(np.flatnonzero(solution == 0))] = 1
        return changed

    def move_on(self, solution: NDArray[Any], *arguments: Any) -> None:
        (item,) = arguments
        solution[item] = 1 - solution[item]


class RealVector(Encoding):
    """`n` real numbers, number i in ``low[i]`` … ``high[i]`` (one number serves for all): float64 `(n,)`."""

    folder = "real_vector"
    environment_texts: Mapping[str, str] = {
        "solution_size": "int: number n of real numbers",
        "solution_low": "float64 (n,): least value of each",
        "solution_high": "float64 (n,): largest value of each",
    }
    state_text = (
        "state.metadata['x']: float64 (n,) with n = env_data['solution_size'], number i within "
        "env_data['solution_low'][i] and env_data['solution_high'][i]; state.sequence stays empty"
    )
    move = "i, value: number i becomes value"
    mixes = True

    def __init__(self, n: int, low: float | ArrayLike, high: float | ArrayLike) -> None:
        self.n = _size("RealVector", n)
        for name, bound in (("low", low), ("high", high)):
            if np.shape(bound) not in ((), (1,), (self.n,)):
                shape = np.shape(bound)
                raise ValueError(
                    f"RealVector: {name} has the shape {shape}, expected a number or {self.n} of them"
                )
        self.low, self.high = (
            np.ascontiguousarray(np.broadcast_to(np.asarray(bound, np.float64), (self.n,)))
            for bound in (low, high)
        )
        if not (
            np.isfinite(self.low).all() and np.isfinite(self.high).all() and (self.low <= self.high).all()
        ):
            raise ValueError("RealVector: expected finite bounds with low <= high")

    def environment(self) -> dict[str, Any]:
        return {"solution_size": self.n, "solution_low": self.low.copy(), "solution_high": self.high.copy()}

    def violation(self, state: State) -> str | None:
        values = getattr(state, "metadata", {}).get(VALUES)
        if type(values) is not np.ndarray or values.dtype.kind not in "iuf" or values.shape != (self.n,):
            return f"state.metadata['{VALUES}'] is no float array of shape ({self.n},)"
        for i, value in enumerate(values.tolist()):
            if not self.low[i] <= value <= self.high[i]:
                return f"number {i} is {value!r}, not in {float(self.low[i])!r}..{float(self.high[i])!r}"
        return None

    def solution(self, state: State) -> NDArray[Any]:
        return np.array(state.metadata[VALUES], dtype=np.float64)

    def state(self, solution: ArrayLike) -> State:
        return State(None, {VALUES: np.array(solution, dtype=np.float64)})

    def random(self, rng: np.random.Generator) -> NDArray[Any]:
        return self.low + (self.high - self.low) * rng.random(self.n)

    def move_on(self, solution: NDArray[Any], *arguments: Any) -> None:
        i, value = arguments
        solution[i] = value
