"""Models from disk: what loads, and the one line each refusal gives."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dga2d.agents.policy.contract import PolicyContext, PolicySettings
from dga2d.agents.policy.errors import (
    AliasError,
    NotCausalModelError,
    PolicyLoadError,
    PolicyMemoryError,
    PolicyNotFoundError,
    TokenizerMissingError,
)
from dga2d.agents.policy.policies import make_policy
from dga2d.replay.streams import stream

OFFLINE = PolicySettings(local_files_only=True)


@pytest.fixture(scope="module")
def published_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small tied Qwen2 with its tokenizer, saved as published models are."""
    from dga2d.agents.policy.loading import code_tokenizer, random_model, small_qwen2_config

    tokenizer = code_tokenizer()
    config = small_qwen2_config(len(tokenizer))
    config.tie_word_embeddings = True
    config.hidden_size, config.intermediate_size = 32, 64
    directory = tmp_path_factory.mktemp("published") / "tiny"
    random_model(config, 5).save_pretrained(directory)
    tokenizer.save_pretrained(directory)
    return directory


@pytest.fixture
def saved_model(published_model: Path, tmp_path: Path) -> Path:
    """A copy of it, to be spoiled."""
    return shutil.copytree(published_model, tmp_path / "tiny")


def test_a_saved_model_loads_samples_learns_and_is_named_by_its_directory(
    saved_model: Path, context: PolicyContext
) -> None:
    policy = make_policy(str(saved_model), 1, OFFLINE)
    assert policy.name == "qwen2:tiny"
    walks = policy.sample(context, [stream(1, "pipeline", 1, j) for j in range(3)])
    before = policy.digest()
    report = policy.update(context, [w.operators for w in walks], [1.0, 0.0, -1.0])
    assert report.gradient_norm > 0
    assert report.kl_to_initial is None
    assert report.parameters_digest == policy.digest() != before


def test_a_tied_model_trains_the_rows_its_prompt_and_its_aliases_use(
    saved_model: Path, context: PolicyContext
) -> None:
    policy: Any = make_policy(str(saved_model), 1, OFFLINE)
    weight = policy.network.embedding.detach().clone()
    policy.update(context, [policy.decode(context, 1)[0].operators], [1.0])
    moved = (policy.network.embedding != weight).any(dim=1).nonzero().flatten().tolist()
    assert set(moved) <= set(policy._learner._rows["model.embed_tokens.weight"].ids)
    assert len(moved) > 10


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"lora_rank": 4},
        {"gradient_checkpointing": True},
        {"dtype": "bfloat16"},
    ],
)
def test_memory_savers_keep_the_policy_on_its_course(
    saved_model: Path, context: PolicyContext, changes: dict[str, Any]
) -> None:
    plain = make_policy(str(saved_model), 1, OFFLINE)
    other = make_policy(str(saved_model), 1, PolicySettings(local_files_only=True, **changes))
    draws = [stream(1, "pipeline", 1, j) for j in range(3)]
    walks = [w.operators for w in plain.sample(context, draws)]
    reports = [p.update(context, walks, [1.0, 0.0, -1.0]) for p in (plain, other)]
    tolerance = 0.05 if "dtype" in changes else 1e-5
    assert reports[1].loss == pytest.approx(reports[0].loss, abs=tolerance)
    assert other.update(context, walks, [1.0, 0.0, -1.0]).loss < reports[1].loss


@pytest.mark.slow
def test_adapters_leave_the_base_model_alone_and_report_kl(saved_model: Path, context: PolicyContext) -> None:
    settings = PolicySettings(local_files_only=True, lora_rank=4, learning_rate=1e-2)
    policy: Any = make_policy(str(saved_model), 1, settings)
    base = {
        n: p.detach().clone() for n, p in policy.network.model.named_parameters() if ".low_rank_" not in n
    }
    walk = policy.decode(context, 1)[0].operators
    reports = [policy.update(context, [walk], [-1.0]) for _ in range(5)]
    assert reports[0].kl_to_initial == pytest.approx(0.0, abs=1e-9)
    assert reports[-1].kl_to_initial > 0
    now = dict(policy.network.model.named_parameters())
    assert all(now[n].equal(p) for n, p in base.items())
    assert len({r.parameters_digest for r in reports}) == 5


def test_a_name_that_is_nowhere_is_one_clear_line() -> None:
    with pytest.raises(PolicyNotFoundError) as caught:
        make_policy("nobody/no-such-model", 1, OFFLINE)
    where = "no such directory, and the model hub and its local cache do not have it"
    instead = "name a directory that does, or take the built-in policy (--policy embedded)"
    assert str(caught.value) == f"policy 'nobody/no-such-model': {where}; {instead}"


def spoil_config(directory: Path, **changes: Any) -> None:
    path = directory / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.mark.parametrize(
    ("model_type", "architecture"),
    [
        ("bert", "BertForMaskedLM"),
        ("t5", "T5ForConditionalGeneration"),
        ("qwen2", "Qwen2ForTokenClassification"),
    ],
)
def test_a_model_that_is_not_causal_is_refused(saved_model: Path, model_type: str, architecture: str) -> None:
    spoil_config(saved_model, model_type=model_type, architectures=[architecture])
    with pytest.raises(NotCausalModelError, match=f"{architecture} is not a causal language model"):
        make_policy(str(saved_model), 1, OFFLINE)


def test_a_model_without_tokenizer_is_refused(saved_model: Path) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (saved_model / name).unlink()
    with pytest.raises(TokenizerMissingError, match="no usable tokenizer"):
        make_policy(str(saved_model), 1, OFFLINE)


def test_a_vocabulary_without_even_aliases_is_refused(saved_model: Path) -> None:
    path = saved_model / "tokenizer.json"
    content = json.loads(path.read_text())
    vocabulary = content["model"]["vocab"]
    content["model"]["vocab"] = {c: i for c, i in vocabulary.items() if len(c) > 2 or c in " \nABab01"}
    path.write_text(json.dumps(content))
    with pytest.raises(AliasError, match="splits operator aliases unevenly"):
        make_policy(str(saved_model), 1, OFFLINE)


def test_too_little_memory_is_refused_before_the_weights_are_read(
    saved_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dga2d.agents.policy import loading

    (saved_model / "model.safetensors").unlink()
    monkeypatch.setattr(loading, "_available_bytes", lambda settings: 1 << 10)
    with pytest.raises(PolicyMemoryError, match=r"needs about 0\.0 GiB of memory, 0\.0 GiB are available"):
        make_policy(str(saved_model), 1, OFFLINE)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda d: (d / "model.safetensors").unlink(), "no usable weights"),
        (lambda d: (d / "model.safetensors").write_bytes(b"\0" * 64), "no usable weights"),
        (lambda d: (d / "config.json").write_text("{"), "no usable config.json"),
        (
            lambda d: spoil_config(d, num_hidden_layers=3, layer_types=["full_attention"] * 3),
            "the weights lack 12",
        ),
    ],
    ids=["no weights", "damaged weights", "damaged config", "too few layers"],
)
def test_broken_model_directories_are_refused(
    saved_model: Path, spoil: Callable[[Path], Any], message: str
) -> None:
    spoil(saved_model)
    with pytest.raises(PolicyLoadError, match=message) as caught:
        make_policy(str(saved_model), 1, OFFLINE)
    assert "\n" not in str(caught.value)


def test_a_model_that_alters_its_logits_is_refused(saved_model: Path) -> None:
    import torch

    from dga2d.agents.policy.loading import build_policy, code_tokenizer, random_model, small_qwen2_config

    model = random_model(small_qwen2_config(len(code_tokenizer())), 1)
    model.lm_head.register_forward_hook(lambda module, args, out: 30 * torch.tanh(out / 30) * 2)
    with pytest.raises(PolicyLoadError, match="alters its embeddings or logits"):
        build_policy("odd", model, code_tokenizer(), 1, PolicySettings())
