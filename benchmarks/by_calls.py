"""Two recorded runs after equally many calls of a language model, in equal seconds, as Markdown rows.

    python benchmarks/by_calls.py examples/runs/cvrp-basic-model.dga2d.zip \
        examples/runs/turns/cvrp-turns-model.dga2d.zip --seconds 1 --data DIR

The first run is taken whole: the program that it took home, and the best on its training batch, which it may
have thrown away. Of the second counts the program that its search worked on when the last generation had
closed with no more calls than that. Both, their start, and the safe baseline of the whole library solve
what either run held out and the other did not see, evenly spread, with common random numbers.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import anyio
from pairing import gain_of
from programs import Program, read_program
from recorded import Gaps, held_out, open_problem, solve_all

from dga2d.agents.evaluator_pool import SourceReader
from dga2d.agents.spreading import spread
from dga2d.events import RunId
from dga2d.replay.archive import import_run
from dga2d.replay.state.incumbent import incumbent
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.evaluator import open_evaluator
from dga2d.runtime.runs.states import load_generation, load_state
from dga2d.store import EventStore, open_store


async def state_by_calls(store: EventStore, run: RunId, most: int) -> RunState:
    """Return the state after the last generation of `run` that closed with at most so many calls."""
    found = await load_generation(store, run, 0)
    assert found is not None, f"{run} has no graph"
    while (after := await load_generation(store, run, found.completed + 1)) is not None:
        if after.ledger.used > most:
            break
        found = after
    return found


async def compare(options: argparse.Namespace, store: EventStore) -> None:
    """Print the rows of two archives."""
    archives = options.old, options.new
    first, second = [RunId((await import_run(store, archive)).run) for archive in archives]
    before, sources = await load_state(store, first), SourceReader(store)
    after = await state_by_calls(store, second, before.ledger.used)
    problem = open_problem(after.header.domain, options.data)
    refs = {ref.key for part in problem.splits for ref in part}
    tuned = tuple(step.implementation for step in problem.domain.safe_baseline())
    programs = {
        "start": await read_program(after, after.header.baseline, sources),
        "hand-tuned": Program(tuned),
    }
    if before.best is not None:
        programs[f"{first}, best in training"] = await read_program(before, before.best.steps, sources)
    if before.checkpoint is not None:
        programs[f"{first}, taken home"] = await read_program(before, before.checkpoint.steps, sources)
    generation = after.completed
    programs[f"{second} after {generation} generations"] = await read_program(
        after, incumbent(after), sources
    )
    keys = spread([key for key in held_out(before, after) if key in refs], options.instances)
    print(
        f"\n{first}: {before.ledger.used} calls; {second}: {after.ledger.used} by then; {len(keys)} held-out "
        f"instances, {options.seconds:g} s each\n"
    )
    async with open_evaluator(after.header.domain, after.settings) as pool:
        gaps = {
            name: await solve_all(pool, problem, program, keys, options.seconds, options.streams)
            for name, program in programs.items()
        }
    print_rows(gaps)


def print_rows(gaps: dict[str, Gaps]) -> None:
    """Print every program, and what the last one gains on it."""
    print("| program | gap, % | the last one is ahead by, points (95 %) | won, lost | p |")
    print("|---|--:|---|--:|--:|")
    *_, last = gaps.values()
    for name, found in gaps.items():
        gain = gain_of(found, last)
        cells = "– | – | –" if found is last else f"{gain} | {gain.won}, {gain.lost} | {gain.p:.3f}"
        print(f"| {name} | {found.mean():.3f} | {cells} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("old", type=Path, metavar="OLD.dga2d.zip")
    parser.add_argument("new", type=Path, metavar="NEW.dga2d.zip")
    parser.add_argument("--seconds", type=float, default=1.0, help="per instance")
    parser.add_argument("--streams", type=int, default=1, help="random streams of each instance")
    parser.add_argument("--instances", type=int, default=30, help="at most")
    parser.add_argument("--data", type=Path, required=True, help="published instances")
    options = parser.parse_args()

    async def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            async with open_store(f"sqlite+aiosqlite:///{folder}/runs.db", create=True) as store:
                await compare(options, store)

    anyio.run(run)


if __name__ == "__main__":
    main()
