"""What evolution adds: five arms of equally many evaluations, compared on instances that none of them saw.

    python benchmarks/evolved.py jsp tsp --library basic --seconds 0.1 --seeds 5
    python benchmarks/evolved.py jsp --family swv --data DIR --arms full walks
    python benchmarks/evolved.py tsp --arms full before --before OLD/.venv/bin/python   # sample efficiency
    python benchmarks/evolved.py tsp --arms full --course        # and every program that it worked on
    python benchmarks/evolved.py tsp --smoke                     # a minute, to see that it works

The arms: *start* is the safe baseline of the library, *walks* samples and learns without evolution,
*constants* gives everything to the tuner of constants, *best-of-n* takes the best of as many independent
proposals for the baseline as *full* made calls, and of what the bank has for it, *full* is the program as it
is (*random*: with constants at random for its proposer). *full* sets how many evaluations (training, races,
gates, validation) the others get. Every program is then run on the same held-out instances with common random
numbers, under equal calibrated work and in the seconds that this stands for; a failed evaluation counts as a
gap of 100 %.
Intervals (95 %) are percentile bootstraps over instances and seeds, both drawn anew (Owen, "The pigeonhole
bootstrap", Annals of Applied Statistics 1, 2007); tests are Wilcoxon's signed-rank tests over instances, of
the means over seeds. Where an interval excludes 0 the difference is called significant.

A benchmark that was killed goes on in its ``--folder``. With ``--search-only`` searches are made beside other
work, which budgets in work do not mind, and the tests, some of them in seconds, are left to an idle hour.
Searches that were made before lie in ``outcomes/*.zip``: ``python -m zipfile -e outcomes/basic-0.1s.zip
FOLDER``. Progress goes to stderr.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import fmean, median

import anyio
from arms import ARMS, Case, work_per_second
from comparison import BUDGETS, Comparison
from pairing import ratio_of_means

from dga2d.domains.core.registry import domain_names

ROOM = 0.1
"""Gap of the start in percent above which there is something to gain."""


def main_table(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Yield every arm beside the start."""
    yield (
        "| case | arm | evaluations | start, % | gap, % | gain, points | won, lost | p "
        "| in seconds: gap, % | gain, points | p | winners |"
    )
    yield "|---|---|--:|--:|--:|---|---|--:|--:|---|--:|---|"
    for comparison in comparisons:
        for arm in comparison.arms:
            evaluations = fmean(comparison.outcomes[arm, seed].evaluations for seed in comparison.seeds)
            work, seconds = (comparison.gain(arm, "start", budget) for budget in BUDGETS)
            start = comparison.matrix("start", "calibrated").mean()
            gap, timed = (comparison.matrix(arm, budget).mean() for budget in BUDGETS)
            yield (
                f"| {comparison.case.name} | {arm} | {evaluations:.0f} | {start:.3f} | {gap:.3f} | {work} "
                f"| {work.won}, {work.lost} | {work.p:.3f} | {timed:.3f} | {seconds} | {seconds.p:.3f} "
                f"| {comparison.winners(arm)} |"
            )


def rival_table(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Yield what *full* gains on every other arm."""
    yield "| case | full against | gain, points | p | in seconds | p |"
    yield "|---|---|---|--:|---|--:|"
    for comparison in comparisons:
        for arm in comparison.arms:
            if arm != "full":
                work, seconds = (comparison.gain("full", arm, budget) for budget in BUDGETS)
                cells = f"{work} | {work.p:.3f} | {seconds} | {seconds.p:.3f}"
                yield f"| {comparison.case.name} | {arm} | {cells} |"


def course_table(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Yield what each program that *full* worked on gains on the start, when it first stood."""
    yield "| case | seed | evaluations | gain, points | p | in seconds | p | taken |"
    yield "|---|--:|--:|---|--:|---|--:|---|"
    for comparison in comparisons:
        for seed in comparison.seeds:
            outcome = comparison.outcomes["full", seed]
            first = {step.program.name: step for step in reversed(outcome.course)}
            for step in sorted(first.values(), key=lambda step: step.evaluations):
                work, seconds = (comparison.gain_of_program(step.program, seed, b) for b in BUDGETS)
                cells = f"{work} | {work.p:.3f} | {seconds} | {seconds.p:.3f}"
                taken = "yes" if step.program.name == outcome.winner.name else ""
                yield f"| {comparison.case.name} | {seed} | {step.evaluations} | {cells} | {taken} |"


def summary(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Yield sentences over all cases with room, those whose start is more than 0.1 % behind."""
    for arm in comparisons[0].arms:
        for budget in BUDGETS:
            gains = {c.case.name: c.gain(arm, "start", budget) for c in comparisons}
            starts = {c.case.name: float(c.matrix("start", budget).mean()) for c in comparisons}
            with_room = [case for case, start in starts.items() if start > ROOM]
            shares = [100.0 * gains[case].mean / starts[case] for case in with_room]
            better, worse = ([case for case, gain in gains.items() if gain.sign == sign] for sign in (1, -1))
            name = f"{arm}, equal {'work' if budget == 'calibrated' else 'seconds'}"
            mean = f", {fmean(shares):.0f} % in the mean" if shares else ""
            yield (
                f"{name}: significantly better in {len(better)} of {len(gains)} "
                f"({', '.join(better) or 'none'}), worse in {len(worse)} ({', '.join(worse) or 'none'}); "
                f"of {len(with_room)} with room {sum(gains[case].sign > 0 for case in with_room)} better, "
                f"{sum(share >= 30.0 for share in shares)} with at least 30 % of the gap gained{mean}"
            )


def efficiency_table(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Yield the evaluations until the baseline is beaten; a run that never does counts with all it made."""
    yield "| case | arm | beaten by | evaluations until beaten, mean | median | of before's mean (95 %) |"
    yield "|---|---|--:|--:|--:|---|"
    for comparison in comparisons:
        arms = [arm for arm in comparison.arms if arm != "best-of-n"]
        found = {arm: [comparison.until_beaten(arm, seed) for seed in comparison.seeds] for arm in arms}
        needed = {
            arm: [
                float(comparison.outcomes[arm, seed].evaluations if at is None else at)
                for seed, at in zip(comparison.seeds, found[arm], strict=True)
            ]
            for arm in arms
        }
        for arm in arms:
            beaten = sum(at is not None for at in found[arm])
            yield (
                f"| {comparison.case.name} | {arm} | {beaten} of {len(found[arm])} "
                f"| {fmean(needed[arm]):.0f} | {median(needed[arm]):.0f} "
                f"| {ratio_of_means(needed[arm], needed['before'])} |"
            )


def case_of(domain: str, options: argparse.Namespace, folder: Path) -> Case:
    """Return a case with its budget in work, measured once."""
    kept = folder / f"{domain}-work.json"
    if not kept.exists():
        rate = anyio.run(work_per_second, domain, options.family, options.data, options.tier)
        kept.write_text(json.dumps({"units_per_second": rate}), encoding="utf-8")
    work = max(1, round(options.seconds * json.loads(kept.read_text())["units_per_second"]))
    flags = [
        f"--library={options.tier}",
        f"--work={float(f'{work:.2g}'):.0f}",
        f"--batch-size={options.batch}",
        f"--validation-instances={options.validation}",
        f"--validation-interval={options.validation_interval}",
        f"--evaluators={options.evaluators}",
    ]
    present = [word for setting in options.set for word in ("--set", setting)]
    return Case(
        domain,
        options.family,
        tuple(flags),
        tuple(present),
        options.generations,
        options.data,
        options.before,
    )


def options_of() -> argparse.Namespace:
    """Return the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("domains", nargs="*", default=list(domain_names()), metavar="DOMAIN")
    parser.add_argument(
        "--arms", nargs="+", choices=sorted(ARMS), default=[a for a in ARMS if a not in ("before", "random")]
    )
    parser.add_argument("--library", dest="tier", choices=["basic", "full"], default="full")
    parser.add_argument("--family", default="*", help="pattern of the groups of instances, as in a shell")
    parser.add_argument("--data", type=Path, help="published instances instead of generated ones")
    parser.add_argument("--before", type=Path, metavar="PYTHON", help="of an older version, for that arm")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--generations", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=0.25, help="per instance, as work")
    parser.add_argument("--batch", type=int, default=3, help="training instances of the walks")
    parser.add_argument("--validation", type=int, default=33, help="validation instances")
    parser.add_argument("--validation-interval", type=int, default=5, help="generations between validations")
    parser.add_argument("--test", type=int, default=20, help="held-out instances")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="setting of all runs")
    parser.add_argument("--jobs", type=int, default=1, help="seeds at a time")
    parser.add_argument("--evaluators", type=int, default=1, help="evaluators of a run")
    parser.add_argument("--folder", type=Path, help="keeps runs and results, and goes on with what is there")
    parser.add_argument("--search-only", action="store_true", help="leave the held-out tests to an idle hour")
    parser.add_argument("--course", action="store_true", help="test every program that *full* worked on, too")
    parser.add_argument("--json", type=Path, help="write all figures there too")
    parser.add_argument("--smoke", action="store_true", help="2 seeds, 2 generations, hardly any time")
    options = parser.parse_args()
    if ("before" in options.arms) != (options.before is not None):
        parser.error("the arm `before` and the option --before go together")
    if options.course and "full" not in options.arms:
        parser.error("--course is of the arm `full`")
    if options.search_only and options.folder is None:
        parser.error("--search-only needs a --folder that keeps what it finds")
    if options.smoke:
        small = {"seeds": 2, "generations": 2, "seconds": 0.02, "validation": 6, "test": 6, "batch": 2}
        options.set += ["race_contenders=4", "race_instances=4"]
        vars(options).update(small)
    return options


def main() -> None:
    options = options_of()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.folder or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        seeds = range(options.first_seed, options.first_seed + options.seeds)
        comparisons = []
        for domain in options.domains:
            comparison = Comparison(case_of(domain, options, folder), options.arms, seeds)
            with ThreadPoolExecutor(options.jobs) as pool:
                list(pool.map(lambda seed: comparison.search(seed, folder), seeds))  # noqa: B023
            if options.search_only:
                continue
            for seed in seeds:
                comparison.test(seed, folder, options.test, options.course or "before" in options.arms)
            comparisons.append(comparison)
            print("\n".join(main_table([comparison])), file=sys.stderr, flush=True)
        if comparisons:
            report(comparisons, options)


def report(comparisons: Sequence[Comparison], options: argparse.Namespace) -> None:
    """Print all tables, and write the figures they come from."""
    print(
        f"{options.tier} library, {options.generations} generations, work of about {options.seconds:g} s, "
        f"at most {options.test} held-out instances, {options.seeds} seeds"
        f"{', '.join(['', *options.set])}\n"
    )
    tables = [main_table, rival_table] if len(options.arms) > 1 else [main_table]
    if options.course:
        tables.append(course_table)
    if "before" in options.arms:
        tables.append(efficiency_table)
    for table in tables:
        print("\n".join(table(comparisons)), end="\n\n")
    print("\n".join(f"- {line}" for line in summary(comparisons)))
    if options.json is not None:
        rows = {c.case.name: c.figures() for c in comparisons}
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
