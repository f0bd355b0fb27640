"""Which entries of a bank a run may offer, and in which order."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from dga2d.agents.bank_offers import has_role
from dga2d.agents.proposing.answers import parse_source
from dga2d.agents.proposing.errors import ProposalError
from dga2d.domains.core.contract import Card
from dga2d.events import BlobDigest, OperatorId
from dga2d.events.payloads import BankEntry, LibraryOperator
from dga2d.runtime.bank.entries import NO_BANK, Bank, Entry, Measurement, read_bank

MOST_ENTRIES = 200
"""Of a bank that one run takes along."""


class BankOfRun(NamedTuple):
    """What a run takes along of a bank."""

    entries: tuple[BankEntry, ...] | None
    """Best first; ``None`` where no bank is used."""
    sources: tuple[bytes, ...]
    """Their texts."""


NO_ENTRIES = BankOfRun(None, ())


def bank_for(name: str, domain: str, card: Card, library: Sequence[LibraryOperator], tier: str) -> BankOfRun:
    """Return what the bank of a setting holds for a run that begins from the `tier` of a library.

    That is what was written in the domain itself, or in another for operators of a role that the library has
    where the code reads nothing but what this one's instances hold. ``None`` where no bank is used.

    Raises
    ------
    BankError
        The file cannot be used.
    """
    if name == NO_BANK:
        return NO_ENTRIES
    return suited_entries(read_bank(name), domain, card, library, tier)


def suited_entries(
    bank: Bank, domain: str, card: Card, library: Sequence[LibraryOperator], tier: str
) -> BankOfRun:
    """Return the entries of a bank as `bank_for` does."""
    chosen: dict[str, tuple[Entry, BankEntry]] = {}
    for entry in sorted(bank, key=lambda entry: _rank(entry, tier)):
        recorded = _bank_entry(entry, tier)
        is_known = entry.digest in chosen and chosen[entry.digest][0].domain == domain
        if is_known:
            continue
        suits = any(has_role(recorded, operator) for operator in library)
        if entry.domain == domain or (suits and keys_read(entry.source) <= card.environment.keys()):
            chosen[entry.digest] = (entry, recorded)
    best = list(chosen.values())[:MOST_ENTRIES]
    sources = tuple(entry.source.encode() for entry, _ in best)
    return BankOfRun(tuple(recorded for _, recorded in best), sources)


def _rank(entry: Entry, tier: str) -> tuple[bool, float, int, str]:
    """Return what entries are sorted by: what gained in runs from the same tier of a library, then what
    gained in others, what was not measured (of a run the latest first, which knew more), and what lost."""
    if (evidence := _evidence(entry, tier)) is None:
        return True, 0.0, -entry.seq, entry.digest
    is_other = evidence.library != tier or evidence.least <= 0.0
    return is_other, -evidence.least, 0, entry.digest


def _evidence(entry: Entry, tier: str) -> Measurement | None:
    return entry.evidence_from(tier) or entry.evidence


def _bank_entry(entry: Entry, tier: str) -> BankEntry:
    evidence = _evidence(entry, tier)
    return BankEntry(
        source=BlobDigest(entry.digest),
        domain=entry.domain,
        operator=OperatorId(entry.operator),
        category=entry.category,
        requires=entry.requires,
        provides=entry.provides,
        run=entry.run,
        model=entry.model,
        how="" if evidence is None else evidence.how,
        gain=None if evidence is None else evidence.gain,
        spread=None if evidence is None else evidence.spread,
        pairs=0 if evidence is None else evidence.pairs,
    )


def keys_read(source: str) -> set[str]:
    """Return the names that code reads from its environment, ``env_data["name"]``; ``{""}`` for what is not
    Python, and for other ways of reading it."""
    try:
        tree = parse_source(source)
    except ProposalError:
        return {""}
    found = set()
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)):
            continue
        if node.value.id == "env_data":
            key = node.slice.value if isinstance(node.slice, ast.Constant) else ""
            found.add(str(key))
    return found
