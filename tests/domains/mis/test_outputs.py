"""Solution files, pictures, the functions of a solver file and the CP-SAT baseline."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.domains.drawn import drawing_of
from tests.domains.mis.specimens import graph_instance, random_graph, random_set

from dga2d.domains.core.contract import State
from dga2d.domains.drawing import Dots, Segments
from dga2d.domains.mis import DOMAIN, decoder, reader, verifier


def vertices_in(text: str) -> list[int]:
    """The ``v`` lines of a solution file."""
    return [int(line.split()[1]) for line in text.splitlines() if line.startswith("v ")]


def test_a_solution_lists_the_vertices_from_one() -> None:
    instance = graph_instance(np.zeros((4, 4), np.uint8), "four")
    text = DOMAIN.write_solution(instance, State(np.array([1, 0, 0, 1], np.int32)))
    assert [line for line in text.splitlines() if not line.startswith("c ")] == ["s mis 2", "v 1", "v 4"]
    assert text.startswith("c instance random/four\n")


def test_a_written_solution_of_a_clique_file_is_a_clique_of_it(tmp_path: Path) -> None:
    graph = random_graph(20, 50, 4).data["adjacency"]
    edges = [f"e {u + 1} {v + 1}" for u, v in np.argwhere(np.triu(graph))]
    path = tmp_path / "some.clq"
    path.write_text("\n".join([f"p edge 20 {len(edges)}", *edges, ""]))
    environment = reader.environment_of_file(path)
    assert set(environment) == set(DOMAIN.card.environment)
    state = State(random_set(graph_instance(environment["adj"], "some"), 1))
    verdict = verifier.verified_objective(environment, state)
    assert verdict.objective == -decoder.make_decoder(environment)(state)
    text = verifier.solution_text("some", environment, state, verdict.objective or 0.0)
    chosen = [vertex - 1 for vertex in vertices_in(text)]
    assert len(chosen) == verdict.objective
    assert all(graph[u, v] for u in chosen for v in chosen if u != v)


@pytest.mark.parametrize(("n", "percent"), [(1, 0), (2, 100), (40, 10), (300, 60)])
def test_a_picture_shows_every_vertex_and_names_instance_and_size(n: int, percent: int) -> None:
    instance = random_graph(n, percent, 1)
    state = State(random_set(instance, 1))
    drawing = drawing_of(DOMAIN, instance, state)
    size = int(state.sequence.sum())
    assert drawing.title.endswith(f"independent set of {size}")
    edges, others, chosen = drawing.shapes
    assert isinstance(edges, Segments)
    assert isinstance(others, Dots)
    assert isinstance(chosen, Dots)
    assert [len(others.points), len(chosen.points)] == [n - size, size]
    n_edges = instance.data["adjacency"].sum() // 2
    assert len(edges.ends) <= min(4000, n_edges)
    assert bool(drawing.notes) == (len(edges.ends) < n_edges) == (percent == 60)


def test_a_picture_of_the_empty_set_can_be_drawn() -> None:
    drawing = drawing_of(DOMAIN, random_graph(12, 30, 1), State(np.zeros(12, np.int32)))
    assert "independent set of 0" in drawing.title


def test_cp_sat_solves_the_smoke_instance() -> None:
    instance = DOMAIN.smoke_instance()
    state = DOMAIN.cp_sat(instance, 10.0, 1)
    assert state is not None
    assert instance.reference is not None
    assert DOMAIN.verify(instance, state).objective == instance.reference.value


def test_the_cliques_of_the_cp_sat_model_cover_exactly_the_edges() -> None:
    from dga2d.domains.mis.cp_sat import edge_clique_cover

    for seed, percent in enumerate((0, 20, 70, 100)):
        adjacency = random_graph(25, percent, seed).data["adjacency"]
        covered = np.zeros((25, 25), np.bool_)
        for clique in edge_clique_cover(adjacency.astype(np.bool_)):
            covered[np.ix_(clique, clique)] = True
        np.fill_diagonal(covered, False)
        assert np.array_equal(covered, adjacency.astype(np.bool_))
