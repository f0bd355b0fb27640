"""Decoder and verifier against the card's decoder in plain Python, as classes that domains' tests inherit.

They try the claims of :mod:`dga2d.domains.claims`, too. A domain describes its instances in a :class:`Scored`
and derives one class, whose name ends in ``Claims``, from :class:`SequenceScoring` or :class:`ShopScoring`.
"""

from __future__ import annotations

import ast
import inspect
import tracemalloc
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.domains.library_claims import Size, arrays_of, shops

from dga2d.domains.claims import (
    cp_sat_claim,
    examine,
    picture_claim,
    scoring_claim,
    solver_functions_claim,
    writing_claim,
)
from dga2d.domains.claims.scoring import DTYPES, with_arrays
from dga2d.domains.core.contract import Domain, Instance, State

SEEDS = st.integers(0, 2**32 - 1)
INT32 = st.integers(-(2**31), 2**31 - 1)
INHERITED = [HealthCheck.differing_executors]
"""Off: the class of every domain runs the same test on a specimen of its own."""

Break = Callable[[NDArray[np.int32]], Any]


@dataclass(frozen=True, kw_only=True)
class Scored:
    """What the decoder and the verifier of a domain are tried on."""

    domain: Domain
    verifier: ModuleType
    make_instance: Callable[[Size, int], Instance]
    """A random instance of a size, from a seed."""
    random_state: Callable[[Instance, int], State]
    """A random valid solution, from a seed."""
    plain_score: Callable[[Instance, State], float]
    """The card's decoder in plain Python, also for broken states."""
    sizes: st.SearchStrategy[Size]
    middle: Size
    """A size with at least eight entries."""
    highest: int
    """About the largest entry of a sequence of those sizes."""
    large: Callable[[], Instance]
    """An instance whose work arrays would be seen in the memory that a call takes."""
    most_bytes: int = 500
    """What one call may take."""
    breakages: Mapping[str, Break] = field(default_factory=dict)
    """Ways in which a sequence of the smoke instance becomes invalid in this domain."""
    other_integers: bool = True
    """Whether sequences of other integer types than int32 are taken."""

    def objective(self, score: float) -> float | None:
        """What the verifier must say where the plain decoder gives `score`."""
        if score == self.domain.invalid_score:
            return None
        return -score if self.domain.sense == "max" else score

    def agree(self, instance: Instance, state: State) -> None:
        """Assert that decoder, plain decoder and verifier say the same of `state`."""
        expected = self.plain_score(instance, state)
        assert self.domain.decoder(self.domain.environment(instance))(state) == expected
        verdict = self.domain.verify(instance, state)
        assert verdict.objective == self.objective(expected)
        assert verdict.is_feasible is (expected != self.domain.invalid_score)

    def smoke(self, seed: int) -> tuple[Instance, State]:
        """The smoke instance and a valid solution of it."""
        instance = self.domain.smoke_instance()
        return instance, self.random_state(instance, seed)


@dataclass(frozen=True, kw_only=True)
class ScoredShop(Scored):
    """What the verifier of a shop is tried on besides."""

    make_busy_instance: Callable[[Size, int], Instance]
    """A random instance in which every operation takes time."""
    schedule: Callable[[Instance, NDArray[Any]], NDArray[Any]]
    """The verifier's start times of a sequence."""
    violation: Callable[[Instance, NDArray[Any]], str | None]
    """What the verifier finds wrong with start times."""


def scored_shop(
    domain: Domain, verifier: ModuleType, specimens: ModuleType, arrays: tuple[str, ...], **rest: Any
) -> ScoredShop:
    """What shops have in common; the verifier's functions begin with the instance's `arrays`."""

    def arrays_of_instance(instance: Instance) -> list[Any]:
        return [instance.data[name] for name in arrays]

    return ScoredShop(
        domain=domain,
        verifier=verifier,
        make_instance=shops(specimens.random_instance),
        make_busy_instance=lambda size, seed: specimens.random_instance(*size, seed, low=1),
        random_state=lambda instance, seed: State(specimens.random_sequence(instance, seed)),
        plain_score=lambda instance, state: specimens.plain_makespan(instance, state.sequence),
        sizes=st.tuples(st.integers(1, 7), st.integers(1, 6)),
        middle=(6, 5),
        schedule=lambda instance, sequence: verifier.schedule(*arrays_of_instance(instance), sequence),
        violation=lambda instance, starts: verifier.schedule_violation(*arrays_of_instance(instance), starts),
        **rest,
    )


def claims_hold(domain: Domain, random_state: Callable[[Instance, int], State]) -> None:
    """Assert the claims about scoring and outputs on the smoke instance."""
    instance = domain.smoke_instance()
    states = [random_state(instance, seed) for seed in range(3)]
    for claim in (scoring_claim, writing_claim, solver_functions_claim):
        assert examine(claim, domain, instance, states).contradictions == ()
    assert examine(picture_claim, domain, instance, states[0]).contradictions == ()


class SequenceScoring:
    """Decoder, plain decoder and verifier agree, and the first two keep to themselves."""

    specimen: ClassVar[Scored]

    @settings(max_examples=30, deadline=None, suppress_health_check=INHERITED)
    @given(seed=SEEDS, data=st.data())
    def test_decoder_plain_decoder_and_verifier_agree_on_valid_states(
        self, seed: int, data: st.DataObject
    ) -> None:
        instance = self.specimen.make_instance(data.draw(self.specimen.sizes), seed)
        state = self.specimen.random_state(instance, seed)
        assert self.specimen.plain_score(instance, state) != self.specimen.domain.invalid_score
        self.specimen.agree(instance, state)

    @settings(max_examples=50, deadline=None, suppress_health_check=INHERITED)
    @given(seed=SEEDS, data=st.data())
    def test_all_three_agree_on_mutated_states(self, seed: int, data: st.DataObject) -> None:
        """One entry is another number, or two have changed places."""
        instance = self.specimen.make_instance(data.draw(self.specimen.sizes), seed)
        state = self.specimen.random_state(instance, seed)
        entries = data.draw(st.sampled_from(list(arrays_of(state).values()))).reshape(-1)
        where, other = (data.draw(st.integers(0, entries.size - 1)) for _ in range(2))
        if data.draw(st.booleans()):
            entries[[where, other]] = entries[[other, where]]
        else:
            entries[where] = data.draw(st.integers(-2, self.specimen.highest + 2) | INT32)
        self.specimen.agree(instance, state)

    @settings(max_examples=25, deadline=None, suppress_health_check=INHERITED)
    @given(seed=SEEDS)
    def test_a_decoder_used_again_and_again_agrees_with_the_plain_one(self, seed: int) -> None:
        """Ten states through one decoder, every third of them changed: nothing is left over from a call."""
        instance = self.specimen.make_instance(self.specimen.middle, seed)
        decode = self.specimen.domain.decoder(self.specimen.domain.environment(instance))
        for k in range(10):
            state = self.specimen.random_state(instance, seed + k)
            if k % 3 == 1:
                changed = k % state.sequence.size
                state.sequence[changed] = (state.sequence[changed] + 1) % (state.sequence.max() + 1)
            assert decode(state) == self.specimen.plain_score(instance, state)

    def test_decoding_allocates_no_arrays(self) -> None:
        instance = self.specimen.large()
        decode = self.specimen.domain.decoder(self.specimen.domain.environment(instance))
        state = self.specimen.random_state(instance, 0)
        decode(state)
        peaks = []
        tracemalloc.start()
        try:
            for _ in range(3):  # an interpreter keeps something from first calls
                before = tracemalloc.get_traced_memory()[0]
                tracemalloc.reset_peak()
                decode(state)
                peaks.append(tracemalloc.get_traced_memory()[1] - before)
        finally:
            tracemalloc.stop()
        assert min(peaks) < self.specimen.most_bytes

    def test_the_claims_about_scoring_and_outputs_hold(self) -> None:
        claims_hold(self.specimen.domain, self.specimen.random_state)

    @pytest.mark.slow
    def test_the_claim_about_or_tools_holds(self) -> None:
        domain = self.specimen.domain
        assert examine(cp_sat_claim, domain, domain.smoke_instance()).contradictions == ()

    def test_what_breaks_a_rule_of_the_domain_is_refused(self) -> None:
        domain = self.specimen.domain
        instance, state = self.specimen.smoke(3)
        for what, breakage in self.specimen.breakages.items():
            broken = State(breakage(state.sequence), state.metadata)
            assert domain.decoder(domain.environment(instance))(broken) == domain.invalid_score, what
            verdict = domain.verify(instance, broken)
            assert verdict.objective is None, what
            assert verdict.violation, what

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_arrays_of_other_integer_types_are_decoded_or_refused(self, dtype: str) -> None:
        instance, state = self.specimen.smoke(3)
        other = with_arrays(state, lambda array: array.astype(dtype))
        if self.specimen.other_integers:
            assert self.specimen.plain_score(instance, other) == self.specimen.plain_score(instance, state)
        self.specimen.agree(instance, other)

    def test_the_verifier_does_not_import_the_decoder(self) -> None:
        tree = ast.parse(inspect.getsource(self.specimen.verifier))
        imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        imported |= {
            name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names
        }
        assert imported
        assert not any(module and ("decoder" in module or "numba" in module) for module in imported)


class ShopScoring(SequenceScoring):
    """The verifier of a shop with a table of times, one row per job and one column per operation."""

    specimen: ClassVar[ScoredShop]

    @settings(max_examples=25, deadline=None, suppress_health_check=INHERITED)
    @given(size=st.tuples(st.integers(2, 6), st.integers(2, 5)), seed=SEEDS, data=st.data())
    def test_a_schedule_with_one_start_moved_earlier_is_caught(
        self, size: Size, seed: int, data: st.DataObject
    ) -> None:
        """In a semi-active schedule no operation can start earlier on its own."""
        instance = self.specimen.make_busy_instance(size, seed)
        starts = self.specimen.schedule(instance, self.specimen.random_state(instance, seed).sequence)
        assert self.specimen.violation(instance, starts) is None
        starts[data.draw(st.integers(0, size[0] - 1)), data.draw(st.integers(0, size[1] - 1))] -= 1
        assert self.specimen.violation(instance, starts) is not None

    def test_the_written_schedule_can_be_read_back(self) -> None:
        instance, state = self.specimen.smoke(6)
        text = self.specimen.domain.write_solution(instance, state)
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        n_jobs, n_machines, makespan = map(int, lines[0].split())
        starts = np.array([list(map(int, line.split())) for line in lines[1:]])
        times = instance.data["times"]
        assert starts.shape == (n_jobs, n_machines) == times.shape
        assert self.specimen.violation(instance, starts) is None
        assert (starts + times).max() == makespan == self.specimen.domain.verify(instance, state).objective
