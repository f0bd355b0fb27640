"""Numerical problems beside the paper's tables: classical methods, library pipelines.

    python benchmarks/numerical.py rootfind
    python benchmarks/numerical.py control
    python benchmarks/numerical.py rootfind --pipeline initial_guess+newton_step

Every figure is a mean over the held-out instances of a family; the paper's stands in brackets. Methods are
counted by the domains' own oracles. Failures count what the domain says and are part of the mean, as in the
paper.
"""

from __future__ import annotations

import argparse
from importlib import import_module

DOMAINS = ("rootfind", "ode", "control")


def main() -> None:
    """Print the table of one domain."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("domain", choices=DOMAINS)
    parser.add_argument(
        "--pipeline",
        dest="pipelines",
        action="append",
        default=[],
        help="operators of the library, joined by +",
    )
    arguments = parser.parse_args()
    import_module(f"numerical_{arguments.domain}").table(arguments)


if __name__ == "__main__":
    main()
