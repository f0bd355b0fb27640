"""How the project is packed: links, guards, directions of import, start-up, wheel."""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[1]
PACKAGES = ("agents", "domains", "events", "replay", "runtime", "store")
HEAVY = ("numba", "ortools", "plotly", "scipy", "sqlalchemy", "torch", "transformers")


def python(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )


@pytest.mark.parametrize("package", PACKAGES)
def test_every_room_is_a_relative_link(package: str) -> None:
    link = ROOT / "src" / "dga2d" / package
    assert link.is_symlink()
    assert link.readlink() == Path("..", "..", package)
    assert link.resolve() == ROOT / package


@pytest.mark.parametrize("package", PACKAGES)
def test_a_room_refuses_its_bare_name(package: str) -> None:
    outcome = python("-c", f"import {package}")
    assert outcome.returncode == 1
    assert f"import dga2d.{package}, not {package}" in outcome.stderr


def test_imports_point_downwards() -> None:
    outcome = python("-P", "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()")
    assert outcome.returncode == 0, outcome.stdout
    contracts = len(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"])
    assert f"Contracts: {contracts} kept, 0 broken." in outcome.stdout


def test_names_of_the_package_are_found_when_they_are_asked_for() -> None:
    outcome = python(
        "-P",
        "-c",
        f"import sys, dga2d; assert not {{*{HEAVY!r}, 'numpy', 'pydantic'}} & sys.modules.keys()\n"
        "for name in dga2d.__all__: assert getattr(dga2d, name) is not None and name in dir(dga2d)\n"
        "assert set(dga2d.__all__) == {*sum(dga2d._HOMES.values(), ()), '__version__'}\n"
        "assert not hasattr(dga2d, 'evolv')",
    )
    assert outcome.returncode == 0, outcome.stderr


LOADED = """
import json, sys
from dga2d.runtime.cli import main
sys.argv = ["dga2d", *{arguments!r}]
try:
    main()
except SystemExit as end:
    print(json.dumps([end.code, sorted({heavy!r} & sys.modules.keys())]))
"""


@pytest.mark.parametrize(
    ("arguments", "code", "allowed"),
    [
        (["--help"], 0, []),
        pytest.param(["evolve", "--help"], 0, [], marks=pytest.mark.slow),
        (["runs"], 2, ["sqlalchemy"]),
        (["show", "r"], 2, ["sqlalchemy"]),
        pytest.param(["replay", "r"], 2, ["sqlalchemy"], marks=pytest.mark.slow),
        pytest.param(["audit", "r"], 2, ["sqlalchemy"], marks=pytest.mark.slow),
    ],
)
def test_reading_commands_load_nothing_heavy(
    tmp_path: Path, arguments: list[str], code: int, allowed: list[str]
) -> None:
    outcome = python("-P", "-c", LOADED.format(arguments=arguments, heavy=set(HEAVY)), cwd=tmp_path)
    exit_code, loaded = json.loads(outcome.stdout.splitlines()[-1])
    assert exit_code == code, outcome.stderr
    assert set(loaded) <= set(allowed)


def test_module_and_command_are_the_same_program(tmp_path: Path) -> None:
    outcome = python("-P", "-m", "dga2d", "--version", cwd=tmp_path)
    assert outcome.stdout.startswith("dga2d, version ")
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts == {"dga2d": "dga2d.runtime.cli:main"}


def source_files() -> set[str]:
    """Everything of the program that git would carry, as it is called in a wheel."""
    return {
        f"dga2d/{path.relative_to(ROOT).as_posix()}"
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_wheel_holds_every_file_and_runs_elsewhere(tmp_path: Path) -> None:
    tree = tmp_path / "tree"  # building leaves folders behind
    left_out = shutil.ignore_patterns(".*", "build", "*.egg-info", "__pycache__", "tests", "docs")
    shutil.copytree(ROOT, tree, symlinks=True, ignore=left_out)
    built = python(
        *("-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path)),
        str(tree),
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("dga2d-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        archive.extractall(tmp_path / "site")
    assert source_files() - names == set()
    assert {"dga2d/__main__.py", "dga2d/py.typed"} <= names
    assert not [name for name in names if name.startswith(("tests/", "agents/", "benchmarks/"))]
    place = "import dga2d, sys; sys.stdout.write(dga2d.__file__)"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    for command in (["-c", place], ["-m", "dga2d", "domains", "tsp", "--json"]):
        outcome = subprocess.run(
            [sys.executable, "-P", *command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        if command[0] == "-c":
            assert outcome.stdout.startswith(str(tmp_path))
        else:
            assert json.loads(outcome.stdout)["operators"]


def test_what_is_locked_runs_on_the_oldest_python_that_is_promised() -> None:
    """Its first release: distributions keep that for years."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    oldest = project["requires-python"].removeprefix(">=") + ".0"
    lines = [line.split(";")[0].strip() for line in (ROOT / "requirements.lock").read_text().splitlines()]
    locked = dict(line.split("==") for line in lines if "==" in line and not line.startswith("#"))
    assert len(locked) > 100
    told = {name: importlib.metadata.metadata(name).json.get("requires_python") for name in locked}
    needs = {name: str(versions or "") for name, versions in told.items()}
    assert [name for name, versions in needs.items() if oldest not in SpecifierSet(versions)] == []
