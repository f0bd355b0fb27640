"""Proposers: prompts, the port to a language model, the checks of answers, and the offline proposer."""

from dga2d.agents.proposing.answers import (
    configured_member,
    idea_of,
    new_lines,
    normalised_ast_digest,
    parse_implementation,
)
from dga2d.agents.proposing.errors import CallLostError, ModelError, ModelUnavailableError, ProposalError
from dga2d.agents.proposing.graph_answers import addable_edges, clamp, parse_edges, parse_graph
from dga2d.agents.proposing.graphs import compatible_edges, default_graph, incompatibility
from dga2d.agents.proposing.models import (
    Completion,
    CompletionRequest,
    LanguageModel,
    ModelPool,
    Models,
    Quote,
)
from dga2d.agents.proposing.offline import OFFLINE_WAYS, OfflineModel
from dga2d.agents.proposing.prompts import Prompt, answer_schema, render
from dga2d.agents.proposing.tasks import (
    ConnectTask,
    EdgeCredit,
    HBounds,
    ImplementTask,
    InitializeTask,
    OperatorContract,
    OperatorTask,
    PastAttempts,
    PoolEntry,
    PromptContext,
    RunFacts,
    Task,
    improvement_summary,
    known_contracts,
)

__all__ = [
    "OFFLINE_WAYS",
    "CallLostError",
    "Completion",
    "CompletionRequest",
    "ConnectTask",
    "EdgeCredit",
    "HBounds",
    "ImplementTask",
    "InitializeTask",
    "LanguageModel",
    "ModelError",
    "ModelPool",
    "ModelUnavailableError",
    "Models",
    "OfflineModel",
    "OperatorContract",
    "OperatorTask",
    "PastAttempts",
    "PoolEntry",
    "Prompt",
    "PromptContext",
    "ProposalError",
    "Quote",
    "RunFacts",
    "Task",
    "addable_edges",
    "answer_schema",
    "clamp",
    "compatible_edges",
    "configured_member",
    "default_graph",
    "idea_of",
    "improvement_summary",
    "incompatibility",
    "known_contracts",
    "new_lines",
    "normalised_ast_digest",
    "parse_edges",
    "parse_graph",
    "parse_implementation",
    "render",
]
