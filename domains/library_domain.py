"""What follows from the layout of a domain's folder, the same for every domain of this package."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, Any, ClassVar, cast

from dga2d.domains.contract import Decoder, Instance, Operator, PipelineStep, State
from dga2d.domains.library import load_library, pipeline

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class LibraryDomain:
    """Base of a domain whose folder holds ``library.toml``, ``decoder.py``, ``picture.py`` and ``cp_sat.py``.

    The last three are imported when they are asked for: numba, matplotlib and OR-Tools are slow to import,
    and the latter two are optional.
    """

    safe_pipeline: ClassVar[tuple[str, ...]]
    """Operators of the safe baseline, an initialiser first."""
    basic_pipeline: ClassVar[tuple[str, ...]]
    """Operators of its counterpart for the basic library."""
    ils_pipeline: ClassVar[tuple[str, ...]]
    """Operators of the iterated local search."""

    @property
    def _package(self) -> str:
        return type(self).__module__.rpartition(".")[0]

    @cached_property
    def _library(self) -> tuple[Operator, ...]:
        return load_library(files(self._package))

    def operators(self) -> tuple[Operator, ...]:
        return self._library

    def safe_baseline(self) -> tuple[PipelineStep, ...]:
        return pipeline(self._library, *self.safe_pipeline)

    def basic_baseline(self) -> tuple[PipelineStep, ...]:
        return pipeline(self._library, *self.basic_pipeline)

    def ils_baseline(self) -> tuple[PipelineStep, ...]:
        return pipeline(self._library, *self.ils_pipeline)

    def decoder(self, environment: Mapping[str, Any]) -> Decoder:
        return cast(Decoder, import_module(f"{self._package}.decoder").make_decoder(environment))

    def picture(self, instance: Instance, state: State) -> Figure:
        return cast("Figure", import_module(f"{self._package}.picture").picture(instance, state))

    def cp_sat(self, instance: Instance, time_limit_s: float, seed: int, workers: int = 1) -> State | None:
        solve = import_module(f"{self._package}.cp_sat").solve
        return cast("State | None", solve(instance, time_limit_s, seed, workers))
