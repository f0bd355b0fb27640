"""What evolution adds: the same runs with and without new implementations and edges, side by side.

    python benchmarks/evolution.py                    # JSP and TSP, 20 generations, 10 seeds
    python benchmarks/evolution.py tsp --seeds 3 --jobs 2

Both arms start from the basic tier of the operator library, with the same seed, instances and work budget,
and the built-in offline proposer; they differ in ``--evolution`` alone. Compared is the validation gap of the
checkpoint that each run keeps. Budgets are work units, so the figures repeat exactly whatever else the
machine does. The table is Markdown; progress goes to stderr.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import fmean, stdev

from evolving import evolved_outcome
from scipy import stats

WORK = {"jsp": 12_000, "tsp": 1000}
"""Work units per instance: about 0.04 s of processor time."""
OTHER_WORK = 1500


def validation_gap(domain: str, seed: int, arm: str, options: argparse.Namespace, folder: Path) -> float:
    """Validation gap in percent of the checkpoint that a run keeps."""
    name = f"{domain}-{seed}-{arm}"
    flags = [f"--{arm}", "--library=basic", f"--generations={options.generations}"]
    flags += [f"--work={WORK.get(domain, OTHER_WORK)}", f"--edits-per-generation={options.edits}"]
    flags += [f"--seed={seed}", "--evaluators=1", "--checkpoint-margin=0"]  # the best, as the paper keeps it
    gap: float = evolved_outcome(name, domain, flags, folder)["checkpoint"]["gap_percent"]
    print(f"{name}: {gap:.3f} %", file=sys.stderr, flush=True)
    return gap


def compare(domain: str, options: argparse.Namespace, folder: Path) -> None:
    """Print one row of the table."""
    seeds = range(1, options.seeds + 1)
    with ThreadPoolExecutor(options.jobs) as pool:
        without, evolved = (
            [pool.submit(validation_gap, domain, seed, arm, options, folder) for seed in seeds]
            for arm in ("no-evolution", "evolution")
        )
        off, on = [job.result() for job in without], [job.result() for job in evolved]
    differences = [b - a for a, b in zip(off, on, strict=True)]
    mean = fmean(differences)
    half = float(stats.t.ppf(0.975, len(seeds) - 1)) * stdev(differences) / len(seeds) ** 0.5
    better = sum(d < 0 for d in differences)
    print(
        f"| {domain} | {len(seeds)} | {fmean(off):.3f} | {fmean(on):.3f} "
        f"| **{mean:+.3f}** ({mean - half:+.3f} to {mean + half:+.3f}) | {better} of {len(seeds)} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("domains", nargs="*", default=["jsp", "tsp"], metavar="DOMAIN")
    parser.add_argument("--generations", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=10, help="at least 2")
    parser.add_argument("--edits", type=int, default=2, help="edits per generation")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    options = parser.parse_args()
    if options.seeds < 2:
        parser.error("a confidence interval takes at least two seeds")
    print(f"{options.generations} generations, basic library, {options.edits} edits per generation\n")
    print("| domain | seeds | without evolution, % | with evolution, % | difference (95 %) | better |")
    print("|---|--:|--:|--:|---|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for domain in options.domains:
            compare(domain, options, Path(folder))


if __name__ == "__main__":
    main()
