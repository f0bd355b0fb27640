"""A problem of decorated functions, with an operator and a picture, in a file or typed at a prompt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dga2d
from dga2d.domains.core.contract import Instance, State
from dga2d.domains.core.errors import NotOfferedError, PluginError
from dga2d.domains.core.plugins import use_problem, use_problem_file
from dga2d.domains.core.registry import get_domain
from dga2d.domains.drawing import Drawing
from dga2d.domains.own import cells
from dga2d.domains.own.claims import own_picture_claim
from dga2d.domains.own.domain import OwnDomain
from dga2d.domains.own.scoring import ProblemFaultError
from dga2d.domains.own.standalone import standalone_text
from dga2d.domains.source_rules import check_source

SPREAD = '''\
import numpy as np
import dga2d

REACH = 2  # tunable: int 1..5


def clipped(values):
    return np.clip(values, 0, 5)


@dga2d.problem(sense="max", fields={"pay": "what each pays"})
def spread(instance, solution):
    """Spread what pays."""
    return (solution.amounts * instance.pay).sum()


@spread.instances
def drawn():
    return [{"pay": [3, 1, 2 + k]} for k in range(5)]


@spread.encoding
def space(instance):
    return dga2d.Arrays(amounts=dga2d.Array(3, 0, 5), order=dga2d.Permutation(3))


@spread.check
def excess(instance, solution):
    return max(0, solution.amounts.sum() - 8)


@spread.picture
def bars(instance, solution):
    from matplotlib.figure import Figure

    figure = Figure()
    figure.subplots().bar(range(3), solution.amounts)
    return figure


@dga2d.operator("perturbation", title="Lift")
def lift(env_data, state, calc_makespan_fn):
    """All amounts grow."""
    changed = state.copy()
    changed.metadata["amounts"] = clipped(state.metadata["amounts"] + REACH)
    env_data["budget"].charge(1)
    return changed
'''


def domain_of(folder: Path, old: str = "", new: str = "") -> OwnDomain:
    """The domain of the text with a change."""
    assert old in SPREAD
    path = folder / "spread.py"
    path.write_text(SPREAD.replace(old, new), encoding="utf-8")
    domain = get_domain(use_problem_file(path))
    assert isinstance(domain, OwnDomain)
    return domain


def solution(domain: OwnDomain, *amounts: int) -> tuple[Instance, State]:
    """The smallest instance with a solution."""
    state = State(None, {"amounts": np.array(amounts), "order": np.arange(3, dtype=np.int32)})
    return domain.smoke_instance(), state


def test_decorated_functions_are_a_problem(tmp_path: Path) -> None:
    domain = domain_of(tmp_path)
    assert (domain.sense, domain.card.title) == ("max", "Spread what pays")
    assert domain.card.environment["pay"] == "int64 array of 1 dimension: what each pays"
    assert all(part in domain.card.decoder for part in ("amounts * instance.pay", "amounts.sum() - 8"))
    instance, state = solution(domain, 5, 1, 2)
    assert domain.verify(instance, state).objective == 15 + 1 + 4
    assert domain.verify(*solution(domain, 5, 5, 5)).violation == "check: the constraints are broken by 7"
    assert domain.verify(*solution(domain, 6, 0, 0)).violation == (
        "part 'amounts': 1 entries lie outside their bounds"
    )
    assert domain.write_solution(instance, state) == (
        '{"score": 20.0, "solution": {"amounts": [5, 1, 2], "order": [0, 1, 2]}}\n'
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("@spread.encoding\n", "", "spread.py:11: spread defines no encoding"),
        ("@spread.check", "@spread.encoding", "the problem has two functions for encoding"),
        ('"perturbation"', '"search"', "expected a category of initialisation, local_search"),
        ('"""All amounts grow."""', "pass", "operator lift has no docstring; its first line tells what"),
        ('env_data["budget"].charge(1)', "open('x')", "spread.py:46: operator lift may not run in the sand"),
        ("def lift", "def random_descent", "the solution space brings an operator random_descent"),
        ("amounts * instance.pay", "amounts * instance.wage", "spread.py:14: score on instance spread/in"),
        ("amounts=dga2d.Array(3, 0, 5), ", "", "has no 'amounts'; it has order"),
        ("[3, 1, 2 + k]", "[3, 1, 2 + k], 'budget': 4", "has a field 'budget', a name under which operators"),
        ("dga2d.Array(3, 0, 5)", "dga2d.Array(3, 5, 0)", "expected finite bounds with low <= high"),
        ("dga2d.Arrays(amounts=dga2d.Array(3, 0, 5), order=dga2d.Permutation(3))", "dga2d.Array(3, 0, 5)",
         "RealVector or Arrays"),
    ],
)  # fmt: skip
def test_a_mistake_is_said_with_its_place(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises((PluginError, ProblemFaultError)) as caught:
        domain_of(tmp_path, old, new).operators()
    assert said in str(caught.value)


def test_an_operator_brings_what_it_uses_and_knows_its_lines(tmp_path: Path) -> None:
    domain = domain_of(tmp_path)
    (own,) = domain.in_file
    (text,) = own.operator.implementations
    assert check_source(text.source) == ()
    assert text.source.startswith("import numpy as np\n")
    assert "REACH = 2  # tunable: int 1..5\n" in text.source
    assert "dga2d" not in text.source
    assert text.origin == "spread.py:42"
    line = text.source.split("\n").index('    env_data["budget"].charge(1)') + 1
    assert own.located(f"running position 2 (lift): <operator>, line {line}, in run") == (
        "running position 2 (lift): spread.py:46, in run"
    )
    found = {operator.id: operator for operator in domain.operators()}
    assert (found[text.operator].title, found[text.operator].requires) == ("Lift", "complete")
    assert len(found) == 8


def test_a_picture_is_drawn_of_valid_solutions(tmp_path: Path) -> None:
    domain = domain_of(tmp_path)
    assert not isinstance(domain.picture(*solution(domain, 1, 1, 1)), Drawing)
    assert list(own_picture_claim(domain)) == []
    data = "from dga2d.domains.drawing import Drawing\n    return Drawing('amounts', ())"
    own = domain_of(tmp_path, "return figure", data)
    assert own.picture(*solution(own, 1, 1, 1)) == Drawing("amounts", ())
    assert list(own_picture_claim(own)) == []
    wrong = domain_of(tmp_path, "return figure", "return 3")
    with pytest.raises(
        ProblemFaultError, match=r"picture on .*: returned 3; expected a Drawing or a figure of matplotlib"
    ):
        wrong.picture(*solution(wrong, 1, 1, 1))
    without = domain_of(tmp_path, "@spread.picture\n", "")
    with pytest.raises(NotOfferedError):
        without.picture(*solution(without, 1, 1, 1))


def test_a_solver_file_leaves_operators_out(tmp_path: Path) -> None:
    text, expression = standalone_text(domain_of(tmp_path))
    assert expression == "spread.problem"
    assert not any(word in text for word in ("dga2d.operator", "def lift", "import dga2d"))
    assert "@dga2d.problem" in text


def test_what_was_typed_becomes_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    typed = [f"{part}\n" for part in SPREAD.split("\n\n\n")]
    typed[1:1] = ["REACH = 1", "%time no python", "UNUSED = 1", "REACH = 3"]
    space: dict[str, Any] = {"__name__": "typed_in"}
    exec(SPREAD, space)
    module = type("Module", (), space)
    monkeypatch.setitem(cells.sys.modules, "typed_in", module)  # type: ignore[attr-defined]
    monkeypatch.setattr(cells, "typed_cells", lambda: typed)
    domain = get_domain(use_problem(space["spread"]))
    assert isinstance(domain, OwnDomain)
    text = domain.own_operators[0].implementations[0].source
    assert "REACH = 3" in text
    (file,) = (tmp_path / "dga2d_problems").rglob("*.py")
    assert file.name == "spread.py"
    assert "UNUSED" not in file.read_text()
    assert domain.verify(*solution(domain, 5, 1, 2)).objective == 20


@pytest.mark.parametrize("place", [None, "<stdin>"])
def test_what_nobody_kept_is_said(monkeypatch: pytest.MonkeyPatch, place: str | None) -> None:
    monkeypatch.setattr(cells, "typed_cells", list)
    kind = type("Lost", (dga2d.Problem,), {"__module__": "__main__"})
    monkeypatch.setattr(cells.sys.modules["__main__"], "__file__", place, raising=False)  # type: ignore[attr-defined]
    with pytest.raises(PluginError, match=r"^Lost: is defined in no file, and its text is not known either"):
        use_problem(kind)
