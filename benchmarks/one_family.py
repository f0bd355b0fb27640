"""The program's commands on the instances of some benchmark groups alone.

    python benchmarks/one_family.py 'swv' evolve jsp --data DIR --generations 10
    python benchmarks/one_family.py 'clustered' evolve cvrp --generations 10

The first argument is a pattern that names of groups must match, as in a shell; the others are the command
line.
"""

from __future__ import annotations

import sys
from fnmatch import fnmatchcase
from pathlib import Path

from dga2d.domains.core.registry import get_domain
from dga2d.runtime.cli import main
from dga2d.runtime.errors import UsageError
from dga2d.runtime.runs.problem import Problem

open_all = Problem.open


def open_family(domain: str, data: Path | None, family: str, *group: str) -> Problem:
    """Open a domain with the instances of the groups that match `family`, of a `group` alone if one is named,
    which older versions of the program did not know.

    Raises
    ------
    UsageError
        No group matches.
    """
    splits = open_all(domain, data, *group).splits
    refs = [ref for part in splits for ref in part if fnmatchcase(ref.group, family)]
    if not refs:
        raise UsageError(f"{domain} has no group of instances that matches {family!r}")
    return Problem(get_domain(domain), refs)


if __name__ == "__main__":
    pattern = sys.argv.pop(1)
    Problem.open = classmethod(  # type: ignore[method-assign]
        lambda cls, domain, data, *group: open_family(domain, data, pattern, *group)  # type: ignore[assignment]
    )
    main()
