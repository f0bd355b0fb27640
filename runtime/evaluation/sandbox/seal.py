"""Seals a freshly forked child, layer by layer, before untrusted code runs in it."""

from __future__ import annotations

import os
from dataclasses import dataclass

from dga2d.runtime.evaluation.limits import EvaluationLimits
from dga2d.runtime.evaluation.sandbox import landlock, privileges, rlimits
from dga2d.runtime.evaluation.sandbox.rlimits import Limits
from dga2d.runtime.evaluation.sandbox.seccomp import Filter

LAYERS = (
    "namespaces",
    "empty_root",
    "parent_death",
    "no_new_privileges",
    "no_inspection",
    "landlock",
    "closed_descriptors",
    "resource_limits",
    "capabilities",
    "seccomp",
)
"""All layers, in the order in which they close."""
NEEDS = {"empty_root": "namespaces", "landlock": "no_new_privileges", "seccomp": "no_new_privileges"}
"""Layer → the one it cannot do without."""
ALWAYS = ("resource_limits", "closed_descriptors", "parent_death")
"""Layers that ``off`` keeps: limits, and that nothing is left behind."""

ANSWER_FD, ORDER_FD, QUESTION_FD = 3, 4, 5
"""Descriptors that a sealed child keeps: of the pipe that takes its answer, of the one that brings its order
and then the instance, and, where its domain has an oracle, of the socket through which it asks."""


@dataclass(frozen=True)
class Seal:
    """What a zygote holds ready for its children."""

    limits: EvaluationLimits
    layers: frozenset[str]
    """Layers to close; namespaces and root are the zygote's own."""
    landlock_ruleset: int = -1
    """Descriptor of what may be read."""
    seccomp_filter: Filter | None = None
    resource_limits: Limits = ()

    def close_worker(self) -> None:
        """Close, in the zygote, the layers that its children inherit: each would repeat it.

        Raises
        ------
        OSError
            A layer that is to be closed cannot be.
        """
        if "no_new_privileges" in self.layers:
            privileges.forbid_new_privileges()
        if "no_inspection" in self.layers:
            privileges.forbid_inspection()
        if "capabilities" in self.layers:
            privileges.drop_capabilities()

    def close(self, answer: int, order: int, questions: int | None = None) -> None:
        """Seal the calling process, a child of a zygote that has closed its own layers.

        `answer` continues as descriptor 3, `order` as 4, `questions` as 5, all others are closed. The limit
        of processor time comes with the order (:func:`~dga2d.runtime.evaluation.sandbox.rlimits.limit_cpu`).

        Raises
        ------
        OSError
            A layer that is to be closed cannot be.
        """
        null = os.open(os.devnull, os.O_RDWR)
        if "parent_death" in self.layers:
            privileges.die_with_parent()
        if "landlock" in self.layers:
            landlock.restrict(self.landlock_ruleset)
        keep_only(answer, order, null, questions)
        rlimits.apply(self.resource_limits)
        if "seccomp" in self.layers:
            assert self.seccomp_filter is not None
            self.seccomp_filter.install()


def keep_only(answer: int, order: int, null: int, questions: int | None = None) -> None:
    """Point 0–2 at `null`, `answer` at :data:`ANSWER_FD`, `order` at :data:`ORDER_FD`, `questions` at
    :data:`QUESTION_FD`; close all others.
    """
    kept = [_move_above_kept(descriptor) for descriptor in (answer, order)]
    if questions is not None:
        kept.append(_move_above_kept(questions))
    for standard in range(ANSWER_FD):
        os.dup2(null, standard)
    for number, descriptor in enumerate(kept, start=ANSWER_FD):
        os.dup2(descriptor, number)
    os.closerange(ANSWER_FD + len(kept), 65536)


def _move_above_kept(descriptor: int) -> int:
    """Return the same file under a number that :func:`keep_only` does not reassign."""
    while descriptor <= QUESTION_FD:
        descriptor = os.dup(descriptor)
    return descriptor
