"""Families of instances on which the hand-made solvers were weak when the second round of libraries began.

The table of ``benchmarks/domains.py --families``. A family's instances are those of the data folders and of
the program itself whose key matches one of its patterns, whichever split they are in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from dga2d.agents.spreading import spread
from dga2d.domains.core.contract import InstanceRef
from dga2d.domains.core.registry import get_domain
from dga2d.runtime.errors import UsageError
from dga2d.runtime.runs.problem import Problem, is_of_group


class Family(NamedTuple):
    """One row."""

    name: str
    """What ``--families`` takes."""
    domain: str
    title: str
    start_percent: float
    """Mean gap when the round began, on other instances of the family; the goal is one half of it."""
    patterns: tuple[str, ...]
    """``GROUP/PATTERN`` each."""
    most: int = 8
    """Instances measured at most: evenly spread over the sorted keys."""


FAMILIES = (
    Family(
        "jsp-halves",
        "jsp",
        "job shops, half of the machines before the other half",
        5.2,
        ("swv/swv0[6-9]", "swv/swv1[0-5]", "halves*/*"),
    ),
    Family("jsp-100x100", "jsp", "job shops of 100 × 100", 6.6, ("*/*100x100*", "*100x100*/*"), 2),
    Family(
        "rcpsp-scarce",
        "rcpsp",
        "projects of 120 activities, scarce resources",
        3.6,
        ("progen120/p120_0[13579]", "progen120/p120_11", "scarce120/*"),
        10,
    ),
    Family(
        "ossp-10x10",
        "ossp",
        "open shops of 10 × 10 whose optimum lies well above the trivial bound",
        3.3,
        ("uneven*/10x10*", "gueret-prins/[gG][pP]10*"),
        10,
    ),
    Family(
        "ossp-spread",
        "ossp",
        "open shops of 7 × 7 and 8 × 8 with spread-out times",
        0.8,
        ("spread*/*7x7*", "spread*/*8x8*"),
    ),
    Family(
        "fjsp-large",
        "fjsp",
        "flexible job shops of 70 × 15 and 100 × 10",
        3.2,
        ("*/*70x15*", "*/*100x10*", "*70x15*/*", "*100x10*/*"),
        4,
    ),
    Family(
        "fssp-large",
        "fssp",
        "flow shops of 100 to 200 jobs × 20 to 40 machines",
        1.6,
        ("100x20/*", "200x20/*", "100x40/*", "200x40/*"),
    ),
    Family(
        "cvrp-long",
        "cvrp",
        "routing, 200 to 320 customers, 11 and more a route",
        1.3,
        (
            "X/X-n209-k16",
            "X/X-n237-k14",
            "X/X-n256-k16",
            "X/X-n284-k15",
            "clustered/n241-eccentric",
            "clustered/n321-centre",
            "half/n241-random",
            "random/n321-random",
            "long/*",
        ),
        8,
    ),
    Family(
        "mis-model-rb",
        "mis",
        "independent set, Model RB from 45 cliques on",
        2.8,
        ("model_rb/rb45*", "model_rb/rb5*"),
        10,
    ),
)


def family_called(name: str) -> Family:
    """Return the family called `name`; `UsageError` where there is none."""
    for family in FAMILIES:
        if family.name == name:
            return family
    raise UsageError(f"no family {name!r}; there are {', '.join(family.name for family in FAMILIES)}")


def instances_of(family: Family, folders: Sequence[Path], limit: int | None) -> Problem:
    """Return the instances of `family`, at most `limit`, in the test split; with references only, perhaps
    none.
    """
    domain = get_domain(family.domain)
    refs: dict[str, InstanceRef] = {ref.key: ref for ref in domain.generated()}
    for folder in folders:
        refs.update({ref.key: ref for ref in domain.published(folder)})
    keys = sorted(
        key
        for key, ref in refs.items()
        if ref.reference is not None and any(is_of_group(key, pattern) for pattern in family.patterns)
    )
    most = family.most if limit is None else min(limit, family.most)
    return Problem(domain, [replace(refs[key], part="test") for key in spread(keys, most)])
