"""What the whole library could gain on the basic baseline: each of its operators in place of the last step.

    python benchmarks/room.py mis maxcut --seconds 0.05

Where none of them gains, a proposer that knows the library can bring nothing as it is. Programs meet
the baseline on training instances with common random numbers, under calibrated work; the hand-tuned baseline
of the whole library is the first row. Intervals (95 %) are bootstraps over instances.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import anyio
import numpy as np
from arms import work_per_second
from comparison import FAILED
from independent import gaps_of, starting_state
from one_family import open_family
from pairing import gain_of
from programs import Program, ProgramBench

from dga2d.agents.spreading import spread
from dga2d.domains.core.contract import Domain
from dga2d.domains.core.registry import domain_names
from dga2d.replay.settings import RunSettings
from dga2d.runtime.evaluator import open_evaluator


def programs(domain: Domain, baseline: Program) -> Iterator[tuple[str, Program]]:
    """Yield the hand-tuned baseline, and the basic one with each other improver for its last step."""
    yield "hand-tuned", Program(tuple(step.implementation for step in domain.safe_baseline()))
    last = baseline.parts[-1].operator
    for operator in domain.operators():
        if operator.provides == domain_end(domain) and not operator.is_initialiser and operator.id != last:
            yield operator.id, Program((*baseline.parts[:-1], operator.implementations[0]))


def domain_end(domain: Domain) -> str:
    """Return what the operators that may end a program provide."""
    return next(op.provides for op in domain.operators() if op.id == domain.basic_baseline()[-1].operator)


async def measure(name: str, seconds: float, instances: int) -> None:
    """Print the rows of a domain."""
    rate = await work_per_second(name, "*", None, "basic")
    settings = RunSettings(library="basic", work=max(1, round(seconds * rate)), evaluators=1)
    problem = open_family(name, None, "*")
    state, baseline = await starting_state(problem, settings, 1)
    keys = spread([entry.key for entry in state.header.splits.train], instances)
    async with open_evaluator(name, settings) as pool:
        bench = ProgramBench(state, baseline, problem, pool)
        await bench.calibrate([baseline])

        async def gaps(program: Program) -> np.ndarray:
            found = await gaps_of(bench, program, keys, "evaluation")
            return np.array([[FAILED if gap is None else gap for gap in found]])

        start = await gaps(baseline)
        for label, program in programs(problem.domain, baseline):
            await bench.calibrate([program])
            after = await gaps(program)
            gain = gain_of(start, after)
            print(
                f"| {name} | {label} | {start.mean():.3f} | {after.mean():.3f} | {gain} "
                f"| {gain.won}, {gain.lost} |",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("domains", nargs="+", choices=domain_names(), metavar="DOMAIN")
    parser.add_argument("--seconds", type=float, default=0.05, help="per instance, as work")
    parser.add_argument("--instances", type=int, default=16)
    options = parser.parse_args()
    print("| domain | last step | baseline, % | gap, % | gain, points | won, lost |")
    print("|---|---|--:|--:|---|---|")
    for name in options.domains:
        anyio.run(measure, name, options.seconds, options.instances)


if __name__ == "__main__":
    main()
