"""An evolved algorithm as one Python file that needs numpy and numba only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files

from dga2d.agents.evaluator_pool import SourceReader
from dga2d.domains.core.contract import Implementation
from dga2d.domains.core.registry import get_domain, solver_entries
from dga2d.events import RunId
from dga2d.replay.state.run_state import RunState
from dga2d.replay.streams import spawn_key
from dga2d.runtime.errors import RunStateError
from dga2d.runtime.inspection.views import gap_of, test_view
from dga2d.runtime.runs.supervisor import load_state
from dga2d.runtime.solver_export.bundle import BundleError, bundle
from dga2d.runtime.solver_export.isolate import as_function
from dga2d.store import open_store


@dataclass(frozen=True)
class Provenance:
    """Where the algorithm comes from; every text is a comment in the file."""

    domain: str
    title: str
    program: str
    """Version and code digest of the program that wrote the file."""
    run: str | None
    """Run and generation; ``None`` for the safe baseline."""
    head_hash: str | None
    results: tuple[str, ...]
    """Lines such as ``validation gap 1.20 %``."""
    written_at: datetime


def solver_source(steps: Sequence[Implementation], provenance: Provenance) -> str:
    """Text of the solver.

    Raises
    ------
    BundleError
        The domain cannot be taken out of the program.
    """
    collected = bundle(
        [
            *solver_entries(provenance.domain),
            ("dga2d.domains.budget", "Budget"),
            ("dga2d.domains.execution", "execute"),
            ("dga2d.runtime.evaluation.child", "seeded_generator"),
        ]
    )
    functions: dict[str, str] = {}
    for step in steps:
        functions.setdefault(_function_name(step), as_function(_function_name(step), step.source))
    names = [_function_name(step) for step in steps]
    parts = [
        _header(steps, provenance),
        "from __future__ import annotations",
        import_block({*collected.imports, *_MAIN_IMPORTS}),
        _section(f"The problem: {provenance.title}, and how a pipeline is run"),
        *collected.definitions,
        _section("The algorithm: one function per operator, each returning its `run`"),
        *functions.values(),
        f"STREAM = {spawn_key('test', 0, 0, 0)}",
        "PIPELINE = (" + "".join(f"{name}, " for name in names) + ")",
        _section("The command line"),
        files(__package__).joinpath("templates/main.py.txt").read_text(encoding="utf-8").rstrip(),
    ]
    text = "\n\n\n".join(parts) + "\n"
    try:
        compile(text, "solver.py", "exec")
    except SyntaxError as error:
        raise BundleError(f"the solver would not be valid Python: {error}") from error
    return text


_MAIN_IMPORTS = ("import argparse", "import sys", "from pathlib import Path", "import numpy as np")


def import_block(statements: set[str]) -> str:
    """Sorted import statements; those from one module become one."""
    plain = sorted(line for line in statements if line.startswith("import "))
    names: dict[str, set[str]] = {}
    for line in statements.difference(plain):
        _, module, _, written = line.split(" ", 3)
        names.setdefault(module, set()).add(written)
    grouped = [f"from {module} import {', '.join(sorted(found))}" for module, found in sorted(names.items())]
    return "\n".join([*plain, *grouped])


def _function_name(step: Implementation) -> str:
    return re.sub(r"\W", "_", step.id)


def _section(title: str) -> str:
    return f"# {'-' * 20} {title}"


def _header(steps: Sequence[Implementation], provenance: Provenance) -> str:
    facts = [
        f"Algorithm: {' -> '.join(step.operator for step in steps)}",
        *(f"  {index}. {step.operator}, SHA-256 {step.digest}" for index, step in enumerate(steps, start=1)),
        f"Origin: {provenance.run or 'safe baseline, nothing evolved'}",
        *([f"Log head: {provenance.head_hash}"] if provenance.head_hash else []),
        *(f"Result: {line}" for line in provenance.results),
        f"Written by: dga2d {provenance.program}, {provenance.written_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC",
    ]
    lines = "\n".join(_plain(fact) for fact in facts)
    return f'''"""Solver for the {_plain(provenance.title)}. Needs Python 3.11, numpy and numba.

    python solver.py INSTANCE --time-limit 10 -o SOLUTION

{lines}
"""'''


def _plain(text: str) -> str:
    """Text that cannot end the docstring it stands in."""
    return text.replace("\\", "/").replace('"', "'")


@dataclass(frozen=True)
class TakenAway:
    """A solver file before it is written."""

    text: str
    generation: int
    operators: tuple[str, ...]
    head_hash: str


async def solver_of_run(url: str, run_id: str, now: datetime) -> TakenAway:
    """The best validated algorithm of a run, or its best on the training batch before any validation.

    Raises
    ------
    RunStateError
        The run has not scored any algorithm yet.
    """
    async with open_store(url, create=False, read_only=True) as store:
        state = await load_state(store, RunId(run_id))
        program = state.checkpoint or state.best
        if program is None:
            raise RunStateError(f"run {run_id} has not scored any algorithm yet")
        sources = SourceReader(store)
        steps = [await sources.implementation(state, step) for step in program.steps]
        head = (await store.head(RunId(run_id))).hash.hex()
    provenance = Provenance(
        domain=state.header.domain,
        title=get_domain(state.header.domain).card.title,
        program=state.code_version,
        run=f"run {run_id}, generation {program.generation}, seed {state.header.seed}",
        head_hash=head,
        results=tuple(_results(state)),
        written_at=now,
    )
    text = solver_source(steps, provenance)
    return TakenAway(text, program.generation, tuple(step.operator for step in steps), head)


def _results(state: RunState) -> list[str]:
    lines = []
    for label, program in (("training batch", state.best), ("validation", state.checkpoint)):
        gap = None if program is None else gap_of(program.score, state.settings.failure_reward)
        if gap is not None:
            lines.append(f"{label} gap {gap:.2f} %")
    test = test_view(state)
    if test is not None and test["gap_percent"].get("evolved") is not None:
        lines.append(
            f"held-out gap {test['gap_percent']['evolved']:.2f} % over {test['instances']} instances"
        )
    return lines
