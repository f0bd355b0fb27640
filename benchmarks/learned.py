"""Learned solvers: gap against training budget, and trained beside untrained on the domains' own instances.

    python benchmarks/learned.py                            # curves of the cards in examples/learned
    python benchmarks/learned.py --instances 1              # also the first test instance of each group
    python benchmarks/learned.py --weights DIR --methods pomo
    python benchmarks/learned.py --methods pomo --optima    # also with the published inference

A curve is that of the card: costs on the fixed instances that no training saw, of the size it was trained on.
Their references are optima: of tours by dynamic programming, of schedules by CP-SAT where it proves them, of
sets by construction; a container's best load is not known, and its column is the volume left empty. The row
"random" makes the same number of solutions by chance. The paper's figures are of other instances, and of
networks that were trained as long as their authors say.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numba import njit
from torch import Tensor, nn

from dga2d.domains.clp3d.decoder import make_decoder
from dga2d.domains.core.contract import Instance, InstanceRef, normalised_gap
from dga2d.domains.core.errors import DomainError
from dga2d.domains.core.registry import get_domain
from dga2d.domains.fjsp.reader import tabulate
from dga2d.events import Dga2dError
from dga2d.runtime.errors import UsageError
from dga2d.runtime.learned import bpp_drl, pomo, resched, sdds
from dga2d.runtime.learned.method import learned_method, stream
from dga2d.runtime.learned.names import DOMAINS
from dga2d.runtime.learned.weights import LearnedSolver, load_network, untrained_network
from dga2d.runtime.runs.problem import Problem

CPU = torch.device("cpu")
WEIGHTS = Path(__file__).parents[1] / "examples" / "learned"
PAPER = {
    "tsp": (5.13, 4.70, 0.76),
    "fjsp": (71.47, 6.54, 8.82),
    "mis": (17.97, 6.61, 7.45),
    "clp3d": (5.82, 0.51, 6.10),
}
"""Mean gaps in percent of the DGA2D paper's main table, on its own test splits at 90 s: its learned solver
("Neural"), DGA2D with the better of its two language models, OR-Tools."""
CP_SAT_S = 5.0
MOST_CITIES = 20
"""The table of `shortest_tour` takes 40 MB for so many."""


class Reference(NamedTuple):
    """What costs on the fixed instances are measured against."""

    mean: float
    what: str


@njit(cache=True)
def shortest_tour(distances):  # type: ignore[no-untyped-def]
    """Length of the shortest tour by dynamic programming over subsets (Held and Karp 1962)."""
    n = len(distances) - 1
    best = np.full((1 << n, n), np.inf, dtype=np.float32)
    for city in range(n):
        best[1 << city, city] = distances[n, city]
    for subset in range(1, 1 << n):
        for last in range(n):
            so_far = best[subset, last]
            if so_far == np.inf:
                continue
            for city in range(n):
                if not subset & (1 << city):
                    longer = so_far + distances[last, city]
                    if longer < best[subset | (1 << city), city]:
                        best[subset | (1 << city), city] = longer
    whole = (1 << n) - 1
    return min([best[whole, last] + distances[last, n] for last in range(n)])


def pomo_cities(size: int) -> Tensor:
    """POMO's fixed instances, float `(VALIDATION_INSTANCES, size, 2)`."""
    rng = stream("cpu", "validation", "pomo", size)
    return pomo.training_cities(size, pomo.VALIDATION_INSTANCES, rng)


@cache
def reference_of(name: str, settings: Any) -> Reference | None:
    """The mean optimum of a method's fixed instances; ``None`` where nobody knows it."""
    if name == "pomo" and settings.size <= MOST_CITIES:
        cities = pomo_cities(settings.size).double()
        tours = [shortest_tour(torch.cdist(x, x).numpy().astype(np.float32)) for x in cities]
        return Reference(float(np.mean(tours)), "optimal, by dynamic programming")
    if name == "resched":
        rng = stream("cpu", "validation", name, settings.size, settings.machines)
        shops = resched.training_shops(settings, resched.VALIDATION_INSTANCES, rng)
        found = [cp_sat(*pair) for pair in zip(*shops, strict=True)]
        return Reference(statistics.fmean(found), f"by CP-SAT in {CP_SAT_S:g} s each")
    if name == "sdds":
        return Reference(-float(settings.size // sdds.CLIQUE), "optimal, by construction")
    return None


def cp_sat(times: Tensor, is_eligible: Tensor) -> float:
    """The makespan that CP-SAT finds for a training shop."""
    jobs = [
        [
            [
                (machine, int(times[job, k, machine]))
                for machine in is_eligible[job, k].nonzero().flatten().tolist()
            ]
            for k in range(int(is_eligible[job].any(1).sum()))
        ]
        for job in range(len(times))
    ]
    domain, instance = (
        get_domain("fjsp"),
        Instance("fjsp", "training", "x", {"shop": tabulate(times.shape[2], jobs)}),
    )
    state = domain.cp_sat(instance, CP_SAT_S, 0)
    assert state is not None
    objective = domain.verify(instance, state).objective
    assert objective is not None
    return objective


class RandomDispatcher(nn.Module):
    """Every eligible pair of a job and a machine alike."""

    def forward(self, shops: resched.Shops, moment: resched.Moment) -> Tensor:
        last = shops.times.shape[2] - 1
        place = moment.next_operation.clamp(max=last)[:, :, None, None]
        can = shops.is_eligible.gather(2, place.expand(-1, -1, 1, shops.times.shape[3])).squeeze(2)
        can = can & (moment.next_operation < shops.counts).unsqueeze(2)
        return torch.zeros(can.shape).masked_fill(~can, resched.BARRED).flatten(1)


def random_cost(name: str, settings: Any) -> float:
    """Mean cost on the fixed instances of as many solutions by chance as validation takes the best of."""
    rng = stream("cpu", "random", name)
    if name == "pomo":
        cities = pomo_cities(settings.size)
        tours = torch.rand(len(cities), settings.size, settings.size, generator=rng).argsort(2)
        return float(pomo.tour_lengths(cities, tours).amin(1).mean())
    if name == "resched":
        fixed = stream("cpu", "validation", name, settings.size, settings.machines)
        shops = resched.training_shops(settings, resched.VALIDATION_INSTANCES, fixed)
        return float(resched.dispatch(RandomDispatcher(), shops, rng).makespans.mean())
    if name == "sdds":
        fixed = stream("cpu", "validation", name, settings.size)
        graphs = sdds.training_graphs(settings, sdds.VALIDATION_GRAPHS, fixed)
        chances = 1e-6 * torch.rand(len(graphs), sdds.VALIDATION_SAMPLES, settings.size, generator=rng)
        return -float(sdds.round_by_expectation(graphs, chances).sum(-1).amax(1).double().mean())
    seed = stream("cpu", "validation", name, settings.size).initial_seed()
    environments = bpp_drl._environments(settings.size, bpp_drl.VALIDATION_INSTANCES, seed)
    orders = torch.rand(len(environments), 1, settings.size, generator=rng).argsort(2)
    rates = [
        bpp_drl.fill_rates(make_decoder(e), order)[0] for e, order in zip(environments, orders, strict=True)
    ]
    return 100.0 - statistics.fmean(rates)


def gap_percent(cost: float, reference: Reference) -> float:
    """How far a mean cost is above the reference's."""
    return 100.0 * (cost - reference.mean) / abs(reference.mean)


def curve_table(card: dict[str, Any], reference: Reference | None, by_chance: float) -> Iterator[str]:
    """Markdown: a row per measurement of the training."""

    def gap(cost: float) -> str:
        return "–" if reference is None else f"{gap_percent(cost, reference):.2f}"

    yield "| steps | instances | CPU s | cost | gap % |"
    yield "|--:|--:|--:|--:|--:|"
    yield f"| random | | | {by_chance:.3f} | {gap(by_chance)} |"
    for point in card["curve"]:
        name = "untrained" if point["step"] == 0 else str(point["step"])
        yield (
            f"| {name} | {point['instances']} | {point['cpu_seconds']:.0f} | {point['validation']:.3f} "
            f"| {gap(point['validation'])} |"
        )


def chosen(refs: Sequence[InstanceRef], limit: int) -> list[InstanceRef]:
    """The first `limit` instances of each group."""
    groups: dict[str, list[InstanceRef]] = {}
    for ref in refs:
        groups.setdefault(ref.group, []).append(ref)
    return [ref for group in sorted(groups) for ref in groups[group][:limit]]


class Held(NamedTuple):
    """Mean gaps in percent on a domain's test instances."""

    instances: int
    untrained: float
    trained: float
    longest_s: float


def held_out(name: str, weights: Path, limit: int, time_limit_s: float) -> Held:
    """Solve test instances with a trained and an untrained network; both are verified."""
    network, contents = load_network(weights, name, CPU)
    fresh = untrained_network(contents.method, contents.settings).eval()
    domain = get_domain(DOMAINS[name])
    problem = Problem.open(domain.name, None)
    gaps: dict[bool, list[float]] = {False: [], True: []}
    longest = 0.0
    for ref in chosen(problem.splits.test, limit):
        instance = problem.instance(ref.key)
        for is_trained, net in ((False, fresh), (True, network)):
            solver = LearnedSolver(contents.method, net, contents.settings, CPU, "")
            state, seconds = solver.solve(instance, time_limit_s, 0)
            objective = domain.verify(instance, state).objective
            assert objective is not None
            assert ref.reference is not None
            gaps[is_trained].append(100.0 * normalised_gap(objective, ref.reference.value, domain.sense))
            longest = max(longest, seconds)
            which = "trained" if is_trained else "untrained"
            print(f"{ref.key} {which}: {gaps[is_trained][-1]:.2f} %, {seconds:.1f} s", file=sys.stderr)
    return Held(len(gaps[True]), statistics.fmean(gaps[False]), statistics.fmean(gaps[True]), longest)


def row(name: str, training: str, ours: str) -> str:
    """A row of the table of test instances, with the paper's figures."""
    theirs = " | ".join(f"{gap:.2f}" for gap in PAPER[DOMAINS[name]])
    return f"| {name} | {DOMAINS[name]} | {training} | {ours} | {theirs} |"


def options_of(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--weights", type=Path, default=WEIGHTS, help="folder of weights and cards")
    parser.add_argument("--methods", nargs="+", choices=list(DOMAINS), default=list(DOMAINS))
    parser.add_argument("--instances", type=int, default=0, help="test instances of each group; default 0")
    parser.add_argument("--time-limit", type=float, default=10.0, help="seconds of inference (default 10)")
    parser.add_argument("--optima", action="store_true", help="also POMO's published inference")
    return parser.parse_args(arguments)


def card_text(name: str, card: dict[str, Any]) -> Iterator[str]:
    """Heading, budget and curve of a training."""
    settings, used = learned_method(name).settings(**card["settings"]), card["used"]
    reference = reference_of(name, settings)
    measured = "none" if reference is None else f"{reference.mean:.4f}, {reference.what}"
    yield f"\n### {name}, size {settings.size}, {card['parameters']} parameters, seed {settings.seed}\n"
    yield f"Cost: {card['cost']}. Reference: {measured}."
    yield f"Trained here on {used['device']}; published: {card['published_budget']}.\n"
    yield from curve_table(card, reference, random_cost(name, settings))


def inference_table(weights: Path) -> Iterator[str]:
    """Markdown: POMO's gaps on its fixed instances with and without the pictures, trained and untrained."""
    network, contents = load_network(weights, "pomo", CPU)
    reference = reference_of("pomo", contents.settings)
    if reference is None:
        raise UsageError(f"--optima: dynamic programming takes {MOST_CITIES} cities at most")
    fresh = untrained_network(contents.method, contents.settings).eval()
    count, size = pomo.VALIDATION_INSTANCES, contents.settings.size
    yield f"\n{count} fixed instances of {size} cities; mean optimum {reference.mean:.4f}; mean gaps in %:\n"
    yield f"| | {size} tours | {size} tours on each of eight pictures |"
    yield "|---|--:|--:|"
    for label, net in (("untrained", fresh), ("trained", network)):
        plain, best = (gap_percent(cost, reference) for cost in pomo_costs(net, size))
        yield f"| {label} | {plain:.2f} | {best:.2f} |"


@torch.no_grad()
def pomo_costs(network: nn.Module, size: int) -> tuple[float, float]:
    """Mean length of the best tour of each fixed instance: of the square as it is, and of eight pictures."""
    pictures = pomo.eight_pictures(pomo_cities(size))  # the first of each instance is as it is
    tours = network(pictures).build(None)
    lengths = pomo.tour_lengths(pictures, tours).amin(1).view(8, -1)
    return float(lengths[0].mean()), float(lengths.amin(0).mean())


def test_row(name: str, card: dict[str, Any], options: argparse.Namespace) -> str:
    """The row of a trained network in the table of test instances."""
    used = card["used"]
    held = held_out(name, options.weights / card["weights"], options.instances, options.time_limit)
    training = f"{used['steps']} steps, {used['cpu_seconds']:.0f} CPU s"
    ours = f"{held.instances} | {held.untrained:.2f} | {held.trained:.2f} | {held.longest_s:.1f}"
    return row(name, training, ours)


def main(arguments: Sequence[str] | None = None) -> int:
    options = options_of(arguments)
    torch.set_num_threads(1)
    load = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    print(f"Machine: {platform.machine()}, {load}, torch {torch.__version__}, {time.strftime('%Y-%m-%d')}.")
    rows = []
    for name in options.methods:
        path = options.weights / f"{name}.card.json"
        if not path.exists():
            rows.append(row(name, "not trained", " | | | "))
            continue
        card = json.loads(path.read_text(encoding="utf-8"))
        try:
            print("\n".join(card_text(name, card)), flush=True)
            if options.optima and name == "pomo":
                print("\n".join(inference_table(options.weights / card["weights"])), flush=True)
            if options.instances:
                rows.append(test_row(name, card, options))
        except (Dga2dError, DomainError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 1
    if rows:
        print(f"\n### Test instances, {options.time_limit:g} s of inference\n")
        print("| method | domain | training here | instances | untrained, gap % | trained, gap % ", end="")
        print("| longest s | paper: learned | DGA2D | OR-Tools |")
        print("|---|---|---|--:|--:|--:|--:|--:|--:|--:|")
        print("\n".join(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
