"""The library of the independent set keeps what every library has to keep, and what is its own."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from tests.domains.library_claims import LibraryRuns, LibraryTexts, Load, Size, Specimen
from tests.domains.mis.specimens import graph_instance, random_graph, random_set

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.mis import DOMAIN

COMPLETE = graph_instance(1 - np.eye(5, dtype=np.uint8), "complete")
EDGELESS = graph_instance(np.zeros((5, 5), np.uint8), "edgeless")


def instance_of(size: Size, seed: int) -> Instance:
    n, percent = size
    return random_graph(n, percent, seed)


def largest(instance: Instance) -> int:
    """Independence number by enumeration."""
    adjacency = instance.data["adjacency"]
    n = len(adjacency)
    return max(
        size
        for size in range(n + 1)
        for chosen in combinations(range(n), size)
        if not adjacency[np.ix_(chosen, chosen)].any()
    )


class IndependentSetLibrary(LibraryRuns, LibraryTexts):
    specimen = Specimen(
        domain=DOMAIN,
        make_instance=instance_of,
        random_state=lambda instance, seed: State(random_set(instance, seed)),
        small=((1, 0), (2, 0), (2, 100), (3, 50), (5, 100), (6, 0), (9, 30), (12, 20), (14, 50)),
        middle=(30, 25),
        larger=((65, 10), (200, 50), (300, 4), (400, 90), (150, 2)),
        smoke_target=-16.0,
        blocks=frozenset(
            {
                "greedy-choice",
                "cooling",
                "acceptance",
                "tabu-tenure",
                "removal-choice",
                "insertion-choice",
                "completion",
            }
        ),
        do_blocks_stand_alone=False,
        own_functions=frozenset(
            {
                "greedy_choice",
                "is_accepted",
                "search",
                "moves",
                "drop",
                "cover",
                "insertion_choice",
                "complete",
            }
        ),
        oddities=((COMPLETE, -1.0), (EDGELESS, -5.0)),
    )

    @pytest.mark.parametrize("name", ["exact_search", "edge_weighting_cover", "phased_local_search"])
    def test_the_strong_searches_find_largest_sets(self, name: str, plain: Load) -> None:
        """The exact one proves it, so that it ends before its budget."""
        operator, implementation = next(case for case in self.specimen.cases if case[0].id == name)
        for seed, percent in enumerate((10, 30, 60)):
            instance = random_graph(11, percent, seed)
            start = State(np.zeros(11, np.int32))
            result = self.specimen.run(instance, operator, plain(implementation), start, seed, work=800)
            assert result.score == -largest(instance)
            if name == "exact_search":
                assert result.trace[-1].work < 400

    def test_exchanges_keep_the_weight_that_each_vertex_covers_alone(self, plain: Load) -> None:
        """Forgetting computes all costs anew, from the weights in both slots of an edge."""
        _, implementation = next(case for case in self.specimen.cases if case[0].id == "edge_weighting_cover")
        functions = plain(implementation).__globals__
        adjacency = random_graph(20, 40, 5).data["adjacency"]
        arrays, _, stream = functions["open_cover"](
            adjacency, np.zeros(20, np.int32), np.array([7], np.uint64)
        )
        functions["exchanges"](*arrays, 300, stream)
        ends, slots, weight, cost = arrays[0], arrays[1], arrays[5], arrays[6]
        inside = (cost < functions["OUT"] // 2).astype(np.uint8)
        assert (weight[slots[:, 0]] == weight[slots[:, 1]]).all()
        assert weight.max() > 1
        expected = np.where(inside, 0, functions["OUT"])
        for (u, v), w in zip(ends, weight[slots[:, 0]], strict=True):
            for one, other in ((u, v), (v, u)):
                if inside[one] and not inside[other]:
                    expected[one] += w
                if not inside[one] and not inside[other]:
                    expected[one] -= w
        np.testing.assert_array_equal(cost, expected)

    def test_the_search_that_is_behind_gets_a_tenth_and_the_later_of_two_a_fifth(self, plain: Load) -> None:
        _, implementation = next(case for case in self.specimen.cases if case[0].id == "phases_and_cover")
        is_first_due = plain(implementation).__globals__["is_first_due"]
        at_once = [0.5, 0.5]
        assert is_first_due([1.0, 1.0], [5, 5], at_once)
        assert not is_first_due([1.1, 1.0], [5, 5], at_once)
        for found in (at_once, [0.1, 0.5], [0.5, 0.1]):
            assert not is_first_due([1.1, 10.0], [4, 5], found)
            assert is_first_due([0.9, 10.0], [4, 5], found)
            assert is_first_due([9.9, 1.0], [5, 4], found)
        assert is_first_due([4.9, 1.0], [5, 5], [0.1, 0.5])
        assert not is_first_due([5.1, 1.0], [5, 5], [0.1, 0.5])
        assert is_first_due([1.9, 10.0], [5, 5], [0.5, 0.1])
        assert not is_first_due([2.1, 10.0], [5, 5], [0.5, 0.1])

    def test_a_child_is_the_largest_set_of_its_parents_union(self, plain: Load) -> None:
        _, implementation = next(case for case in self.specimen.cases if case[0].id == "optimised_crossover")
        functions = plain(implementation).__globals__
        for seed in range(20):
            instance = random_graph(16, 25, seed)
            adjacency = instance.data["adjacency"]
            mother, father = random_set(instance, 2 * seed + 1), random_set(instance, 2 * seed + 101)
            first, near = functions["neighbour_lists"](adjacency)
            child, mate, stack = (np.zeros(17, np.int32) for _ in range(3))
            step = np.zeros(16, np.int64)
            functions["merge"](mother, father, first, near, child[:16], mate[:16], stack, step)
            union = np.flatnonzero(mother | father)
            assert not (child[:16] > (mother | father)).any()
            assert DOMAIN.verify(instance, State(child[:16].copy())).objective == largest(
                graph_instance(adjacency[np.ix_(union, union)], "union")
            )
