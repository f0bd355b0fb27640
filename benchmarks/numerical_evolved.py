"""What evolution adds on held-out instances: a run for each system or family and seed, offline.

A folder keeps the runs, a database each: what is finished there is not run again, what was interrupted is
resumed, and several processes may work on different problems in the same folder. The table has the problems
whose runs are finished. Differences are of means over seeds, instance by instance; p is that of ``dga2d
compare`` (Student's and Wilcoxon's tests together, two-sided).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean

import anyio

from dga2d.domains.core.registry import domain_names, get_domain
from dga2d.events import InstanceKey, RunId
from dga2d.runtime.inspection.comparing import two_sided
from dga2d.runtime.inspection.measures import SCORE
from dga2d.runtime.inspection.pairs import interval
from dga2d.runtime.inspection.verdict import held_out_gaps
from dga2d.runtime.runs.states import load_state
from dga2d.store import open_store

NUMERICAL = ("ode", "control", "rootfind")
HEAD = "| problem | safe | evolved | difference, 95 % interval | won, lost | p | seeds |"


def problems() -> list[str]:
    """Return ``DOMAIN/GROUP`` of all numerical problems that are there."""
    return [
        f"{name}/{group}"
        for name in NUMERICAL
        if name in domain_names()
        for group in dict.fromkeys(ref.group for ref in get_domain(name).generated())
    ]


def run_name(problem: str, seed: int) -> RunId:
    """Return what the run of a problem and seed is called."""
    return RunId(f"{problem.replace('/', '-')}-{seed}")


def evolve(folder: Path, problem: str, seed: int, generations: int) -> None:
    """Make a run and its test, or what is left of them; messages go to a file beside the database.

    Raises CalledProcessError where the program fails.
    """
    domain, _, group = problem.partition("/")
    name = run_name(problem, seed)
    url = f"sqlite+aiosqlite:///{(folder / f'{name}.db').absolute()}"
    program = [sys.executable, "-P", "-m", "dga2d"]
    settings = [f"--group={group}", f"--generations={generations}", f"--seed={seed}", f"--run-id={name}"]
    commands = [["evolve", domain, *settings, "--test"]]
    if (folder / f"{name}.db").exists():
        is_done = anyio.run(status, folder, name) == "completed"
        commands = [["test", name]] if is_done else [["resume", name], ["test", name]]
    with (folder / f"{name}.log").open("a", encoding="utf-8") as log:
        for command in commands:
            made = [*program, *command, f"--store={url}"]
            subprocess.run(made, cwd=folder, stdout=log, stderr=log, check=True)


async def status(folder: Path, name: RunId) -> str:
    """Return the status of a run."""
    url = f"sqlite+aiosqlite:///{(folder / f'{name}.db').absolute()}"
    async with open_store(url, create=False, read_only=True) as store:
        return (await load_state(store, name)).status


async def tested(folder: Path, problem: str, seed: int) -> tuple[dict[InstanceKey, float], ...] | None:
    """Return the scores of the safe and of the evolved algorithm by held-out instance; ``None`` before the
    test."""
    name = run_name(problem, seed)
    path = folder / f"{name}.db"
    if not path.exists():
        return None
    async with open_store(f"sqlite+aiosqlite:///{path.absolute()}", create=False, read_only=True) as store:
        state = await load_state(store, name)
    gaps = None if state.started is None else held_out_gaps(state)
    own = state.header.own_score if state.started is not None else None
    if gaps is None or own is None:
        return None
    return tuple(
        {key: own.failure if gap is None else SCORE.value(gap) for key, gap in gaps[label].items()}
        for label in ("baseline", "evolved")
    )


async def row(folder: Path, problem: str, seeds: Sequence[int]) -> str | None:
    """Return the row of a problem; ``None`` while none of its runs is finished."""
    found = [one for seed in seeds if (one := await tested(folder, problem, seed)) is not None]
    if not found:
        return None
    keys = sorted(found[0][0])
    safe, evolved = ([fmean(pair[arm][key] for pair in found) for key in keys] for arm in (0, 1))
    gains = [b - a for a, b in zip(safe, evolved, strict=True)]
    mean, low, high = interval(gains)
    bounds = "" if low is None or high is None else f", {low:+.3f} to {high:+.3f}"
    won, lost = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
    p = two_sided(gains)
    told = "–" if p is None else f"{p:.2g}"
    cells = (f"{fmean(safe):.3f}", f"{fmean(evolved):.3f}", f"{mean:+.3f}{bounds}", f"{won}, {lost}", told)
    return f"| {' | '.join((problem, *cells, str(len(found))))} |"


async def rows(folder: Path, wanted: Sequence[str], seeds: Sequence[int]) -> list[str]:
    """Return the rows of all problems that have one."""
    return [text for problem in wanted if (text := await row(folder, problem, seeds)) is not None]


def unfinished(folder: Path, wanted: Sequence[str], seeds: Sequence[int]) -> Iterator[tuple[str, int]]:
    """Yield the problems and seeds whose runs are not finished, seed by seed."""
    for seed in seeds:
        for problem in wanted:
            if anyio.run(tested, folder, problem, seed) is None:
                yield problem, seed


def table(arguments: argparse.Namespace) -> None:
    """Make the runs that are missing, and print the table."""
    folder, wanted = Path(arguments.folder), arguments.problems or problems()
    if unknown := set(wanted) - set(problems()):
        raise SystemExit(f"no problem is called {min(unknown)}; there are {', '.join(problems())}")
    folder.mkdir(parents=True, exist_ok=True)
    if not arguments.print_only:
        for problem, seed in unfinished(folder, wanted, arguments.seeds):
            evolve(folder, problem, seed, arguments.generations)
    lines = [HEAD, "|---|" + "---:|" * 6, *anyio.run(rows, folder, wanted, arguments.seeds)]
    print("\n".join(lines))
