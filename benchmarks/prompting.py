"""What prompts and dialogues are worth with a language model: a run under several settings.

    python benchmarks/prompting.py tsp --llm openai:MODEL --work 38000 --generations 6 --seeds 1 2

Every arm has the same model, seeds, held-out instances and number of calls; the first one is what the others
are compared with. Every arm is offered the bank, and one is shown its entries as well: what they are worth as
examples is what it gains beyond the offers. The built-in proposer reads no prompt, so `--llm offline` tries
the script and nothing else. Logs stay in `--folder`; runs that are there are not made again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from banked import SMALL, call

ARMS: Mapping[str, Mapping[str, Any]] = {
    "edition 3": {"prompt_edition": 3},
    "edition 4": {"prompt_edition": 4},
    "edition 6": {},
    "examples": {"bank_examples": 2},
    "two turns": {"turns": 2},
    "replacements": {"answer_form": "diff"},
    "best of two": {"answers_per_edit": 2},
}
"""Arm → settings besides those that all have."""


def run(options: argparse.Namespace, arm: str, seed: int) -> dict[str, Any]:
    """Return the outcome of a run; it is made if it is not there."""
    store = ("--store", str(options.folder / "runs.db"))
    name = f"{options.domain}-{arm.replace(' ', '-')}-{seed}"
    there = json.loads(call("runs", "--json", *store)) if (options.folder / "runs.db").exists() else []
    if name not in [row["run"] for row in there]:
        settings = {**SMALL, **ARMS[arm]}
        call(
            *(
                "evolve",
                options.domain,
                "--library",
                "basic",
                "--seed",
                str(seed),
                "--run-id",
                name,
                "--test",
            ),
            *("--llm", options.llm, "--llm-calls", str(options.calls), "--work", str(options.work)),
            *("--call-plan", "spend", "--generations", str(options.generations), "--bank", options.bank),
            *("--test-instances", str(options.test), "--test", "--no-report", "--quiet", *store),
            *(f"--set={key}={json.dumps(value)}" for key, value in settings.items()),
        )
    shown: dict[str, Any] = json.loads(call("show", name, "--json", *store))
    return shown


def main() -> None:
    """Print the table of a domain."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("domain")
    parser.add_argument("--arms", nargs="+", choices=list(ARMS), default=list(ARMS), metavar="ARM")
    parser.add_argument("--llm", default="offline")
    parser.add_argument("--bank", default="shipped", help="what every arm is offered and one is shown")
    parser.add_argument("--calls", type=int, default=20)
    parser.add_argument("--work", type=int, default=20_000)
    parser.add_argument("--generations", type=int, default=6)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--test", type=int, default=12, help="held-out instances")
    parser.add_argument("--folder", type=Path, default=Path("prompting"))
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    print("| domain | arm | seeds | calls | code accepted | held-out gap, % | less than the first arm's |")
    print("|---|---|--:|--:|--:|--:|--:|")
    first: float | None = None
    for arm in options.arms:
        rows = [run(options, arm, seed) for seed in options.seeds]
        gaps = [row["test"]["gap_percent"]["evolved"] for row in rows]
        mean = None if None in gaps else fmean(gaps)
        first = mean if first is None else first
        code = [row["ledger"]["by_purpose"].get("implement", {"accepted": 0})["accepted"] for row in rows]
        less = "failed" if mean is None or first is None else f"{first - mean:+.2f}"
        told = "failed" if mean is None else f"{mean:.2f}"
        calls = sum(row["ledger"]["used"] for row in rows)
        print(
            f"| {options.domain} | {arm} | {len(rows)} | {calls} | {sum(code)} | {told} | {less} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
