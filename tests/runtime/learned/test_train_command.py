"""``dga2d train`` and ``solve --method`` of learned solvers: files, the recorded run, and what is refused."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest
import torch
from click.testing import CliRunner
from safetensors.torch import save_file

from dga2d.events import Dga2dError, RunId
from dga2d.runtime.cli.app import app
from dga2d.runtime.errors import ExitCode
from dga2d.runtime.learned.weights import digest_of
from dga2d.runtime.runs.states import load_state
from dga2d.store import open_store

TINY = ("--size", "6", "--width", "8", "--layers", "1", "--batch", "4", "--seed", "3")
SQUARE = """NAME : square
TYPE : TSP
DIMENSION : 6
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0 0
2 10 0
3 10 10
4 0 10
5 5 0
6 5 10
EOF
"""


def dga2d(*arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr, or the message of the error, as ``main`` prints it."""
    result = CliRunner().invoke(app, arguments)
    if isinstance(result.exception, Dga2dError):
        return (
            int(getattr(result.exception, "exit_code", ExitCode.USAGE)),
            result.stdout,
            str(result.exception),
        )
    return int(result.return_value or result.exit_code), result.stdout, result.stderr


class Trained(NamedTuple):
    folder: Path
    weights: Path
    store: str
    view: dict[str, Any]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    folder = tmp_path_factory.mktemp("train")
    weights, store = folder / "p.safetensors", f"sqlite+aiosqlite:///{folder / 'runs.db'}"
    code, out, err = dga2d(
        *("train", "pomo", *TINY, "--steps", "12", "-o", str(weights), "--run-id", "tiny"),
        *("--store", store, "--json"),
    )
    assert code == 0, err
    (folder / "square.tsp").write_text(SQUARE)
    return Trained(folder, weights, store, json.loads(out))


def test_weights_card_and_log_say_the_same(trained: Trained) -> None:
    digest = digest_of(trained.weights.read_bytes())
    card = json.loads((trained.folder / "p.card.json").read_text())
    assert trained.view["sha256"] == card["sha256"] == digest
    assert card["curve"] == trained.view["curve"]
    assert (card["settings"]["seed"], card["budget"]) == (3, {"steps": 12, "hours": None})
    assert card["used"]["instances"] == 48

    async def state() -> Any:
        async with open_store(trained.store, create=False, read_only=True) as store:
            found = await load_state(store, RunId("tiny"))
            assert found.training is not None
            assert found.training.weights is not None
            return found, await store.get_blob(found.training.weights)

    found, stored = anyio.run(state)
    assert (found.status, found.training.weights, stored) == (
        "completed",
        digest,
        trained.weights.read_bytes(),
    )
    assert [point.step for point in found.training.points] == [0, 10, 12]
    assert [point.validation for point in found.training.points] == [p["validation"] for p in card["curve"]]


def test_commands_that_read_logs_take_a_training(trained: Trained) -> None:
    code, out, err = dga2d("show", "tiny", "--store", trained.store, "--json")
    assert code == 0, err
    assert json.loads(out)["training"]["weights"] == trained.view["sha256"]
    assert "pomo, " in dga2d("show", "tiny", "--store", trained.store)[1]
    assert "TrainingFinished" in dga2d("log", "tiny", "--store", trained.store)[1]
    code, out, err = dga2d("replay", "tiny", "--verify", "--store", trained.store, "--json")
    assert (code, json.loads(out)["difference"]) == (0, None), err
    (row,) = json.loads(dga2d("runs", "--store", trained.store, "--json")[1])
    assert (row["domain"], row["status"]) == ("tsp", "completed")


@pytest.mark.parametrize("command", ["resume", "test", "report"])
def test_commands_for_evolving_runs_say_that_it_is_a_training(trained: Trained, command: str) -> None:
    code, _, err = dga2d(command, "tiny", "--store", trained.store)
    assert code == 2
    assert "run tiny is the training of a learned solver" in err


def test_a_larger_budget_goes_on_and_a_used_one_is_refused(trained: Trained, tmp_path: Path) -> None:
    for name in ("p.safetensors", "p.checkpoint.safetensors", "runs.db"):
        (tmp_path / name).write_bytes((trained.folder / name).read_bytes())
    weights, store = str(tmp_path / "p.safetensors"), f"sqlite+aiosqlite:///{tmp_path / 'runs.db'}"
    again = ("train", "pomo", "-o", weights, "--resume", "--store", store)
    assert "its budget is used up (12 steps" in dga2d(*again)[2]
    assert "leave out --seed" in dga2d(*again, "--seed", "4")[2]
    code, out, err = dga2d(*again, "--steps", "21", "--json")
    assert code == 0, err
    assert [point["step"] for point in json.loads(out)["curve"]] == [0, 10, 12, 20, 21]
    (tmp_path / "p.checkpoint.safetensors").write_bytes(
        (trained.folder / "p.checkpoint.safetensors").read_bytes()
    )
    assert "it is older than the log" in dga2d(*again, "--steps", "30")[2]


def test_an_instance_is_solved_and_the_device_named(trained: Trained) -> None:
    code, out, err = dga2d(
        *("solve", "tsp", str(trained.folder / "square.tsp"), "--method", "pomo"),
        *("--weights", str(trained.weights), "--json"),
    )
    assert code == 0, err
    view = json.loads(out)
    assert view["objective"] >= 40
    assert view["elapsed_s"] > 0
    assert view["algorithm"].startswith(
        f"pomo, weights {trained.view['sha256'][:12]}, trained on size 6, on cpu"
    )


BROKEN = {
    "absent": "there is no such file",
    "text": "it is no safetensors file",
    "foreign": "neither weights nor a checkpoint of a learned solver",
    "checkpoint": "expected weights, this is checkpoint",
    "truncated": "it is no safetensors file",
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_file_that_holds_no_weights_is_refused(trained: Trained, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "w.safetensors"
    if kind == "text":
        path.write_text("weights")
    elif kind == "foreign":
        save_file({"a": torch.zeros(2)}, path)
    elif kind == "checkpoint":
        path = trained.folder / "p.checkpoint.safetensors"
    elif kind == "truncated":
        path.write_bytes(trained.weights.read_bytes()[:-40])
    code, _, err = dga2d(
        "solve", "tsp", str(trained.folder / "square.tsp"), "--method", "pomo", "--weights", str(path)
    )
    assert code == 2
    assert BROKEN[kind] in err


REFUSED = {
    "another domain": (
        ("solve", "jsp", "ta/ta01", "--method", "pomo", "--weights", "W"),
        "solves tsp, not jsp",
    ),
    "no weights": (("solve", "tsp", "E", "--method", "pomo"), "needs --weights FILE"),
    "weights without method": (("solve", "tsp", "E", "--weights", "W"), "are of learned solvers"),
    "work units": (
        ("solve", "tsp", "E", "--method", "pomo", "--weights", "W", "--work", "9"),
        "knows no work units",
    ),
    "no CUDA": (("train", "pomo", "--steps", "1", "--device", "cuda:7"), "sees 0 CUDA devices here"),
    "no device": (("train", "pomo", "--steps", "1", "--device", "tpu"), "expected cpu, cuda or cuda:N"),
    "no budget": (("train", "pomo"), "give --steps N, --hours H or both"),
    "no checkpoint": (("train", "pomo", "-o", "none.safetensors", "--resume"), "there is no such file"),
    "heads": (("train", "pomo", "--steps", "1", "--width", "9"), "no multiple of 4 heads"),
    "endless": (("train", "pomo", "--hours", "-1"), "expected a number above 0"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_done_is_refused_in_words(
    trained: Trained, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, case: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    arguments, message = REFUSED[case]
    files = {"W": str(trained.weights), "E": str(trained.folder / "square.tsp")}
    code, _, err = dga2d(*(files.get(argument, argument) for argument in arguments))
    assert code == 2
    assert message in err
    assert not list(tmp_path.iterdir())


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert "pip install 'dga2d[learned]'" in dga2d("train", "pomo", "--steps", "1")[2]
