"""The vehicle routing library keeps what every library has to keep."""

from __future__ import annotations

import numpy as np
import pytest
from tests.domains.cvrp.specimens import plain_length, random_instance, random_sequence
from tests.domains.library_claims import LibraryRuns, LibraryTexts, Load, Size, Specimen

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.cvrp import DOMAIN
from dga2d.domains.cvrp.reader import RoutingData
from dga2d.domains.execution import preparing

IN_ONE_PLACE = RoutingData(np.zeros((7, 2)), "EUC_2D", None, np.array([0, 1, 1, 1, 1, 1, 1], np.int64), 2)
NO_DEMANDS = RoutingData(np.zeros((6, 2)), "EUC_2D", None, np.zeros(6, np.int64), 1)


def instance_of(size: Size, seed: int) -> Instance:
    n_customers, fit = size
    return random_instance(n_customers, seed, slack=float(fit))


class VehicleRoutingLibrary(LibraryRuns, LibraryTexts):
    specimen = Specimen(
        domain=DOMAIN,
        make_instance=instance_of,
        random_state=lambda instance, seed: State(random_sequence(instance, seed)),
        small=((1, 1), (2, 1), (2, 2), (3, 2), (4, 9), (6, 1), (9, 3), (14, 5)),
        middle=(24, 5),
        larger=((60, 6), (100, 40), (150, 3), (300, 9)),
        smoke_target=290.0,
        blocks=frozenset(
            {
                "acceptance",
                "cooling",
                "crossover",
                "customers-to-remove",
                "insertion-order",
                "insertion-place",
                "insertion-score",
                "nearest-neighbour-lists",
                "next-customer",
                "reconnection",
                "savings",
                "split",
                "tenure",
            }
        ),
        do_blocks_stand_alone=False,
        own_functions=frozenset(
            {
                "accepts",
                "cheapest_place",
                "choose_customers",
                "cooling",
                "improve_customer",
                "kick",
                "next_customer",
                "reconnect",
                "sweep",
            }
        ),
        oddities=(
            (Instance("cvrp", "random", "one-place", {"routing": IN_ONE_PLACE}), 0.0),
            (Instance("cvrp", "random", "no-demands", {"routing": NO_DEMANDS}), 0.0),
        ),
    )

    def test_a_reconnection_changes_length_and_loads_as_it_says(self, plain: Load) -> None:
        """Reversals within a route and tails between two, on rows with more and less slack."""
        _, implementation = next(case for case in self.specimen.cases if case[0].id == "random_descent")
        functions = plain(implementation).__globals__
        between = 0
        for seed in range(40):
            instance, rng = random_instance(12, seed, slack=3.0 + seed % 4), np.random.default_rng(seed)
            state = State(random_sequence(instance, seed))
            environment = DOMAIN.environment(instance)
            env_data = {**environment, "prepared": preparing(environment)}
            row, _, _ = functions["open_proposals"](env_data, state, 6)
            flat, place, route_of, load, demands, capacity, dist, near = row
            for _ in range(30):
                node = int(rng.integers(1, 13))
                other = int(rng.choice(near[node]))
                before, routes = functions["row_length"](flat, dist), (route_of[node], route_of[other])
                change, is_made = functions["reconnect"](
                    node, other, flat, place, route_of, load, demands, capacity, dist, 40
                )
                assert change < 40
                assert is_made or change == 0
                assert functions["row_length"](flat, dist) == before + change
                sequence = functions["read_flat"](flat, 13).tolist()
                assert plain_length(instance.data["routing"], sequence) == before + change
                expected = np.zeros_like(load)
                functions["route_loads"](flat, demands, expected)
                np.testing.assert_array_equal(load, expected)
                np.testing.assert_array_equal(flat[place[flat]], flat)
                between += is_made and routes[0] != routes[1]
        assert between > 100

    @pytest.mark.parametrize("number", [0, 1, 2], ids=["random", "related", "annealed"])
    def test_a_round_of_removals_keeps_routes_loads_and_length(self, plain: Load, number: int) -> None:
        """Whether its result stays or is taken back."""
        name = "large_neighbourhood_search"
        texts = [text for operator, text in self.specimen.cases if operator.id == name]
        functions = plain(texts[number]).__globals__
        stayed = 0
        for seed in range(12):
            instance, rng = random_instance(14, seed, slack=2.0 + seed % 3), np.random.default_rng(seed)
            data = DOMAIN.environment(instance)
            n, dist, demands = data["num_nodes"], np.array(data["dist_matrix"]), np.array(data["demands"])
            after, before, ring_of = (np.empty(2 * n - 1, np.int32) for _ in range(3))
            functions["thread_rings"](random_sequence(instance, seed), after, before, ring_of, n)
            load = np.zeros(n - 1, np.int64)
            np.add.at(load, ring_of[1:n], demands[1:])
            length = functions["rings_length"](after, dist)
            near, best, lengths = functions["near_customers"](data, 6), after.copy(), np.full(3, length)
            rings = after, before, ring_of, load, demands, data["capacity"], dist, near
            for _ in range(20):
                old = after.copy()
                functions["make_rounds"](*rings, 5, 0.5, lengths, best, 1, rng)
                stayed += int((after != old).any())
                np.testing.assert_array_equal(before[after], np.arange(after.size))
                sequence = functions["read_rings"](after, n)
                assert sorted(sequence[sequence > 0].tolist()) == list(range(1, n))
                assert plain_length(instance.data["routing"], sequence.tolist()) == lengths[0]
                assert functions["rings_length"](after, dist) == lengths[0]
                expected = np.zeros(n - 1, np.int64)
                np.add.at(expected, ring_of[1:n], demands[1:])
                np.testing.assert_array_equal(load, expected)
                assert load.max() <= data["capacity"]
            assert functions["rings_length"](best, dist) == lengths[1] <= lengths[0]
        assert stayed > 20

    @pytest.mark.slow
    @pytest.mark.timeout(900)
    def test_strong_searches_come_within_three_percent_of_the_reference(self, compiled: Load) -> None:
        """On a generated instance of 100 customers with a fixed amount of work."""
        ref = next(ref for ref in DOMAIN.generated() if ref.key == "random/n101-eccentric")
        assert ref.reference is not None
        instance = DOMAIN.load(ref)
        operators = {op.id: op for op in DOMAIN.operators()}
        for name, work in (
            ("ruin_and_recreate", 400_000),
            ("iterated_local_search", 60_000),
            ("hybrid_genetic_search", 60_000),
            ("simulated_annealing", 60_000),
            ("tabu_search", 60_000),
        ):
            operator = next(op for op in operators.values() if op.id == name)
            run = compiled(operator.implementations[0])
            state = self.specimen.random_state(instance, 1)
            length = self.specimen.outcome(instance, operator, run, state, 1, work).objective
            assert length is not None
            assert length <= 1.03 * ref.reference.value, name
