"""The paper's instance sets by name: what belongs to them, and where each instance comes from.

References
----------
DGA2D paper, Appendix, "Experimental Datasets". Names of CVRPLIB's, TSPLIB's and DIMACS' instances: as their
collections have them; the paper names groups, sizes of splits and what it leaves out.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from dga2d.domains.core.contract import Domain, InstanceRef
from dga2d.domains.core.errors import DomainError

_CHOICE = re.compile(r"\{([^{}]+)\}")


class IncompleteSuiteError(DomainError):
    """Files of the paper's suite are missing."""

    def __init__(self, domain: str, data_dir: Path | None, missing: list[str]) -> None:
        self.missing = tuple(missing)
        where = "without --data" if data_dir is None else f"below {data_dir / domain}"
        listed = "\n".join(f"  {name}" for name in missing)
        super().__init__(
            f"{len(missing)} instances of the paper's {domain} suite are not there {where}; missing, as "
            f"GROUP/NAME:\n{listed}"
        )


class NoSuiteError(DomainError):
    """The paper has no set of a domain."""

    def __init__(self, domain: str) -> None:
        super().__init__(
            f"the paper has no instances of {domain}; suite = paper is for {', '.join(_table())}"
        )


@cache
def _table() -> dict[str, dict[str, Any]]:
    return tomllib.loads((files("dga2d.domains.core") / "paper_suite.toml").read_text(encoding="utf-8"))


def expand_names(text: str) -> list[str]:
    """Return the names that a text with ranges ``{01-40}`` and choices ``{a,b}`` stands for, in order."""
    names: list[str] = []
    for token in text.split():
        parts = _CHOICE.split(token)
        choices = [_values(part) if i % 2 else [part] for i, part in enumerate(parts)]
        names += ["".join(chosen) for chosen in itertools.product(*choices)]
    return names


def _values(text: str) -> list[str]:
    found = re.fullmatch(r"(\d+)-(\d+)", text)
    if found is None:
        return text.split(",")
    first, last = found.groups()
    width = len(first) if first.startswith("0") else 1
    return [f"{number:0{width}d}" for number in range(int(first), int(last) + 1)]


def paper_files(domain: str) -> dict[str, list[str]]:
    """Return the names of the instances of a domain's suite that stand in files, by group."""
    return {group: expand_names(text) for group, text in _table()[domain].get("files", {}).items()}


def paper_note(domain: str) -> str:
    """Return in which way a domain's suite may differ from the paper's; empty where it does not."""
    return str(_table().get(domain, {}).get("note", ""))


def paper_refs(domain: Domain, data_dir: Path | None) -> tuple[InstanceRef, ...]:
    """Return exactly the paper's instances of a domain, with the paper's groups, sorted by key.

    Files are looked for by folder and name, whatever the case; other files are passed over. What the program
    makes again exactly needs no file.

    Raises
    ------
    NoSuiteError, IncompleteSuiteError
        The paper has none of the domain; files are missing.
    """
    table = _table().get(domain.name)
    if table is None:
        raise NoSuiteError(domain.name)
    refs: list[InstanceRef] = []
    if table.get("regenerated"):
        refs += getattr(domain, "regenerated", tuple)()
    groups = {name for text in table.get("generated", ()) for name in expand_names(text)}
    refs += [ref for ref in domain.generated() if ref.group in groups]
    published = () if data_dir is None else domain.published(data_dir)
    there = {ref.key.lower(): ref for ref in published}
    aliases: dict[str, str] = table.get("aliases", {})
    missing: list[str] = []
    for group, names in paper_files(domain.name).items():
        for name in names:
            place = f"{group}/{name}"
            ref = there.get(place.lower()) or there.get(aliases.get(place, place).lower())
            if ref is None:
                missing.append(f"{group}/{name}")
            else:
                refs.append(replace(ref, group=group, name=name))
    if missing:
        raise IncompleteSuiteError(domain.name, data_dir, missing)
    return tuple(sorted(refs, key=lambda ref: ref.key))
