"""Computes the EP-FF references of all 1,500 problems BR1–BR15: packed volumes, boxes by falling volume.

python benchmarks/clp3d_references.py --out domains/clp3d/references.json
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from dga2d.domains.clp3d.decoder import make_decoder
from dga2d.domains.clp3d.generator import TYPES, generate
from dga2d.domains.clp3d.reader import operator_environment
from dga2d.domains.core.contract import State

PROBLEMS = 100
"""Of each class."""


def packed_volume(br_class: int, number: int) -> int:
    """Volume that Extreme-Point First-Fit packs when large boxes come first."""
    data = generate(br_class, number).data
    environment = operator_environment(data)
    order = np.argsort(-environment["item_volumes"], kind="stable").astype(np.int32)
    score = make_decoder(environment)(State(order))
    return round((1.0 - score / 100.0) * int(data.bin_size.prod(dtype=np.int64)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    out = parser.parse_args().out
    volumes = {
        f"BR{k}": [packed_volume(k, number) for number in range(1, PROBLEMS + 1)]
        for k in range(1, len(TYPES) + 1)
    }
    about = (
        "Volumes packed by Extreme-Point First-Fit, boxes by falling volume; benchmarks/clp3d_references.py"
    )
    rows = [f"  {json.dumps(key)}: {json.dumps(row)}" for key, row in volumes.items()]
    text = f'{{\n "_about": {json.dumps(about)},\n "packed_volumes": {{\n' + ",\n".join(rows) + "\n }\n}\n"
    out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
