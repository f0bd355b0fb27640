"""Operator libraries: a ``library.toml`` that describes the operators, and one text file per implementation.

``library/<file>.py`` is the text an LLM is shown. It defines ``def run(env_data, state, calc_makespan_fn)``
and imports only what :data:`dga2d.domains.source_rules.ALLOWED_IMPORTS` lists. The files are data, never
imported by the program: the evaluation child writes them to its cache and runs them there. What several files
share may stand in ``library/parts`` and is put into their texts here (:mod:`dga2d.domains.bundling`); a part
that takes from no other is plain Python, which a decoder may import.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files
from importlib.resources.abc import Traversable

from dga2d.domains.bundling import Bundler
from dga2d.domains.contract import Implementation, Operator, OperatorId, PipelineStep


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
    operator = OperatorId(str(table["id"]))
    names = table["implementations"]
    assert isinstance(names, list)
    implementations = tuple(
        Implementation(operator, bundler.text(file), origin=f"library:{file}") for file in names
    )
    fields = {k: v for k, v in table.items() if k not in ("id", "implementations")}
    return Operator(id=operator, implementations=implementations, **fields)  # type: ignore[arg-type]


def pipeline(operators: tuple[Operator, ...], *names: str) -> tuple[PipelineStep, ...]:
    """The pipeline of the named operators, each with its first implementation."""
    by_id = {op.id: op for op in operators}
    return tuple(PipelineStep(OperatorId(name), by_id[OperatorId(name)].implementations[0]) for name in names)
