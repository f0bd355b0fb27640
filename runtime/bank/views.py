"""What people and programs see of a bank."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dga2d.events import RunId
from dga2d.runtime.bank.collecting import collect
from dga2d.runtime.bank.entries import Bank, Entry, merge, read_bank, write_bank
from dga2d.runtime.errors import UsageError
from dga2d.runtime.runs.exported import is_file, open_file
from dga2d.store import open_store


async def add_runs(url: str, runs: Sequence[str], path: Path, licence: str) -> dict[str, Any]:
    """Add what runs accepted to the bank of a file, which is made if it is not there.

    Raises
    ------
    BankError
        The bank cannot be used, or a run brings nothing; the file stays as it was.
    """
    before = read_bank(str(path)) if path.exists() else ()
    bank = before
    for run in runs:
        if is_file(run):
            async with open_file(Path(run).expanduser()) as (store, name):
                bank = merge(bank, await collect(store, name, licence))
        else:
            async with open_store(url, create=False, read_only=True) as store:
                bank = merge(bank, await collect(store, RunId(run), licence))
    write_bank(path, bank)
    return {
        "bank": str(path),
        "runs": list(runs),
        "added": len(bank) - len(before),
        "entries": len(bank),
    }


def entry_view(entry: Entry) -> dict[str, Any]:
    """Return an entry without its source text."""
    evidence = entry.evidence
    return {
        **entry.model_dump(mode="json", exclude={"source"}),
        "chars": len(entry.source),
        "how": None if evidence is None else evidence.how,
        "gain_points": None if evidence is None else round(100 * evidence.gain, 4),
        "pairs": 0 if evidence is None else evidence.pairs,
    }


def find_entry(bank: Bank, digest: str) -> Entry:
    """Return the entry whose digest begins with `digest`.

    Raises
    ------
    UsageError
        There is none, or several.
    """
    found = {entry.digest: entry for entry in bank if entry.digest.startswith(digest)}
    if len(found) != 1:
        raise UsageError(f"{len(found)} entries of the bank have a digest that begins with {digest!r}")
    return next(iter(found.values()))
