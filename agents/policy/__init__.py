"""The pipeline policy π_θ: a causal language model that walks the operator graph, and its controls.

Importing this package does not import torch; a model is loaded when :func:`make_policy` builds one.
"""

from dga2d.agents.policy.archive import PolicyArchive, SavedFiles
from dga2d.agents.policy.contract import (
    DecodedWalk,
    PipelinePolicy,
    PolicyContext,
    PolicySettings,
    UpdateReport,
    WalkStep,
)
from dga2d.agents.policy.errors import (
    AliasError,
    InfeasibleWalkError,
    NotCausalModelError,
    PolicyCheckpointError,
    PolicyContextError,
    PolicyDivergedError,
    PolicyLoadError,
    PolicyMemoryError,
    PolicyNotFoundError,
    TokenizerMissingError,
)
from dga2d.agents.policy.policies import UniformPolicy, make_policy
from dga2d.agents.policy.walks import ActionTable, draw_walk, is_feasible

__all__ = [
    "ActionTable",
    "AliasError",
    "DecodedWalk",
    "InfeasibleWalkError",
    "NotCausalModelError",
    "PipelinePolicy",
    "PolicyArchive",
    "PolicyCheckpointError",
    "PolicyContext",
    "PolicyContextError",
    "PolicyDivergedError",
    "PolicyLoadError",
    "PolicyMemoryError",
    "PolicyNotFoundError",
    "PolicySettings",
    "SavedFiles",
    "TokenizerMissingError",
    "UniformPolicy",
    "UpdateReport",
    "WalkStep",
    "draw_walk",
    "is_feasible",
    "make_policy",
]
