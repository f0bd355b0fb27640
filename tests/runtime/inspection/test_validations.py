"""Pipelines are found by what they are: names, order and shares."""

from __future__ import annotations

from dga2d.events import ImplementationId, OperatorId
from dga2d.events.payloads import Step
from dga2d.runtime.inspection.validations import Programs


def step(name: str, share: float | None = None) -> Step:
    return Step(operator=OperatorId(name), implementation=ImplementationId(f"{name}.1"), share=share)


def test_a_pipeline_is_found_at_all_its_places_and_no_other_is() -> None:
    programs = Programs[int]()
    programs[1] = programs[4] = (step("a"), step("b"))
    programs[2] = (step("b"), step("a"))
    programs[3] = (step("a", 0.3), step("b", 0.7))  # the same names, other budgets
    assert programs.places((step("a"), step("b"))) == {1, 4}
    assert programs.places((step("a", 0.3), step("b", 0.7))) == {3}
    assert programs.places((step("a"),)) == set()


def test_a_place_that_is_overwritten_is_found_by_its_new_pipeline_alone() -> None:
    programs = Programs[int]()
    programs[1] = (step("a"),)
    programs[1] = (step("b"),)
    assert programs.places((step("a"),)) == set()
    assert programs.places((step("b"),)) == {1}
