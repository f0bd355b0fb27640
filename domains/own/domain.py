"""A problem in one file as a :class:`dga2d.domains.core.contract.Domain`."""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dga2d.domains.core import library as libraries
from dga2d.domains.core.contract import (
    Card,
    Decoder,
    Instance,
    InstanceRef,
    Operator,
    Part,
    PipelineStep,
    Reference,
    State,
    Verdict,
    require_feasible,
)
from dga2d.domains.core.errors import InstanceFormatError, NotOfferedError, PluginError
from dga2d.domains.core.published import list_instances
from dga2d.domains.drawing import Drawing
from dga2d.domains.own.fields import fields_from, read_fields
from dga2d.domains.own.operators import OperatorInFile
from dga2d.domains.own.output import printing_to_stderr, telling_if_slow
from dga2d.domains.own.problem import Fields, Given, Problem, Split
from dga2d.domains.own.score_text import score_and_check, score_text
from dga2d.domains.own.scoring import (
    AUTHORS_ERRORS,
    FROM_THE_FILE,
    INVALID_SCORE,
    PENALTY,
    Scorer,
    fault,
    seen_by_author,
)

if TYPE_CHECKING:
    from dga2d.domains.drawing import Picture

LEAST_INSTANCES = 5
"""Fewest instances that fill training, validation and test when they are drawn."""
TIMED = 3
"""Random solutions whose scores are timed."""
TRIED = 20
"""Most random solutions that are scored when an instance is loaded, until one is valid: mistakes show."""
BASELINES = {
    "permutation": ("random_order", "insertion_descent", "iterated_local_search"),
    "assignment": ("greedy_groups", "move_descent", "iterated_local_search"),
    "subset": ("greedy_choice", "flip_descent", "iterated_local_search"),
    "real_vector": ("random_points", "pattern_search", "iterated_local_search"),
    "arrays": ("random_arrays", "random_descent", "iterated_local_search"),
}
"""Library → initialiser, descent and iterated local search of the baselines."""


class OwnDomain:
    """A domain made of a :class:`Problem`; `name` is that of its file, `own` are the operators in it."""

    invalid_score = INVALID_SCORE
    suffixes = (".json", ".txt", "")

    def __init__(self, problem: Problem, name: str, own: tuple[OperatorInFile, ...] = ()) -> None:
        self.problem, self.name, self.in_file = problem, name, own
        self.sense: Literal["min", "max"] = problem.sense
        if self.sense not in ("min", "max"):
            raise fault(problem, "sense", "", f"is {self.sense!r}; expected 'min' or 'max'")
        meanings: Any = problem.fields
        is_described = isinstance(meanings, Mapping) and all(
            isinstance(text, str) for text in meanings.values()
        )
        if not is_described:
            hint = f"is {meanings!r:.80}; expected a dict: field of an instance → what it means"
            raise fault(problem, "fields", "", hint)

    # -------------------------------------------------------------------- instances

    @cached_property
    def _given(self) -> dict[str, tuple[InstanceRef, Fields]]:
        with printing_to_stderr(), telling_if_slow(f"{self.name}: making the instances"):
            return self._ask_for_instances()

    def _ask_for_instances(self) -> dict[str, tuple[InstanceRef, Fields]]:
        try:
            given = self.problem.instances()
            values = list(_named_values(given))
        except AUTHORS_ERRORS as error:
            raise fault(self.problem, "instances", "", error) from error
        found: dict[str, tuple[InstanceRef, Fields]] = {}
        for part, name, value in values:
            group, _, short = name.rpartition("/")
            key = f"{group or self.name}/{short}"
            fields = fields_from(self.problem, value, key)
            if key in found:
                raise fault(self.problem, "instances", key, "is there twice; give each its own name")
            ref = InstanceRef(self.name, group or self.name, short, None, self._reference(fields, key), part)
            found[key] = ref, fields
        if len(found) < LEAST_INSTANCES and not isinstance(given, Split):
            raise fault(
                self.problem,
                "instances",
                "",
                f"gives {len(found)} instances; at least {LEAST_INSTANCES} are needed to train, validate and "
                "test, or a dga2d.Split that says which is for what"
                + (f". If they are read from files: {FROM_THE_FILE}" if not found else ""),
            )
        return dict(sorted(found.items()))

    def _reference(self, fields: Fields, key: str) -> Reference | None:
        try:
            said = self.problem.reference(seen_by_author(fields))
        except AUTHORS_ERRORS as error:
            raise fault(self.problem, "reference", key, error) from error
        if said is None:
            return None
        is_number = isinstance(said, (int, float, np.integer, np.floating)) and not isinstance(said, bool)
        if not is_number or not abs(said) < INVALID_SCORE:
            raise fault(
                self.problem, "reference", key, f"returned {said!r:.80}; expected None or a finite number"
            )
        return Reference(float(said), "best_known", "the problem's file")

    def generated(self) -> tuple[InstanceRef, ...]:
        """Return the instances of the file, sorted by key."""
        return tuple(ref for ref, _ in self._given.values())

    def published(self, data_dir: Path) -> tuple[InstanceRef, ...]:
        """Return the instances below `data_dir`/<name>."""
        return list_instances(self.name, data_dir / self.name, self.suffixes, needs_table=False)

    def load(self, ref: InstanceRef) -> Instance:
        """Return an instance of the file, or read one; random solutions of it can be scored."""
        if ref.path is None:
            if ref.key not in self._given:
                raise InstanceFormatError(ref.key, None, "has no file and is no instance of the problem")
            fields = self._given[ref.key][1]
        else:
            with printing_to_stderr():
                fields = read_fields(self.problem, ref.path)
        with printing_to_stderr(), telling_if_slow(f"{self.name}: scoring a few solutions of {ref.key}"):
            scorer = Scorer(self.problem, fields, ref.key)
            rng = np.random.default_rng(0)
            tried = (scorer.minimised(scorer.encoding.random(rng)) for _ in range(TRIED))
            any(score < PENALTY for score in tried)  # the score is not asked for what breaks constraints
        return Instance(self.name, ref.group, ref.name, {"scorer": scorer}, ref.reference)

    def _by_size(self) -> list[InstanceRef]:
        def size(ref: InstanceRef) -> tuple[int, str]:
            return sum(np.size(value) for value in vars(self._given[ref.key][1]).values()), ref.key

        refs = [ref for ref, _ in self._given.values()]
        return sorted([ref for ref in refs if ref.part in (None, "train")] or refs, key=size)

    def smoke_instance(self) -> Instance:
        """Return the instance with the least data."""
        return self.load(self._by_size()[0])

    def rehearsal_instance(self) -> Instance:
        """Return an instance of middle size."""
        refs = self._by_size()
        return self.load(refs[len(refs) // 2])

    @cached_property
    def _unit_seconds(self) -> float:
        scorer: Scorer = self.smoke_instance().data["scorer"]
        rng = np.random.default_rng(0)
        with printing_to_stderr(), telling_if_slow(f"{self.name}: timing a few scores"):
            return min(_seconds_of_a_score(scorer, scorer.encoding.random(rng)) for _ in range(TIMED))

    def unit_seconds(self) -> float:
        """Return how long a score of the smallest instance takes at least, in seconds."""
        return self._unit_seconds

    # -------------------------------------------------------------------- what operators see

    def environment(self, instance: Instance) -> dict[str, Any]:
        """Return the fields of the instance and of its solution space."""
        scorer: Scorer = instance.data["scorer"]
        fields = {
            key: np.copy(v) if isinstance(v, np.ndarray) else v for key, v in vars(scorer.fields).items()
        }
        return {**fields, **scorer.encoding.environment()}

    def decoder(self, environment: Mapping[str, Any]) -> Decoder:
        """Return the problem's score as a decoder, which has compiled what it compiles."""
        from dga2d.domains.own.decoder import OwnDecoder  # numba

        with printing_to_stderr():
            decoder = OwnDecoder(self.problem, environment)
            decoder.warm_up()
        return decoder

    @cached_property
    def card(self) -> Card:
        """What proposers are told: the docstring, the score's source, and what the instances hold."""
        scorer: Scorer = self.smoke_instance().data["scorer"]
        encoding, problem = scorer.encoding, self.problem
        text = inspect.cleandoc(type(problem).__doc__ or self.name)
        aim, given = ("small", "the score") if self.sense == "min" else ("large", "minus the score")
        hook = (
            "env_data['score_of_move'](state, score, ...) returns the score that `state`, whose score is "
            f"`score`, would have after a move; its further arguments are {encoding.move}."
        )
        return Card(
            title=text.partition("\n")[0].rstrip("."),
            objective=(
                f"{text}\n\nThe problem's own score is to be as {aim} as possible. Operators always "
                f"minimise: calc_makespan_fn gives {given}."
            ),
            encoding=f"{encoding.state_text}. {hook}",
            decoder=f"The score and what makes a solution invalid, in Python:\n{score_and_check(problem)}",
            score_source=score_text(problem),
            environment={
                **{key: self._describe_value(key, value) for key, value in vars(scorer.fields).items()},
                **encoding.environment_texts,
            },
            constraints=(
                f"A state that is no such array scores {INVALID_SCORE:g}. One that breaks the problem's "
                "constraints scores 1e30 * (1 + amount) where `check` gives an amount."
            ),
        )

    def _describe_value(self, key: str, value: Any) -> str:
        if isinstance(value, np.ndarray):
            kind = f"{value.dtype} array of {value.ndim} dimension{'s' if value.ndim != 1 else ''}"
        else:
            kind = type(value).__name__
        meaning = self.problem.fields.get(key)
        return f"{kind}: {meaning}" if meaning else f"{kind}: field {key!r} of the instance"

    # -------------------------------------------------------------------- operators

    @cached_property
    def _library_name(self) -> str:
        scorer: Scorer = self.smoke_instance().data["scorer"]
        return scorer.encoding.folder

    @property
    def own_operators(self) -> tuple[Operator, ...]:
        """The operators that stand in the problem's file."""
        return tuple(one.operator for one in self.in_file)

    @cached_property
    def _library(self) -> tuple[Operator, ...]:
        library = libraries.load_library(files("dga2d.domains.own") / self._library_name)
        known = {operator.id for operator in library}
        for operator in self.own_operators:
            if operator.id in known:
                reason = f"the solution space brings an operator {operator.id}; give yours another name"
                raise PluginError(operator.implementations[0].origin, None, reason)
        return tuple(sorted((*library, *self.own_operators), key=lambda one: one.id))

    def operators(self) -> tuple[Operator, ...]:
        """Return the operators of the encoding and those of the problem's file, sorted by id."""
        return self._library

    def _pipeline(self, *places: int) -> tuple[PipelineStep, ...]:
        names = BASELINES[self._library_name]
        return libraries.pipeline(self._library, *(names[place] for place in places))

    def safe_baseline(self) -> tuple[PipelineStep, ...]:
        """Return the encoding's initialiser, descent and iterated local search."""
        return self._pipeline(0, 1, 2)

    def basic_baseline(self) -> tuple[PipelineStep, ...]:
        """Return the same: all three are basic."""
        return self._pipeline(0, 1, 2)

    def ils_baseline(self) -> tuple[PipelineStep, ...]:
        """Return the initialiser and the iterated local search."""
        return self._pipeline(0, 2)

    # -------------------------------------------------------------------- solutions

    def verify(self, instance: Instance, state: State) -> Verdict:
        """Check a solution with the encoding's and the problem's own rules, and score it."""
        scorer: Scorer = instance.data["scorer"]
        with printing_to_stderr():
            return scorer.verdict(state)

    def write_solution(self, instance: Instance, state: State) -> str:
        """Return the text that the problem writes."""
        require_feasible(self.verify(instance, state))
        scorer: Scorer = instance.data["scorer"]
        try:
            with printing_to_stderr():
                return str(self.problem.write(scorer.instance, scorer.encoding.solution(state)))
        except AUTHORS_ERRORS as error:
            raise fault(self.problem, "write", instance.key, error) from error

    def picture(self, instance: Instance, state: State) -> Picture:
        """Draw the solution as the problem does; raises NotOfferedError where it does not."""
        if type(self.problem).picture is Problem.picture:
            raise NotOfferedError(self.name, "picture")
        require_feasible(self.verify(instance, state))
        scorer: Scorer = instance.data["scorer"]
        try:
            with printing_to_stderr():
                drawn = self.problem.picture(scorer.instance, scorer.encoding.solution(state))
        except ImportError:
            raise
        except AUTHORS_ERRORS as error:
            raise fault(self.problem, "picture", instance.key, error) from error
        if not isinstance(drawn, Drawing) and not hasattr(drawn, "savefig"):
            hint = f"returned {drawn!r:.80}; expected a Drawing or a figure of matplotlib"
            raise fault(self.problem, "picture", instance.key, hint)
        return drawn

    def cp_sat(self, instance: Instance, time_limit_s: float, seed: int, workers: int = 1) -> State | None:
        """Raise NotOfferedError."""
        raise NotOfferedError(self.name, "model for OR-Tools")


def _seconds_of_a_score(scorer: Scorer, solution: Any) -> float:
    """Return how long it takes to check a solution and, if it is valid, to score it."""
    began = time.perf_counter()
    scorer.minimised(solution)
    return time.perf_counter() - began


def _named_values(
    given: Given | Split,
) -> Iterator[tuple[Part | None, str, Any]]:
    """Yield part, name and value of every instance."""
    if isinstance(given, Split):
        yield from (("train", *pair) for pair in _pairs(given.train, "train"))
        yield from (("validation", *pair) for pair in _pairs(given.validation, "validation"))
        yield from (("test", *pair) for pair in _pairs(given.test, "test"))
    else:
        yield from ((None, *pair) for pair in _pairs(given, "instance"))


def _pairs(given: Given, word: str) -> Iterator[tuple[str, Any]]:
    if isinstance(given, Mapping):
        yield from ((str(name), value) for name, value in given.items())
        return
    listed: Sequence[Any] = list(given)
    width = len(str(len(listed)))
    yield from ((f"{word}{number:0{width}d}", value) for number, value in enumerate(listed, start=1))
