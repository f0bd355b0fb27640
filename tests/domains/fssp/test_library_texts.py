"""The texts of the flow-shop library: source rules, tunables, exchangeable blocks, tiers, baselines."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from pathlib import Path

import pytest

from dga2d.domains.contract import Implementation, Operator
from dga2d.domains.fssp import DOMAIN
from dga2d.domains.source_rules import check_source

OPERATORS = {op.id: op for op in DOMAIN.operators()}
CASES = [(op, impl) for op in DOMAIN.operators() for impl in op.implementations]
IDS = [impl.origin.removeprefix("library:") for _, impl in CASES]
every_implementation = pytest.mark.parametrize(("operator", "implementation"), CASES, ids=IDS)


@every_implementation
def test_the_text_obeys_the_source_rules(operator: Operator, implementation: Implementation) -> None:
    assert check_source(implementation.source) == ()
    docstring = ast.get_docstring(ast.parse(implementation.source))
    assert docstring is not None
    for part in ("Method:", "Source:", "Complexity:"):
        assert part in docstring


TUNABLE = re.compile(
    r"^(?P<name>[A-Z_]+) = (?P<value>\S+)  # tunable: "
    r"(?:(?P<kind>int|float) (?P<low>\S+)\.\.(?P<high>\S+)|choice (?P<words>[\w ]+))$"
)


@every_implementation
def test_tunables_are_well_formed_and_within_their_range(
    operator: Operator, implementation: Implementation
) -> None:
    marked = [line for line in implementation.source.splitlines() if "# tunable" in line]
    assert marked
    for line in marked:
        match = TUNABLE.match(line)
        assert match, line
        if match["words"]:
            assert ast.literal_eval(match["value"]) in match["words"].split()
            continue
        number = int if match["kind"] == "int" else float
        assert number(match["low"]) <= number(match["value"]) <= number(match["high"]), line


def functions(implementation: Implementation) -> dict[str, str]:
    """Texts of the top-level functions, decorators included."""
    tree = ast.parse(implementation.source)
    return {node.name: ast.unparse(node) for node in tree.body if isinstance(node, ast.FunctionDef)}


def exchangeable(implementation: Implementation) -> dict[str, tuple[str, str]]:
    """Exchangeable blocks: name → (function, its arguments)."""
    lines = implementation.source.splitlines()
    blocks = {}
    for node in ast.parse(implementation.source).body:
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            marker = re.match(r"# exchangeable: ([\w-]+)$", lines[first - 2])
            if marker:
                blocks[marker[1]] = (node.name, ast.unparse(node.args))
    return blocks


def test_exchangeable_blocks_of_one_name_have_one_signature() -> None:
    seen: dict[str, tuple[str, str]] = {}
    count = 0
    for _, implementation in CASES:
        count += implementation.source.count("# exchangeable: ")
        for name, signature in exchangeable(implementation).items():
            count -= 1
            assert seen.setdefault(name, signature) == signature
    assert count == 0
    assert {"tie-breaking", "destruction", "job-index", "kick"} <= seen.keys()


def test_exchangeable_blocks_stand_alone() -> None:
    for _, implementation in CASES:
        tree = ast.parse(implementation.source)
        blocks = {function for function, _ in exchangeable(implementation).values()}
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and node.name in blocks:
                bound = {"np", "math", "njit", *dir(builtins)}
                bound |= {arg.arg for arg in node.args.args}
                bound |= {
                    n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
                }
                used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
                assert used <= bound, (node.name, used - bound)


OWN = {"run", "construct", "rebuild", "iterate", "tabu_search", "choose_place", "job_index", "tabu_tenure"}


def test_a_function_of_one_name_is_the_same_in_every_file() -> None:
    """Files are self-contained copies; this keeps the copies from drifting apart."""
    seen: dict[str, str] = {}
    for _, implementation in CASES:
        for name, text in functions(implementation).items():
            if name not in OWN:
                assert seen.setdefault(name, text) == text, (name, implementation.origin)


def test_the_library_has_what_the_domain_promises() -> None:
    assert len(OPERATORS) >= 12
    basic = [op for op in OPERATORS.values() if op.tier == "basic"]
    assert len(basic) >= 5
    assert sum(op.is_initialiser for op in basic) >= 2
    assert [op.id for op in DOMAIN.operators()] == sorted(OPERATORS)
    folder = {
        path.name
        for path in Path(sys.modules[type(DOMAIN).__module__].__file__ or "").parent.glob("library/*.py")
    }
    assert folder == set(IDS)
    for op in OPERATORS.values():
        assert op.is_initialiser is (op.category == "initialisation")
        assert op.provides == "complete"


def test_baselines_start_with_an_initialiser_and_basic_stays_basic() -> None:
    for pipeline in (DOMAIN.safe_baseline(), DOMAIN.basic_baseline()):
        assert OPERATORS[pipeline[0].operator].is_initialiser
        assert not any(OPERATORS[step.operator].is_initialiser for step in pipeline[1:])
    assert all(OPERATORS[step.operator].tier == "basic" for step in DOMAIN.basic_baseline())
