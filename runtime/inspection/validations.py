"""What the validations of a run measured, by pipeline; a pipeline is found by what it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from dga2d.events import InstanceKey, RecordedEvent, instance_and_copy
from dga2d.events.payloads import EvaluationRecorded, InstanceEntry, PipelinesDecoded, RunStarted, Step
from dga2d.runtime.inspection.pairs import Gaps

KeyT = TypeVar("KeyT")


class Programs(dict[KeyT, tuple[Step, ...]]):
    """Pipelines by the place where they were evaluated; `places` finds them the other way round at once."""

    def __init__(self) -> None:
        super().__init__()
        self._named: dict[tuple[str, ...], list[KeyT]] = {}

    def __setitem__(self, place: KeyT, steps: tuple[Step, ...]) -> None:
        super().__setitem__(place, steps)
        self._named.setdefault(_names(steps), []).append(place)

    def places(self, steps: tuple[Step, ...]) -> set[KeyT]:
        """Return where a pipeline was evaluated."""
        return {place for place in self._named.get(_names(steps), ()) if self[place] == steps}


def _names(steps: tuple[Step, ...]) -> tuple[str, ...]:
    return tuple(step.implementation for step in steps)


@dataclass
class ValidationRecord:
    """Objectives on validation instances, by generation and candidate; feed it every event of a run."""

    pipelines: Programs[tuple[int, int]] = field(default_factory=Programs)
    objectives: dict[tuple[int, int], dict[InstanceKey, float | None]] = field(default_factory=dict)
    _is_open: bool = False

    def record_event(self, event: RecordedEvent) -> None:
        """Note a validation's event; payloads outside of validations are not even decoded."""
        if event.type == "PipelinesDecoded":
            payload = event.payload
            assert isinstance(payload, PipelinesDecoded)
            self._is_open = True
            for index, steps in enumerate(payload.pipelines):
                self.pipelines[payload.generation, index] = steps
        elif event.type == "ValidationScored":
            self._is_open = False
        elif self._is_open and event.type == "EvaluationRecorded":
            evaluation = event.payload
            assert isinstance(evaluation, EvaluationRecorded)
            if evaluation.split == "validation":
                self.record_evaluation(
                    evaluation.generation, evaluation.candidate, evaluation.instance, evaluation.objective
                )

    def record_evaluation(
        self, generation: int, candidate: int, instance: InstanceKey, objective: float | None
    ) -> None:
        """Note an evaluation of the validation split."""
        self.objectives.setdefault((generation, candidate), {})[instance] = objective

    def gaps(self, header: RunStarted, steps: tuple[Step, ...], until: int) -> Gaps:
        """Return the gaps of a pipeline in its last validation up to generation `until`, if it had one."""
        found = [key for key in self.pipelines.places(steps) if key[0] <= until]
        objectives = self.objectives.get(max(found), {}) if found else {}
        return gaps_of(header, "validation", objectives)


References = Mapping[InstanceKey, InstanceEntry]
"""What the gaps of several runs are measured against, by held-out instance."""


def common_references(headers: Iterable[RunStarted]) -> dict[InstanceKey, InstanceEntry]:
    """Return the references of held-out instances, of those that runs measured themselves the first run's."""
    entries: dict[InstanceKey, InstanceEntry] = {}
    for header in headers:
        for entry in header.splits.test:
            entries.setdefault(entry.key, entry)
    return entries


def gaps_of(
    header: RunStarted,
    split: Literal["test", "validation"],
    objectives: Mapping[InstanceKey, float | None],
    common: References | None = None,
) -> dict[InstanceKey, float | None]:
    """Return gaps in percent behind the references of a split, or `common` ones."""
    from dga2d.domains.core.contract import normalised_gap  # numpy; a log is read without it

    entries = {entry.key: entry for entry in getattr(header.splits, split)} | dict(common or {})
    gaps: dict[InstanceKey, float | None] = {}
    for key, objective in sorted(objectives.items()):
        entry = entries[key if key in entries else instance_and_copy(key)[0]]
        gaps[key] = None
        if objective is not None:
            gaps[key] = 100.0 * normalised_gap(objective, entry.reference, header.sense, entry.scale)
    return gaps
