"""A run as tables for other programs: CSV, Parquet, and an experiment of MLflow."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pandas
import pytest
from tests.system.conftest import Command, Program

from dga2d.runtime.inspection import tables

pytestmark = pytest.mark.timeout(180)


def test_csv_and_parquet_hold_the_same_rows(finished: Program, command: Command, tmp_path: Path) -> None:
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
