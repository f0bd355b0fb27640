"""The solver a user takes away computes what the program computes, without the program."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dga2d.domains.core.contract import Implementation, OperatorName
from dga2d.domains.core.registry import domain_names, get_domain
from dga2d.runtime.solver_export import Provenance, solver_source
from dga2d.runtime.solver_export.bundle import BundleError, as_function, bundle

BLOCK = """
import sys
from importlib.abc import MetaPathFinder
class Refuse(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.split(".")[0] in {"dga2d", "torch", "pydantic", "scipy", "networkx"}:
            raise ImportError(f"{name} must not be needed")
sys.meta_path.insert(0, Refuse())
import json
import os
import re
import runpy
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
CITIES = [(np.cos(i * i) * 1000, np.sin(7 * i) * 1000) for i in range(60)]


def alone(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a file where nothing but the standard library, numpy and numba can be imported."""
    return subprocess.run(
        [sys.executable, "-P", "-c", BLOCK, *arguments], cwd=cwd, capture_output=True, text=True, timeout=400
    )


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cities") / "ring60.tsp"
    nodes = "\n".join(f"{i} {x:.3f} {y:.3f}" for i, (x, y) in enumerate(CITIES, start=1))
    head = "NAME : ring60\nTYPE : TSP\nDIMENSION : 60\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n"
    path.write_text(f"{head}{nodes}\nEOF\n", encoding="utf-8")
    return path


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_solver_gives_the_solution_of_solve_under_a_work_budget(
    finished: Any, instance: Path, tmp_path: Path
) -> None:
    taken = finished.run("solver", "done", "-o", str(tmp_path / "solver.py"), "--json")
    assert taken.code == 0, taken.err
    for seed in ("0", "5"):
        options = ("--work", "1500", "--seed", seed, "-o")
        solved = finished.run(
            "solve", "tsp", str(instance), "--run", "done", *options, str(tmp_path / "solve.tour"), "--json"
        )
        assert solved.code == 0, solved.err
        own = alone("solver.py", str(instance), *options, "own.tour", cwd=tmp_path)
        assert own.returncode == 0, own.stderr
        assert own.stdout == f"objective {solved.json['objective']:g}\n"
        assert (tmp_path / "own.tour").read_bytes() == (tmp_path / "solve.tour").read_bytes()


IMPORTED = """
import json
from pathlib import Path
import solver

solved = solver.solve(INSTANCE, work=300)
stats = [f.stats for m in solver._PARTS.values() for f in vars(m).values() if hasattr(f, "stats")]
missed = sum(sum(s.cache_misses.values()) for s in stats)
print(json.dumps([solved.objective, len(solved.sequence), missed, len(stats), solver._is_compiled()]))
"""


@pytest.mark.slow
def test_the_first_start_says_that_it_compiles_and_the_next_one_does_not_compile(
    finished: Any, instance: Path, tmp_path: Path
) -> None:
    finished.run("solver", "done", "-o", str(tmp_path / "solver.py"))
    first = alone("solver.py", str(instance), "--work", "300", cwd=tmp_path)
    assert (first.returncode, first.stderr.count("\n")) == (0, 1), first.stderr
    assert first.stderr.startswith("compiling: this is the first start")
    (tmp_path / "use.py").write_text(IMPORTED.replace("INSTANCE", repr(str(instance))))
    second = subprocess.run(
        [sys.executable, "use.py"], cwd=tmp_path, capture_output=True, text=True, timeout=400, check=True
    )
    assert second.stderr == ""
    objective, length, missed, compiled, is_compiled = json.loads(second.stdout)
    assert f"objective {objective:g}\n" == first.stdout
    assert (length, missed, is_compiled) == (60, 0, True)
    assert compiled > 0
    (tmp_path / "solver.py").touch()
    assert "compiling" in alone("solver.py", str(instance), "--work", "300", cwd=tmp_path).stderr


@pytest.mark.slow
def test_a_package_can_be_built_installed_and_tested_offline(finished: Any, tmp_path: Path) -> None:
    folder, target = tmp_path / "package", tmp_path / "site"
    outcome = finished.run("solver", "done", "--package", str(folder), "--json")
    assert (outcome.code, outcome.json["output"]) == (0, str(folder))
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-index",
        "--no-deps",
        "--no-build-isolation",
    ]
    quiet = [*pip, "--disable-pip-version-check", "--target", str(target), str(folder)]
    subprocess.run(quiet, check=True, capture_output=True, timeout=400)
    used = "import tsp_solver; print(tsp_solver.__file__, tsp_solver.solve.__module__)"
    environment = {**os.environ, "PYTHONPATH": str(target)}
    found = subprocess.run(
        [sys.executable, "-P", "-c", used], env=environment, capture_output=True, text=True, check=True
    )
    assert found.stdout == f"{target / 'tsp_solver' / '__init__.py'} tsp_solver.solver\n"
    assert (target / "tsp_solver-0.1.0.3.dist-info").is_dir()
    assert (target / "bin" / "tsp-solver").is_file()
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert "1 passed" in tested.stdout, tested.stdout


def test_a_package_goes_into_a_new_folder(finished: Any, command: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    refused = command("solver", "done", "--package", str(tmp_path), program=finished)
    assert refused.error == f"error: --package {tmp_path}: is there already; name a new folder"
    both = command("solver", "done", "--package", "p", "-o", "f.py", program=finished)
    assert (both.code, "exclude each other" in both.error) == (2, True)


def test_a_solver_is_of_the_algorithm_and_the_moment_that_are_asked_for(
    finished: Any, command: Any, tmp_path: Path
) -> None:
    shown = command("show", "done", "--json", program=finished).json

    def pipeline(*options: str) -> list[str]:
        outcome = command(
            "solver", "done", "-o", str(tmp_path / "s.py"), "--json", *options, program=finished
        )
        assert outcome.code == 0, outcome.err
        found: list[str] = outcome.json["pipeline"]
        return found

    expected = {key: [step["operator"] for step in shown[key]["pipeline"]] for key in ("best", "checkpoint")}
    assert expected["best"] != expected["checkpoint"]
    assert pipeline() == pipeline("--checkpoint") == expected["checkpoint"]
    assert pipeline("--best") == expected["best"]
    early = command("show", "done", "--generation", "1", "--json", program=finished).json
    assert early["checkpoint"] is None
    assert pipeline("--generation", "1") == [step["operator"] for step in early["best"]["pipeline"]]
    none = command("solver", "done", "--generation", "1", "--checkpoint", program=finished)
    assert none.error == "error: run done has not validated any algorithm yet"
    assert "not 9" in command("solver", "done", "--generation", "9", program=finished).error


def test_solver_names_file_and_line_of_a_broken_instance(finished: Any, command: Any, tmp_path: Path) -> None:
    command("solver", "done", "-o", str(tmp_path / "solver.py"), program=finished)
    (tmp_path / "broken.tsp").write_text("TYPE : TSP\nDIMENSION : x\n", encoding="utf-8")
    own = alone("solver.py", "broken.tsp", cwd=tmp_path)
    assert own.returncode == 2
    assert own.stderr.startswith("error: broken.tsp")
    assert "Traceback" not in own.stderr


NOW = datetime(2026, 1, 1, tzinfo=UTC)


def provenance(domain: str) -> Provenance:
    return Provenance(domain, get_domain(domain).card.title, "x", None, None, (), NOW)


def loaded(source: str, folder: Path) -> dict[str, Any]:
    """What the file defines; it is not run."""
    (folder / "solver.py").write_text(source, encoding="utf-8")
    return runpy.run_path(str(folder / "solver.py"), run_name="solver")


@pytest.mark.parametrize(
    "domain",
    [
        pytest.param(name, marks=pytest.mark.slow if number % 6 else ())
        for number, name in enumerate(domain_names())
    ],
)
def test_every_implementation_of_the_library_can_be_taken_away(domain: str, tmp_path: Path) -> None:
    implementations = [i for op in get_domain(domain).operators() for i in op.implementations]
    source = solver_source(implementations, provenance(domain))
    assert not re.search(r"^\s*(from|import) dga2d", source, re.MULTILINE)
    assert len(loaded(source, tmp_path)["PIPELINE"]) == len(implementations)


def test_every_domain_fits_into_one_file() -> None:
    """No two of its modules define a name; that the file runs is the slow test above."""
    for domain in domain_names():
        baseline = [step.implementation for step in get_domain(domain).safe_baseline()]
        source = solver_source(baseline, provenance(domain))
        assert not re.search(r"^\s*(from|import) dga2d", source, re.MULTILINE)


def test_the_file_has_the_parts_of_the_budget(tmp_path: Path) -> None:
    baseline = [step.implementation for step in get_domain("jsp").safe_baseline()]
    shares = (3.0, *[1.0] * (len(baseline) - 1))
    defined = loaded(solver_source(baseline, provenance("jsp"), shares), tmp_path)
    assert defined["SHARES"] == shares
    budget = defined["Budget"](100, "work", len(shares), shares=defined["SHARES"])
    budget.charge(int(300 / sum(shares)) - 1)
    assert not budget.exhausted()
    budget.charge(2)
    assert budget.exhausted()


def test_text_cannot_leave_the_header(tmp_path: Path) -> None:
    attack = 'x"""\nimport os\nos.abort()\n"""'
    hostile = Provenance("tsp", 'T"""', attack, 'r\\"""', None, ('"""', "\\"), NOW)
    baseline = [step.implementation for step in get_domain("tsp").safe_baseline()]
    assert "os.abort()" in loaded(solver_source(baseline, hostile), tmp_path)["__doc__"]


SOURCE = '''"""Doc
string."""
TEXT = """first
    second
"""
OTHER = 'a' + f"""x{1}
y"""
def run(env_data, state, calc_makespan_fn):
    """Doc of run."""
    return TEXT + OTHER
'''


def test_isolation_keeps_the_value_of_strings() -> None:
    plain: dict[str, Any] = {}
    exec(SOURCE, plain)
    isolated: dict[str, Any] = {}
    exec(as_function("load", SOURCE), isolated)
    assert isolated["load"]()(None, None, None) == plain["run"](None, None, None)


def test_isolation_keeps_names_apart() -> None:
    one = Implementation(OperatorName("a"), "K = 1\ndef run(e, s, c):\n    return K\n", "test")
    two = Implementation(OperatorName("b"), "K = 2\ndef run(e, s, c):\n    return K\n", "test")
    namespace: dict[str, Any] = {}
    exec(as_function("one", one.source) + "\n" + as_function("two", two.source), namespace)
    assert [namespace[name]()(0, 0, 0) for name in ("one", "two")] == [1, 2]


def test_bundle_refuses_two_definitions_of_one_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("left_part", "right_part"):
        (tmp_path / f"{name}.py").write_text("def helper():\n    return 1\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BundleError, match="helper is defined by right_part and by left_part"):
        bundle([("left_part", "helper"), ("right_part", "helper")])
