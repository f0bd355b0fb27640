"""Domains of a user's own in the program as a user starts it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.runtime.domain_check.skeletons import dga2d, installed, skeleton

from dga2d.domains.core.plugins import digest_of

SMALL = (
    *("--preset", "none"),
    *("--policy", "uniform", "--generations", "1", "--pipelines", "2", "--batch-size", "2", "--work", "300"),
    *("--validation-instances", "1", "--llm-calls", "20", "--evaluators", "1", "--quiet", "--no-report"),
)


@pytest.mark.slow
def test_a_skeleton_is_sound_and_passes_its_own_tests(own: Path) -> None:
    made = dga2d(own, "domains", "new", "sound", "--package")
    assert made.returncode == 0, made.stderr
    checked = dga2d(own, "domains", "check", "sound", "--domain-path", ".", "--json")
    assert checked.returncode == 0, checked.stdout
    assert {finding["holds"] for finding in json.loads(checked.stdout)} == {True}
    tested = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "sound/tests"],
        cwd=own,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert tested.returncode == 0, tested.stdout


@pytest.mark.slow
def test_a_new_problem_file_is_sound_and_its_run_goes_on_while_it_is_unchanged(own: Path) -> None:
    made = dga2d(own, "domains", "new", "trips")
    assert made.stdout.splitlines() == ["trips.py", "next: dga2d domains check trips.py"]
    checked = dga2d(own, "domains", "check", "trips.py", "--json")
    assert checked.returncode == 0, checked.stdout
    assert {finding["holds"] for finding in json.loads(checked.stdout)} == {True}
    begun = dga2d(own, "evolve", "trips.py", "--run-id", "t", *SMALL)
    assert begun.returncode == 0, begun.stderr
    assert "gaps         are to what the safe baseline reached before the run began" in begun.stdout
    assert dga2d(own, "replay", "t", "--verify").returncode == 0
    assert dga2d(own, "solver", "t", "--generation", "1", "-o", "trips_solver.py").returncode == 0
    more = ("resume", "t", "--generations", "2", "--quiet", "--no-report")
    assert dga2d(own, *more).returncode == 0
    solver = "from trips_solver import solve; from trips import Trips; import sys\n"
    solver += "print(solve({**Trips().instances()[0]}, work=50).objective, file=sys.stderr)"
    (own / "solves.py").write_text(solver, encoding="utf-8")
    solved = subprocess.run(
        [sys.executable, "solves.py"], cwd=own, capture_output=True, text=True, check=False
    )
    assert float(solved.stderr.splitlines()[-1]) > 0.0
    with (own / "trips.py").open("a", encoding="utf-8") as stream:
        stream.write("# a thought\n")
    refused = dga2d(own, "resume", "t", "--generations", "3")
    assert refused.returncode == 2
    assert "is not the file with which the run began" in refused.stderr
    refused = dga2d(own, "solver", "t", "-o", "other.py", "--domain-path", "trips.py")
    assert refused.returncode == 2
    assert "the domain trips was changed since (then trips+" in refused.stderr
    assert not (own / "other.py").exists()
    assert dga2d(own, "report", "t", "--domain-path", "trips.py").returncode == 0


TIGHT = """\
import numpy as np
import dga2d


class Tight(dga2d.Problem):
    '''Items in boxes that are almost too small for them.'''

    def instances(self):
        rng = np.random.default_rng(2)
        return [{"sizes": rng.integers(1, 6, 12), "costs": rng.integers(1, 9, (12, 4))} for _ in range(5)]

    def encoding(self, instance):
        return dga2d.Assignment(12, 4)

    def score(self, instance, box):
        return instance.costs[np.arange(12), box].sum()

    def check(self, instance, box):
        loads = np.bincount(box, weights=instance.sizes, minlength=4)
        return np.maximum(loads - 1.2 * instance.sizes.sum() / 4, 0).sum()


@dga2d.operator("perturbation")
def exchange(env_data, state, calc_makespan_fn):
    '''Two items change places.'''
    order = state.sequence.copy()
    i, j = env_data["rng"].integers(0, order.size, 2)
    order[i], order[j] = order[j], order[i]
    state.sequence = order
    env_data["budget"].charge(1)
    return state


@dga2d.operator("initialisation")
def anywhere(env_data, state, calc_makespan_fn):
    '''Each item in any box.'''
    size, groups = env_data["solution_size"], env_data["solution_groups"]
    state.sequence = env_data["rng"].integers(0, groups, size).astype("int32")
    env_data["budget"].charge(1)
    return state
"""


@pytest.mark.slow
def test_operators_are_not_to_blame_for_constraints_that_are_hard_to_keep(own: Path) -> None:
    (own / "tight.py").write_text(TIGHT, encoding="utf-8")
    checked = dga2d(own, "domains", "check", "tight.py", "--json")
    failed = [finding for finding in json.loads(checked.stdout) if finding["holds"] is False]
    assert [finding["claim"] for finding in failed if finding["claim"].startswith("operators")] == [], failed


@pytest.mark.slow
def test_the_check_ends_with_1_and_tries_what_is_left_all_the_same(own: Path) -> None:
    skeleton(own, "unsound", ("library/move_to_front.py", "(moved, rest)", "(moved, moved)"))
    checked = dga2d(own, "domains", "check", "unsound", "--domain-path", ".")
    assert checked.returncode == 1, checked.stderr
    lines = checked.stdout.splitlines()
    (failed,) = [line for line in lines if line.startswith("FAILED  operators give valid solutions")]
    assert "library:move_to_front.py on" in failed
    assert lines[-1].startswith("ok      a run evolves and can be replayed: best gap")


@pytest.mark.slow
def test_resume_refuses_a_changed_plugin_and_replay_does_not_need_it(own: Path) -> None:
    folder = skeleton(own, "resbag")
    begun = dga2d(own, "evolve", "resbag", "--domain-path", ".", "--run-id", "r", *SMALL)
    assert begun.returncode == 0, begun.stderr
    shown = json.loads(dga2d(own, "show", "r", "--json").stdout)
    assert shown["code_version"].endswith(f" resbag+{digest_of(folder)[:12]}")
    more = ("resume", "r", "--generations", "2", "--quiet", "--no-report", "--domain-path", ".")
    with (folder / "card.py").open("a", encoding="utf-8") as stream:
        stream.write("# a thought\n")
    refused = dga2d(own, *more)
    assert refused.returncode == 2
    assert f"written by dga2d {shown['code_version']}, this is" in refused.stderr
    accepted = dga2d(own, *more, "--accept-code-change")
    assert accepted.returncode == 0, accepted.stderr
    resumed = json.loads(dga2d(own, "log", "r", "--type", "RunResumed", "--json").stdout)
    assert resumed["payload"]["code_version"].endswith(f" resbag+{digest_of(folder)[:12]}")
    for command in ("replay", "audit", "report"):
        alone = dga2d(own, command, "r")
        assert alone.returncode == 0, alone.stderr
    gone = dga2d(own, "resume", "r", "--generations", "3")
    assert gone.returncode == 2
    assert "error: no domain is called 'resbag'" in gone.stderr.splitlines()[-1]


@pytest.mark.slow
def test_an_installed_domain_reaches_the_evaluation_processes(tmp_path: Path) -> None:
    site = installed(tmp_path, "shipped")
    solved = dga2d(
        tmp_path, "solve", "shipped", "correlated00", "--work", "500", "--json", PYTHONPATH=str(site)
    )
    assert solved.returncode == 0, solved.stderr
    assert json.loads(solved.stdout)["objective"] > 0


@pytest.mark.slow
def test_the_solver_file_of_a_plugin_computes_what_solve_computes(own: Path) -> None:
    skeleton(own, "filebag")
    path = {"DGA2D_DOMAIN_PATH": str(own)}
    assert dga2d(own, "evolve", "filebag", "--run-id", "r", *SMALL, **path).returncode == 0
    taken = dga2d(own, "solver", "r", "-o", "solver.py", **path)
    assert taken.returncode == 0, taken.stderr
    (own / "four.txt").write_text("4 10\n7 6\n5 5\n5 5\n1 2\n", encoding="utf-8")
    options = ("four.txt", "--work", "500", "-o")
    solved = dga2d(own, "solve", "filebag", *options[:-1], "-o", "solve.txt", "--run", "r", **path)
    assert solved.returncode == 0, solved.stderr
    alone = subprocess.run(
        [sys.executable, "-P", "solver.py", *options, "alone.txt"],
        cwd=own,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (alone.stdout, alone.stderr) == ("objective 10\n", "")
    assert (own / "alone.txt").read_bytes() == (own / "solve.txt").read_bytes()
