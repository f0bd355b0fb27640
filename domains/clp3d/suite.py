"""The suites of problems: made by the program or found in files, with the EP-FF reference.

The reference is what Extreme-Point First-Fit fills when it is handed the boxes by falling volume (equal
volumes in the order of the file). It is a yardstick, not a bound: better loadings have negative gaps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from dga2d.domains.clp3d.generator import CONTAINER, TYPES, generate
from dga2d.domains.clp3d.reader import SUFFIXES, ContainerData, Problem, read_problems
from dga2d.domains.core.contract import InstanceRef, Reference
from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.core.published import read_references, shipped_table

SUITE: Final = 10
"""Problems of each class in the suite."""
SOURCE: Final = "Extreme-Point First-Fit by falling volume, computed"


def _packed_volumes() -> Mapping[str, Sequence[int]]:
    volumes: Mapping[str, Sequence[int]] = shipped_table(__package__)["packed_volumes"]
    return volumes


def br_reference(br_class: int, number: int) -> Reference:
    """Fill rate in percent of the EP-FF reference of problem `number` of BR`br_class`."""
    packed = _packed_volumes()[f"BR{br_class}"][number - 1]
    return Reference(100.0 * (packed / int(np.prod(CONTAINER, dtype=np.int64))), "computed", SOURCE)


@cache
def generated_refs() -> tuple[InstanceRef, ...]:
    """Return the first ten problems of BR1 … BR15, sorted by key."""
    refs = [
        InstanceRef("clp3d", f"BR{k}", problem_name(number), None, br_reference(k, number))
        for k in range(1, len(TYPES) + 1)
        for number in range(1, SUITE + 1)
    ]
    return tuple(sorted(refs, key=lambda ref: ref.key))


def problem_name(number: int) -> str:
    """Name of a problem within its file or class."""
    return f"{number:03d}"


def generated_problem(group: str, name: str) -> Problem | None:
    """Return the generated problem called `name` in `group`, if there is one."""
    if any((ref.group, ref.name) == (group, name) for ref in generated_refs()):
        return generate(int(group.removeprefix("BR")), int(name))
    return None


def published_refs(folder: Path) -> tuple[InstanceRef, ...]:
    """Return all problems of the files ``folder/<any>/<file>``: the file's stem is the group, sorted by key.

    A problem that is one of BR1–BR15 has the EP-FF reference; others have what ``folder/bks.json`` says,
    if there is such a table.

    Raises
    ------
    InstanceFormatError
        A file or the table is malformed, or two files share a stem.
    """
    table = folder / "bks.json"
    known = read_references(table) if table.exists() else {}
    refs: dict[str, InstanceRef] = {}
    for path in sorted(path for path in folder.glob("*/*") if _is_instance(path)):
        if any(ref.group == path.stem for ref in refs.values()):
            raise InstanceFormatError(path, None, f"a second file of the name {path.stem}")
        for problem in read_problems(path):
            key = f"{path.stem}/{problem_name(problem.number)}"
            reference = _reference_of(problem) or known.get(key)
            refs[key] = InstanceRef("clp3d", path.stem, problem_name(problem.number), path, reference)
    return tuple(ref for _, ref in sorted(refs.items()))


def _is_instance(path: Path) -> bool:
    return path.is_file() and path.suffix in SUFFIXES and not path.name.startswith(".")


def _reference_of(problem: Problem) -> Reference | None:
    if len(problem.types) not in TYPES:
        return None
    br_class, (number, rest) = TYPES.index(len(problem.types)) + 1, divmod(problem.seed - 2_502_405, 100)
    if rest or not 1 <= number <= len(_packed_volumes()[f"BR{br_class}"]):
        return None
    if (
        tuple(problem.data.bin_size.tolist()) != CONTAINER
        or generate(br_class, number).types != problem.types
    ):
        return None
    return br_reference(br_class, number)


def load_data(ref: InstanceRef) -> ContainerData:
    """Generate or read a problem; InstanceFormatError if there is no such problem."""
    problems: Iterator[Problem | None]
    if ref.path is not None:
        problems = (p for p in read_problems(ref.path) if problem_name(p.number) == ref.name)
    else:
        problems = iter((generated_problem(ref.group, ref.name),))
    problem = next(problems, None)
    if problem is None:
        where: Any = ref.path or ref.key
        raise InstanceFormatError(where, None, f"there is no problem {ref.name} in {ref.group}")
    return problem.data
