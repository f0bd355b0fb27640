"""The project-scheduling library keeps what every library has to keep."""

from __future__ import annotations

import numpy as np
from tests.domains.library_claims import LibraryRuns, LibraryTexts, Size, Specimen
from tests.domains.rcpsp.specimens import random_instance, random_sequence

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.rcpsp import DOMAIN


def instance_of(size: Size, seed: int) -> Instance:
    n, n_resources = size
    return random_instance(n, n_resources, seed, low=seed % 2)


def without_durations() -> Instance:
    data = dict(random_instance(6, 2, 1).data)
    data["durations"] = np.zeros(8, np.int32)
    return Instance("rcpsp", "random", "zeros", data)


def without_requests() -> Instance:
    """No resource is used and none is there; a schedule is as long as the longest path."""
    data = dict(random_instance(6, 2, 1).data)
    data["requests"], data["capacities"] = np.zeros((8, 2), np.int32), np.zeros(2, np.int32)
    return Instance("rcpsp", "random", "free", data)


def longest_path(instance: Instance) -> float:
    return float(DOMAIN.decoder(DOMAIN.environment(instance))(State(random_sequence(instance, 0))))


class ProjectLibrary(LibraryRuns, LibraryTexts):
    specimen = Specimen(
        domain=DOMAIN,
        make_instance=instance_of,
        random_state=lambda instance, seed: State(random_sequence(instance, seed)),
        small=((0, 1), (1, 1), (2, 3), (5, 2), (8, 1), (9, 16)),
        middle=(10, 4),
        larger=((60, 4), (120, 4), (40, 14), (300, 2)),
        smoke_target=16.0,
        blocks=frozenset({"priority-rule", "crossover", "mutation", "acceptance", "tabu-tenure"}),
        own_functions=frozenset(
            {"search", "sample", "schedule", "breed", "cross", "improve_place", "disturb"}
        ),
        oddities=((without_durations(), 0.0), (without_requests(), longest_path(without_requests()))),
    )
