"""What the offline proposer's answers are worth, beside constants drawn at random, as a Markdown table.

    python benchmarks/proposer.py jsp tsp --library basic --seconds 0.1 --proposals 24
    python benchmarks/proposer.py cvrp --library full --instances 12

Each answer is a new implementation for a position of the safe baseline, in turn, and takes its place there.
It meets the baseline on training instances with common random numbers, under calibrated work; the best of all
meets it again on held-out ones. Progress goes to stderr.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import anyio
import numpy as np
from arms import work_per_second
from independent import gaps_of, proposals, starting_state
from one_family import open_family
from pairing import gain_of
from programs import Program, ProgramBench

from dga2d.agents.proposing.variation import Ways, all_ways, constant_ways, library_ways
from dga2d.agents.spreading import spread
from dga2d.domains.core.registry import domain_names
from dga2d.events import InstanceKey
from dga2d.replay.settings import RunSettings
from dga2d.runtime.evaluator import open_evaluator

KINDS: dict[str, tuple[Ways, bool]] = {
    "structure": (all_ways, True),
    "all": (all_ways, False),
    "structure, whole library": (library_ways, True),
    "constants at random": (constant_ways, False),
}
"""Ways of variation, and whether constants are left alone."""
FAILED = 100.0


async def measure(domain: str, options: argparse.Namespace) -> None:
    """Print the rows of a domain."""
    rate = await work_per_second(domain, options.family, options.data, options.tier)
    settings = RunSettings(
        library=options.tier, work=max(1, round(options.seconds * rate)), evaluators=options.evaluators
    )
    problem = open_family(domain, options.data, options.family)
    state, baseline = await starting_state(problem, settings, options.seed)
    keys = [entry.key for entry in state.header.splits.train]
    held_out = [entry.key for entry in state.header.splits.test]
    chosen, test = spread(keys, options.instances), spread(held_out, options.test)
    async with open_evaluator(domain, settings) as pool:
        bench = ProgramBench(state, baseline, problem, pool)
        await bench.calibrate([baseline])
        start, start_test = await gaps(bench, baseline, chosen), await gaps(bench, baseline, test)
        for kind, (ways, structure_only) in KINDS.items():
            means: list[float] = []
            best, failed = baseline, 0
            for number, program in enumerate(proposals(bench, options.proposals, ways, structure_only)):
                await bench.calibrate([program])
                found = await gaps(bench, program, chosen)
                failed += FAILED in found
                gain = fmean(start) - fmean(found)
                if gain > max((0.0, *means)):
                    best = program
                means.append(gain)
                operators = " → ".join(part.operator for part in program.parts)
                print(f"{domain} {kind} {number}: {gain:+.3f} {operators}", file=sys.stderr, flush=True)
            after = gain_of(np.array([start_test]), np.array([await gaps(bench, best, test)]))
            better = sum(gain > 0.0 for gain in means)
            print(
                f"| {domain} | {kind} | {len(means)} | {failed} | {better} | {np.median(means):+.3f} "
                f"| {max(means, default=0.0):+.3f} | {after} |",
                flush=True,
            )


async def gaps(bench: ProgramBench, program: Program, keys: Sequence[InstanceKey]) -> list[float]:
    """Return gaps in percent."""
    return [FAILED if gap is None else gap for gap in await gaps_of(bench, program, keys, "evaluation")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("domains", nargs="*", default=list(domain_names()), metavar="DOMAIN")
    parser.add_argument("--library", dest="tier", choices=["basic", "full"], default="basic")
    parser.add_argument("--family", default="*", help="pattern of the groups of instances, as in a shell")
    parser.add_argument("--data", type=Path, help="published instances instead of generated ones")
    parser.add_argument("--seconds", type=float, default=0.1, help="per instance, as work")
    parser.add_argument("--proposals", type=int, default=24, help="of each kind")
    parser.add_argument("--instances", type=int, default=8, help="for training")
    parser.add_argument("--test", type=int, default=16, help="held-out instances for the best")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--evaluators", type=int, default=1)
    options = parser.parse_args()
    print("| domain | proposals | n | failed | better | median gain | best | on held-out (95 %) |")
    print("|---|---|--:|--:|--:|--:|--:|---|")
    for domain in options.domains:
        anyio.run(measure, domain, options)


if __name__ == "__main__":
    main()
