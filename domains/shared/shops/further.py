"""Further shops of Taillard's kind for validation and for the test, by his generators from seeds of our own.

The published sets leave 16 job shops and 22 flow shops of either, many of them solved in a second, too few to
tell programs apart. These come in the same sizes; none of them is trained on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from dga2d.domains.core.contract import Part
from dga2d.domains.core.splits import numbered_copies
from dga2d.domains.shared.lehmer import MODULUS

GROUP: Final = "random"
_SEEDS: Final = (613_651_349, 472_882_049)
"""What the seeds of the times and of the machine orders are made from."""


class FurtherShop(NamedTuple):
    """What describes an instance."""

    generate: Callable[..., Any]
    """Taillard's generator; it takes jobs, machines and `seeds`."""
    n_jobs: int
    n_machines: int
    seeds: tuple[int, ...]
    part: Part

    def data(self) -> Any:
        """Return the instance's data, as `generate` makes them."""
        return self.generate(self.n_jobs, self.n_machines, *self.seeds)


def further_shops(
    generate: Callable[..., Any], sizes: Iterable[tuple[int, int]], n_seeds: int, copies: int
) -> Mapping[str, FurtherShop]:
    """Return shops by name, ``20x15-1`` say: `copies` of each of the `sizes`, jobs and machines, for
    validation and then as many for the test. `generate` takes `n_seeds` seeds, one or two."""
    shops = {}
    for n_jobs, n_machines in sizes:
        for number, part in numbered_copies(copies):
            mixed = 15_485_863 * n_jobs + 32_452_843 * n_machines + 104_729 * number
            seeds = tuple((seed + mixed) % MODULUS for seed in _SEEDS[:n_seeds])
            shops[f"{n_jobs}x{n_machines}-{number}"] = FurtherShop(generate, n_jobs, n_machines, seeds, part)
    return shops
