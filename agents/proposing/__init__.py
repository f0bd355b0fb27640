"""Proposers: prompts, the port to a language model, the checks of answers, and the offline proposer."""

from dga2d.agents.proposing.default_graph import default_graph
from dga2d.agents.proposing.edge_answers import addable_edges, parse_edges
from dga2d.agents.proposing.errors import CallLostError, ModelError, ModelUnavailableError, ProposalError
from dga2d.agents.proposing.graph_answers import GraphProposal, clamp, parse_graph
from dga2d.agents.proposing.implementation_answers import parse_implementation
from dga2d.agents.proposing.interfaces import compatible_edges, incompatibility
from dga2d.agents.proposing.models import Completion, CompletionRequest, LanguageModel, Quote
from dga2d.agents.proposing.normalisation import normalised_ast_digest
from dga2d.agents.proposing.offline import OfflineModel
from dga2d.agents.proposing.prompts import Prompt, render
from dga2d.agents.proposing.schemas import answer_schema
from dga2d.agents.proposing.tasks import (
    ConnectTask,
    EdgeCredit,
    HBounds,
    ImplementTask,
    InitializeTask,
    OperatorContract,
    PoolEntry,
    Task,
)

__all__ = [
    "CallLostError",
    "Completion",
    "CompletionRequest",
    "ConnectTask",
    "EdgeCredit",
    "GraphProposal",
    "HBounds",
    "ImplementTask",
    "InitializeTask",
    "LanguageModel",
    "ModelError",
    "ModelUnavailableError",
    "OfflineModel",
    "OperatorContract",
    "PoolEntry",
    "Prompt",
    "ProposalError",
    "Quote",
    "Task",
    "addable_edges",
    "answer_schema",
    "clamp",
    "compatible_edges",
    "default_graph",
    "incompatibility",
    "normalised_ast_digest",
    "parse_edges",
    "parse_graph",
    "parse_implementation",
    "render",
]
