"""What holds for every domain: the registry, the libraries and the baselines keep the contract."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dga2d.domains.core.contract import Domain, Operator, State, own_score_of
from dga2d.domains.core.errors import DomainError, UnknownDomainError
from dga2d.domains.core.library import load_library, pipeline
from dga2d.domains.core.registry import domain_names, get_domain

CATEGORIES = {"initialisation", "local_search", "perturbation", "intensification", "recombination"}

every_domain = pytest.mark.parametrize(
    "domain", [get_domain(name) for name in domain_names()], ids=domain_names()
)


def test_names_are_sorted_and_lead_to_their_domain() -> None:
    assert domain_names() == tuple(sorted(domain_names()))
    for name in domain_names():
        assert get_domain(name).name == name
        assert get_domain(name) is get_domain(name)


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        UnknownDomainError, match=r"no domain is called 'jps'; did you mean 'jsp'\? known domains: .*jsp"
    ) as caught:
        get_domain("jps")
    assert caught.value.name == "jps"
    assert isinstance(caught.value, DomainError)
    assert isinstance(caught.value, LookupError)


def test_listing_domains_and_their_instances_needs_no_compiler() -> None:
    program = (
        "import sys; from dga2d.domains.core.registry import *\n"
        "for name in domain_names(): get_domain(name).generated(); get_domain(name).operators()\n"
        "assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-P", "-c", program], check=True, timeout=30)


@every_domain
def test_operators_are_sorted_and_complete(domain: Domain) -> None:
    operators = domain.operators()
    ids = [op.id for op in operators]
    assert ids == sorted(set(ids))
    assert len(operators) >= 10
    for op in operators:
        assert op.id.replace("_", "").isalnum()
        assert op.id == op.id.lower()
        assert op.category in CATEGORIES
        assert (op.category == "initialisation") is op.is_initialiser
        assert op.requires in ("none", "partial", "complete")
        assert op.provides in ("partial", "complete")
        assert op.tier in ("basic", "advanced")
        assert 1 <= len(op.implementations) <= 4
        for text in (op.title, op.summary, op.complexity, op.source):
            assert text.strip() == text != ""
        for implementation in op.implementations:
            assert implementation.operator == op.id
            assert implementation.origin.startswith("library:")
            assert implementation.id == f"{op.id}.{implementation.digest[:12]}"


@every_domain
def test_implementations_differ_in_text(domain: Domain) -> None:
    digests = [impl.digest for op in domain.operators() for impl in op.implementations]
    assert len(set(digests)) == len(digests)


@every_domain
def test_baselines_start_with_their_only_initialiser_and_basic_is_basic(domain: Domain) -> None:
    by_id = {op.id: op for op in domain.operators()}
    for steps in (domain.safe_baseline(), domain.basic_baseline()):
        assert [by_id[step.operator].is_initialiser for step in steps] == [True] + [False] * (len(steps) - 1)
        for step in steps:
            assert step.implementation in by_id[step.operator].implementations
    assert {by_id[step.operator].tier for step in domain.basic_baseline()} == {"basic"}


@every_domain
def test_the_basic_tier_alone_can_start_and_improve(domain: Domain) -> None:
    basic = [op for op in domain.operators() if op.tier == "basic"]
    assert any(op.is_initialiser for op in basic)
    assert sum(not op.is_initialiser for op in basic) >= 3


@every_domain
def test_the_environment_has_the_keys_of_the_card_and_is_writable(domain: Domain) -> None:
    instance = domain.smoke_instance()
    environment = domain.environment(instance)
    assert set(environment) == set(domain.card.environment)
    for value in environment.values():
        assert type(value) in (int, float, str, np.ndarray)
        if isinstance(value, np.ndarray):
            assert value.flags.writeable
            value[...] = 0
    again = domain.environment(instance)
    assert any(value.any() for value in again.values() if isinstance(value, np.ndarray))


NO_SOLUTIONS: dict[str, Any] = {
    "nothing": np.empty(0, np.int32),
    "negative": np.full(4, -1, np.int32),
    "none": None,
    "text": "0123",
}


@every_domain
@pytest.mark.parametrize("sequence", NO_SOLUTIONS.values(), ids=NO_SOLUTIONS.keys())
def test_no_solution_scores_invalid_and_is_a_violation(domain: Domain, sequence: Any) -> None:
    instance = domain.smoke_instance()
    state = State(sequence)
    assert domain.decoder(domain.environment(instance))(state) == domain.invalid_score
    verdict = domain.verify(instance, state)
    assert verdict.objective is None
    assert verdict.violation


@every_domain
def test_generated_instances_are_sorted_unique_and_have_references(domain: Domain) -> None:
    refs = domain.generated()
    keys = [ref.key for ref in refs]
    assert keys == sorted(set(keys))
    for ref in refs:
        assert ref.domain == domain.name
        assert ref.path is None
        if own_score_of(domain) is None:
            assert ref.reference is not None
            assert ref.reference.source


@every_domain
def test_no_data_means_no_published_instances(domain: Domain, tmp_path: Path) -> None:
    assert domain.published(tmp_path) == ()


LIBRARY = """
[[operator]]
id = "b_second"
title = "t"
summary = "s"
category = "local_search"
requires = "complete"
provides = "complete"
tier = "basic"
complexity = "O(1)"
source = "x"
implementations = ["one.py", "two.py"]

[[operator]]
id = "a_first"
title = "t"
summary = "s"
category = "initialisation"
requires = "none"
provides = "complete"
tier = "basic"
complexity = "O(1)"
source = "x"
implementations = ["one.py"]
"""


def library(folder: Path, description: str = LIBRARY) -> tuple[Operator, ...]:
    (folder / "library").mkdir()
    (folder / "library.toml").write_text(description)
    for name in ("one", "two"):
        (folder / "library" / f"{name}.py").write_text(f"# {name}\n")
    return load_library(folder)


def test_a_library_is_read_in_the_order_of_ids(tmp_path: Path) -> None:
    operators = library(tmp_path)
    assert [op.id for op in operators] == ["a_first", "b_second"]
    assert [impl.source for impl in operators[1].implementations] == ["# one\n", "# two\n"]
    assert operators[0].implementations[0].id != operators[1].implementations[0].id


def test_a_pipeline_takes_first_implementations_in_the_order_asked_for(tmp_path: Path) -> None:
    steps = pipeline(library(tmp_path), "b_second", "a_first")
    assert [step.operator for step in steps] == ["b_second", "a_first"]
    assert steps[0].implementation.origin == "library:one.py"


def test_a_description_with_a_field_nobody_knows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="colour"):
        library(tmp_path, LIBRARY + 'colour = "red"\n')
