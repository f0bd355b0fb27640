"""What the contenders of a run's races are worth, each against the incumbent of its race on many instances,
and what races by some rules make of that.

    python benchmarks/contenders.py cvrp-run.dga2d.zip [--races 2 6 10] [--instances 36] [--data DIR]
    python benchmarks/contenders.py --outcomes FILE  # the tables of what was measured before

A race sees most contenders on three instances. Here the contenders of some races of archived runs
(`dga2d export`) meet the incumbent of their race on many more of the training instances, under the run's
calibrated work and with common random numbers; where a run has fewer, instances come again under other random
streams. By kind of contender: how many, the median gain in points of the gap, and how many are ahead and
behind by more than two standard errors of their gain. By rule: what the winner of a race gains in the mean, 0
where the incumbent stays, and its evaluations. These races are played on drawn instances of those measured,
and their winners are judged on those that are left; races on too few for that are left out. Nothing is
remembered from race to race, no test is part of them, and what a wrong winner costs the races after it is not
seen. Tables are Markdown; progress goes to stderr, and outcomes to ``--outcomes``, archive by archive, from
which an interrupted measurement goes on.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, Self

import anyio
import numpy as np
from calibration import calibrate_texts
from comparison import FAILED
from independent import gaps_of
from programs import ProgramBench, read_program

from dga2d.agents.evaluator_pool import SourceReader
from dga2d.agents.racer import plan_rounds, stay_of
from dga2d.agents.spreading import spread_copies
from dga2d.events import RunId
from dga2d.events.payloads import RaceStarted
from dga2d.replay.archive import import_run
from dga2d.replay.settings import RunSettings
from dga2d.runtime.evaluator import open_evaluator
from dga2d.runtime.runs.problem import Problem
from dga2d.runtime.runs.states import load_state
from dga2d.store import EventStore, open_store

CLEAR = 2.0
"""Standard errors by which a gain is told from luck."""
DRAWS = 1000
"""Races that are played of each that was measured."""


class Rule(NamedTuple):
    """How the finalist of a race is chosen and compared with the incumbent."""

    hindsight: float
    """What a pair of the selection counts in the final beside one of its own."""
    instances: int
    """Of the final, and at most of the rounds that select."""


RULES = tuple(Rule(hindsight, instances) for instances in (16, 8) for hindsight in (0.0, 0.25, 0.5, 1.0))


class Measured(NamedTuple):
    """A contender, and its gain on each instance in points of the gap."""

    archive: str
    domain: str
    generation: int
    contender: int
    kind: str
    change: str
    gains: tuple[float, ...]

    @classmethod
    def read_all(cls, path: Path | None) -> list[Self]:
        """Return what a file of outcomes holds."""
        if path is None or not path.exists():
            return []
        rows = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
        return [cls(a, d, g, n, kind, change, tuple(gains)) for a, d, g, n, kind, change, gains in rows]

    @property
    def clearness(self) -> float:
        """Standard errors by which it is ahead; 0 where all gains are the same."""
        gains = np.array(self.gains)
        error = gains.std(ddof=1) / len(gains) ** 0.5
        return float(gains.mean() / error) if error > 0.0 else 0.0


def kind_of(move: str, change: str) -> str:
    """Return a contender's move, for some with the first words of its change."""
    return f"{move}, {change.partition(':')[0]}" if move == "walk" else move


async def measure_archive(
    archive: Path, races: Sequence[int], instances: int, data: Path | None, known: Sequence[Measured]
) -> list[Measured]:
    """Return the contenders of a run's races that are not in `known` yet."""
    with tempfile.TemporaryDirectory() as folder:
        async with open_store(f"sqlite+aiosqlite:///{Path(folder) / 'runs.db'}", create=True) as store:
            run = RunId((await import_run(store, archive)).run)
            done = {row.generation for row in known if row.archive == archive.name}
            left = [race for race in await races_of(store, run) if race.generation not in done]
            wanted = [race for race in left if not races or race.generation in races]
            return await measure_races(store, run, archive.name, wanted, instances, data)


async def races_of(store: EventStore, run: RunId) -> list[RaceStarted]:
    """Return the beginnings of a run's races; screens, in which nobody is to win, are none."""
    found: list[RaceStarted] = []
    async for page in store.pages(run):
        races = (event.payload for event in page if isinstance(event.payload, RaceStarted))
        found += [race for race in races if race.selecting < len(race.rounds)]
    return found


async def measure_races(
    store: EventStore,
    run: RunId,
    archive: str,
    races: Iterable[RaceStarted],
    instances: int,
    data: Path | None,
) -> list[Measured]:
    """Return all contenders of some races of a run."""
    state, sources = await load_state(store, run), SourceReader(store)
    domain, found = state.header.domain, list[Measured]()
    problem = Problem.open(domain, data)
    keys = spread_copies([entry.key for entry in state.header.splits.train], instances)
    baseline = await read_program(state, state.header.baseline, sources)
    async with open_evaluator(domain, state.settings) as pool:
        bench = ProgramBench(state, baseline, problem, pool)

        async def gaps(race: RaceStarted, contender: int) -> np.ndarray:
            steps = race.contenders[contender].pipeline
            program = await read_program(state, steps, sources)
            if not state.settings.calibrate_constants:
                await calibrate_texts(bench, steps, sources)
            await bench.calibrate([program])
            answers = await gaps_of(bench, program, keys, "race")
            return np.array([FAILED if gap is None else gap for gap in answers])

        for race in races:
            own = await gaps(race, 0)
            for number, contender in enumerate(race.contenders[1:], 1):
                gains = tuple(map(float, own - await gaps(race, number)))
                kind = kind_of(contender.move, contender.change)
                found.append(
                    Measured(archive, domain, race.generation, number, kind, contender.change, gains)
                )
            print(f"{archive}: race of generation {race.generation}", file=sys.stderr)
    return found


def table_of_kinds(rows: Sequence[Measured]) -> str:
    """Return what kinds of contenders are worth, by domain and in all together."""
    lines = ["| domain | kind | contenders | median gain, points | clearly ahead | clearly behind |"]
    lines.append("|---|---|--:|--:|--:|--:|")
    domains = sorted({row.domain for row in rows})
    for domain in (*domains, "all") if len(domains) > 1 else domains:
        here = [row for row in rows if domain in (row.domain, "all")]
        for kind, _ in Counter(sorted(row.kind for row in here)).most_common():
            own = [row for row in here if row.kind == kind]
            median = np.median([np.mean(row.gains) for row in own])
            ahead = sum(row.clearness > CLEAR for row in own)
            behind = sum(row.clearness < -CLEAR for row in own)
            lines.append(f"| {domain} | {kind} | {len(own)} | {median:+.3f} | {ahead} | {behind} |")
    return "\n".join(lines)


def play(gains: np.ndarray, rule: Rule) -> tuple[float, int]:
    """Return what the winner of a race gains on the instances that had no part in it, and the evaluations.

    `gains` has a row for every contender and a column for every instance, in the order of their use.
    """
    settings = RunSettings(race_instances=rule.instances)
    rounds, selecting = plan_rounds(settings, len(gains))
    left, used, evaluations = list(range(len(gains))), 0, 0
    for number, size in enumerate(rounds):
        evaluations += (1 + len(left)) * (size - used)
        used, first = size, rounds[selecting - 1] if number >= selecting else 0
        weights = np.where(np.arange(size) < first, rule.hindsight, 1.0)
        totals = dict(zip(left, gains[left, :size] @ weights, strict=True))
        ahead = sorted((c for c in left if totals[c] > 0.0), key=lambda c: -totals[c])
        left = ahead[: stay_of(len(left), settings.race_growth)]
        if not left:
            return 0.0, evaluations
    return float(gains[left[0], used:].mean()), evaluations


def instances_needed(contenders: int) -> int:
    """Return the instances that a race uses by the rule that takes most."""
    return max(plan_rounds(RunSettings(race_instances=rule.instances), contenders)[0][-1] for rule in RULES)


def table_of_rules(rows: Sequence[Measured]) -> str:
    """Return what races by some rules come to, by domain."""
    measured: dict[tuple[str, str, int], list[tuple[float, ...]]] = defaultdict(list)
    for row in rows:
        measured[row.domain, row.archive, row.generation].append(row.gains)
    races = {race: gains for race, gains in measured.items() if len(gains[0]) > instances_needed(len(gains))}
    lines = [
        "| domain | races | instances | of the final | hindsight | gain of a race, points | evaluations |"
    ]
    lines.append("|---|--:|--:|--:|--:|--:|--:|")
    for domain in sorted({domain for domain, _, _ in races}):
        here = [np.array(gains) for (name, _, _), gains in sorted(races.items()) if name == domain]
        for rule in RULES:
            draws = np.random.default_rng(1)
            played = [play(g[:, draws.permutation(g.shape[1])], rule) for g in here for _ in range(DRAWS)]
            gain, evaluations = np.mean(played, axis=0)
            sizes = "/".join(map(str, sorted({gains.shape[1] for gains in here})))
            told = f"{rule.instances} | {rule.hindsight} | {gain:+.3f} | {evaluations:.0f}"
            lines.append(f"| {domain} | {len(here)} | {sizes} | {told} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("archives", nargs="*", type=Path, metavar="RUN.dga2d.zip")
    parser.add_argument("--races", nargs="*", type=int, default=[], help="generations; all if none is named")
    parser.add_argument("--instances", type=int, default=36, help="of the training split")
    parser.add_argument("--data", type=Path, help="published instances, where the runs had them")
    parser.add_argument("--outcomes", type=Path, metavar="FILE", help="outcomes, a JSON line per contender")
    options = parser.parse_args()
    rows = Measured.read_all(options.outcomes)
    if not options.archives and not rows:
        parser.error("name archived runs, or with --outcomes a file of what was measured")
    for archive in options.archives:
        new = anyio.run(measure_archive, archive, options.races, options.instances, options.data, rows)
        rows += new
        if options.outcomes is not None:
            with options.outcomes.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(row) + "\n" for row in new)
    print(table_of_kinds(rows), table_of_rules(rows), sep="\n\n")


if __name__ == "__main__":
    main()
