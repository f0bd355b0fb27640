"""Problems in one file: found by their path, and every mistake said with file, line and instance."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.domains.own.problems import EVERY, WORKS, Knapsack

import dga2d
from dga2d.domains.core import plugins
from dga2d.domains.core.contract import InstanceRef
from dga2d.domains.core.errors import DomainError, InstanceFormatError, PluginError
from dga2d.domains.core.plugins import recall_problem_file, use_problem, use_problem_file
from dga2d.domains.core.registry import get_domain
from dga2d.domains.core.splits import split
from dga2d.domains.own.claims import functions_claim
from dga2d.domains.own.domain import OwnDomain
from dga2d.domains.own.problem import Fields
from dga2d.domains.own.scoring import ProblemFaultError


def written(folder: Path, old: str = "", new: str = "") -> Path:
    """A problem's file with a change."""
    assert old in WORKS
    path = folder / "tiny_one.py"
    path.write_text(WORKS.replace(old, new), encoding="utf-8")
    return path


def smoke_fault(path: Path) -> str:
    """What is said of a file whose smallest instance is loaded."""
    with pytest.raises(DomainError) as caught:
        get_domain(use_problem_file(path)).smoke_instance()
    return str(caught.value)


def test_a_file_is_a_domain_under_its_name(tmp_path: Path) -> None:
    name = use_problem(written(tmp_path))
    domain = get_domain(name)
    assert (name, domain.name, domain.card.title) == ("tiny_one", "tiny_one", "A tiny problem")
    assert [ref.key for ref in domain.generated()] == [f"tiny_one/instance{n}" for n in range(1, 6)]
    assert "np.arange(3)" in domain.card.decoder


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("order] * np.arange(3)).sum()", "order] / 0 * order[7]).sum()", "tiny_one.py:15: score on instance"),
        ("(instance.weights[order] * np.arange(3)).sum()", "None", "returned None; expected a finite number"),
        ("instance.weights[order] *", "instance.weight[order] *", "the instance has no 'weight'; it has"),
        ("[3, 1, 2]", "[[3], 1, 2]", "that is no number, text or rectangular array"),
        ("* 5", "* 4", "gives 4 instances; at least 5"),
        ("dga2d.Permutation(len(instance.weights))", "3", "encoding on instance tiny_one/instance1: ret"),
        ("dga2d.Permutation(len", "dga2d.Permutation(-len", "expected a whole number of 1 or more, got -3"),
        ("def score", "def skore", "Tiny defines no score"),
        ("class Tiny(dga2d.Problem)", "class Tiny", "or one function with @dga2d.problem; found none"),
        ("def instances(self):", "def instances(self)", "tiny_one.py:8: cannot be imported: SyntaxError"),
    ],
)  # fmt: skip
def test_a_mistake_is_said_with_its_place(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert said in smoke_fault(written(tmp_path, old, new))


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    first = get_domain(use_problem_file(written(tmp_path)))
    again = get_domain(use_problem_file(written(tmp_path, "A tiny", "Another tiny")))
    assert (first.card.title, again.card.title) == ("A tiny problem", "Another tiny problem")


def test_what_a_log_names_is_loaded_only_unchanged(tmp_path: Path) -> None:
    path = written(tmp_path)
    digest = plugins.digest_of(path)
    recall_problem_file("tiny_one", path, digest[:12])
    assert get_domain("tiny_one").name == "tiny_one"
    written(tmp_path, "A tiny", "Another")
    with pytest.raises(PluginError, match="is not the file with which the run began"):
        get_domain("tiny_one")
    path.unlink()
    with pytest.raises(PluginError, match="is not there any more"):
        get_domain("tiny_one")


def test_a_log_runs_no_file_that_is_no_problem(tmp_path: Path) -> None:
    path = tmp_path / "other.py"
    path.write_text("raise SystemExit('ran')\n", encoding="utf-8")
    recall_problem_file("other", path, plugins.digest_of(path))
    with pytest.raises(PluginError, match="does not import dga2d"):
        get_domain("other")


def test_a_split_that_is_given_is_kept() -> None:
    class Given(Knapsack):
        """Given parts."""

        def instances(self) -> dga2d.Split:  # type: ignore[override]
            one = super().instances()[0]
            return dga2d.Split(train={"a": one, "b": one}, validation=[one], test={"hard/c": one})

    parts = split(OwnDomain(Given(), "bag").generated())
    keys = [[ref.key for ref in part] for part in parts]
    assert keys == [["bag/a", "bag/b"], ["bag/validation1"], ["hard/c"]]


def test_an_instance_may_be_an_array() -> None:
    class Matrix(dga2d.Problem):
        """Assign rows to columns."""

        def instances(self) -> list[list[list[int]]]:
            return [[[1, 2], [3, k]] for k in range(5)]

        def encoding(self, instance):  # type: ignore[no-untyped-def]
            return dga2d.Permutation(len(instance))

        def score(self, instance, order):  # type: ignore[no-untyped-def]
            return instance[np.arange(2), order].sum()

    domain = OwnDomain(Matrix(), "matrix")
    assert list(domain.environment(domain.smoke_instance())) == ["instance", "solution_size"]


def test_a_file_that_cannot_be_read_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text('{"values": [1,\n2', encoding="utf-8")
    with pytest.raises(InstanceFormatError, match=r"broken\.json:2: cannot be read: JSONDecodeError"):
        OwnDomain(Knapsack(), "bag").load(InstanceRef("bag", "file", "broken", path))


@pytest.mark.parametrize("kind", EVERY)
def test_pure_functions_pass_the_check(kind: type[dga2d.Problem]) -> None:
    domain = OwnDomain(kind(), "tiny")
    assert list(functions_claim(domain, domain.generated())) == []


def test_the_check_finds_a_score_that_changes_its_instance() -> None:
    class Scribbles(Knapsack):
        """Scribbles."""

        def score(self, instance: Fields, chosen: object) -> float:
            instance.values[0] += 1
            return float(instance.values.sum())

        def check(self, instance: Fields, chosen: object) -> float:
            return 0.0

    domain = OwnDomain(Scribbles(), "bag")
    found = " ".join(functions_claim(domain, domain.generated()[:1]))
    assert "score on instance bag/instance1: changes values of its instance" in found


def test_the_check_finds_a_score_that_is_not_pure_and_a_wrong_delta() -> None:
    class Draws(Knapsack):
        """Draws."""

        calls = 0

        def score(self, instance: Fields, chosen: object) -> float:
            self.calls += 1
            return float(self.calls)

        def check(self, instance: Fields, chosen: object) -> float:
            return 0.0

        def delta(self, instance, chosen, *move):  # type: ignore[no-untyped-def]
            return 0.5

    domain = OwnDomain(Draws(), "bag")
    found = " ".join(functions_claim(domain, domain.generated()[:1]))
    assert "it must be pure" in found
    assert "delta on instance bag/instance1: says 0.5" in found


def test_a_fault_keeps_its_parts() -> None:
    class Fails(Knapsack):
        """Fails."""

        def score(self, instance: Fields, chosen: object) -> float:
            raise ZeroDivisionError("of mine")

        def check(self, instance: Fields, chosen: object) -> float:
            return 0.0

    with pytest.raises(ProblemFaultError) as caught:
        OwnDomain(Fails(), "bag").smoke_instance()
    error = caught.value
    assert (error.file, error.part, error.instance) == ("test_problem_files.py", "score", "bag/instance1")
    assert error.line is not None
    assert "ZeroDivisionError: of mine" in error.reason
