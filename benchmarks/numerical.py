"""Numerical problems beside the paper's tables: classical methods, library pipelines.

    python benchmarks/numerical.py rootfind
    python benchmarks/numerical.py control
    python benchmarks/numerical.py rootfind --pipeline initial_guess+newton_step
    python benchmarks/numerical.py evolved --folder runs --seeds 1 2 3
    python benchmarks/numerical.py evolved --folder runs --problems ode/lorenz rootfind/osc --print-only

Every figure is a mean over the held-out instances of a family; the paper's stands in brackets. Methods are
counted by the domains' own oracles. Failures count what the domain says and are part of the mean, as in the
paper.
"""

from __future__ import annotations

import argparse
from importlib import import_module

TABLES = ("rootfind", "ode", "control", "evolved")


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", choices=TABLES)
    parser.add_argument(
        "--pipeline",
        dest="pipelines",
        action="append",
        default=[],
        help="operators of the library, joined by +",
    )
    parser.add_argument("--folder", default="numerical-runs", help="evolved: where its runs are kept")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1], help="evolved: a run for each")
    parser.add_argument("--generations", type=int, default=4, help="evolved: of each run")
    parser.add_argument("--problems", nargs="*", default=[], help="evolved: DOMAIN/GROUP, all if not given")
    parser.add_argument("--print-only", action="store_true", help="evolved: begin no runs")
    arguments = parser.parse_args()
    import_module(f"numerical_{arguments.table}").table(arguments)


if __name__ == "__main__":
    main()
