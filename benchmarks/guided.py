"""What a policy that starts near the baseline finds, on real domains: the prior, the bonus, the replay.

    python benchmarks/guided.py jsp cvrp --seeds 5

Runs without evolution and races, so that sampling walks is all there is; every arm has as many evaluations.
The gaps are those on the training batch: of the best program after so many generations, and of all candidates
of the second half in the mean (a failure counts as 100 %). Differences are to the first arm, over the same
seeds, with Student's 95 % interval.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping
from statistics import fmean

import anyio

from dga2d.runtime.inspection.pairs import interval
from dga2d.runtime.runs.config import make_settings, parse_assignments
from dga2d.runtime.runs.sessions import evolve
from dga2d.runtime.terminal.progress import silent

ARMS: Mapping[str, tuple[str, ...]] = {
    "uniform": ("policy=uniform",),
    "embedded": (),
    "embedded, entropy 0.1": ("policy_entropy=0.1",),
    "uniform, focus 0.6": ("policy=uniform", "policy_focus=0.6"),
    "embedded, focus 0.6": ("policy_focus=0.6",),
    "embedded, focus 0.6, entropy 0.1": ("policy_focus=0.6", "policy_entropy=0.1"),
    "embedded, focus 0.6, replay 1": ("policy_focus=0.6", "policy_replay=1.0"),
}


def run(domain: str, arm: str, seed: int, options: argparse.Namespace, url: str) -> tuple[float, float]:
    """Return the gaps in percent of the best program and of the candidates of the second half."""
    flags = {
        "preset": "none",
        "work": options.work,
        "calibration": "off",
        "generations": options.generations,
        "batch_size": options.batch,
        "validation_instances": 1,
        "validation_interval": 0,
        "evolution": False,
        "evaluators": 1,
    }
    settings = make_settings(parse_assignments(list(ARMS[arm])), flags)
    history = anyio.run(evolve, url, domain, settings, seed, None, silent).state.history
    rows = [row for _, row in sorted(history.items())]
    late = [min(-100.0 * row.mean, 100.0) for row in rows[len(rows) // 2 :]]
    return -100.0 * rows[-1].best_so_far, fmean(late)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("domains", nargs="+", metavar="DOMAIN")
    parser.add_argument("--arms", nargs="+", choices=list(ARMS), default=list(ARMS), metavar="ARM")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--generations", type=int, default=12)
    parser.add_argument("--batch", type=int, default=3, help="training instances")
    parser.add_argument("--work", type=int, default=3000, help="work units per instance")
    options = parser.parse_args()
    print("| domain | policy | best, % | less than the first arm's (95 %) | candidates, % | less (95 %) |")
    print("|---|---|--:|---|--:|---|")
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite+aiosqlite:///{folder}/runs.db"
        for domain in options.domains:
            first: list[tuple[float, float]] = []
            for arm in options.arms:
                print(f"{domain}, {arm}", file=sys.stderr, flush=True)
                found = [run(domain, arm, seed, options, url) for seed in range(options.seeds)]
                first = first or found
                cells = []
                for measure in (0, 1):
                    gain = interval([a[measure] - b[measure] for a, b in zip(first, found, strict=True)])
                    low, high = gain.low or 0.0, gain.high or 0.0
                    cells.append(f"{fmean(f[measure] for f in found):.3f}")
                    cells.append(f"{gain.mean:+.3f} ({low:+.3f} to {high:+.3f})")
                print(f"| {domain} | {arm} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
