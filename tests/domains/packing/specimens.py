"""Random instances of both packing domains."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from dga2d.domains.core.contract import Domain, Instance, State


def random_order(instance: Instance, seed: int) -> State:
    """A random permutation of the items."""
    rng = np.random.default_rng(seed)
    return State(rng.permutation(len(instance.data["item_sizes"])).astype(np.int32))


def least_score(domain: Domain, instance: Instance) -> float:
    """The score of the best of all orders of the items."""
    decode = domain.decoder(domain.environment(instance))
    orders = permutations(range(len(instance.data["item_sizes"])))
    return min(decode(State(np.array(order, np.int32))) for order in orders)


def bins_and_items(n: int, side: int, seed: int) -> Instance:
    """Bin packing: `n` items with sides up to `side`, which is the bin's too."""
    rng = np.random.default_rng([seed, n, side])
    sizes = rng.integers(1, side + 1, (n, 3)).astype(np.int32)
    data = {"bin_size": np.array([side, side + 1, side], np.int32), "item_sizes": sizes}
    return Instance("binpack3d", "random", f"{n}_{side}_{seed}", data)


def container_and_boxes(n: int, n_types: int, seed: int) -> Instance:
    """Container loading: `n` items of up to `n_types` types, some of which do not fit at all."""
    rng = np.random.default_rng([seed, n, n_types])
    types = rng.integers(1, 8, (n_types, 3))
    upright = rng.integers(0, 2, (n_types, 3))
    upright[upright.sum(axis=1) == 0, 0] = 1
    kind = np.sort(rng.integers(0, n_types, n))
    vertical = [2, 1, 2, 0, 1, 0]
    data = {
        "bin_size": np.array([12, 7, 6], np.int32),
        "item_sizes": types[kind].astype(np.int32),
        "orientation_allowed": upright[kind][:, vertical].astype(np.int32),
    }
    return Instance("clp3d", "random", f"{n}_{n_types}_{seed}", data)
