"""Models as policies: one that cannot serve is refused before a run exists, one that can survives a kill."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.system.conftest import SMALL, Program, await_end, descendants, digests

if TYPE_CHECKING:
    from tests.system.conftest import Command

TINY = ("--generations", "1", "--work", "100", "--quiet", "--no-report", "--run-id", "never")


@pytest.fixture(scope="session")
def good_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small Qwen2 with its tokenizer, saved as published models are."""
    from dga2d.agents.policy.loading import code_tokenizer, random_model, small_qwen2_config

    tokenizer = code_tokenizer()
    directory = tmp_path_factory.mktemp("models") / "tiny"
    random_model(small_qwen2_config(len(tokenizer)), 5).save_pretrained(directory)
    tokenizer.save_pretrained(directory)
    return directory


@pytest.fixture
def model(good_model: Path, tmp_path: Path) -> Path:
    """A copy of it, to be spoilt."""
    copy = tmp_path / "model"
    copy.mkdir()
    for path in good_model.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    return copy


def encoder_only(model: Path) -> None:
    path = model / "config.json"
    changes = {"model_type": "bert", "architectures": ["BertForMaskedLM"]}
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def without_tokenizer(model: Path) -> None:
    for path in model.glob("tokenizer*"):
        path.unlink()


def uneven_vocabulary(model: Path) -> None:
    path = model / "tokenizer.json"
    content = json.loads(path.read_text())
    vocabulary = content["model"]["vocab"]
    kept = {c: i for c, i in vocabulary.items() if len(c) > 2 or c in " \nABab01"}
    content["model"]["vocab"] = kept
    path.write_text(json.dumps(content))


def far_too_large(model: Path) -> None:
    path = model / "config.json"
    changes: dict[str, Any] = {"hidden_size": 65536, "intermediate_size": 262144, "num_hidden_layers": 80}
    changes |= {"layer_types": ["full_attention"] * 80, "num_attention_heads": 64, "num_key_value_heads": 64}
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def without_weights(model: Path) -> None:
    (model / "model.safetensors").unlink()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (encoder_only, "BertForMaskedLM is not a causal language model"),
        (without_tokenizer, "no usable tokenizer"),
        (uneven_vocabulary, "the vocabulary splits operator aliases unevenly"),
        (far_too_large, "GiB of memory"),
        (without_weights, "no usable weights"),
    ],
)
def test_a_model_that_cannot_serve_is_one_line_and_no_event(
    command: Command, model: Path, tmp_path: Path, spoil: Callable[[Path], Any], reason: str
) -> None:
    spoil(model)
    outcome = command("evolve", "tsp", *TINY, "--policy", str(model))
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.error.startswith("error: policy '")
    assert reason in outcome.error
    assert not list(tmp_path.glob("*.db"))


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (("--policy", "no/such/model"), "no such directory"),
        (("--policy-dtype", "float16"), "'float16' is not one of"),
        (("--lora-rank", "-1"), "lora_rank"),
        (("--structure", "tree"), "'tree' is not one of"),
        (("--credit-context", "third"), "'third' is not one of"),
        (("--set", "policy_treads=2"), "did you mean 'policy_threads'?"),
    ],
)
def test_wrong_policy_settings_are_refused(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...], reason: str
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    outcome = command("evolve", "tsp", *TINY, *flags)
    assert (outcome.code, outcome.out) == (2, "")
    assert reason in outcome.err
    assert not list(tmp_path.glob("*.db"))


def test_policy_settings_come_from_a_settings_file_too(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('policy = "no/such/model"\npolicy_threads = 2\nlora_rank = 4\nstructure = "dag"\n')
    outcome = command("evolve", "tsp", *TINY, "--config", str(file))
    assert outcome.code == 2
    assert "no such directory" in outcome.error


RESUME = ("resume", "killed", "--quiet", "--no-report", "--accept-code-change")


def learning(policy: Path | str) -> list[str]:
    """Flags of the small run with a policy that learns and without evolution, whose calls a kill may cost."""
    flags = [str(policy) if flag == "uniform" else flag for flag in SMALL]
    return [*flags, "--no-evolution"]


def sampled(program: Program, run: str) -> dict[str | None, bytes]:
    """What was sampled, with every probability, by operation."""
    return {row.operation: row.payload for row in program.rows(run) if row.type == "PipelineSampled"}


def kill_after(program: Program, run: str, flags: list[str], event: str, count: int) -> None:
    """Start a run and end it with SIGKILL when the log has `count` events of the type."""
    with program.started("evolve", "tsp", *flags, "--run-id", run) as process:
        program.wait_for(run, lambda rows: sum(row.type == event for row in rows) >= count)
        below = descendants(process)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=20)
    await_end(below)


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("kind", ["embedded", "saved model"])
def test_after_kill_9_a_run_samples_what_the_uninterrupted_one_does(
    program: Program, good_model: Path, kind: str
) -> None:
    policy = "embedded" if kind == "embedded" else good_model
    flags = learning(policy)
    outcome = program.run("evolve", "tsp", *flags, "--run-id", "whole", wait_s=400)
    assert (outcome.code, outcome.err) == (0, "")
    event = "PolicyUpdated" if kind == "embedded" else "PolicyCheckpointed"
    kill_after(program, "killed", flags, event, 2)
    before = sampled(program, "killed")
    outcome = program.run(*RESUME, wait_s=400)
    assert (outcome.code, outcome.err) == (0, "")
    after, whole = sampled(program, "killed"), sampled(program, "whole")
    assert set(before) < set(after)
    assert after == whole
    assert digests(program.rows("killed")) == digests(program.rows("whole"))
    assert program.run("replay", "killed", "--verify").code == 0
    if kind != "embedded":
        assert_lost_files_are_an_error_with_a_way_out(program)


def assert_lost_files_are_an_error_with_a_way_out(program: Program) -> None:
    folder = program.folder / "log.db.policies" / "killed"
    assert 1 <= len(list(folder.iterdir())) <= 3
    shutil.rmtree(folder)
    events = len(program.rows("killed"))
    extend = (*RESUME, "--generations", "4")
    refused = program.run(*extend, wait_s=400)
    assert refused.code == 2
    assert "it is missing" in refused.error
    assert "dga2d resume killed --rebuild-policy" in refused.error
    assert len(program.rows("killed")) == events
    outcome = program.run(*extend, "--rebuild-policy", wait_s=400)
    assert (outcome.code, outcome.err) == (0, "")
    assert len(digests(program.rows("killed"))) == 4
    assert len(list(folder.iterdir())) == 1
