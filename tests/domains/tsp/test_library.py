"""The library of tours keeps what every library has to keep; some operators keep more."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.domains.library_claims import LibraryRuns, LibraryTexts, Load, Specimen
from tests.domains.tsp.specimens import instance_of, random_cities, random_tour

from dga2d.domains.budget import Budget
from dga2d.domains.core.contract import Instance, InstanceRef, Operator, PipelineStep, State
from dga2d.domains.execution import Run, execute, preparing
from dga2d.domains.tsp import DOMAIN

ONE_PLACE = instance_of(np.zeros((7, 2)), "one place")


class TourLibrary(LibraryRuns, LibraryTexts):
    specimen = Specimen(
        domain=DOMAIN,
        make_instance=random_cities,
        random_state=lambda instance, seed: State(random_tour(instance, seed)),
        small=((1,), (2,), (3,), (4,), (5,), (7,), (8,), (11,), (17,)),
        middle=(31,),
        larger=((100,), (60,), (400,), (1000,)),
        smoke_target=3175135.0,
        blocks=frozenset(
            {
                *("acceptance", "bridge-cuts", "candidate-lists", "cities-to-search", "cooling", "kick"),
                *("next-city", "segment-move-of-city"),
            }
        ),
        own_functions=frozenset(
            {
                *("bridged", "chain", "cooling", "descend", "draw_cuts", "improve_by_segment_move"),
                *("improve_city", "longest_kept", "next_city", "swap_edges", "wake", "walk"),
            }
        ),
        work=40,
        chunk=20,
        do_blocks_stand_alone=False,
        docstring_parts=("Source:", "Complexity:", "Work units:"),
        oddities=((ONE_PLACE, 0.0),),
    )


def reference_instance(name: str) -> tuple[InstanceRef, Instance]:
    ref = next(ref for ref in DOMAIN.generated() if ref.name == name)
    return ref, DOMAIN.load(ref)


def operator_called(name: str) -> Operator:
    return next(operator for operator in DOMAIN.operators() if operator.id == name)


def apply(run: Run, instance: Instance, tour: NDArray[np.int32], seed: int, work: int = 200) -> State:
    environment = DOMAIN.environment(instance)
    rng = np.random.Generator(np.random.Philox(seed))
    env_data = {
        **environment,
        "prepared": preparing(environment),
        "rng": rng,
        "budget": Budget(work, "work", 1),
    }
    return run(env_data, State(tour.copy()), DOMAIN.decoder(environment))


def links(tour: NDArray[np.int32]) -> set[frozenset[int]]:
    cities = tour.tolist()
    return {frozenset(pair) for pair in zip(cities, cities[1:] + cities[:1], strict=True)}


class OperatorsOfToursClaims:
    """What the operators of tours keep besides."""

    specimen = TourLibrary.specimen
    plain = LibraryRuns.plain
    compiled = LibraryRuns.compiled

    def test_perturbations_change_the_tour(self, plain: Load) -> None:
        _, instance = reference_instance("E100.0")
        before = random_tour(instance, 5)
        for operator, implementation in self.specimen.cases:
            if operator.category == "perturbation":
                run = plain(implementation)
                for seed in range(5):
                    gone = links(before) - links(apply(run, instance, before, seed).sequence)
                    assert 1 <= len(gone) <= 12

    def test_a_bridge_is_the_tour_with_its_three_segments_in_the_opposite_order(self, plain: Load) -> None:
        functions = plain(operator_called("double_bridge").implementations[0]).__globals__
        rng = np.random.default_rng(5)
        for n in (8, 9, 30):
            tour = rng.permutation(n).astype(np.int32)
            for _ in range(40):
                start = int(rng.integers(n))
                b, c, d = np.sort(1 + rng.choice(n - 2, 3, replace=False))
                first = np.roll(tour, -start)
                expected = np.concatenate([first[c:d], first[b:c], first[:b], first[d:]])
                np.testing.assert_array_equal(functions["bridge"](tour, start, b, c, d), expected)

    def test_double_bridge_exchanges_exactly_four_edges(self, plain: Load) -> None:
        for implementation in operator_called("double_bridge").implementations:
            run = plain(implementation)
            for n in (8, 9, 16, 60):
                instance = random_cities((n,), 4)
                before = random_tour(instance, 2)
                for seed in range(25):
                    after = apply(run, instance, before, seed).sequence
                    assert len(links(before) - links(after)) == 4

    @pytest.mark.parametrize("number", range(4), ids=["anywhere", "short", "waking", "annealed"])
    def test_rounds_of_local_search_tell_the_lengths_of_their_tours(self, plain: Load, number: int) -> None:
        """Of the present one and of the best; a longer one stays under annealing alone."""
        implementation = operator_called("iterated_local_search").implementations[number]
        functions = plain(implementation).__globals__
        instance = random_cities((30,), number)
        dist = np.array(DOMAIN.environment(instance)["distance_matrix"], np.int32)
        near = functions["nearest_nodes"](dist, 0, 10)
        tour, rng = random_tour(instance, 3), np.random.default_rng(3)
        pos = np.argsort(tour).astype(np.int32)
        best, lengths = tour.copy(), np.full(2, functions["length_of"](tour, dist))
        kept = 0
        for _ in range(40):
            old, before = tour.copy(), int(lengths[1])
            functions["make_rounds"](1, 0.2, tour, pos, dist, near, best, lengths, rng)
            for plan, length in ((best, lengths[0]), (tour, lengths[1])):
                assert sorted(plan) == list(range(30))
                assert functions["length_of"](plan, dist) == length
            assert lengths[0] <= lengths[1]
            kept += lengths[1] < before
            is_old = links(old) == links(tour)
            assert is_old or lengths[1] <= before or "HOT" in functions
        assert 0 < kept < 40

    @pytest.mark.parametrize("number", range(4), ids=["anywhere", "short", "waking", "annealed"])
    def test_kicks_wake_the_cities_at_their_new_edges(self, plain: Load, number: int) -> None:
        implementation = operator_called("iterated_local_search").implementations[number]
        functions = plain(implementation).__globals__
        rng, cuts = np.random.default_rng(number), np.empty(4, np.int64)
        for n in (8, 9, 10, 40):
            for _ in range(60):
                old = rng.permutation(n).astype(np.int32)
                tour, pos, awake = old.copy(), np.empty(n, np.int32), np.zeros(n, np.uint8)
                functions["bridge_and_wake"](tour, pos, awake, cuts, rng)
                np.testing.assert_array_equal(tour[pos[np.arange(n)]], np.arange(n))
                new = links(tour) - links(old)
                assert 2 <= len(links(old) - links(tour)) <= 4
                assert awake[[city for edge in new for city in edge]].all()
                assert awake.sum() in (range(4, 9) if number == 2 else [n])

    @pytest.mark.slow
    @pytest.mark.timeout(900)
    def test_strong_descents_reach_two_opt_optima(self, compiled: Load) -> None:
        ref, instance = reference_instance("E100.1")
        assert ref.reference is not None
        for name, share in (
            ("two_opt", 1.25),
            ("or_two_opt", 1.15),
            ("or_three_opt", 1.25),
            ("lin_kernighan", 1.10),
        ):
            run = compiled(operator_called(name).implementations[0])
            tour = apply(run, instance, random_tour(instance, 1), 1, work=10**6)
            length = DOMAIN.verify(instance, tour).objective
            assert length is not None
            assert length < share * ref.reference.value, name

    @pytest.mark.slow
    @pytest.mark.timeout(900)
    @pytest.mark.parametrize("name", ["E100.0", "C100.0", "E200.0"])
    def test_baselines_come_near_the_references_and_do_not_beat_them(self, name: str, compiled: Load) -> None:
        ref, instance = reference_instance(name)
        assert ref.reference is not None
        for steps, most in ((DOMAIN.safe_baseline(), 1.01), (DOMAIN.basic_baseline(), 1.05)):
            length = DOMAIN.verify(instance, self._solve(steps, instance, compiled)).objective
            assert length is not None
            assert 0.9999 * ref.reference.value <= length <= most * ref.reference.value

    def _solve(self, steps: tuple[PipelineStep, ...], instance: Instance, compiled: Load) -> State:
        environment = DOMAIN.environment(instance)
        runs = [compiled(step.implementation) for step in steps]
        budget = Budget(15_000, "work", len(runs))
        rng = np.random.Generator(np.random.Philox(1))
        return execute(runs, environment, DOMAIN.decoder(environment), budget, rng).state
