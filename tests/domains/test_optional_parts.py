"""Pictures and OR-Tools' models that a domain lacks, or whose code fails, are said in a line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.core.errors import DomainFaultError, InvalidSolutionError, NotOfferedError
from dga2d.domains.core.library import LibraryDomain
from dga2d.domains.core.optional_parts import draw_picture, run_cp_sat
from dga2d.domains.tsp.domain import TspDomain

CITIES = Instance("tsp", "test", "four", {"coords": np.array([[0, 0], [0, 1], [1, 1], [1, 0]], float)})
TOUR = State(np.arange(4, dtype=np.int32))


class Bare(TspDomain):
    """Its package has neither `picture` nor `cp_sat`: that of this test."""

    name = "tsp"

    @property
    def _package(self) -> str:
        return LibraryDomain.__module__.rpartition(".")[0]


class Failing(TspDomain):
    """Its code fails as one does that knows another problem's data."""

    name = "tsp"

    def picture(self, instance: Instance, state: State) -> Any:
        instance.data["values"]

    def cp_sat(self, instance: Instance, time_limit_s: float, seed: int, workers: int = 1) -> State | None:
        raise ModuleNotFoundError("No module named 'dga2d_plugin_x.cp_sat'", name="dga2d_plugin_x.cp_sat")


class Unequipped(TspDomain):
    """As on a machine without OR-Tools and matplotlib."""

    name = "tsp"

    def picture(self, instance: Instance, state: State) -> Any:
        raise ModuleNotFoundError("No module named 'matplotlib.figure'", name="matplotlib.figure")

    def cp_sat(self, instance: Instance, time_limit_s: float, seed: int, workers: int = 1) -> State | None:
        raise ModuleNotFoundError("No module named 'ortools'", name="ortools")


def test_a_domain_may_lack_picture_and_model() -> None:
    with pytest.raises(NotOfferedError, match=r"^the domain 'tsp' has no picture$"):
        draw_picture(Bare(), CITIES, TOUR)
    with pytest.raises(NotOfferedError, match=r"^the domain 'tsp' has no model for OR-Tools$"):
        run_cp_sat(Bare(), CITIES, 1.0, 1)


def test_code_that_fails_is_named_with_file_and_line() -> None:
    with pytest.raises(
        DomainFaultError, match=r"the picture of the domain 'tsp' failed: KeyError: 'values' \(.*\.py:\d+\)"
    ):
        draw_picture(Failing(), CITIES, TOUR)
    with pytest.raises(DomainFaultError, match=r"model for OR-Tools .*'dga2d_plugin_x\.cp_sat'"):
        run_cp_sat(Failing(), CITIES, 1.0, 1)


def test_a_package_that_is_not_installed_is_no_fault_of_the_domain() -> None:
    with pytest.raises(ModuleNotFoundError, match="matplotlib"):
        draw_picture(Unequipped(), CITIES, TOUR)
    with pytest.raises(ModuleNotFoundError, match="ortools"):
        run_cp_sat(Unequipped(), CITIES, 1.0, 1)


def test_what_the_domain_refuses_stays_as_it_is() -> None:
    with pytest.raises(InvalidSolutionError):
        draw_picture(TspDomain(), CITIES, State(np.zeros(4, np.int32)))
