"""Makes the graphs with hidden independent sets anew and throws the secret away.

    python benchmarks/model_rb_instances.py FILE --per-size 6

FILE is written in the format of the shipped ``domains/mis/model_rb*.xz``. The random numbers come from the
operating system and are not kept, the hidden sets are checked (independent, one vertex of each clique, so of
the greatest size there can be) and forgotten: nobody, the maker included, can write down an optimum without
searching for it. Two calls give different graphs; whoever replaces the shipped file has to give the instances
new names, for gaps of different graphs cannot be compared.
"""

from __future__ import annotations

import argparse
import hashlib
import secrets
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.mis.model_rb import SIZES, model_rb, pack


def graph_with_a_forgotten_set(cliques: int, size: int) -> NDArray[np.uint8]:
    """Return a graph with independence number `cliques`; nobody knows a set of that size."""
    adjacency, hidden = model_rb(cliques, size, secrets.SystemRandom())
    if len(set(hidden)) != cliques or adjacency[np.ix_(hidden, hidden)].any():
        raise RuntimeError("the hidden set is not independent")
    return adjacency


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, help="file to write; must not exist")
    parser.add_argument("--per-size", type=int, required=True, help="graphs of each size")
    options = parser.parse_args()
    shapes = [shape for shape in SIZES for _ in range(options.per_size)]
    data = pack([graph_with_a_forgotten_set(*shape) for shape in shapes], shapes)
    with options.file.open("xb") as file:
        file.write(data)
    print(f"{len(shapes)} graphs, {len(data)} bytes, SHA-256 {hashlib.sha256(data).hexdigest()}")


if __name__ == "__main__":
    main()
