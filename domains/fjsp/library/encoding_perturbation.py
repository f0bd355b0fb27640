"""Perturbation of the encoding: windows of the sequence are shuffled, some operations change machine.

Method: windows of consecutive entries at random places are put in random order, and a fraction of the
operations with a choice goes to a random eligible machine. Every arrangement of a sequence's entries with any
eligible machines is a schedule, so the result is always valid.

Source: H. R. Lourenço, O. C. Martin, T. Stützle, Iterated local search, 2003 (perturbation by local
rearrangement).

Complexity: O(length of the windows + moved operations).
"""

import numpy as np

WINDOWS = 2  # tunable: int 0..20
LENGTH = 8  # tunable: int 2..100
REASSIGNED = 0.03  # tunable: float 0.0..1.0


def run(env_data, state, calc_makespan_fn):
    """Shuffle WINDOWS windows and reassign a share of the operations."""
    rng = env_data["rng"]
    counts = env_data["eligible_counts"]
    sequence = np.array(state.sequence, dtype=np.int32)
    for _ in range(WINDOWS):
        start = int(rng.integers(max(1, sequence.size - LENGTH + 1)))
        sequence[start : start + LENGTH] = rng.permutation(sequence[start : start + LENGTH])
    allocation = np.array(state.metadata["machine_alloc"], dtype=np.int32)
    jobs, operations = np.nonzero((counts > 1) & (rng.random(counts.shape) < REASSIGNED))
    for j, k in zip(jobs, operations, strict=True):
        allocation[j, k] = env_data["machines_matrix"][j, k, int(rng.integers(counts[j, k]))]
    env_data["budget"].charge(1)
    state.sequence = sequence
    state.metadata = {**state.metadata, "machine_alloc": allocation}
    return state
