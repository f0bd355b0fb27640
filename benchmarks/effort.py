"""Where the evaluations of finished runs went, and what they brought: two Markdown tables from their logs.

    python benchmarks/effort.py FOLDER/*-full-1.db     # databases that benchmarks/evolved.py left

Contenders are counted by kind: how many did exactly as the incumbent on the first instances, how many were
ahead there, and how many won their race, with their mean gain in its last round. What a screen asks about
cannot win, and what follows from it is told apart from other constants. Comparisons are told apart
by whether the incumbent came to the best known objective on the instance: there nothing can gain.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from pathlib import Path
from statistics import fmean

import anyio
from arms import store_url

from dga2d.agents.race_assemblies import ASSEMBLED
from dga2d.agents.race_factors import FURTHER, SLOPE, WITH_FUNCTIONS
from dga2d.events import RunId
from dga2d.events.payloads import EvaluationRecorded, IncumbentSelected, RaceRoundScored
from dga2d.replay.state.fold import fold
from dga2d.replay.state.generation_state import RaceState
from dga2d.replay.state.run_state import RunState
from dga2d.store import open_store

SPLITS = ("train", "race", "gate", "validation")


class Effort:
    """Counts over any number of runs."""

    def __init__(self) -> None:
        self.evaluations: dict[str, Counter[str]] = defaultdict(Counter)
        self.contenders: dict[str, Counter[str]] = defaultdict(Counter)
        self.gains: dict[str, list[float]] = defaultdict(list)
        self.compared: dict[str, Counter[str]] = defaultdict(Counter)

    async def read(self, path: Path) -> None:
        """Count what one run did."""
        domain, state = path.stem, RunState()
        async with open_store(store_url(path.parent, path.stem), create=False) as store:
            async for page in store.pages(RunId(path.stem)):
                for event in page:
                    payload, before, state = event.payload, state, fold(state, event)
                    if isinstance(payload, EvaluationRecorded):
                        self.evaluations[domain][payload.split] += 1
                    race = None if before.generation is None else before.generation.race
                    if race is not None and isinstance(payload, RaceRoundScored):
                        self._first_round(race, payload)
                    if race is not None and isinstance(payload, IncumbentSelected):
                        self._end(before, race, payload.contender, domain)

    def _first_round(self, race: RaceState, scored: RaceRoundScored) -> None:
        for standing in scored.standings if scored.round == 0 else ():
            found = self.contenders[kind_of(race, standing.contender)]
            found["entered"] += 1
            found["tied"] += standing.gain == 0.0 and not standing.won + standing.lost
            found["ahead"] += (standing.gain or 0.0) > 0.0

    def _end(self, state: RunState, race: RaceState, winner: int, domain: str) -> None:
        if winner:
            kind = kind_of(race, winner)
            self.contenders[kind]["won"] += 1
            self.gains[kind] += [s.gain or 0.0 for s in race.standings if s.contender == winner]
        for repeat, key in race.trials:
            own = race.outcomes.get((race.candidate(0, repeat), key))
            if own is None:
                continue
            where = "solved" if own.objective == state.entry(key).reference else "open"
            for contender in range(1, len(race.contenders)):
                other = race.outcomes.get((race.candidate(contender, repeat), key))
                if other is not None:
                    self.compared[domain][where] += 1
                    self.compared[domain][f"{where}, differ"] += other.objective != own.objective

    def print(self) -> None:
        """Print both tables."""
        print(
            f"| run | {' | '.join(SPLITS)} | comparisons in races | on solved instances, % "
            "| of these differ, % | of the others, % |\n|---" + "|--:" * (len(SPLITS) + 4) + "|"
        )
        for domain in sorted(self.evaluations):
            counts, made = self.evaluations[domain], self.compared[domain]
            cells = [str(counts[split]) for split in SPLITS]
            cells += [
                str(made["solved"] + made["open"]),
                percent(made["solved"], made["solved"] + made["open"]),
            ]
            cells += [percent(made[f"{where}, differ"], made[where]) for where in ("solved", "open")]
            print(f"| {domain} | {' | '.join(cells)} |")
        print(
            "\n| contenders | entered | did as the incumbent | ahead | won | mean gain of winners, points |"
        )
        print("|---|--:|--:|--:|--:|--:|")
        for kind, found in sorted(self.contenders.items(), key=lambda item: (-item[1]["won"], item[0])):
            gain = f"{100 * fmean(self.gains[kind]):.2f}" if self.gains[kind] else "–"
            counted = " | ".join(str(found[name]) for name in ("entered", "tied", "ahead", "won"))
            print(f"| {kind} | {counted} | {gain} |")


def kind_of(race: RaceState, number: int) -> str:
    """Return the move that made a contender, or what it has to do with a screen, or that it was assembled."""
    contender = race.contenders[number]
    if contender.move != "code" and race.is_screen:
        return "programs of a screen"
    special = (
        kind for kind in (SLOPE, FURTHER, WITH_FUNCTIONS, ASSEMBLED) if contender.change.startswith(kind)
    )
    return next(special, contender.move)


def percent(part: int, whole: int) -> str:
    """Return a share in percent, a dash of nothing."""
    return f"{100 * part / whole:.0f}" if whole else "–"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, help="databases, each of one run of the same name")
    effort = Effort()
    for path in parser.parse_args().runs:
        anyio.run(effort.read, path.resolve())
    effort.print()


if __name__ == "__main__":
    main()
