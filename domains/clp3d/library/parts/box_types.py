"""Types of boxes.

The decoder imports this module itself, as plain Python; it takes from no other part.
"""

import numpy as np


def box_types(sizes, allowed):
    """Type of each item, int32 (n,); sides in all permitted orientations, int32; first row of each type.

    Items with the same sides and orientations are of one type; an orientation that equals an earlier one
    because two sides are equal is left out.
    """
    columns = np.array([(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
    kinds, rows, first = {}, [], [0]
    kind = np.empty(len(sizes), np.int32)
    for item in range(len(sizes)):
        key = (*sizes[item].tolist(), *allowed[item].tolist())
        if key not in kinds:
            kinds[key] = len(kinds)
            turned = sizes[item][columns[allowed[item] != 0]].tolist()
            rows += list(dict.fromkeys(tuple(row) for row in turned))
            first.append(len(rows))
        kind[item] = kinds[key]
    return kind, np.array(rows, dtype=np.int32).reshape(len(rows), 3), np.array(first, dtype=np.int32)
