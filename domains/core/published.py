"""Published instances on disk: files by group, and the table of their best-known values."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

from dga2d.domains.core.contract import InstanceRef, Part, Reference
from dga2d.domains.core.errors import InstanceFormatError


def list_instances(
    domain: str, folder: Path, suffixes: Collection[str], needs_table: bool = True
) -> tuple[InstanceRef, ...]:
    """Return the instances ``folder/<group>/<file>`` with the references of ``folder/bks.json``, sorted by
    key.

    `suffixes` are the endings an instance file may have (``.clq.gz``, say; ``""``: a name without a dot), the
    rest of its name is that of the instance. Hidden files and others are passed over.

    No folder means no instances; a file without an entry in the table has no reference. A domain that knows
    best values of its own does not need the table (`needs_table` is false).

    Raises
    ------
    InstanceFormatError
        The folder has instances but its table is missing or malformed, or two files share group and stem.
    """
    files = sorted(path for path in folder.glob("*/*") if path.is_file() and _instance_name(path, suffixes))
    if not files:
        return ()
    table = folder / "bks.json"
    references = read_references(table) if needs_table or table.exists() else {}
    refs = {}
    for path in files:
        name = _instance_name(path, suffixes)
        key = f"{path.parent.name}/{name}"
        if key in refs:
            raise InstanceFormatError(path, None, f"a second file of the instance {key}")
        refs[key] = InstanceRef(domain, path.parent.name, name, path, references.get(key))
    return tuple(ref for _, ref in sorted(refs.items()))


def _instance_name(path: Path, suffixes: Collection[str]) -> str:
    """Return the file's name without its longest ending of `suffixes`; empty where it is no instance file."""
    if path.name.startswith("."):
        return ""
    endings = [suffix for suffix in suffixes if suffix and path.name.endswith(suffix)]
    if endings:
        return path.name.removesuffix(max(endings, key=len))
    return path.name if "" in suffixes and not path.suffix else ""


def read_references(path: Path) -> dict[str, Reference]:
    """Read ``{"<group>/<stem>": {"best": number, "optimal": true|false|null, "source": text}}``.

    Raises
    ------
    InstanceFormatError
        The file is missing or not of that shape.
    """
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InstanceFormatError(path, None, f"cannot be read as JSON: {error}") from error
    if not isinstance(table, dict):
        raise InstanceFormatError(path, None, "expected an object of best-known values")
    return {key: reference_of(path, key, entry) for key, entry in table.items()}


@cache
def shipped_table(package: str, file: str = "references.json") -> Mapping[str, Any]:
    """Return what a JSON file among the files of a package holds; it is read once."""
    table: Mapping[str, Any] = json.loads((files(package) / file).read_text(encoding="utf-8"))
    return table


class Generated(Protocol):
    """An instance that a domain generates."""

    @property
    def group(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def part(self) -> Part | None: ...


def shipped_refs(
    package: str,
    instances: Iterable[Generated],
    reference: Callable[[Mapping[str, Any], Mapping[str, Any]], Reference],
) -> tuple[InstanceRef, ...]:
    """Return the generated `instances` of a domain's package with the references of its ``references.json``.

    The file has ``provenance``, and ``references`` by ``group/name``; `reference` makes a reference of an
    entry and the provenance.
    """
    domain, table = package.rpartition(".")[2], shipped_table(package)
    return tuple(
        InstanceRef(
            domain,
            one.group,
            one.name,
            None,
            reference(table["references"][f"{one.group}/{one.name}"], table["provenance"]),
            part=one.part,
        )
        for one in instances
    )


def shipped_makespans(package: str) -> Mapping[str, Reference]:
    """Return the makespans in a package's ``references.json``, and how they were found, by key."""
    return {
        key: Reference(
            float(entry["makespan"]), "optimal" if entry["proven"] else "computed", entry["source"]
        )
        for key, entry in shipped_table(package)["references"].items()
    }


def reference_of(path: Path | str, key: str, entry: Any) -> Reference:
    """Return the reference an entry of the table stands for; InstanceFormatError if it is malformed."""
    match entry:
        case {
            "best": int() | float() as best,
            "optimal": True | False | None as optimal,
            "source": str(source),
        } if not isinstance(best, bool) and 0 <= best < float("inf"):
            return Reference(float(best), "optimal" if optimal else "best_known", source)
    raise InstanceFormatError(path, None, f"malformed best-known value of {key!r}")
