"""Operator libraries: a ``library.toml`` that describes the operators, and one text file per implementation.

``library/<file>.py`` is the text an LLM is shown. It defines ``def run(env_data, state, calc_makespan_fn)``
and imports only what :data:`dga2d.domains.source_rules.ALLOWED_IMPORTS` lists. The files are data, never
imported by the program: the evaluation child writes them to its cache and runs them there.
"""

from __future__ import annotations

import tomllib
from importlib.resources.abc import Traversable

from dga2d.domains.contract import Implementation, Operator, OperatorId, PipelineStep


def load_library(root: Traversable) -> tuple[Operator, ...]:
    """Read ``root/library.toml`` and the implementation files it names; sorted by operator id."""
    tables = tomllib.loads((root / "library.toml").read_text(encoding="utf-8"))["operator"]
    return tuple(sorted((_operator(root, table) for table in tables), key=lambda op: op.id))


def _operator(root: Traversable, table: dict[str, object]) -> Operator:
    operator = OperatorId(str(table["id"]))
    files = table["implementations"]
    assert isinstance(files, list)
    implementations = tuple(
        Implementation(
            operator, (root / "library" / file).read_text(encoding="utf-8"), origin=f"library:{file}"
        )
        for file in files
    )
    fields = {k: v for k, v in table.items() if k not in ("id", "implementations")}
    return Operator(id=operator, implementations=implementations, **fields)  # type: ignore[arg-type]


def pipeline(operators: tuple[Operator, ...], *names: str) -> tuple[PipelineStep, ...]:
    """The pipeline of the named operators, each with its first implementation."""
    by_id = {op.id: op for op in operators}
    return tuple(PipelineStep(OperatorId(name), by_id[OperatorId(name)].implementations[0]) for name in names)
