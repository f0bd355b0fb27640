"""What instances there are, and whether every one of them can be had."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from dga2d.domains.core.contract import Domain, InstanceRef
from dga2d.domains.core.errors import DomainError
from dga2d.domains.core.registry import domain_names, get_domain
from dga2d.domains.core.splits import split
from dga2d.runtime.errors import UsageError


def inventory(data_dir: Path | None, names: Iterable[str] = ()) -> list[dict[str, Any]]:
    """One row per domain and group: sizes of its splits and kinds of its references.

    With `data_dir` the published instances found there, without it those the program generates.

    Raises
    ------
    UsageError
        `data_dir` is not there.
    """
    _require_folder(data_dir)
    return [row for name in names or domain_names() for row in _rows(get_domain(name), data_dir)]


def _require_folder(data_dir: Path | None) -> None:
    if data_dir is not None and not data_dir.is_dir():
        raise UsageError(f"--data {data_dir}: there is no such folder")


def _refs(domain: Domain, data_dir: Path | None) -> tuple[InstanceRef, ...]:
    return domain.generated() if data_dir is None else domain.published(data_dir)


def _rows(domain: Domain, data_dir: Path | None) -> list[dict[str, Any]]:
    refs = _refs(domain, data_dir)
    parts = split(refs)
    groups = sorted({ref.group for ref in refs})
    return [
        {
            "domain": domain.name,
            "group": group,
            "instances": sum(ref.group == group for ref in refs),
            **{
                part: sum(ref.group == group for ref in getattr(parts, part))
                for part in ("train", "validation", "test")
            },
            "references": _reference_kinds(ref for ref in refs if ref.group == group),
        }
        for group in groups
    ]


def _reference_kinds(refs: Iterable[InstanceRef]) -> dict[str, int]:
    kinds = Counter(ref.reference.kind if ref.reference is not None else "none" for ref in refs)
    return dict(sorted(kinds.items()))


def check(
    data_dir: Path | None, names: Iterable[str] = (), progress: Callable[[str], None] = lambda text: None
) -> list[dict[str, Any]]:
    """Read or generate every instance and build its environment; one row per domain with what failed.

    Raises
    ------
    UsageError
        `data_dir` is not there.
    """
    _require_folder(data_dir)
    report = []
    for name in names or domain_names():
        domain = get_domain(name)
        refs = _refs(domain, data_dir)
        faults = []
        for ref in refs:
            progress(f"{name} {ref.key}")
            try:
                domain.environment(domain.load(ref))
            except DomainError as error:
                faults.append({"instance": ref.key, "error": str(error)})
        report.append({"domain": name, "instances": len(refs), "faults": faults})
    return report
