"""Saved states continue exactly, and broken ones are refused by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dga2d.agents.policy.contract import PolicyContext
from dga2d.agents.policy.errors import PolicyCheckpointError
from dga2d.agents.policy.policies import UniformPolicy
from dga2d.events import OperatorId

Walk = tuple[OperatorId, ...]


@pytest.mark.parametrize("changes", [{}, {"lora_rank": 2}], ids=["full", "adapters"])
def test_a_restored_policy_continues_as_the_saved_one(
    embedded: Callable[..., Any],
    context: PolicyContext,
    walks: list[Walk],
    tmp_path: Path,
    changes: dict[str, Any],
) -> None:
    live = embedded(**changes)
    for t in range(3):
        live.update(context, walks[t : t + 3], [1.0, -0.5, -0.5])
    live.save(tmp_path / "a")
    other = embedded(**changes)
    other.update(context, walks[-2:], [1.0, -1.0])
    other.load_state(tmp_path / "a")
    assert other.digest() == live.digest()
    assert other.log_probabilities(context, walks) == live.log_probabilities(context, walks)
    reports = [p.update(context, walks[4:6], [1.0, -1.0]) for p in (live, other)]
    assert reports[0] == reports[1]


def test_saving_before_any_update_works(
    embedded: Callable[..., Any], context: PolicyContext, walks: list[Walk], tmp_path: Path
) -> None:
    fresh = embedded()
    digest = fresh.digest()
    fresh.save(tmp_path)
    fresh.update(context, walks[:2], [1.0, -1.0])
    fresh.load_state(tmp_path)
    assert fresh.digest() == digest


def test_files_are_safetensors_and_nothing_else_is_left(embedded: Callable[..., Any], tmp_path: Path) -> None:
    from safetensors import safe_open

    embedded().save(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["optimizer.safetensors", "parameters.safetensors"]
    with safe_open(tmp_path / "parameters.safetensors", framework="numpy") as file:
        assert file.metadata() == {"policy": "embedded-qwen2, format 1"}


def test_missing_damaged_and_foreign_files_are_refused_and_change_nothing(
    embedded: Callable[..., Any], tmp_path: Path
) -> None:
    policy = embedded()
    digest = policy.digest()
    with pytest.raises(PolicyCheckpointError, match=r"parameters\.safetensors is missing"):
        policy.load_state(tmp_path)
    policy.save(tmp_path)
    optimizer = tmp_path / "optimizer.safetensors"
    whole = optimizer.read_bytes()
    optimizer.write_bytes(whole[:40])
    with pytest.raises(PolicyCheckpointError, match=r"optimizer\.safetensors is damaged"):
        policy.load_state(tmp_path)
    optimizer.write_bytes(whole)
    with pytest.raises(PolicyCheckpointError, match="expected 'embedded-qwen2, format 1, adapters on"):
        embedded(lora_rank=2).load_state(tmp_path)
    (tmp_path / "parameters.safetensors").write_bytes(
        (tmp_path / "parameters.safetensors").read_bytes().replace(b"embedded-qwen2", b"embedded-other")
    )
    with pytest.raises(PolicyCheckpointError, match="is of policy 'embedded-other, format 1'"):
        policy.load_state(tmp_path)
    assert policy.digest() == digest


def test_adapters_are_saved_without_their_base_and_know_it(
    embedded: Callable[..., Any], context: PolicyContext, walks: list[Walk], tmp_path: Path
) -> None:
    from safetensors import safe_open

    policy = embedded(lora_rank=2)
    policy.update(context, walks[:2], [1.0, -1.0])
    policy.save(tmp_path)
    for name in ("parameters.safetensors", "optimizer.safetensors"):
        with safe_open(tmp_path / name, framework="numpy") as file:
            assert file.keys()
            assert all("low_rank_" in key for key in file.keys())  # noqa: SIM118
    other_base = embedded(seed=2, lora_rank=2)
    digest = other_base.digest()
    with pytest.raises(PolicyCheckpointError, match="adapters on"):
        other_base.load_state(tmp_path)
    assert other_base.digest() == digest
    with pytest.raises(PolicyCheckpointError, match="its parameters are not those of this model"):
        embedded(lora_rank=4).load_state(tmp_path)


def test_a_checkpoint_without_optimiser_entries_is_refused(
    embedded: Callable[..., Any], tmp_path: Path
) -> None:
    from safetensors.torch import save_file

    policy = embedded()
    policy.save(tmp_path)
    save_file({}, tmp_path / "optimizer.safetensors", {"policy": "embedded-qwen2, format 1"})
    with pytest.raises(PolicyCheckpointError, match="optimiser state lacks"):
        policy.load_state(tmp_path)


def test_the_uniform_policy_has_nothing_to_save(tmp_path: Path) -> None:
    UniformPolicy().save(tmp_path / "u")
    UniformPolicy().load_state(tmp_path / "u")
    assert list((tmp_path / "u").iterdir()) == []
