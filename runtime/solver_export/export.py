"""An evolved algorithm as one Python file that needs numpy and numba only."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from typing import Literal

from dga2d.agents.evaluator_pool import SourceReader
from dga2d.domains.budget import bounded_shares
from dga2d.domains.core.contract import Domain, Implementation
from dga2d.domains.core.registry import get_domain, solver_entries
from dga2d.domains.own.domain import OwnDomain
from dga2d.domains.own.standalone import PARTS, program_names, standalone_text
from dga2d.events import RunId
from dga2d.events.payloads import shares_of
from dga2d.replay.state.run_state import RunState, ScoredProgram
from dga2d.replay.streams import spawn_key
from dga2d.runtime.errors import RunStateError
from dga2d.runtime.inspection.measures import measure_in
from dga2d.runtime.inspection.runs import state_at
from dga2d.runtime.inspection.verdict import Achievement, read_achievement
from dga2d.runtime.inspection.views import figure_text, results_view, test_texts
from dga2d.runtime.runs.code_version import plugin_change
from dga2d.runtime.solver_export.bundle import BundleError, as_function, bundle
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


def solver_source(
    steps: Sequence[Implementation], provenance: Provenance, shares: tuple[float, ...] = ()
) -> str:
    """Return the text of the solver; `shares` of the budget by position, empty where they are equal.

    Raises
    ------
    BundleError
        The domain cannot be exported.
    """
    domain = get_domain(provenance.domain)
    kind = "_function" if hasattr(domain, "oracle_data") else ""
    collected = bundle(
        [
            *(PARTS if isinstance(domain, OwnDomain) else solver_entries(provenance.domain)),
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
        _header(steps, provenance, shares),
        "from __future__ import annotations",
        import_block({*collected.imports, *_MAIN_IMPORTS}),
        _section(f"The problem: {provenance.title}, and how a pipeline is run"),
        *(_KEEPS_NOTHING.sub(r"\g<0>(cache=True)", text) for text in collected.definitions),
        *_instances_given(domain, kind),
        _section("The algorithm: one function per operator, each returning its `run`"),
        *functions.values(),
        f"STREAM = {spawn_key('test', 0, 0, 0)}",
        "PIPELINE = (" + "".join(f'"{name}", ' for name in names) + ")",
        f"SHARES = {shares}",
        _section("The command line"),
        *(_template(name) for name in (f"solve{kind}", "loading", f"command{kind}")),
    ]
    text = "\n\n\n".join(parts) + "\n"
    try:
        compile(text, "solver.py", "exec")
    except SyntaxError as error:
        raise BundleError(f"the solver would not be valid Python: {error}") from error
    defined = Counter(getattr(node, "name", "") for node in ast.parse(text).body)
    twice = [name for name, count in defined.items() if name and count > 1]
    if twice:
        raise BundleError(f"the solver would define {', '.join(twice)} twice")
    return text


def _instances_given(domain: Domain, kind: str) -> Iterator[str]:
    """Yield how a solver takes an instance that is given as it was read; it takes none beside a function."""
    if isinstance(domain, OwnDomain):
        yield from _own_problem(domain)
    elif not kind:
        yield _template("given")


def _own_problem(domain: OwnDomain) -> Iterator[str]:
    """Yield a problem in one file as its author wrote it, and what makes a solver's functions of it."""
    text, expression = standalone_text(domain)
    yield _section("The problem as its author wrote it")
    yield as_function("problem_text", text).removesuffix("return run") + "return None"
    yield f"PROBLEM = {expression!r}\nPROGRAM_NAMES = {program_names(domain)!r}"
    yield _template("own_problem")


def _template(name: str) -> str:
    return files(__package__).joinpath(f"templates/{name}.py.txt").read_text(encoding="utf-8").rstrip()


_KEEPS_NOTHING = re.compile(r"^@(numba\.)?njit$", re.MULTILINE)
_MAIN_IMPORTS = (
    *("import __future__", "import argparse", "import ast", "import functools", "import sys"),
    *("from collections.abc import Callable", "from collections.abc import Mapping"),
    *("from pathlib import Path", "from types import ModuleType", "import numpy as np"),
    *("from typing import Any", "from typing import NamedTuple"),
)


def import_block(statements: set[str]) -> str:
    """Return the sorted import statements; those from one module become one."""
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


_USE = """    python solver.py INSTANCE --time-limit 10 -o SOLUTION

    from solver import solve
    solve("INSTANCE", time_limit=10)"""
_USE_OF_FUNCTIONS = """    python solver.py PROBLEM.py  # a file that defines `function` and the dict `fields`

    from solver import solve
    solve(function, **fields)"""


def _header(steps: Sequence[Implementation], provenance: Provenance, shares: tuple[float, ...]) -> str:
    parts = ", ".join(f"{part:.0%}" for part in bounded_shares(shares))
    facts = [
        f"Algorithm: {' -> '.join(step.operator for step in steps)}",
        *(f"  {index}. {step.operator}, SHA-256 {step.digest}" for index, step in enumerate(steps, start=1)),
        *([f"Parts of the budget: {parts}"] if parts else []),
        f"Origin: {provenance.run or 'safe baseline, nothing evolved'}",
        *([f"Log head: {provenance.head_hash}"] if provenance.head_hash else []),
        *(f"Result: {line}" for line in provenance.results),
        f"Written by: dga2d {provenance.program}, {provenance.written_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC",
    ]
    lines = "\n".join(_plain(fact) for fact in facts)
    use = _USE_OF_FUNCTIONS if hasattr(get_domain(provenance.domain), "oracle_data") else _USE
    return f'''"""Solver for the {_plain(provenance.title)}. Needs Python 3.11, numpy and numba.

{use}

{lines}
"""'''


def _plain(text: str) -> str:
    """Return text that cannot end the docstring around it."""
    return text.replace("\\", "/").replace('"', "'")


@dataclass(frozen=True)
class SolverExport:
    """A solver file before it is written, and what is known of the program in it."""

    text: str
    domain: str
    generation: int
    operators: tuple[str, ...]
    shares: tuple[float, ...]
    """Of the budget, by position; empty where they are equal."""
    origin: str
    results: tuple[str, ...]
    head_hash: str


Choice = Literal["checkpoint", "best"]
"""The best validated algorithm of a run, or its best on the training batch."""


async def export_solver(
    url: str, run_id: str, now: datetime, choice: Choice | None = None, generation: int | None = None
) -> SolverExport:
    """Return the solver of a run as it is now, or was when `generation` had closed.

    Without a `choice` it is the checkpoint, or the best on the training batch before any validation.

    Raises
    ------
    RunStateError
        The run has not scored (or validated) any algorithm yet, or never closed that generation.
    """
    async with open_store(url, create=False, read_only=True) as store:
        state = await state_at(store, run_id, None, generation)
        program = state.best if choice == "best" else state.checkpoint
        if choice is None and program is None:
            program = state.best
        if program is None:
            done = "validated" if choice == "checkpoint" else "scored"
            raise RunStateError(f"run {run_id} has not {done} any algorithm yet")
        sources = SourceReader(store)
        steps = [await sources.implementation(state, step) for step in program.steps]
        achievement = await read_achievement(store, run_id, state)
        head = (await store.head(RunId(run_id))).hash.hex()
    changed = plugin_change(state.code_version, state.header.domain)
    if changed is not None:
        raise RunStateError(
            f"run {run_id}: {changed}, so the run's figures do not hold for a solver with it; "
            "say with --domain-path where the earlier file is, or evolve anew"
        )
    origin = f"run {run_id}, generation {program.generation}, seed {state.header.seed}"
    if program.steps == state.header.baseline:
        origin += ": the safe baseline, nothing evolved was better"
    results = tuple(_results(state, program, achievement))
    provenance = Provenance(
        domain=state.header.domain,
        title=get_domain(state.header.domain).card.title,
        program=state.code_version,
        run=origin,
        head_hash=head,
        results=results,
        written_at=now,
    )
    shares = shares_of(program.steps)
    text = solver_source(steps, provenance, shares)
    operators = tuple(step.operator for step in steps)
    return SolverExport(
        text, state.header.domain, program.generation, operators, shares, origin, results, head
    )


def _results(state: RunState, program: ScoredProgram, achievement: Achievement) -> list[str]:
    """Return the figures of `program`, and of no other."""
    view = results_view(state, achievement)
    word = measure_in(view).word
    if program != state.checkpoint:
        figure = figure_text(view["best"])
        return [f"training {word} {figure}, on the instances that chose it; not validated yet"]
    lines = [f"validation {word} {figure_text(view['checkpoint'])}, on the instances that chose it"]
    test, verdict = state.test, achievement.verdict
    if test is not None and achievement.test is not None:
        tested = {candidate.label: candidate.pipeline for candidate in test.candidates}
        if program.steps in tested.values():
            label = next(label for label, pipeline in tested.items() if pipeline == program.steps)
            lines.append(f"held-out {word} {test_texts(view['test'])[label]}")
    if verdict is not None:
        lines.append(verdict.sentence)
    return lines
