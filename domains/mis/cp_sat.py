"""The independent set as a CP-SAT model: a baseline for comparisons, not an operator."""

from __future__ import annotations

import numpy as np
from ortools.sat.python import cp_model

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.shared.or_tools import solve_model


def solve(instance: Instance, time_limit_s: float, seed: int, workers: int = 1) -> State | None:
    """Maximise the number of chosen vertices, at most one from each clique of a greedy edge cover.

    Every edge lies in one of the cliques, so that the constraints say exactly that the set is independent;
    cliques instead of single edges make the model smaller and its relaxation stronger. No hint is given.

    Parameters
    ----------
    time_limit_s
        Wall-clock seconds for the solver itself, > 0; building the model comes before.
    seed
        Random seed of the solver.
    workers
        Number of the solver's search threads, ≥ 1.

    Returns
    -------
    State | None
        The best set found; ``None`` if there was none in time.
    """
    adjacency = instance.data["adjacency"].astype(np.bool_)
    model = cp_model.CpModel()
    chosen = [model.new_bool_var(f"v{v}") for v in range(len(adjacency))]
    for clique in edge_clique_cover(adjacency):
        model.add_at_most_one(chosen[v] for v in clique)
    model.maximize(sum(chosen))
    solved = solve_model(model, time_limit_s, seed, workers)
    if solved is None:
        return None
    return State(np.array([solved.solver.value(variable) for variable in chosen], dtype=np.int32))


def edge_clique_cover(adjacency: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> list[list[int]]:
    """Return the cliques, vertices ascending by discovery, such that every edge of a bool `(n, n)` graph lies
    in one.

    Each starts with the first uncovered edge and grows by the vertex with most uncovered edges into it.
    """
    left = np.triu(adjacency, 1)
    left = left | left.T
    cliques = []
    for u in range(len(adjacency)):
        while left[u].any():
            clique = [u, int(np.argmax(left[u]))]
            common = adjacency[clique[0]] & adjacency[clique[1]]
            gain = left[clique].sum(axis=0, dtype=np.int64)
            while common.any():
                v = int(np.argmax(np.where(common, gain, -1)))
                if gain[v] == 0:
                    break
                clique.append(v)
                common &= adjacency[v]
                gain += left[v]
            left[np.ix_(clique, clique)] = False
            cliques.append(clique)
    return cliques
