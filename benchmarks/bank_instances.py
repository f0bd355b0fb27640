"""Which held-out instances the runs that wrote a bank have seen: by name and by content, as a Markdown table.

    python benchmarks/bank_instances.py examples/runs --data DIR

The instances of every evaluation for training, races, gates and validation in the archives below a folder,
of runs that the bank names, are put beside the held-out ones of the domain, generated and published. Content
is what a program is given of an instance; one with its jobs in another order would not be recognised.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

import anyio

from dga2d.events import RunId, instance_and_copy
from dga2d.events.payloads import EvaluationRecorded, RunStarted
from dga2d.replay.archive import import_run
from dga2d.runtime.bank.entries import read_bank
from dga2d.runtime.evaluation import wire
from dga2d.runtime.runs.problem import Problem
from dga2d.store import open_store


async def seen_instances(archives: Iterable[Path], runs: frozenset[str]) -> dict[str, set[str]]:
    """Return the names of the instances that `runs` searched with (not their held-out ones), by domain.

    Exits where the archives lack one of the runs.
    """
    seen: dict[str, set[str]] = {}
    missing = set(runs)
    with tempfile.TemporaryDirectory() as folder:
        async with open_store(f"sqlite+aiosqlite:///{folder}/runs.db", create=True) as store:
            for archive in archives:
                run = RunId((await import_run(store, archive)).run)
                if run not in runs:
                    continue
                missing.discard(run)
                names: set[str] = set()
                async for page in store.pages(run):
                    for event in page:
                        match event.payload:
                            case RunStarted(domain=domain):
                                names = seen.setdefault(domain, set())
                            case EvaluationRecorded(split=split, instance=name) if split != "test":
                                names.add(instance_and_copy(name)[0])
    if missing:
        sys.exit(f"no archive of {', '.join(sorted(missing))}")
    return seen


def content(problem: Problem, key: str) -> bytes:
    """Return a digest of what a program is given of an instance."""
    environment: Mapping[str, object] = problem.domain.environment(problem.instance(key))
    return sha256(wire.encode(dict(sorted(environment.items())))).digest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("archives", type=Path, metavar="FOLDER")
    parser.add_argument("--bank", default="shipped")
    parser.add_argument("--data", type=Path, required=True, help="published instances")
    options = parser.parse_args()
    entries = read_bank(options.bank)
    runs = frozenset(run for entry in entries for run in (entry.run, *(m.run for m in entry.measurements)))
    archives = sorted(options.archives.rglob("*.zip"))
    seen = anyio.run(seen_instances, archives, runs)
    print("| domain | instances seen | held out, generated | seen: by name, content | published | seen |")
    print("|---|--:|--:|--:|--:|--:|")
    for domain, names in sorted(seen.items()):
        kinds = [Problem.open(domain, data) for data in (None, options.data)]
        theirs = [{ref.key for part in kind.splits for ref in part} for kind in kinds]
        if strange := names.difference(*theirs):
            sys.exit(f"{domain}: no instance is called {', '.join(sorted(strange))}")
        known = {content(kind, key) for kind, keys in zip(kinds, theirs, strict=True) for key in names & keys}
        cells = []
        for kind in kinds:
            held_out = [ref.key for ref in kind.splits.test]
            by_content = sum(content(kind, key) in known for key in held_out)
            cells.append(f"{len(held_out)} | {len(names & set(held_out))}, {by_content}")
        print(f"| {domain} | {len(names)} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
