"""Who may write what: one writer per event type, checked at every append.

Evaluations have one writer too, the evaluator pool, whichever split they belong to. Language-model calls
are the one shared vocabulary: every agent that may ask a model books its own calls.
"""

from __future__ import annotations

from typing import Literal, get_args

from dga2d.events.errors import OwnershipError, UnknownEventTypeError

AgentName = Literal[
    "conductor",
    "initializer",
    "pipeline_sampler",
    "evaluator_pool",
    "credit_keeper",
    "implementation_evolver",
    "edge_evolver",
    "validator",
]
AGENT_NAMES: tuple[AgentName, ...] = get_args(AgentName)

_CALLERS: tuple[AgentName, ...] = ("initializer", "implementation_evolver", "edge_evolver")

OWNERS: dict[str, tuple[AgentName, ...]] = {
    "RunStarted": ("conductor",),
    "GenerationStarted": ("conductor",),
    "GenerationCompleted": ("conductor",),
    "ValidationStarted": ("conductor",),
    "TestStarted": ("conductor",),
    "RunPaused": ("conductor",),
    "RunResumed": ("conductor",),
    "RunForked": ("conductor",),
    "RunCompleted": ("conductor",),
    "RunFailed": ("conductor",),
    "GraphInitialized": ("initializer",),
    "GraphRejected": ("initializer",),
    "PipelineSampled": ("pipeline_sampler",),
    "PolicyUpdated": ("pipeline_sampler",),
    "PolicyCheckpointed": ("pipeline_sampler",),
    "PipelinesDecoded": ("pipeline_sampler",),
    "EvaluationRecorded": ("evaluator_pool",),
    "CandidateScored": ("credit_keeper",),
    "GenerationScored": ("credit_keeper",),
    "CreditsUpdated": ("credit_keeper",),
    "ImplementationAdded": ("implementation_evolver",),
    "ImplementationReplaced": ("implementation_evolver",),
    "ImplementationDeleted": ("implementation_evolver",),
    "ImplementationRejected": ("implementation_evolver",),
    "ImplementationsKept": ("implementation_evolver",),
    "EdgeReplaced": ("edge_evolver",),
    "EdgeRejected": ("edge_evolver",),
    "EdgesKept": ("edge_evolver",),
    "ValidationScored": ("validator",),
    "CheckpointSelected": ("validator",),
    "TestScored": ("validator",),
    "LLMCallReserved": _CALLERS,
    "LLMCallSettled": _CALLERS,
    "LLMCallAbandoned": _CALLERS,
    "LLMCallRefused": _CALLERS,
    "CallsSuspended": ("conductor",),
    "CallsResumed": ("conductor",),
}


def check_owner(agent: str, type_name: str) -> None:
    """Refuse an event that is not `agent`'s to write.

    Raises
    ------
    OwnershipError
        The type belongs to another agent.
    UnknownEventTypeError
        Nobody owns the type.
    """
    owners = OWNERS.get(type_name)
    if owners is None:
        raise UnknownEventTypeError(type_name, 0)
    if agent not in owners:
        raise OwnershipError(agent, type_name, owners)
