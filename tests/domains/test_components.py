"""Components of the domains: a simple rule in a skeleton that solves, and what is exchanged in it."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from dga2d.domains.budget import Budget
from dga2d.domains.core.components import (
    MARK,
    Component,
    bound_names,
    components_of,
    evolved_function,
    join_component,
    split_component,
)
from dga2d.domains.core.contract import Implementation, OperatorName
from dga2d.domains.core.registry import domain_names, get_domain
from dga2d.domains.execution import execute, load_implementation
from dga2d.domains.source_rules import check_source

OFFERED = {"jsp": ["priority"], "tsp": ["guide"], "cvrp": ["saving"]}
COMPONENTS = [(name, component) for name in OFFERED for component in components_of(get_domain(name))]


def test_three_domains_offer_components() -> None:
    found = {name: [c.name for c in components_of(get_domain(name))] for name in domain_names()}
    assert {name: names for name, names in found.items() if names} == OFFERED


@pytest.mark.parametrize(("name", "component"), COMPONENTS, ids=[name for name, _ in COMPONENTS])
class ComponentClaims:
    def test_keeps_the_rules_and_says_what_its_arguments_mean(self, name: str, component: Component) -> None:
        assert check_source(component.source) == ()
        function = evolved_function(component.source)
        assert function.name == component.name
        told = ast.get_docstring(function) or ""
        assert [a.arg for a in function.args.args if a.arg not in told] == []

    def test_is_put_together_again_from_its_two_parts(self, name: str, component: Component) -> None:
        head, skeleton = split_component(component.source)
        assert MARK not in head
        assert join_component(head, skeleton) == component.source
        assert not bound_names(head) & bound_names(skeleton)

    def test_solves_the_smoke_instance_and_uses_its_function(
        self, name: str, component: Component, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """In plain Python: what the function is asked decides what comes out."""
        monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
        monkeypatch.setattr("numba.njit", lambda *a, **k: a[0] if a and callable(a[0]) else lambda f: f)
        domain = get_domain(name)
        instance = domain.smoke_instance()
        environment = domain.environment(instance)
        run = load_implementation(Implementation(OperatorName("program"), component.source, "test"), tmp_path)
        asked: list[tuple[float, ...]] = []
        names = run.__globals__
        rule = names[component.name]

        def noted(*arguments: float) -> float:
            asked.append(arguments)
            return float(rule(*arguments))

        names[component.name] = noted
        done = execute(
            [run], environment, domain.decoder(environment), Budget(60, "work", 1), np.random.default_rng(1)
        )
        verdict = domain.verify(instance, done.state)
        assert verdict.violation is None
        assert asked
        assert all(isinstance(value, float) for value in asked[0])
        assert done.score < domain.invalid_score
