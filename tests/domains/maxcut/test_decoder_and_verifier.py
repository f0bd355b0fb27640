"""Decoder, plain decoder and verifier agree; solutions, pictures and the CP-SAT baseline."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domains.drawn import drawing_of
from tests.domains.maxcut.specimens import graph_instance, plain_score, random_instance, random_sides
from tests.domains.scoring_claims import SEEDS, Scored, SequenceScoring

from dga2d.domains.core.contract import Instance, InstanceRef, State
from dga2d.domains.core.errors import InvalidSolutionError
from dga2d.domains.maxcut import DOMAIN, decoder, reader, verifier
from dga2d.domains.maxcut.domain import SMOKE_OPTIMUM

SIZES = st.tuples(st.integers(1, 12), st.integers(0, 40))


class MaxCutClaims(SequenceScoring):
    specimen = Scored(
        domain=DOMAIN,
        verifier=verifier,
        make_instance=lambda size, seed: random_instance(size[0], size[1], seed),
        random_state=lambda instance, seed: State(random_sides(instance, seed)),
        plain_score=lambda instance, state: plain_score(instance, state.sequence),
        sizes=SIZES,
        middle=(12, 30),
        highest=1,
        large=lambda: DOMAIN.load(InstanceRef("maxcut", "gset", "G38", None)),
        breakages={
            "a two": lambda good: np.append(good[:-1], np.int32(2)),
            "a negative": lambda good: np.append(good[:-1], np.int32(-1)),
        },
    )


@settings(max_examples=50, deadline=None)
@given(size=SIZES, seed=SEEDS)
def test_turning_over_all_sides_gives_the_same_cut(size: tuple[int, int], seed: int) -> None:
    instance = random_instance(*size, seed)
    sides = random_sides(instance, seed)
    decode = DOMAIN.decoder(DOMAIN.environment(instance))
    assert decode(State(sides)) == decode(State((1 - sides).astype(np.int32)))


def test_a_cut_weighed_by_hand() -> None:
    """A triangle with weights 1-2: 5, 2-3: -2, 1-3: 4; vertex 1 alone on side 1 cuts 5 + 4."""
    instance = graph_instance(3, [(0, 1), (1, 2), (0, 2)], [5, -2, 4], "triangle")
    state = State(np.array([1, 0, 0], np.int32))
    assert DOMAIN.decoder(DOMAIN.environment(instance))(state) == -9.0
    assert DOMAIN.verify(instance, state).objective == 9.0
    assert DOMAIN.write_solution(instance, state).splitlines()[1:] == ["3 9", "1 2", "2 1", "3 1"]


def test_weights_of_the_largest_sum_do_not_overflow() -> None:
    instance = graph_instance(3, [(0, 1), (1, 2)], [499_999_999, 499_999_999], "heavy")
    state = State(np.array([0, 1, 0], np.int32))
    assert DOMAIN.decoder(DOMAIN.environment(instance))(state) == -999_999_998.0
    assert DOMAIN.verify(instance, state).objective == 999_999_998.0


def test_the_optimum_of_the_smoke_instance_is_counted() -> None:
    instance = DOMAIN.smoke_instance()
    cuts = [
        DOMAIN.verify(instance, State(np.array((0, *rest), np.int32))) for rest in product((0, 1), repeat=9)
    ]
    assert max(verdict.objective or 0.0 for verdict in cuts) == SMOKE_OPTIMUM


def test_the_environment_lists_each_edge_from_either_end() -> None:
    instance = graph_instance(4, [(2, 0), (0, 1)], [7, -3], "path")
    environment = DOMAIN.environment(instance)
    assert environment["num_nodes"] == 4
    assert environment["num_edges"] == 2
    assert environment["offsets"].tolist() == [0, 2, 3, 4, 4]
    assert environment["neighbors"].tolist() == [1, 2, 0, 0]
    assert environment["edge_weights"].tolist() == [-3, 7, -3, 7]
    assert {environment[key].dtype for key in ("offsets", "neighbors", "edge_weights")} == {
        np.dtype(np.int32)
    }


def test_the_verifier_names_what_is_broken() -> None:
    instance = DOMAIN.smoke_instance()
    sides = np.zeros(10, np.int32)
    sides[3] = 5
    assert DOMAIN.verify(instance, State(sides)).violation == "vertex 3 is on side 5, not 0 or 1"


def test_the_written_sides_can_be_read_back() -> None:
    instance = DOMAIN.smoke_instance()
    state = State(random_sides(instance, 6))
    lines = [line for line in DOMAIN.write_solution(instance, state).splitlines() if not line.startswith("#")]
    n_vertices, cut = map(int, lines[0].split())
    rows = [tuple(map(int, line.split())) for line in lines[1:]]
    assert [vertex for vertex, _ in rows] == list(range(1, n_vertices + 1))
    again = State(np.array([side - 1 for _, side in rows], np.int32))
    assert DOMAIN.verify(instance, again).objective == cut == DOMAIN.verify(instance, state).objective


def test_a_solver_file_sees_and_says_the_same_as_the_domain(tmp_path: Path) -> None:
    instance = DOMAIN.smoke_instance()
    ends, weights = instance.data["edges"].tolist(), instance.data["weights"].tolist()
    rows = [f"{a + 1} {b + 1} {weight}" for (a, b), weight in zip(ends, weights, strict=True)]
    path = tmp_path / "petersen.txt"
    path.write_text("\n".join(["10 15", *rows]) + "\n")
    environment = reader.environment_of_file(path)
    state = State(random_sides(instance, 7))
    verdict = verifier.verified_objective(environment, state)
    assert verdict == DOMAIN.verify(instance, state)
    assert verdict.objective is not None
    assert decoder.make_decoder(environment)(state) == -verdict.objective
    text = verifier.solution_text("petersen", environment, state, verdict.objective)
    assert text.splitlines()[1:] == DOMAIN.write_solution(instance, state).splitlines()[1:]


@pytest.mark.parametrize("case", ["small", "one vertex", "no edges", "large"])
def test_pictures_are_drawn_with_axes_and_a_title(case: str) -> None:
    instance: Instance = {
        "small": DOMAIN.smoke_instance(),
        "one vertex": graph_instance(1, [], [], "one"),
        "no edges": graph_instance(5, [], [], "none"),
        "large": random_instance(900, 3000, 1),
    }[case]
    drawing = drawing_of(DOMAIN, instance, State(random_sides(instance, 1)))
    assert len(drawing.panels) == 2
    for panel in drawing.panels:
        assert panel.x.words
        assert panel.y.words


def test_a_broken_state_is_not_drawn() -> None:
    with pytest.raises(InvalidSolutionError, match="side 2"):
        DOMAIN.picture(DOMAIN.smoke_instance(), State(np.full(10, 2, np.int32)))


def test_cp_sat_proves_the_optimum_of_the_smoke_instance() -> None:
    from dga2d.domains.maxcut.cp_sat import solve_with_status

    instance = DOMAIN.smoke_instance()
    sides, is_proven = solve_with_status(instance.data, 10.0, 1)
    assert is_proven
    assert sides is not None
    state = DOMAIN.cp_sat(instance, 10.0, seed=1)
    for answer in (State(np.array(sides, np.int32)), state):
        assert answer is not None
        assert DOMAIN.verify(instance, answer).objective == SMOKE_OPTIMUM
