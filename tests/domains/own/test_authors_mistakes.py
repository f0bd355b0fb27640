"""What authors of problems in one file get wrong: each mistake is said, with its place, and harms nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.domains.own.problems import WORKS, Knapsack, Loading

import dga2d
from dga2d.domains.claims import examine, instances_claim
from dga2d.domains.core.contract import unit_seconds_of
from dga2d.domains.core.errors import PluginError, UnknownDomainError
from dga2d.domains.core.plugins import use_problem_file
from dga2d.domains.core.registry import get_domain
from dga2d.domains.own.claims import functions_claim, own_writing_claim
from dga2d.domains.own.domain import OwnDomain
from dga2d.domains.own.scoring import ProblemFaultError


def bag(**parts: Any) -> OwnDomain:
    """The knapsack with other parts."""
    return OwnDomain(type("Bag", (Knapsack,), {"__doc__": "A bag.", **parts})(), "bag")


def claimed(domain: OwnDomain) -> str:
    """What the check says of a problem's functions on its first instance."""
    return " ".join(functions_claim(domain, domain.generated()[:1]))


def sorts_its_solution(self: Any, instance: Any, chosen: Any) -> float:
    chosen.sort()
    return float(chosen.sum())


def sets_a_field(self: Any, instance: Any, chosen: Any) -> float:
    instance.capacity = 3
    return 0.0


def test_a_function_that_changes_its_solution_is_named() -> None:
    assert "score on instance bag/instance1: changes the solution" in claimed(bag(score=sorts_its_solution))
    assert "check on instance bag/instance1: changes the solution" in claimed(bag(check=sorts_its_solution))


def test_an_instance_takes_no_new_values() -> None:
    with pytest.raises(ProblemFaultError, match=r"check .*'capacity' of the instance cannot be changed"):
        bag(check=sets_a_field).smoke_instance()


@pytest.mark.parametrize("said", [False, True, 0, 1.0, ["late"]])
def test_verify_says_a_sentence_or_nothing(said: object) -> None:
    domain = bag(verify=lambda self, instance, chosen: said, check=lambda self, instance, chosen: 0)
    instance = domain.smoke_instance()
    state = instance.data["scorer"].encoding.state(np.zeros(9, np.int32))
    with pytest.raises(ProblemFaultError, match=r"verify on instance .*expected None for a valid answer"):
        domain.verify(instance, state)


@pytest.mark.parametrize("said", ["12", float("nan"), float("inf"), True])
def test_a_reference_is_a_finite_number_or_nothing(said: object) -> None:
    with pytest.raises(ProblemFaultError, match=r"reference on instance .*expected None or a finite number"):
        bag(reference=lambda self, instance: said).generated()


@pytest.mark.parametrize(
    ("said", "hint"), [("12.5", "expected a finite"), (float("inf"), "is said by `check`"), (None, "None")]
)
def test_a_score_is_a_finite_number(said: object, hint: str) -> None:
    with pytest.raises(ProblemFaultError, match=hint):
        bag(score=lambda self, instance, chosen: said).smoke_instance()


@pytest.mark.parametrize(
    ("delta", "hint"),
    [
        (lambda self, instance, chosen, i, j: 0.0, "delta on instance bag/instance1: failed with TypeError"),
        (lambda self, instance, chosen, i: "1", "delta on instance bag/instance1: returned '1'"),
    ],
)
def test_a_delta_that_cannot_be_asked_is_named(delta: Callable[..., Any], hint: str) -> None:
    found = examine(functions_claim, bag(delta=delta), bag().generated()[:1]).contradictions
    assert hint in " ".join(found)
    assert "test_authors_mistakes.py" in found[0]


def test_a_delta_need_not_know_what_breaks_constraints() -> None:
    def delta(self: Any, instance: Any, chosen: Any, item: int) -> float:
        change = (1 - 2 * int(chosen[item])) * instance.values[item]
        weight = (instance.weights * chosen).sum() + (1 - 2 * int(chosen[item])) * instance.weights[item]
        return -np.inf if weight > instance.capacity else float(change)

    def heavy(self: Any, instance: Any, chosen: Any) -> str:
        return "too heavy" if (instance.weights * chosen).sum() > instance.capacity else ""

    for check in (Knapsack.check, heavy):
        domain = bag(delta=delta, check=check)
        assert claimed(domain) == ""
        instance = domain.smoke_instance()
        decoder: Any = domain.decoder(domain.environment(instance))
        encoding = instance.data["scorer"].encoding
        full = encoding.state(np.ones(9, np.int32))
        last = encoding.state(np.array([1] * 8 + [0], np.int32))
        assert decoder.hooks["score_of_move"](last, 0.0, 8) == decoder(full)


def test_a_score_is_not_timed_on_what_breaks_constraints() -> None:
    def demanding(self: Any, instance: Any, chosen: Any) -> float:
        assert (instance.weights * chosen).sum() <= instance.capacity
        return 1.0

    asked: list[bool] = []

    def check(self: Any, instance: Any, chosen: Any) -> float:
        asked.append(True)
        return Knapsack.check(self, instance, chosen)

    assert unit_seconds_of(bag(score=demanding, check=check)) > 0.0
    assert asked


@pytest.mark.parametrize("part", ["instances", "encoding", "score", "check", "reference"])
def test_a_function_that_leaves_the_program_is_a_fault(part: str) -> None:
    def leave(*arguments: object) -> None:
        raise SystemExit(0)

    with pytest.raises(ProblemFaultError, match=f"{part}.*failed with SystemExit: 0"):
        bag(**{part: leave}).smoke_instance()


@pytest.mark.parametrize(
    ("attribute", "said"),
    [({"sense": "maximise"}, "sense is 'maximise'"), ({"fields": ["values"]}, "fields is \\['values'\\]")],
)
def test_attributes_are_checked_when_the_problem_is_made(attribute: dict[str, Any], said: str) -> None:
    with pytest.raises(ProblemFaultError) as caught:
        bag(**attribute)
    assert (caught.value.part, caught.value.line is not None) == (next(iter(attribute)), True)


def test_a_described_field_that_no_instance_has_is_named() -> None:
    assert "fields: describes worth, which no instance has" in claimed(bag(fields={"worth": "of an item"}))
    assert claimed(bag(fields={"values": "of an item"})) == ""


def test_what_is_missing_in_an_instance_may_stay_missing() -> None:
    domain = bag(instances=lambda self: [{**one, "due": [1.0, np.nan]} for one in Knapsack().instances()])
    assert claimed(domain) == ""
    assert examine(instances_claim, domain, domain.generated()).contradictions == ()


def test_test_instances_that_training_has_seen_are_told() -> None:
    ones = Knapsack().instances()
    domain = bag(instances=lambda self: dga2d.Split(train=ones[:2], validation=ones[2:3], test=ones[1:]))
    seen = examine(instances_claim, domain, domain.generated())
    assert "2 of the test in training or validation, too" in seen.tried
    assert seen.contradictions == ()


def test_bounds_of_the_wrong_length_are_said_in_words() -> None:
    with pytest.raises(ValueError, match=r"RealVector: high has the shape \(2,\), expected a number or 3"):
        dga2d.RealVector(3, 0.0, [1.0, 2.0])


def test_a_part_that_a_solution_lacks_is_said_of_the_solution() -> None:
    space = dga2d.Arrays(first=dga2d.Permutation(3))
    solution = space.random(np.random.default_rng(0))
    with pytest.raises(AttributeError, match="the solution has no 'fist'; it has first"):
        _ = solution.fist
    with pytest.raises(AttributeError, match="the solution has no 'fist'"):
        solution.fist = 3
    solution.first = np.arange(3)
    assert solution["first"].tolist() == [0, 1, 2]


def test_what_an_author_prints_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    def told(self: Any, instance: Any, chosen: Any) -> float:
        print("looking")
        return 0.0

    domain = bag(check=told)
    instance = domain.smoke_instance()
    state = instance.data["scorer"].encoding.state(np.zeros(9, np.int32))
    assert domain.verify(instance, state).is_feasible
    assert claimed(domain) == ""
    out, err = capsys.readouterr()
    assert (out, "looking" in err) == ("", True)


def test_what_a_problem_prints_when_it_is_made_goes_to_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "made_aloud.py"
    made = "    def __init__(self):\n        print('made')\n\n    def instances"
    path.write_text(WORKS.replace("    def instances", made), encoding="utf-8")
    get_domain(use_problem_file(path))
    out, err = capsys.readouterr()
    assert (out, err) == ("", "made\n")


def test_a_unit_of_work_takes_as_long_as_a_score() -> None:
    assert 0.0 < unit_seconds_of(OwnDomain(Loading(), "loading")) < 1.0


WEIGHED = """\
from functools import cache
from numba import njit


@cache
def weighed():
    @njit(cache=True)
    def kernel(weights, order):
        return (weights[order] * np.arange(order.size)).sum()

    return kernel
"""
"""Compiled when it is first asked for, long after the import."""
COMPILED = WORKS.replace("import dga2d\n", f"import dga2d\n{WEIGHED}").replace(
    "(instance.weights[order] * np.arange(3)).sum()", "weighed()(instance.weights, order)"
)


def test_machine_code_of_a_file_stays_apart_from_that_of_its_author(tmp_path: Path) -> None:
    path = tmp_path / "compiled_one.py"
    path.write_text(COMPILED, encoding="utf-8")
    get_domain(use_problem_file(path)).smoke_instance()
    kept = [found.parent.name for found in tmp_path.rglob("*.nbi")]
    assert kept == ["dga2d"]
    use = "import numpy, compiled_one as c; print(c.weighed()(numpy.ones(3), numpy.arange(3)))"
    run = [sys.executable, "-c", use]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "3.0"), done.stderr


def test_a_file_that_leaves_when_it_is_imported_is_named(tmp_path: Path) -> None:
    path = tmp_path / "leaves.py"
    path.write_text("import dga2d\nraise SystemExit(0)\n", encoding="utf-8")
    with pytest.raises(PluginError, match=r"leaves\.py:2: cannot be imported: SystemExit: 0"):
        get_domain(use_problem_file(path))


def test_paths_from_the_working_directory_are_advised_against(tmp_path: Path) -> None:
    def read(self: Any) -> list[str]:
        return [Path("no/such/file").read_text(encoding="utf-8")]

    with pytest.raises(ProblemFaultError, match=r"build paths from Path\(__file__\)\.parent"):
        bag(instances=read).generated()
    with pytest.raises(ProblemFaultError, match=r"gives 0 instances.*Path\(__file__\)\.parent"):
        bag(instances=lambda self: []).generated()


def test_a_file_that_is_called_like_a_domain_is_suggested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "springs.py").write_text("", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnknownDomainError, match=r"did you mean the file springs\.py\?"):
        get_domain("springs")


def test_a_solution_that_cannot_be_written_is_found_by_the_check() -> None:
    domain = bag(write=lambda self, instance, chosen: 1 / 0)
    (found,) = examine(own_writing_claim, domain).contradictions
    assert "write on instance bag/instance1: failed with ZeroDivisionError" in found
    assert examine(own_writing_claim, bag()).contradictions == ()


@pytest.mark.slow
def test_an_author_who_prints_much_stops_no_evaluation_process(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(WORKS.replace("    def score", LOUD), encoding="utf-8")
    run = [sys.executable, "-m", "dga2d", "domains", "check", "loud.py", "--evaluators", "1", "--json"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=150, check=False)
    findings = json.loads(done.stdout)
    assert [finding["detail"] for finding in findings if finding["holds"] is not True] == []


LOUD = """\
    def check(self, instance, order):
        print("a line of many words" * 10_000)

    def score"""
"""Each time it prints more than a pipe holds."""
