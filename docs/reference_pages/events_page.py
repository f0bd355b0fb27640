"""The generated part of `docs/reference/events.md`: every event type, from its model and the fold."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

from sphinx.pycode import ModuleAnalyzer

from dga2d.events import payloads
from dga2d.events.payloads import PAYLOAD_TYPES, Payload
from reference_pages.field_types import type_words
from reference_pages.markdown import prose, table
from reference_pages.refusals import refusals

GROUPS = {
    "The run as a whole": ("RunStarted", "RunPaused", "RunResumed", "RunForked", "RunCompleted", "RunFailed"),
    "Graph and generations": (
        *("GraphInitialized", "GraphRejected", "GenerationStarted", "PipelineSampled"),
        "GenerationCompleted",
    ),
    "Evaluation, credit and policy": (
        *(
            "WorkRateMeasured",
            "EvaluationRecorded",
            "CandidateScored",
            "GenerationScored",
            "CreditsUpdated",
            "PolicyUpdated",
        ),
        "PolicyCheckpointed",
    ),
    "Evolution": (
        *("ImplementationProposed", "ImplementationMeasured"),
        *("ImplementationAdded", "ImplementationReplaced", "ImplementationDeleted"),
        *("ImplementationRejected", "ImplementationsKept", "EdgeReplaced", "EdgeRejected", "EdgesKept"),
        *("OperatorProposed", "OperatorAdded", "OperatorRetired", "OperatorRejected", "OperatorsKept"),
        *("KernelChosen", "KernelMeasured", "KernelReplaced", "KernelRejected", "KernelsKept"),
    ),
    "Races": ("RaceStarted", "RaceRoundScored", "IncumbentSelected"),
    "Complete programs": (
        *("RoundPlanned", "ProgramWritten", "ProgramRejected", "ProgramSkipped", "ReflectionWritten"),
        "PopulationUpdated",
    ),
    "Model calls": (
        *("LLMCallReserved", "LLMCallSettled", "LLMCallAbandoned", "LLMCallRefused"),
        *("CallsSuspended", "CallsResumed"),
    ),
    "Validation and test": (
        *(
            "ValidationStarted",
            "PipelinesDecoded",
            "ChallengersCompared",
            "ValidationScored",
            "CheckpointSelected",
        ),
        *("TestStarted", "TestScored"),
    ),
    "Training of a learned solver": (
        *("TrainingStarted", "TrainingResumed", "TrainingCheckpointed", "TrainingPaused"),
        "TrainingFinished",
    ),
}
"""Heading → its event types."""

PARTS = (
    *("InstanceEntry", "SplitManifest", "LibraryOperator", "LibraryImplementation", "Step", "PolicyStep"),
    *("PositionTrace", "TransitionCredit", "WorkRatePoint", "TestCandidate", "ChallengerComparison"),
    *("Contender", "Configuration", "Standing", "PoolChange", "BankEntry", "ScoreEntry"),
    *("ProgramAsk", "TreeNode", "Ticket", "ProcessUse"),
    *("LibraryKernel", "KernelCheck", "KernelPair", "KernelVersion", "KernelHost"),
)
"""Models that are fields of events."""


def generated() -> str:
    """Headings, meanings, owners, fields and refusals of all event types.

    Raises
    ------
    ValueError
        A type belongs to no group, a field has no meaning, a meaning no field, or a part no section.
    """
    if (listed := {name for group in GROUPS.values() for name in group}) != set(PAYLOAD_TYPES):
        raise ValueError(f"GROUPS and the registry differ in {sorted(listed ^ set(PAYLOAD_TYPES))}")
    used: set[tuple[str, str]] = set()
    sections = []
    for title, names in GROUPS.items():
        sections.append(f"## {title}")
        sections += [_event(PAYLOAD_TYPES[name], used) for name in names]
    sections.append("## Parts of events")
    sections += [_part(getattr(payloads, name), used) for name in PARTS]
    known = {(section, name) for section, meanings in _meanings().items() for name in meanings}
    if unused := sorted(known - used):
        raise ValueError(f"fields.toml: no field needs {unused}")
    text = "\n\n".join(sections)
    headings = {heading.lower() for heading in re.findall(r"^### (\w+)$", text, re.MULTILINE)}
    if unknown := sorted(set(re.findall(r"\]\(#(\w+)\)", text)) - headings):
        raise ValueError(f"PARTS lacks what fields link to: {unknown}")
    return text


def _event(model: type[Payload], used: set[tuple[str, str]]) -> str:
    name = model.__name__
    owners = ", ".join(f"`{owner}`" for owner in model.owners)
    facts = [f"Written by {owners}. Version {model.version}. {_repetition(model)}"]
    reasons = refusals(name)
    refused = [f"Refused with: {'; '.join(reasons)}."] if reasons else []
    return "\n\n".join([f"### {name}", prose(model.__doc__ or ""), *facts, _fields(model, used), *refused])


def _part(model: type[Any], used: set[tuple[str, str]]) -> str:
    return "\n\n".join([f"### {model.__name__}", prose(model.__doc__ or ""), _fields(model, used)])


def _repetition(model: type[Payload]) -> str:
    """How often an event may stand in a log, from the name of the operation it completes."""
    marks: dict[str, Any] = {name: name.upper() for name in model.model_fields}
    final = model.model_construct(**marks).operation()
    if final is None:
        return "May repeat."
    if model.model_construct(**{**marks, "is_final": False}).operation() is None:
        return f"May repeat until `is_final`, then once per `{final}`."
    return f"Once per `{final}`." if any(mark in final for mark in marks.values()) else "Once."


def _fields(model: type[Any], used: set[tuple[str, str]]) -> str:
    hints = get_type_hints(model)
    names = list(model.__dataclass_fields__ if is_dataclass(model) else model.model_fields)
    rows = [(f"`{name}`", type_words(hints[name]), _meaning(model, name, used)) for name in names]
    return table(("field", "value", "meaning"), rows)


def _meaning(model: type[Any], field: str, used: set[tuple[str, str]]) -> str:
    for section in (model.__name__, "common"):
        if section == "common" and (documented := _documented(model, field)):
            return documented
        if field in _meanings().get(section, {}):
            used.add((section, field))
            return _meanings()[section][field]
    raise ValueError(f"{model.__name__}.{field} has no meaning, neither in its docstring nor in fields.toml")


def _documented(model: type[Any], field: str) -> str | None:
    """The docstring under a field, in the class that declares it."""
    for owner in _declaring(model, field):
        lines = _attribute_docs().get((owner, field))
        if lines:
            return prose("\n".join(lines)).replace("`None`", "`null`")
    return None


def _declaring(model: type[Any], field: str) -> Iterator[str]:
    for base in model.__mro__:
        if field in vars(base).get("__annotations__", {}):
            yield base.__name__


@cache
def _attribute_docs() -> dict[tuple[str, str], list[str]]:
    models = (*PAYLOAD_TYPES.values(), *(getattr(payloads, name) for name in PARTS))
    modules = sorted({base.__module__ for model in models for base in model.__mro__ if base is not object})
    found: dict[tuple[str, str], list[str]] = {}
    for module in modules:
        if module.startswith(payloads.__name__):
            found |= ModuleAnalyzer.for_module(module).find_attr_docs()
    return found


@cache
def _meanings() -> dict[str, dict[str, str]]:
    return tomllib.loads((Path(__file__).parent / "fields.toml").read_text(encoding="utf-8"))
