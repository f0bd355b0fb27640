"""What a second turn adds to a dialogue: Markdown rows from the logs of recorded runs.

    python benchmarks/turns.py examples/runs/{turns,whole,briefed}/*.zip

A generation may open several dialogues about one member of a pool, each with a first answer that knows
nothing of the others and a second one that has seen what the first one gained. The gate measures all of them
in the same program with common random numbers. So one log holds both arms of an ablation with equal calls:
the better of two first answers (the mean over all other dialogues), and the better of a first answer and its
second. An answer brings its mean gain over the instances where the gate measured it, in percentage points of
the gap, and nothing where it lost, failed or was refused. The gate stops early for what is behind.

The first p is of a sign test over the dialogues, the second one and the interval are over those that have
another beside them. Such dialogues share first answers, so both are rough.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

import anyio
import numpy as np
from pairing import Gain, gain_of
from scipy.stats import binomtest

from dga2d.events import RunId
from dga2d.events.payloads import ImplementationMeasured, ImplementationProposed
from dga2d.replay.archive import import_run
from dga2d.replay.state.fold import fold
from dga2d.replay.state.run_state import RunState
from dga2d.store import EventStore, open_store

FEWEST = 6
"""Dialogues of which an interval and a test are told; of fewer they say nothing."""


@dataclass
class Dialogue:
    """Answers of one dialogue by turn, with what each brought."""

    brought: dict[int, float] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        return {0, 1} <= self.brought.keys()


Edits = dict[tuple[int, str], dict[int, Dialogue]]
"""(Generation, member of a pool that is to be improved) → dialogues about it by number."""


async def read_edits(store: EventStore, run: RunId) -> Edits:
    """Return the dialogues of a run; an answer that was never measured brought nothing."""
    found: Edits = {}
    parents: dict[int, str] = {}
    state = RunState()
    async for page in store.pages(run):
        for event in page:
            payload, generation = event.payload, state.generation
            if generation is not None and isinstance(
                payload, ImplementationProposed | ImplementationMeasured
            ):
                basis = generation.basis
                assert basis is not None  # what is proposed and measured has one
                if isinstance(payload, ImplementationProposed):
                    parents[payload.slot] = payload.parent
                if payload.slot < basis.asking_slots and basis.turns > 1:
                    number, turn = divmod(payload.slot, basis.turns)
                    dialogues = found.setdefault((payload.generation, parents[payload.slot]), {})
                    dialogues.setdefault(number, Dialogue()).brought[turn] = gain_brought(payload)
            state = fold(state, event)
    return found


def gain_brought(payload: ImplementationProposed | ImplementationMeasured) -> float:
    """Return the mean gain of an answer in points; 0 where it lost, failed, or was not measured.

    Of several sound answers only the best joins, so joining is not asked for.
    """
    if isinstance(payload, ImplementationProposed) or None in payload.gains or not payload.gains:
        return 0.0
    return max(0.0, 100.0 * fmean(gain for gain in payload.gains if gain is not None))


@dataclass(frozen=True)
class Arms:
    """Both arms of the ablation, one entry for each whole dialogue beside another about its parent."""

    openings: tuple[float, ...]
    """The better of its first answer and another dialogue's, in the mean over these."""
    dialogue: tuple[float, ...]
    """The better of its first and its second answer."""

    def gain(self) -> Gain | None:
        """Return what a second turn gains on a second opening; ``None`` without dialogues."""
        if not self.dialogue:
            return None
        return gain_of(-np.array([self.openings]), -np.array([self.dialogue]))


def arms_of(edits: Iterable[dict[int, Dialogue]]) -> Arms:
    """Return both arms of the edits given."""
    openings, dialogue = [], []
    for dialogues in edits:
        for number, own in dialogues.items():
            others = [d.brought[0] for n, d in dialogues.items() if n != number and 0 in d.brought]
            if own.is_whole and others:
                openings.append(fmean(max(own.brought[0], other) for other in others))
                dialogue.append(max(own.brought.values()))
    return Arms(tuple(openings), tuple(dialogue))


def print_row(name: str, edits: Sequence[dict[int, Dialogue]]) -> None:
    """Print one row."""
    whole = [d for dialogues in edits for d in dialogues.values() if d.is_whole]
    gained = [sum(d.brought[turn] > 0.0 for d in whole) for turn in (0, 1)]
    better = sum(d.brought[1] > d.brought[0] for d in whole)
    worse = sum(d.brought[1] < d.brought[0] for d in whole)
    p = binomtest(better, better + worse).pvalue if better + worse else 1.0
    arms = arms_of(edits)
    gain = arms.gain()
    means = "– | –" if gain is None else f"{fmean(arms.openings):.3f} | {fmean(arms.dialogue):.3f}"
    cells = "– | – | –"
    if gain is not None:
        told = (str(gain), f"{gain.p:.3f}") if len(arms.dialogue) >= FEWEST else (f"{gain.mean:+.3f}", "–")
        cells = f"{told[0]} | {gain.won}, {gain.lost} | {told[1]}"
    print(
        f"| {name} | {len(whole)} | {gained[0]}, {gained[1]} | {better}, {worse} | {p:.3f} "
        f"| {len(arms.dialogue)} | {means} | {cells} |",
        flush=True,
    )


async def compare(archives: Sequence[Path]) -> None:
    """Print a row for each archive and one for all."""
    print(
        "| run | dialogues | gained in turn 1, 2 | second better, worse | p | paired | two openings bring "
        "| opening and second turn bring | the second turn is ahead by, points (95 %) | won, lost | p |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|---|--:|--:|")
    everything: list[dict[int, Dialogue]] = []
    with tempfile.TemporaryDirectory() as folder:
        async with open_store(f"sqlite+aiosqlite:///{folder}/runs.db", create=True) as store:
            for archive in archives:
                run = RunId((await import_run(store, archive)).run)
                edits = list((await read_edits(store, run)).values())
                if edits:
                    print_row(run, edits)
                everything += edits
    print_row("all", everything)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("archives", type=Path, nargs="+", metavar="RUN.dga2d.zip")
    options = parser.parse_args()
    anyio.run(compare, options.archives)


if __name__ == "__main__":
    main()
