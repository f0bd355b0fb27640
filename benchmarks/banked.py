"""What a bank is worth: a second run with the first one's code, as Markdown rows.

    python benchmarks/banked.py jsp --work 20000 --generations 8 --second 2
    python benchmarks/banked.py jsp --work 20000 --generations 8 --second 2 --neighbour fjsp
    python benchmarks/banked.py tsp --first examples/runs/turns/tsp-turns-model.dga2d.zip --second 3

The first run evolves without a bank from the basic library, or is a recorded one; what it accepted becomes a
bank. The second run has another seed, so another batch, other walks and random streams, offers that bank (or
`--bank shipped`) and goes on for `--second` generations. Both end with the held-out test, on the same
instances. With `--neighbour` that domain is evolved as well, for `--second` generations, without a bank and
with the first run's.

Evaluations are all but those of the test. Work budgets are calibrated, so that figures hardly depend on what
else the machine does. Logs stay in `--folder`; runs that are there are not made again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SMALL = {
    "batch_size": 3,
    "gate_instances": 4,
    "race_contenders": 4,
    "race_instances": 4,
    "validation_instances": 12,
    "checkpoint_margin": 2.0,
}
"""Settings that make runs short; all arms have them."""


def call(*arguments: str) -> str:
    """Return what the program prints."""
    command = [sys.executable, "-P", "-m", "dga2d", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(arguments)}: exit code {done.returncode}")
    return done.stdout


def run(
    options: argparse.Namespace, domain: str, name: str, seed: int, generations: int, bank: str
) -> dict[str, Any]:
    """Return the row of a run; it is made if it is not there."""
    store = ("--store", str(options.folder / "runs.db"))
    there = json.loads(call("runs", "--json", *store)) if (options.folder / "runs.db").exists() else []
    if name not in [row["run"] for row in there]:
        sets = [f"--set={key}={value}" for key, value in SMALL.items()]
        call(
            *("evolve", domain, "--library", "basic", "--seed", str(seed), "--run-id", name, "--test"),
            *("--generations", str(generations), "--work", str(options.work), "--bank", bank),
            *("--validation-interval", str(generations), "--test-instances", str(options.test)),
            *("--evaluators", str(options.evaluators), "--no-report", "--quiet", *sets, *store),
        )
    return row_of(name, store)


def imported(archive: Path, folder: Path) -> str:
    """Return the name of a recorded run that is now in the folder's store."""
    store = ("--store", str(folder / "runs.db"))
    found: str = json.loads(call("import", str(archive), "--json", *store))["run"]
    return found


def row_of(name: str, store: Sequence[str]) -> dict[str, Any]:
    """Return the row of a run that is there."""
    state = json.loads(call("show", name, "--json", *store))
    lines = call("log", name, "--type", "EvaluationRecorded", "--json", *store).splitlines()
    splits = [json.loads(line)["payload"]["split"] for line in lines]
    test = state["test"] or {"gap_percent": {"evolved": None, "baseline": None}}
    return {
        "run": name,
        "evaluations": sum(split != "test" for split in splits),
        "calls": state["ledger"]["used"],
        "offers": state["ledger"]["bank"]["offered"],
        "joined": state["ledger"]["bank"]["accepted"],
        "evolved": test["gap_percent"]["evolved"],
        "baseline": test["gap_percent"]["baseline"],
        "verdict": (state["verdict"] or {}).get("sentence", ""),
    }


def show(row: dict[str, Any]) -> None:
    """Print a row of the table."""
    cells = [f"{row[k]:.2f}" if isinstance(row[k], float) else str(row[k]) for k in row]
    print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print the table of a domain."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("domain")
    parser.add_argument("--first", type=Path, metavar="RUN.dga2d.zip", help="a recorded run as the first one")
    parser.add_argument("--neighbour", help="another domain, evolved without and with the first run's bank")
    parser.add_argument(
        "--bank", help="a bank for the second run instead of the first run's, as in `shipped`"
    )
    parser.add_argument("--work", type=int, default=20_000)
    parser.add_argument("--generations", type=int, default=8)
    parser.add_argument("--second", type=int, default=2, help="generations of the runs with a bank")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--test", type=int, default=12, help="held-out instances")
    parser.add_argument("--evaluators", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path("banked"))
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    bank, store = options.folder / f"{options.domain}-{options.seed}.jsonl", str(options.folder / "runs.db")
    if options.first is not None:
        first = row_of(imported(options.first, options.folder), ("--store", store))
        options.work = int(
            json.loads(call("show", first["run"], "--json", "--store", store))["settings"]["work"]
        )
    else:
        name = f"{options.domain}-{options.seed}-first"
        first = run(options, options.domain, name, options.seed, options.generations, "none")
    print("| " + " | ".join(first) + " |\n|" + "---|" * len(first))
    show(first)
    if not bank.exists():
        call("bank", "add", first["run"], "--bank", str(bank), "--store", store)
    used = options.bank or str(bank)
    other, mark = options.seed + 100, "shipped" if options.bank else "second"
    show(run(options, options.domain, f"{options.domain}-{options.seed}-{mark}", other, options.second, used))
    if options.neighbour:
        for name, what in (("without", "none"), ("with", used)):
            label = f"{options.neighbour}-{options.seed}-{name}"
            show(run(options, options.neighbour, label, other, options.second, what))


if __name__ == "__main__":
    main()
