"""``solve`` by the baselines, and the pictures it draws."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from tests.system.conftest import Command, Program

from dga2d.domains.core.registry import domain_names, get_domain

pytestmark = pytest.mark.timeout(400)


@pytest.mark.parametrize("method", ["safe", "basic", "ils"])
def test_every_baseline_solves_and_says_what_it_is(command: Command, program: Program, method: str) -> None:
    solved = command("solve", "tsp", "E100.0", "--method", method, "--work", "200", "--json", program=program)
    assert solved.code == 0, solved.err
    assert solved.json["algorithm"].startswith(f"{method} baseline: ")
    assert 0 <= solved.json["gap_percent"] < 50


def test_or_tools_solves_outside_the_sandbox(command: Command, program: Program) -> None:
    arguments = ("solve", "ossp", "ta4x4_1os", "--method", "cp-sat", "--time-limit", "20", "--json")
    solved = command(*arguments, program=program)
    assert solved.code == 0, solved.err
    assert (solved.json["algorithm"], solved.json["objective"]) == ("OR-Tools", 193)


@pytest.mark.parametrize("times", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_pictures_are_drawn_and_repeat(command: Command, program: Program, times: int) -> None:
    names = [f"{number}.svg" for number in range(times)]
    for name in names:
        options = ("--method", "basic", "--work", "100", "--picture", name, "--json")
        drawn = command("solve", "jsp", "ta01", *options, program=program)
        assert drawn.code == 0, drawn.err
        assert drawn.json["picture"] == name
    one, *others = (Path(program.folder, name).read_bytes() for name in names)
    assert all(other == one for other in others)
    assert ElementTree.fromstring(one).tag == "{http://www.w3.org/2000/svg}svg"
    assert b"ta/ta01: makespan" in one


@pytest.mark.slow
@pytest.mark.parametrize("name", domain_names())
def test_or_tools_solves_the_smoke_instance_of_every_domain(name: str) -> None:
    domain = get_domain(name)
    instance = domain.smoke_instance()
    state = domain.cp_sat(instance, 20.0, seed=1)
    assert state is not None
    verdict = domain.verify(instance, state)
    assert verdict.violation is None
    assert instance.key in domain.picture(instance, state).get_suptitle() + "".join(
        axes.get_title() for axes in domain.picture(instance, state).axes
    )
