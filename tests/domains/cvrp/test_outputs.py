"""Solution files, pictures, the functions of a solver file and the baseline of OR-Tools."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.domains.cvrp.specimens import random_instance, random_sequence
from tests.domains.drawn import drawing_of

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.core.errors import InstanceFormatError, InvalidSolutionError
from dga2d.domains.cvrp import decoder, reader, verifier
from dga2d.domains.cvrp.domain import VehicleRouting
from dga2d.domains.cvrp.verifier import read_solution
from dga2d.domains.drawing import Line

DOMAIN = VehicleRouting()
GOOD = "Route #1: 1 2\nRoute #2: 3\nCost 24\n"


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "t.sol"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_written_solution_reads_back(tmp_path: Path) -> None:
    instance = random_instance(30, 1)
    state = State(random_sequence(instance, 1))
    read = read_solution(write(tmp_path, DOMAIN.write_solution(instance, state)))
    assert read.sequence.tolist() == state.sequence.tolist()
    assert read.cost == DOMAIN.verify(instance, state).objective


def test_the_text_of_a_solution_is_cvrplibs() -> None:
    instance = DOMAIN.smoke_instance()
    optimal = State(np.array([6, 9, 8, 0, 4, 3, 2, 1, 0, 5, 0, 10, 11, 12, 7], dtype=np.int32))
    assert DOMAIN.write_solution(instance, optimal) == (
        "Route #1: 6 9 8\nRoute #2: 4 3 2 1\nRoute #3: 5\nRoute #4: 10 11 12 7\nCost 290\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("Cost", "cost"),
        GOOD.replace("#1: ", "#1:\t "),
        GOOD + "\n",
    ],
)
def test_reader_of_solutions_accepts_the_published_variants(tmp_path: Path, text: str) -> None:
    read = read_solution(write(tmp_path, text))
    assert read.sequence.tolist() == [1, 2, 0, 3]
    assert read.cost == 24


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("", None, "no routes"),
        ("Cost 24\n", None, "no routes"),
        ("Route #1: 1 2\n", None, "cost is missing"),
        (GOOD.replace("#2", "#3"), 2, "expected route 2"),
        (GOOD.replace(" 3\n", "\n"), 2, "empty"),
        (GOOD.replace(" 3\n", " x\n"), 2, "integer"),
        (GOOD.replace(" 3\n", " 0\n"), 2, "from 1 on"),
        (GOOD.replace(" 3\n", " 99999999999\n"), 2, "from 1 on"),
        (GOOD + "Route #3: 4\n", 4, "after the cost"),
        (GOOD.replace("Cost 24", "Cost nan"), 3, "route or the cost"),
        ("Tour: 1\n" + GOOD, 1, "route or the cost"),
    ],
)
def test_reader_of_solutions_refuses_the_rest(
    tmp_path: Path, text: str, line: int | None, reason: str
) -> None:
    with pytest.raises(InstanceFormatError) as caught:
        read_solution(write(tmp_path, text))
    assert caught.value.line == line
    assert reason in caught.value.reason


def test_published_solutions_are_feasible_and_cost_what_they_say(data_dir: Path) -> None:
    checked = 0
    for ref in DOMAIN.published(data_dir):
        assert ref.path is not None
        assert ref.reference is not None
        path = ref.path.with_suffix(".sol")
        if path.exists():
            read = read_solution(path)
            assert DOMAIN.verify(DOMAIN.load(ref), State(read.sequence)).objective == read.cost
            assert read.cost == ref.reference.value
            checked += 1
    assert checked == len(list((data_dir / "cvrp").glob("*/*.sol"))) >= 34


@pytest.mark.parametrize("n_customers", [1, 12, 250])
def test_pictures_show_every_route(n_customers: int) -> None:
    instance = random_instance(n_customers, 2)
    state = State(random_sequence(instance, 2))
    drawing = drawing_of(DOMAIN, instance, state)
    n_routes = int((state.sequence == 0).sum()) + 1
    lines = [shape for shape in drawing.shapes if isinstance(shape, Line)]
    assert len(lines) == 2 * n_routes
    assert sum(len(line.points) for line in lines if not line.is_faint) == n_customers
    assert f"{n_routes} routes" in drawing.title


def test_explicit_lengths_are_drawn_on_approximate_points() -> None:
    instance = DOMAIN.smoke_instance()
    state = State(np.array([6, 9, 8, 0, 4, 3, 2, 1, 0, 5, 0, 10, 11, 12, 7], dtype=np.int32))
    assert "approximate" in drawing_of(DOMAIN, instance, state).notes[0]


def test_a_broken_state_is_not_drawn() -> None:
    with pytest.raises(InvalidSolutionError, match="not visited"):
        DOMAIN.picture(random_instance(5, 1), State(np.array([1, 2], dtype=np.int32)))


def test_the_functions_of_a_solver_file_agree_with_the_domain(tmp_path: Path) -> None:
    text = (
        "TYPE : CVRP\nDIMENSION : 3\nEDGE_WEIGHT_TYPE : EUC_2D\nCAPACITY : 2\n"
        "NODE_COORD_SECTION\n1 0 0\n2 3 4\n3 6 8\nDEMAND_SECTION\n1 0\n2 1\n3 1\nDEPOT_SECTION\n1\n-1\nEOF\n"
    )
    path = tmp_path / "t3.vrp"
    path.write_text(text, encoding="utf-8")
    environment = reader.environment_of_file(path)
    state = State(np.array([1, 2], dtype=np.int32))
    assert decoder.make_decoder(environment)(state) == 20
    assert verifier.verified_objective(environment, state).objective == 20
    assert verifier.solution_text("t3", environment, state, 20.0) == "Route #1: 1 2\nCost 20\n"


def test_or_tools_routes_are_feasible() -> None:
    for instance in (DOMAIN.smoke_instance(), random_instance(1, 4), _twins()):
        state = DOMAIN.cp_sat(instance, 0.3, seed=1)
        assert state is not None
        verdict = DOMAIN.verify(instance, state)
        assert verdict.violation is None
        if instance.reference is not None:
            assert verdict.objective == instance.reference.value


def _twins() -> Instance:
    return random_instance(20, 3, slack=4.0)
