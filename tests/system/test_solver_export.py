"""The solver a user takes away computes what the program computes, without the program."""

from __future__ import annotations

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
import re
import runpy
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
CITIES = [(np.cos(i * i) * 1000, np.sin(7 * i) * 1000) for i in range(60)]


def alone(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a file where nothing but the standard library, numpy and numba can be imported."""
    return subprocess.run(
        [sys.executable, "-P", "-c", BLOCK, *arguments], cwd=cwd, capture_output=True, text=True, timeout=120
    )


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cities") / "ring60.tsp"
    nodes = "\n".join(f"{i} {x:.3f} {y:.3f}" for i, (x, y) in enumerate(CITIES, start=1))
    head = "NAME : ring60\nTYPE : TSP\nDIMENSION : 60\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n"
    path.write_text(f"{head}{nodes}\nEOF\n", encoding="utf-8")
    return path


@pytest.mark.slow
@pytest.mark.timeout(180)
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
        assert (own.returncode, own.stderr) == (0, "")
        assert own.stdout == f"objective {solved.json['objective']:g}\n"
        assert (tmp_path / "own.tour").read_bytes() == (tmp_path / "solve.tour").read_bytes()


def test_solver_names_file_and_line_of_a_broken_instance(finished: Any, tmp_path: Path) -> None:
    finished.run("solver", "done", "-o", str(tmp_path / "solver.py"))
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


@pytest.mark.parametrize("domain", domain_names())
def test_every_implementation_of_the_library_can_be_taken_away(domain: str, tmp_path: Path) -> None:
    implementations = [i for op in get_domain(domain).operators() for i in op.implementations]
    source = solver_source(implementations, provenance(domain))
    assert not re.search(r"^\s*(from|import) dga2d", source, re.MULTILINE)
    assert len(loaded(source, tmp_path)["PIPELINE"]) == len(implementations)


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
