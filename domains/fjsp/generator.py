"""Random flexible job shops after Brandimarte and after Hurink, Jurisch and Thole, in own code.

References
----------
P. Brandimarte, Routing and scheduling in a flexible job shop by tabu search, Annals of Operations Research
41, 1993: the parameters of the ten instances mk01 … mk10 (table of test problems).
J. Hurink, B. Jurisch, M. Thole, Tabu search for the job-shop scheduling problem with multi-purpose machines,
OR Spektrum 15, 1994: job shops whose operations get further machines of the same time; edata, rdata, vdata.
S. Lawrence, Resource constrained project scheduling, technical report, Carnegie-Mellon University, 1984: the
job shops la01 … la40 underneath, times U[5, 99] and a random order of machines per job.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from dga2d.domains.fjsp.reader import Choice, FlexibleShopData, tabulate
from dga2d.domains.shared.lehmer import LehmerGenerator


class BrandimarteParameters(NamedTuple):
    """What describes a class of Brandimarte's instances; pairs are the ends of uniform distributions."""

    n_jobs: int
    n_machines: int
    operations: tuple[int, int]
    """Operations of a job."""
    max_machines: int
    """Most machines an operation may go to; their number is U[1, max_machines]."""
    times: tuple[int, int]


BRANDIMARTE: Final = {
    "mk01": BrandimarteParameters(10, 6, (5, 7), 3, (1, 7)),
    "mk02": BrandimarteParameters(10, 6, (5, 7), 6, (1, 7)),
    "mk03": BrandimarteParameters(15, 8, (10, 10), 5, (1, 20)),
    "mk04": BrandimarteParameters(15, 8, (3, 10), 3, (1, 10)),
    "mk05": BrandimarteParameters(15, 4, (5, 10), 2, (5, 10)),
    "mk06": BrandimarteParameters(10, 15, (15, 15), 5, (1, 10)),
    "mk07": BrandimarteParameters(20, 5, (5, 5), 5, (1, 20)),
    "mk08": BrandimarteParameters(20, 10, (10, 15), 2, (5, 20)),
    "mk09": BrandimarteParameters(20, 10, (10, 15), 5, (5, 20)),
    "mk10": BrandimarteParameters(20, 15, (10, 15), 5, (5, 20)),
}
"""The published classes by the name of the instance they were published with."""


def brandimarte(parameters: BrandimarteParameters, seed: int) -> FlexibleShopData:
    """Return an instance of a class: every operation gets random machines and a random time on each."""
    draw = LehmerGenerator(seed)
    jobs = []
    for _ in range(parameters.n_jobs):
        job: list[list[Choice]] = []
        for _ in range(draw.uniform(*parameters.operations)):
            count = draw.uniform(1, parameters.max_machines)
            machines = sorted(_permutation(draw, parameters.n_machines)[:count])
            job.append([(machine, draw.uniform(*parameters.times)) for machine in machines])
        jobs.append(job)
    return tabulate(parameters.n_machines, jobs)


def hurink(kind: str, n_jobs: int, n_machines: int, seed: int) -> FlexibleShopData:
    """Return a job shop whose operations get further machines, with the same time there.

    `kind` says how many machines an operation has: ``edata``: one, every seventh or so two (mean 1.15);
    ``rdata``: U[1, 3] (mean 2); ``vdata``: U[m/5, 4m/5] (mean m/2), m a multiple of 5.
    """
    draw = LehmerGenerator(seed)
    jobs = []
    for _ in range(n_jobs):
        job: list[list[Choice]] = []
        for machine in _permutation(draw, n_machines):
            time = draw.uniform(5, 99)
            others = [other for other in _permutation(draw, n_machines) if other != machine]
            chosen = sorted([machine, *others[: _count(draw, kind, n_machines) - 1]])
            job.append([(other, time) for other in chosen])
        jobs.append(job)
    return tabulate(n_machines, jobs)


def _count(draw: LehmerGenerator, kind: str, n_machines: int) -> int:
    if kind == "edata":
        return 1 + (draw.uniform(1, 100) <= 15)
    if kind == "rdata":
        return draw.uniform(1, 3)
    if kind == "vdata":
        return draw.uniform(n_machines // 5, 4 * n_machines // 5)
    raise ValueError(f"expected edata, rdata or vdata, got {kind!r}")


def _permutation(draw: LehmerGenerator, size: int) -> list[int]:
    order = list(range(size))
    for position in range(size - 1):
        other = draw.uniform(position, size - 1)
        order[position], order[other] = order[other], order[position]
    return order
