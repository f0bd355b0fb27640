"""Writes graphs with hidden independent sets as published instances, to compare on what nobody tuned on.

    python benchmarks/fresh_graphs.py FOLDER --sizes 50x23 53x24 56x25 59x26 --each 6 --seed 1
    python benchmarks/recorded.py examples/runs/whole/mis-*.zip --published fresh --data FOLDER --seconds 10

They are Model RB graphs, as the shipped ones and BHOSLIB's are (``domains/mis/model_rb.py``), of the given
numbers and sizes of cliques; the number of cliques is their independence number. Equal seeds give equal
graphs.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

import numpy as np

from dga2d.domains.mis.model_rb import model_rb


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="for --data; mis/fresh in it must not exist")
    parser.add_argument("--sizes", nargs="+", default=["50x23", "53x24", "56x25", "59x26"], metavar="NxD")
    parser.add_argument("--each", type=int, default=6, help="graphs of each size")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    group = options.folder / "mis" / "fresh"
    group.mkdir(parents=True)
    known = {}
    for shape in options.sizes:
        cliques, size = map(int, shape.split("x"))
        for number in range(1, options.each + 1):
            rng = random.Random(f"fresh {options.seed} {shape} {number}")
            adjacency = model_rb(cliques, size, rng).adjacency
            rows, columns = np.nonzero(np.triu(adjacency, 1))
            name = f"rb{cliques}-{size}-{number}"
            lines = [f"p edge {cliques * size} {len(rows)}"]
            lines += [f"e {u + 1} {v + 1}" for u, v in zip(rows, columns, strict=True)]
            (group / f"{name}.mis").write_text("\n".join(lines) + "\n", encoding="ascii")
            known[f"fresh/{name}"] = {
                "best": cliques,
                "optimal": True,
                "source": "hidden set, one of each clique",
            }
    (options.folder / "mis" / "bks.json").write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
