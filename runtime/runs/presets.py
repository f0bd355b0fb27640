"""Presets: the values of the settings that a user does not name.

`docs/explanation/method.md` has them side by side, with reasons.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

PAPER: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "policy": "Qwen/Qwen2.5-0.5B-Instruct",
        "generations": 50,
        "pipelines": 4,
        "batch_size": 3,
        "max_length": 10,
        "credit_rate": 0.1,
        "pool_limit": 10,
        "temperature": 0.7,
        "learning_rate": 1e-4,
        "max_gradient_norm": 1.0,
        "epsilon": 1e-8,
        "failure_reward": -5.0,
        "llm_calls": 500,
        "validation_interval": 5,
        "beam_width": 4,
        "time_limit": 90.0,
        # one edit of either kind in a generation, asked for by credit alone
        "edits_per_generation": 1,
        "edit_lag": 0,
        "edit_scope": "graph",
        "edge_edit": "replace",
        "min_samples": 0,
        "trial_samples": 0,
        "last_edits": True,
        "no_change": False,
        "configurations": False,
        "near_copy_lines": 0,
        "incumbent_edits": 0,
        "gate_instances": 0,
        "call_plan": "fixed",
        "prompt_edition": 1,
        "bank_examples": 0,
        "answers_per_edit": 1,
        "edge_smoke": False,
        "new_operators": 0,
        "kernels": "off",
        "turns": 1,
        "answer_form": "whole",
        "rejection_limit": 0,
        "race_contenders": 0,
        "policy_focus": 0.0,
        "policy_entropy": 0.0,
        "policy_replay": 0.0,
        # the highest mean of the beam on the complete validation split
        "checkpoint_margin": 0.0,
        "validation_instances": None,
    }
)
"""Table of hyperparameters in Appendix E.1 of the paper, and what its text says of the rest."""
DEFAULT: Final[Mapping[str, Any]] = MappingProxyType(
    {
        # calls go where the best program is, and only where they can be seen to help
        "edit_scope": "walks",
        "min_samples": 3,
        "trial_samples": 1,
        "last_edits": False,
        "no_change": True,
        "configurations": True,
        "near_copy_lines": 3,
        "incumbent_edits": 2,
        "gate_instances": 8,
        "prompt_edition": 6,
        "edge_smoke": True,
        "race_contenders": 12,
        "race_error": 0.5,
        "race_returns": 2,
        "race_ties": True,
        "share_effort": 0.05,
        "policy_focus": 0.6,
        "checkpoint_rule": "pooled",
        "validation_instances": 33,
        "champion_share": 0.8,
        "beam_width": 1,
    }
)
"""What did better in short runs (``docs/explanation/method.md``); not ablated one by one yet."""
PRESETS: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {"default": DEFAULT, "paper": PAPER, "none": MappingProxyType({})}
)
