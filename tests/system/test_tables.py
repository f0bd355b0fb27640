"""A run as tables for other programs: CSV, Parquet, and an experiment of MLflow."""

from __future__ import annotations

import csv
import io
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from tests.system.conftest import Command, Program

from dga2d.runtime.inspection import tables

pytestmark = pytest.mark.timeout(180)
RECORDED = Path(__file__).parents[2] / "examples" / "runs" / "tsp-basic-model-2.dga2d.zip"


def test_csv_and_parquet_hold_the_same_rows(finished: Program, command: Command, tmp_path: Path) -> None:
    import pandas

    for kind in ("csv", "parquet"):
        target = str(tmp_path / kind)
        outcome = command("export", "done", "--format", kind, "-o", target, "--json", program=finished)
        names = ("generations", "evaluations", "calls")
        assert outcome.json["written"] == [f"{target}/{name}.{kind}" for name in names], outcome.err
    evaluations = pandas.read_parquet(tmp_path / "parquet" / "evaluations.parquet")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "csv" / "evaluations.csv").read_text())))
    assert list(evaluations.columns) == list(rows[0])
    assert list(evaluations["objective"]) == [float(row["objective"]) for row in rows]
    assert list(evaluations["instance"]) == [row["instance"] for row in rows]
    assert len(pandas.read_parquet(tmp_path / "parquet" / "generations.parquet")) == 3


def test_weights_and_biases_get_settings_generations_and_tables(
    finished: Program, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their package is not in the lock file, so a stand-in notes what it is told."""
    logged: list[dict[str, Any]] = []
    run = SimpleNamespace(
        define_metric=lambda *names, **options: None,
        log=logged.append,
        summary={},
        finish=lambda exit_code: logged.append({"exit_code": exit_code}),
        settings=SimpleNamespace(sync_dir=str(tmp_path / "wandb" / "offline-run-1")),
    )
    begun: dict[str, Any] = {}
    package = ModuleType("wandb")
    package.__dict__.update(
        __spec__=ModuleSpec("wandb", None),
        Settings=dict,
        Table=lambda columns, data: (columns, data),
        init=lambda **options: begun.update(options) or run,
    )
    monkeypatch.setitem(sys.modules, "wandb", package)
    arguments = ("export", "done", "--format", "wandb", "-o", str(tmp_path), "--json")
    outcome = command(*arguments, program=finished)
    assert outcome.json["written"] == [str(tmp_path / "wandb" / "offline-run-1")]
    assert (begun["mode"], begun["name"], begun["config"]["domain"]) == ("offline", "done", "tsp")
    shown = command("show", "done", "--json", program=finished).json["history"]
    found = [row["best_so_far_percent"] for row in logged if "generation" in row]
    assert found == [row["best_so_far_percent"] for row in shown]
    tables_of = {name: value for row in logged for name, value in row.items() if isinstance(value, tuple)}
    assert set(tables_of) == {"evaluations", "calls"}
    assert all(len(row) == len(columns) for columns, data in tables_of.values() for row in data)
    assert logged[-1] == {"exit_code": 0}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # MLflow's and its dependencies'
def test_mlflow_gets_settings_generations_and_report(
    finished: Program, command: Command, tmp_path: Path
) -> None:
    import mlflow

    outcome = command("export", "done", "--format", "mlflow", "-o", str(tmp_path / "ml"), program=finished)
    assert outcome.code == 0, outcome.err
    client = mlflow.MlflowClient(tracking_uri=(tmp_path / "ml").as_uri())
    experiment = client.get_experiment_by_name("dga2d")
    (run,) = client.search_runs([experiment.experiment_id])
    assert (run.info.run_name, run.info.status) == ("done", "FINISHED")
    assert (run.data.params["generations"], run.data.params["domain"]) == ("3", '"tsp"')
    history: list[Any] = client.get_metric_history(run.info.run_id, "best_so_far_percent")
    shown = command("show", "done", "--json", program=finished).json["history"]
    assert [m.step for m in history] == [1, 2, 3]
    assert [m.value for m in history] == [row["best_so_far_percent"] for row in shown]
    assert [artefact.path for artefact in client.list_artifacts(run.info.run_id)] == ["report.html"]


def test_what_is_not_installed_is_said(
    finished: Program, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "find_spec", lambda name: None)
    refused = command("export", "done", "--format", "parquet", program=finished)
    assert refused.error == "error: --format parquet needs pandas: pip install 'dga2d[export]'"


def test_a_second_random_stream_on_an_instance_has_the_gap_to_its_reference(
    program: Program, command: Command, tmp_path: Path
) -> None:
    """A held-out test solves each instance several times; copies are named ``INSTANCE #2``."""
    assert command("import", str(RECORDED), "--json").code == 0
    outcome = command("export", "tsp-model", "--format", "csv", "-o", str(tmp_path / "tables"))
    assert outcome.code == 0, outcome.err
    rows = list(csv.DictReader(io.StringIO((tmp_path / "tables" / "evaluations.csv").read_text())))
    copies = [row for row in rows if row["instance"].endswith(" #2")]
    assert copies
    for row in copies:
        first = next(one for one in rows if one["instance"] == row["instance"].removesuffix(" #2"))
        references = [float(one["objective"]) / (1 + float(one["gap_percent"]) / 100) for one in (row, first)]
        assert references[0] == pytest.approx(references[1], rel=1e-5)
