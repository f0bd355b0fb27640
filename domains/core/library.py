"""Operator libraries: a ``library.toml`` that describes the operators, and one text file per implementation.

``library/<file>.py`` is the text an LLM is shown. It defines ``def run(env_data, state, calc_makespan_fn)``
and imports only what :data:`dga2d.domains.source_rules.ALLOWED_IMPORTS` lists. The files are data, never
imported by the program: the evaluation child writes them to its cache and runs them there. What several
files share may stand in ``library/parts`` and is put into their texts here
(:mod:`dga2d.domains.core.bundling`); a part that takes from no other is plain Python, which a decoder may
import. A text that several domains have stands in ``domains/shared/PLACE/library``; each ``library.toml``
names it ``PLACE/FILE``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from functools import cached_property
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from dga2d.domains.core.bundling import Bundler
from dga2d.domains.core.contract import (
    Card,
    Decoder,
    Implementation,
    Instance,
    InstanceRef,
    Operator,
    OperatorName,
    PipelineStep,
    State,
)
from dga2d.domains.core.errors import InstanceFormatError, NotOfferedError
from dga2d.domains.core.instance_data import fields_of
from dga2d.domains.core.published import list_instances

if TYPE_CHECKING:
    from dga2d.domains.drawing import Picture


def load_library(root: Traversable) -> tuple[Operator, ...]:
    """Read ``root/library.toml`` and the implementation files it names; sorted by operator id.

    Raises
    ------
    BundlingError
        A file and the parts it takes from do not fit together.
    """
    bundler = Bundler(root / "library", files("dga2d.domains"))
    tables = tomllib.loads((root / "library.toml").read_text(encoding="utf-8"))["operator"]
    return tuple(sorted((_operator(bundler, table) for table in tables), key=lambda op: op.id))


def _operator(bundler: Bundler, table: dict[str, object]) -> Operator:
    operator = OperatorName(str(table["id"]))
    names = table["implementations"]
    assert isinstance(names, list)
    implementations = tuple(
        Implementation(operator, bundler.text(file), origin=f"library:{file}") for file in names
    )
    fields = {k: v for k, v in table.items() if k not in ("id", "implementations")}
    return Operator(id=operator, implementations=implementations, **fields)  # type: ignore[arg-type]


def pipeline(operators: tuple[Operator, ...], *names: str) -> tuple[PipelineStep, ...]:
    """Return the pipeline of the named operators, each with its first implementation."""
    by_id = {op.id: op for op in operators}
    return tuple(
        PipelineStep(OperatorName(name), by_id[OperatorName(name)].implementations[0]) for name in names
    )


class LibraryDomain:
    """Base of a domain that is made of files: it reads or generates instances, and has a library beside it.

    A subclass says how a file is read (:meth:`read`) and what it generates (:meth:`generate`). Its folder
    holds ``library.toml`` and the modules ``card``, ``reader``, ``decoder``, ``picture`` and ``cp_sat``. They
    are imported when they are asked for: numba, matplotlib and OR-Tools are slow to import. Without the last
    two the domain has no picture, or no model for OR-Tools.
    """

    sense: Literal["min", "max"] = "min"
    """Whether objectives are to be small or large."""
    safe_pipeline: ClassVar[tuple[str, ...]]
    """Operators of the safe baseline, an initialiser first."""
    basic_pipeline: ClassVar[tuple[str, ...]]
    """Operators of its counterpart for the basic library."""
    ils_pipeline: ClassVar[tuple[str, ...]]
    """Operators of the iterated local search."""

    @property
    def name(self) -> str:
        """What it is called on the command line: as its package, unless a subclass says otherwise."""
        return self._package.rpartition(".")[2]

    @property
    def card(self) -> Card:
        """What proposers are told: ``CARD`` of the module ``card``, unless a subclass says otherwise."""
        return cast(Card, self._module("card").CARD)

    @property
    def invalid_score(self) -> float:
        """Score of a broken state: ``INVALID_SCORE`` of that module, unless a subclass says otherwise."""
        return float(self._module("card").INVALID_SCORE)

    @property
    def suffixes(self) -> Collection[str]:
        """Endings of instance files, as :func:`~dga2d.domains.core.published.list_instances` takes them.

        Unless a domain says otherwise they are the ``SUFFIXES`` of its module ``reader``, where it has one.
        """
        module = f"{self._package}.reader"
        return () if find_spec(module) is None else cast(Collection[str], self._module("reader").SUFFIXES)

    def read(self, path: Path) -> Mapping[str, Any]:
        """Return the data of the instance in a file; raises InstanceFormatError.

        Unless a domain says otherwise they are the fields of what ``read_instance`` of its module ``reader``
        gives.
        """
        return fields_of(self._module("reader").read_instance(path))

    def generate(self, ref: InstanceRef) -> Mapping[str, Any] | None:
        """Return the data of a generated instance; ``None`` if `ref` names none."""
        raise NotImplementedError

    def published(self, data_dir: Path) -> tuple[InstanceRef, ...]:
        return list_instances(self.name, data_dir / self.name, self.suffixes)

    def load(self, ref: InstanceRef) -> Instance:
        data = self.generate(ref) if ref.path is None else self.read(ref.path)
        if data is None:
            raise InstanceFormatError(ref.key, None, "has no file and is not a generated instance")
        return Instance(self.name, ref.group, ref.name, data, ref.reference)

    def rehearsal_data(self) -> Mapping[str, Any]:
        """Return the data of the instance that :meth:`rehearsal_instance` names."""
        raise NotImplementedError

    def rehearsal_instance(self) -> Instance:
        return Instance(self.name, "rehearsal", "ordinary", self.rehearsal_data())

    def environment(self, instance: Instance) -> dict[str, Any]:
        """Return fresh, writable arrays: operators may scribble on them without harm to the instance.

        Unless a domain says otherwise they are what ``operator_environment`` of its module ``reader`` makes
        of the instance's data, given by name.
        """
        return cast(dict[str, Any], self._module("reader").operator_environment(**instance.data))

    @property
    def _package(self) -> str:
        return type(self).__module__.rpartition(".")[0]

    def _module(self, name: str) -> Any:
        return import_module(f"{self._package}.{name}")

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
        return cast(Decoder, self._module("decoder").make_decoder(environment))

    def picture(self, instance: Instance, state: State) -> Picture:
        return cast("Picture", self._optional("picture", "picture").picture(instance, state))

    def cp_sat(self, instance: Instance, time_limit_s: float, seed: int, workers: int = 1) -> State | None:
        solve = self._optional("cp_sat", "model for OR-Tools").solve
        return cast("State | None", solve(instance, time_limit_s, seed, workers))

    def _optional(self, module: str, part: str) -> Any:
        """Import a module that the package may lack; raises NotOfferedError where it does."""
        if find_spec(f"{self._package}.{module}") is None:
            raise NotOfferedError(self.name, part)
        return self._module(module)
