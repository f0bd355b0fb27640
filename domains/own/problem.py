"""What a problem in one file is made of: a class with instances, a score and a solution space."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from dga2d.domains.own.encodings import Encoding

if TYPE_CHECKING:
    from dga2d.domains.drawing import Picture


class Fields:
    """An instance as its problem's functions see it: ``instance["times"]`` and ``instance.times`` alike."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.__dict__.update(fields)

    def __getitem__(self, name: str) -> Any:
        return self.__dict__[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dict__)

    def __len__(self) -> int:
        return len(self.__dict__)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the instance has no {name!r}; it has {', '.join(self)}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name!r} of the instance cannot be changed; keep what you compute elsewhere")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name!r} of the instance cannot be taken away")


Given = Mapping[str, Any] | Sequence[Any]
"""Instances by name, or in a list that names them by their positions."""


@dataclass(frozen=True)
class Split:
    """Instances whose part the author decides; without it they are drawn 60 : 20 : 20."""

    train: Given
    validation: Given
    test: Given


class Problem:
    """Base class of a problem in one file.

    A subclass defines `instances`, `encoding` and `score`; all else is optional. Its docstring tells a
    language model what the problem is about. All methods must be pure: the same arguments, the same answer,
    and the arguments as they were. What they print goes to stderr.

    Examples
    --------
    >>> import dga2d
    >>> class Knapsack(dga2d.Problem):
    ...     '''Choose items of great value that together are not too heavy.'''
    ...
    ...     sense = "max"
    ...
    ...     def instances(self):
    ...         return [{"values": [60, 100, 120], "weights": [1, 2, 3], "capacity": 5}] * 5
    ...
    ...     def encoding(self, instance):
    ...         return dga2d.Subset(len(instance.values))
    ...
    ...     def score(self, instance, chosen):
    ...         return (instance.values * chosen).sum()
    ...
    ...     def check(self, instance, chosen):
    ...         return max(0, (instance.weights * chosen).sum() - instance.capacity)
    """

    sense: ClassVar[Literal["min", "max"]] = "min"
    """Whether the score is to be small or large."""
    fields: ClassVar[Mapping[str, str]] = {}
    """Field of an instance → what it means, with its unit; told to language models."""

    def instances(self) -> Given | Split:
        """Return the instances to evolve on and to test with, at least 5 unless they come in a `Split`.

        An instance is a mapping, a dataclass or an object with attributes; its values are numbers, texts,
        arrays and lists that make arrays.
        """
        raise NotImplementedError

    def encoding(self, instance: Fields) -> Encoding:
        """Return the solution space of an instance."""
        raise NotImplementedError

    def score(self, instance: Fields, solution: Any) -> float:
        """Return the worth of a solution; a finite number."""
        raise NotImplementedError

    def check(self, instance: Fields, solution: Any) -> str | float | None:
        """Return what makes a solution invalid: a sentence, or how much it breaks the constraints.

        ``None``, 0 and an empty text mean that nothing does. A number guides the search back to what is
        valid; a sentence does not.
        """
        return None

    def verify(self, instance: Fields, solution: Any) -> str | None:
        """Return what makes an answer invalid, as a sentence.

        For proofs that are too slow to be asked for every score: the program asks once for each algorithm's
        answer, operators never do.
        """
        return None

    def delta(self, instance: Fields, solution: Any, *move: Any) -> float:
        """Return by how much the encoding's elementary move would change the score of a solution.

        Optional, for problems where that is cheaper than a score. It is not asked for moves whose result
        `check` refuses. `move` is ``i, j`` for orders (two places exchanged), ``i, group`` for assignments,
        ``i`` for subsets, ``i, value`` for real vectors; for `Arrays` the name of a part comes first and its
        own move follows, that of an `Array` being ``i, value`` with `i` in the flat array.
        """
        raise NotImplementedError

    def reference(self, instance: Fields) -> float | None:
        """Return a good known score, which gaps are measured against; ``None`` where there is none."""
        return None

    def picture(self, instance: Fields, solution: Any) -> Picture:
        """Draw a solution: a `Drawing` of `dga2d.domains.drawing`, or a figure of matplotlib.

        Import what draws in here, since scores are computed without it.
        """
        raise NotImplementedError

    def read(self, path: Path) -> Any:
        """Return the instance in a file; by default a JSON object whose members are its fields."""
        return json.loads(path.read_text(encoding="utf-8"))

    def write(self, instance: Fields, solution: Any) -> str:
        """Return the text of a solution file; by default a JSON object with the score and the solution."""
        content = {"score": float(self.score(instance, solution.copy())), "solution": solution.tolist()}
        return json.dumps(content) + "\n"
