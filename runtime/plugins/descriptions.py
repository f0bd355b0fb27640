"""Claims about what a domain says of itself: card, library, texts, baselines, instances. Nothing is run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import get_args

import numpy as np

from dga2d.agents.proposing.tunables import tunable_faults
from dga2d.domains.core.contract import (
    Domain,
    Implementation,
    Instance,
    Operator,
    OperatorId,
    PipelineStep,
    SolutionKind,
    Tier,
)
from dga2d.domains.core.splits import split
from dga2d.domains.source_rules import check_source
from dga2d.runtime.plugins.findings import UnsoundError, require
from dga2d.runtime.runs.problem import Problem

CATEGORIES = ("initialisation", "local_search", "perturbation", "intensification", "recombination")
VALUE_TYPES = (int, float, str, np.ndarray)
TUNABLE = re.compile(r"^[A-Z][A-Z_0-9]* = \S+  # tunable: (?:(?:int|float) \S+\.\.\S+|choice [\w ]+)$")


def card_and_environment(problem: Problem) -> str:
    """The environment has the keys of the card, values of the allowed types, and fresh arrays."""
    domain = problem.domain
    for text in ("title", "objective", "encoding", "decoder", "constraints"):
        require(getattr(domain.card, text).strip(), f"the card says nothing under {text!r}")
    instance = domain.smoke_instance()
    environment, again = domain.environment(instance), domain.environment(instance)
    told, given = set(domain.card.environment), set(environment)
    require(told <= given, f"the card promises {sorted(told - given)}, which the environment does not have")
    require(given <= told, f"the environment has {sorted(given - told)}, which the card does not mention")
    for key, value in environment.items():
        require(
            type(value) in VALUE_TYPES,
            f"{key!r} is a {type(value).__name__}: no int, float, str or array",
        )
        if isinstance(value, np.ndarray):
            require(value.flags.writeable, f"the array {key!r} is read-only; operators may write into theirs")
            shared = np.shares_memory(value, again[key])
            require(not shared, f"the array {key!r} is shared by two environments; give out copies")
    return f"{len(environment)} keys"


def library(problem: Problem) -> str:
    """The operators are described completely, sorted, and their implementations differ."""
    operators = problem.domain.operators()
    ids = [str(operator.id) for operator in operators]
    require(len(ids) >= 2, f"the library has {len(ids)} operators; an initialiser and one more are needed")
    require(ids == sorted(set(ids)), "the operators are not sorted by id, or two have one id")
    for operator in operators:
        _operator(operator)
    digests = [i.digest for operator in operators for i in operator.implementations]
    require(len(set(digests)) == len(digests), "two implementations have the same text")
    return f"{len(ids)} operators, {len(digests)} implementations"


def _operator(operator: Operator) -> None:
    name = operator.id
    require(
        re.fullmatch(r"[a-z][a-z0-9_]*", name), f"{name!r} is no operator id: lower-case words joined by '_'"
    )
    require(
        operator.category in CATEGORIES, f"{name}: category {operator.category!r} is none of {CATEGORIES}"
    )
    require(operator.requires in get_args(SolutionKind), f"{name}: requires {operator.requires!r}")
    require(operator.provides in ("partial", "complete"), f"{name}: provides {operator.provides!r}")
    require(operator.tier in get_args(Tier), f"{name}: tier {operator.tier!r} is not basic or advanced")
    is_starting = operator.category == "initialisation"
    require(
        is_starting is operator.is_initialiser,
        f"{name}: requires = 'none' and category = 'initialisation' go together",
    )
    require(operator.implementations, f"{name} has no implementation")
    for text in ("title", "summary", "complexity", "source"):
        require(getattr(operator, text).strip(), f"{name} has no {text}")
    for implementation in operator.implementations:
        require(
            implementation.operator == name,
            f"{implementation.origin} belongs to another operator than {name}",
        )


def sources(problem: Problem) -> str:
    """Every implementation obeys the source rules, and its marks are well formed."""
    blocks: dict[str, str] = {}
    count = 0
    for implementation in implementations(problem.domain):
        count += 1
        for violation in check_source(implementation.source):
            raise UnsoundError(f"{implementation.origin}:{violation.line}: {violation.message}")
        _tunables(implementation)
        for block, arguments in _exchangeable(implementation):
            known = blocks.setdefault(block, arguments)
            require(
                known == arguments,
                f"{implementation.origin}: block {block!r} takes ({arguments}), elsewhere it takes ({known})",
            )
    return f"{count} texts, {len(blocks)} exchangeable blocks"


def implementations(domain: Domain) -> Iterator[Implementation]:
    """Every implementation of the library."""
    for operator in domain.operators():
        yield from operator.implementations


def _tunables(implementation: Implementation) -> None:
    for number, line in enumerate(implementation.source.splitlines(), start=1):
        if "# tunable" not in line:
            continue
        require(
            TUNABLE.match(line),
            f"{implementation.origin}:{number}: expected "
            "NAME = VALUE  # tunable: int|float LOW..HIGH or choice WORDS",
        )
    for fault in tunable_faults(implementation.source):
        raise UnsoundError(f"{implementation.origin}:{fault.removeprefix('line ')}")


def _exchangeable(implementation: Implementation) -> Iterator[tuple[str, str]]:
    """Name and arguments of each block that is marked as exchangeable."""
    lines = implementation.source.splitlines()
    marked = sum(line.startswith("# exchangeable: ") for line in lines)
    for node in ast.parse(implementation.source).body:
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            match = re.match(r"# exchangeable: ([\w-]+)$", lines[first - 2])
            if match:
                marked -= 1
                yield match[1], ast.unparse(node.args)
    require(not marked, f"{implementation.origin}: a mark '# exchangeable: NAME' stands above no function")


def baselines(problem: Problem) -> str:
    """Each baseline is made of the library and begins with its only initialiser."""
    domain = problem.domain
    operators = {operator.id: operator for operator in domain.operators()}
    named = {
        "safe_baseline": domain.safe_baseline(),
        "basic_baseline": domain.basic_baseline(),
        "ils_baseline": domain.ils_baseline(),
    }
    for name, steps in named.items():
        _baseline(name, steps, operators)
    tiers = {operators[step.operator].tier for step in named["basic_baseline"]}
    require(tiers == {"basic"}, "basic_baseline uses an operator that is not of the basic tier")
    basic = [operator for operator in operators.values() if operator.tier == "basic"]
    require(
        any(not operator.is_initialiser for operator in basic),
        "the basic tier has nothing but initialisers, so `--library basic` cannot improve anything",
    )
    return ", ".join(f"{name.removesuffix('_baseline')} {len(steps)} steps" for name, steps in named.items())


def _baseline(name: str, steps: tuple[PipelineStep, ...], operators: Mapping[OperatorId, Operator]) -> None:
    require(steps, f"{name} is empty")
    for position, step in enumerate(steps):
        known = operators.get(step.operator)
        if known is None or step.implementation not in known.implementations:
            raise UnsoundError(f"{name}: {step.operator} is not of the library")
        require(
            known.is_initialiser is (position == 0),
            f"{name}: an initialiser belongs at its first place and nowhere else",
        )


def instances(problem: Problem) -> str:
    """Every instance can be had, twice alike, and has a reference."""
    refs = [ref for part in problem.splits for ref in part]
    listed = [ref.key for ref in problem.domain.generated()]
    require(
        listed == sorted(set(listed)), "the generated instances are not sorted by key, or two have one key"
    )
    for ref in refs:
        require(ref.domain == problem.domain.name, f"{ref.key} says it belongs to {ref.domain!r}")
        reference = ref.reference
        if reference is None:
            raise UnsoundError(f"{ref.key} has no reference value, so that its gap cannot be measured")
        require(np.isfinite(reference.value), f"{ref.key}: the reference value is no finite number")
        require(reference.source.strip(), f"{ref.key}: the reference does not say where it comes from")
        first, second = (problem.domain.environment(problem.domain.load(ref)) for _ in range(2))
        differing = [key for key in first if not np.array_equal(first[key], second[key])]
        require(not differing, f"{ref.key} differs from one time to the next in {differing}")
    return f"{len(refs)} instances in {len({ref.group for ref in refs})} groups"


def published(problem: Problem, empty: Path) -> str:
    """An empty data folder has no instances."""
    require(problem.domain.published(empty) == (), "published() finds instances in an empty folder")
    return "an empty folder has none"


def splits(problem: Problem) -> str:
    """Training, validation and test are not empty and have nothing in common."""
    parts = split([ref for part in problem.splits for ref in part])
    for name, part in parts._asdict().items():
        require(part, f"the {name} split is empty; a group of 5 instances or more has something for each")
    return f"{len(parts.train)} training, {len(parts.validation)} validation, {len(parts.test)} test"


def small_instances(problem: Problem, count: int) -> tuple[Instance, ...]:
    """The smoke instance and the `count` training instances with the least data."""
    loaded = [problem.instance(ref.key) for ref in problem.splits.train]
    loaded.sort(key=lambda instance: (_size(problem.domain, instance), instance.key))
    return (problem.domain.smoke_instance(), *loaded[:count])


def _size(domain: Domain, instance: Instance) -> int:
    return sum(np.size(value) for value in domain.environment(instance).values())
