"""``solve`` by the baselines, and the pictures it draws."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from tests.domains.drawn import drawing_of
from tests.system.conftest import Command, Program

from dga2d.domains.core.contract import own_score_of
from dga2d.domains.core.registry import domain_names, get_domain
from dga2d.replay.settings import RunSettings
from dga2d.runtime.runs import solving
from dga2d.runtime.runs.solving import warm

pytestmark = pytest.mark.timeout(400)


@pytest.mark.parametrize(
    "method", ["safe", *(pytest.param(name, marks=pytest.mark.slow) for name in ("basic", "ils"))]
)
def test_every_baseline_solves_and_says_what_it_is(command: Command, program: Program, method: str) -> None:
    solved = command("solve", "tsp", "E100.0", "--method", method, "--work", "200", "--json", program=program)
    assert solved.code == 0, solved.err
    assert solved.json["algorithm"].startswith(f"{method} baseline: ")
    assert 0 <= solved.json["gap_percent"] < 50


def test_or_tools_solves_outside_the_sandbox(command: Command, program: Program) -> None:
    arguments = (
        "solve",
        "ossp",
        "ta4x4_1os",
        "--method",
        "cp-sat",
        "--cores",
        "2",
        "--time-limit",
        "20",
        "--json",
    )
    solved = command(*arguments, program=program)
    assert solved.code == 0, solved.err
    assert (solved.json["algorithm"], solved.json["objective"]) == ("OR-Tools", 193)


@pytest.mark.slow
def test_pictures_are_drawn_and_repeat(command: Command, program: Program) -> None:
    for name in ("one.svg", "other.svg"):
        options = ("--method", "basic", "--work", "100", "--picture", name, "--json")
        drawn = command("solve", "jsp", "ta01", *options, program=program)
        assert drawn.code == 0, drawn.err
        assert drawn.json["picture"] == name
    one, other = (Path(program.folder, name).read_bytes() for name in ("one.svg", "other.svg"))
    assert other == one
    assert ElementTree.fromstring(one).tag == "{http://www.w3.org/2000/svg}svg"
    assert b"ta/ta01: makespan" in one


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in domain_names() if own_score_of(get_domain(name)) is None])
def test_or_tools_solves_the_smoke_instance_of_every_domain(name: str) -> None:
    domain = get_domain(name)
    instance = domain.smoke_instance()
    limit_s = 2.0 if name in ("cvrp", "tsp") else 20.0  # routing searches until its time is up
    state = domain.cp_sat(instance, limit_s, seed=1)
    assert state is not None
    verdict = domain.verify(instance, state)
    assert verdict.violation is None
    drawing_of(domain, instance, state)


@pytest.mark.long
def test_the_first_solve_says_that_it_compiles_and_after_warming_none_does(
    command: Command, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DGA2D_CACHE", str(tmp_path / "one"))
    arguments = ("solve", "ossp", "ta4x4_1os", "--work", "100", "--json")
    first, second = command(*arguments, program=program), command(*arguments, program=program)
    assert "compiling 3 of 3 operators" in first.err
    assert "doctor --warm" in first.err
    assert (second.code, second.err) == (0, "")
    monkeypatch.setenv("DGA2D_CACHE", str(tmp_path / "two"))
    compiled, failure = anyio.run(warm, "ossp")
    assert (compiled > 2, failure) == (True, None)
    assert anyio.run(warm, "ossp") == (0, None)
    assert (command(*arguments, program=program).err) == ""


@pytest.mark.slow
@pytest.mark.parametrize(("domain", "name"), [("cvrp", "random/n321-random"), ("tsp", "uniform/E1000.3")])
def test_the_largest_instances_are_solved_whatever_the_limit(
    command: Command, program: Program, domain: str, name: str
) -> None:
    solved = command("solve", domain, name, "--time-limit", "0.01", "--json", program=program)
    assert solved.code == 0, solved.err
    assert solved.json["objective"] > 0


@pytest.mark.slow
async def test_an_algorithm_that_fails_is_replaced_by_the_initialiser(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    endless = (
        "def run(env_data, state, calc_makespan_fn):\n"
        "    while env_data['num_jobs'] > 4:\n        pass\n    return state\n"
    )
    algorithm = solving.baseline_steps(get_domain("ossp"), "safe")
    steps = (algorithm.steps[0], replace(algorithm.steps[1], source=endless))
    failing = solving.Algorithm(steps, "endless")
    monkeypatch.setattr(solving, "baseline_steps", lambda domain, method: failing)
    said: list[str] = []
    settings = RunSettings(time_limit=0.1, grace_limit=0.2)
    solved = await solving.solve_instance(
        "ossp", "ta5x5_1os", "", None, "safe", settings, 0, None, warn=said.append
    )
    assert solved.fallback is not None
    assert solved.fallback.startswith("timeout")
    assert solved.objective > 0
    assert "initialiser alone" in said[-1]
