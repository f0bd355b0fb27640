"""The generated instances: classes, sizes and seeds are fixed, references are in ``references.json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from dga2d.domains.core.contract import Part
from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.fjsp.generator import BRANDIMARTE, brandimarte, hurink
from dga2d.domains.fjsp.reader import FlexibleShopData

REFERENCES: Final = "references.json"
BRANDIMARTE_GROUP: Final = "brandimarte-random"
HURINK_KINDS: Final = ("edata", "rdata", "vdata")
HURINK_SIZES: Final = ((10, 5), (15, 5), (20, 5), (10, 10), (15, 10))
LARGE_SIZES: Final = ((70, 15), (100, 10))
"""Of instances that take so long that they count only where their group is named."""
LARGE_CLASS: Final = "mk10"
"""The class of Brandimarte whose operations and times the large instances have."""
PART_OF: Final[Mapping[int, Part | None]] = {1: None, 2: None, 3: "validation", 4: "test"}
"""Where the n-th instance of a class belongs, the first two as they are drawn; n is multiplied into seeds
that lie far apart."""


@dataclass(frozen=True)
class GeneratedInstance:
    """Where an instance comes from."""

    group: str
    name: str
    kind: str
    """Class of Brandimarte, or ``edata``, ``rdata``, ``vdata``."""
    size: tuple[int, int]
    """Jobs and machines."""
    seed: int
    part: Part | None = None
    only_named: bool = False

    def data(self) -> FlexibleShopData:
        if self.kind in BRANDIMARTE:
            jobs, machines = self.size
            parameters = BRANDIMARTE[self.kind]._replace(n_jobs=jobs, n_machines=machines)
            return brandimarte(parameters, self.seed)
        return hurink(self.kind, *self.size, self.seed)


@cache
def generated_instances() -> Mapping[str, GeneratedInstance]:
    """Return all of them by ``group/name``, sorted."""
    found = []
    for number, (kind, parameters) in enumerate(sorted(BRANDIMARTE.items()), start=1):
        size = (parameters.n_jobs, parameters.n_machines)
        for n, part in PART_OF.items():
            seed = 7_919 * number + 104_729 * n
            found.append(GeneratedInstance(BRANDIMARTE_GROUP, f"{kind}-{n}", kind, size, seed, part))
    for offset, kind in enumerate(HURINK_KINDS, start=1):
        for jobs, machines in HURINK_SIZES:
            for n, part in PART_OF.items():
                seed = 15_485_863 * offset + 7_919 * jobs + 1_299_709 * machines + 104_729 * n
                item = (f"{jobs}x{machines}-{n}", kind, (jobs, machines), seed, part)
                found.append(GeneratedInstance(f"hurink-{kind}-random", *item))
    found += _large_instances()
    return {f"{item.group}/{item.name}": item for item in sorted(found, key=lambda i: (i.group, i.name))}


def _large_instances() -> list[GeneratedInstance]:
    """Return three of Brandimarte's kind of each large size, and one of each of Hurink's kinds."""
    found = []
    for size in LARGE_SIZES:
        shape = f"{size[0]}x{size[1]}"
        seed = 32_452_843 + 7_919 * size[0] + 1_299_709 * size[1]
        for n in (1, 2, 3):
            item = (f"{shape}-{n}", LARGE_CLASS, size, seed + 104_729 * n)
            found.append(GeneratedInstance("brandimarte-large", *item, only_named=True))
        for offset, kind in enumerate(HURINK_KINDS, start=1):
            item = (f"{shape}-{kind}", kind, size, seed + 15_485_863 * offset)
            found.append(GeneratedInstance("hurink-large", *item, only_named=True))
    return found


def find_generated(key: str) -> FlexibleShopData:
    """Return the instance called `key`; InstanceFormatError when there is none."""
    if key not in generated_instances():
        raise InstanceFormatError(key, None, "has no file and is not a generated instance")
    return generated_instances()[key].data()
