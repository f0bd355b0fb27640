"""The plan of a study: which runs it consists of.

A plan is a TOML file::

    title = "Structure of the operator graph"
    repeats = "the paper's ablation of structures"    # optional
    domains = ["fjsp", "tsp"]
    seeds = [1, 2, 3]
    reference = "dg"          # the arm that others are compared with; the first one by default

    [settings]                # of all runs; any setting of a run
    library = "basic"

    [arms.dg]                 # what differs, by arm
    [arms.dag]
    structure = "dag"

    [solvers.pomo]            # optional: learned solvers on the same held-out instances
    weights = "pomo20.safetensors"
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dga2d.events import RunId
from dga2d.replay.settings import RunSettings
from dga2d.runtime.errors import UsageError
from dga2d.runtime.learned.names import DOMAINS
from dga2d.runtime.runs.config import check_key
from dga2d.runtime.runs.problem import settings_for
from dga2d.runtime.runs.start import checked_run_id

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,23}$")]
"""Becomes a part of the names of runs."""


class Cell(NamedTuple):
    """One run of a study."""

    domain: str
    arm: str
    seed: int


class LearnedSolverPlan(BaseModel):
    """A learned solver beside the arms of a study."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    weights: Path
    """File of weights; a relative path begins in the folder that the command runs in."""
    device: str = "cpu"
    time_limit: float = Field(default=10.0, gt=0.0)
    """Wall-clock seconds for an instance."""


class StudyPlan(BaseModel):
    """A plan as its file says it; see the module."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    repeats: str | None = None
    domains: tuple[str, ...] = Field(min_length=1)
    seeds: tuple[Annotated[int, Field(ge=0)], ...] = Field(min_length=1)
    reference: str | None = None
    settings: dict[str, Any] = {}
    arms: dict[Name, dict[str, Any]] = Field(min_length=1)
    solvers: dict[str, LearnedSolverPlan] = {}
    """Learned solvers by name; each gets a row in the table of its domain."""
    hand_tuned: bool = False
    """Whether the whole library's safe baseline takes part in the held-out tests (``test --hand-tuned``)."""
    name: Name = "study"
    """Taken from the file's name."""

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Return all runs: seeds outermost, so that early results are of every domain and arm."""
        return tuple(Cell(d, a, s) for s in self.seeds for d in self.domains for a in self.arms)

    @property
    def reference_arm(self) -> str:
        return next(iter(self.arms)) if self.reference is None else self.reference

    def run_id(self, cell: Cell) -> RunId:
        """Return the name of a cell's run: it says where it belongs."""
        return checked_run_id(f"{self.name}.{cell.domain}.{cell.arm}.{cell.seed}")

    def given(self, cell: Cell) -> dict[str, Any]:
        """Return the settings that the plan names for a cell."""
        return {**self.settings, **self.arms[cell.arm]}

    def effective(self, cell: Cell) -> RunSettings:
        """Return the settings of a cell's run. Raises SettingsError where one cannot be used."""
        return settings_for(cell.domain, self.given(cell), {})


def shipped_plans() -> dict[str, str]:
    """Return the text of the plans that come with the program, by name."""
    folder = files("dga2d.runtime.study") / "plans"
    found = {entry.name.removesuffix(".toml"): entry for entry in folder.iterdir()}
    return {name: found[name].read_text(encoding="utf-8") for name in sorted(found)}


def read_plan(name: str) -> StudyPlan:
    """Return the plan in a file, or the shipped one of that name.

    Raises
    ------
    UsageError
        There is no such file or plan, it is not TOML, a key is unknown or missing, or a setting, an arm, a
        domain or the name of a run cannot be used.
    """
    path = Path(name)
    if path.suffix != ".toml" and not path.exists():
        shipped = shipped_plans()
        if name not in shipped:
            raise UsageError(
                f"no plan is called {name!r}; shipped: {', '.join(shipped)}; or name a .toml file"
            )
        return parse_plan(shipped[name], name, name)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path}: cannot be read ({getattr(error, 'strerror', None) or 'not text'})"
        ) from None
    return parse_plan(text, re.sub(r"[^A-Za-z0-9_-]", "-", path.stem)[:24], str(path))


def parse_plan(text: str, name: str, place: str) -> StudyPlan:
    """Return the plan that a file's text says; `place` names it in errors. Raises as `read_plan`."""
    try:
        plan = StudyPlan.model_validate({"name": name, **tomllib.loads(text)})
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{place}: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise UsageError(f"{place}: {key}: {first['msg']}") from error
    if plan.reference_arm not in plan.arms:
        raise UsageError(f"{place}: reference: there is no arm {plan.reference_arm!r}")
    for solver in plan.solvers:
        if DOMAINS.get(solver) not in plan.domains:
            known = ", ".join(f"{name} ({domain})" for name, domain in DOMAINS.items())
            raise UsageError(f"{place}: solvers.{solver}: expected one of a domain of the plan, of {known}")
    if both := plan.solvers.keys() & plan.arms.keys():
        raise UsageError(f"{place}: {both.pop()} is both an arm and a solver; rename the arm")
    for where, values in _tables(plan).items():
        for key in values:
            check_key(key, f"{place}: {where}")
    for cell in plan.cells:
        plan.run_id(cell)
        plan.effective(cell)
    return plan


def _tables(plan: StudyPlan) -> Mapping[str, Mapping[str, Any]]:
    return {"settings": plan.settings, **{f"arms.{arm}": values for arm, values in plan.arms.items()}}
