"""The library of simple assembly line balancing keeps what every library has to keep."""

from __future__ import annotations

import numpy as np
from tests.domains.library_claims import LibraryRuns, LibraryTexts, Specimen
from tests.domains.salbp1.specimens import instance_of_line, random_instance, random_sequence

from dga2d.domains.core.contract import State
from dga2d.domains.salbp1 import DOMAIN
from dga2d.domains.salbp1.line import LineData

CHAIN = np.array([[0, 1], [1, 2], [2, 3]], np.int32)
ZERO_TIMES = instance_of_line(LineData(5, np.zeros(4, np.int32), CHAIN), "zeros")
WHOLE_STATIONS = instance_of_line(LineData(5, np.full(4, 5, np.int32), CHAIN), "whole")
NO_RELATIONS = instance_of_line(LineData(5, np.full(7, 3, np.int32), np.empty((0, 2), np.int32)), "free")


class AssemblyLineLibrary(LibraryRuns, LibraryTexts):
    specimen = Specimen(
        domain=DOMAIN,
        make_instance=lambda size, seed: random_instance(size[0], seed),
        random_state=lambda instance, seed: State(random_sequence(instance, seed)),
        small=((1,), (2,), (3,), (5,), (8,), (12,), (20,)),
        middle=(30,),
        larger=((50,), (65,), (128,), (300,)),
        smoke_target=8.0,
        blocks=frozenset({"load-value", "shift-gain", "node-key", "tabu-tenure", "rule-values"}),
        own_functions=frozenset({"search"}),
        oddities=((ZERO_TIMES, 1.0), (WHOLE_STATIONS, 4.0), (NO_RELATIONS, 7.0)),
    )
