"""Tables of a run for others: data frames, CSV, Parquet, and runs of MLflow and Weights & Biases."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from dga2d.domains.core.contract import normalised_gap
from dga2d.events import instance_and_copy
from dga2d.events.payloads import RunStarted
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.errors import UsageError
from dga2d.runtime.inspection.call_views import calls_view
from dga2d.runtime.inspection.measures import measure_of, measured_rows, percent
from dga2d.runtime.inspection.views import history_view
from dga2d.runtime.report import read_report_data, render_html
from dga2d.runtime.report.data import read_run
from dga2d.runtime.report.notes import Notes
from dga2d.runtime.runs.states import recall_problem
from dga2d.runtime.terminal.output import csv_text, write_file
from dga2d.store import open_store

TableFormat = Literal["csv", "parquet", "mlflow", "wandb"]
EXPERIMENT = "dga2d"
"""Name of MLflow's experiment, and of the project of Weights & Biases, that gets the runs."""
NEEDED: dict[TableFormat, tuple[str, ...]] = {
    "csv": (),
    "parquet": ("pandas", "pyarrow"),
    "mlflow": ("mlflow",),
    "wandb": ("wandb",),
}
"""Packages that a format needs."""
DEFAULT_PLACES = {"mlflow": "mlruns", "wandb": "."}
"""Where a format goes that nobody names a place for; else a folder called as the run."""
AT_ONCE = 100
"""Parameters that MLflow takes in one request; it takes ten times as many metrics."""


def table(rows: list[dict[str, Any]]) -> Any:
    """Return `rows` as a ``pandas.DataFrame``; as they are where pandas is not installed."""
    if find_spec("pandas") is None:
        return rows
    import pandas

    return pandas.DataFrame(rows)


def evaluation_rows(notes: Notes, header: RunStarted) -> list[dict[str, Any]]:
    """Return a row for every recorded evaluation, in the order of the log."""
    splits = header.splits
    entries = {e.key: e for part in (splits.train, splits.validation, splits.test) for e in part}
    rows = []
    for seq, found in notes.evaluations:
        steps = notes.programs.get((found.split, found.generation, found.candidate), ())
        gap = None
        if found.objective is not None:
            key = found.instance if found.instance in entries else instance_and_copy(found.instance)[0]
            entry = entries[key]
            gap = percent(normalised_gap(found.objective, entry.reference, header.sense, entry.scale))
        rows.append(
            {
                "seq": seq,
                "split": found.split,
                "generation": found.generation,
                "candidate": found.candidate,
                "instance": str(found.instance),
                "pipeline": " → ".join(step.operator for step in steps),
                "objective": found.objective,
                "gap_percent": gap,
                "failure": found.failure,
                "diagnostic": found.diagnostic,
                "elapsed_s": found.elapsed_s,
                "work": found.work,
            }
        )
    return rows


async def export_tables(url: str, run_id: str, kind: TableFormat, place: str) -> list[str]:
    """Write a run's generations, evaluations and calls to `place`; return what was written.

    For CSV and Parquet `place` is a folder, made if it is not there; for MLflow a folder or the address of a
    tracking server; for Weights & Biases the folder in which their folder ``wandb`` lies.

    Raises
    ------
    UsageError
        A package that the format needs is not installed.
    OutputFileError
        A file cannot be written.
    """
    for package in NEEDED[kind]:
        if find_spec(package) is None:
            extra = "wandb" if kind == "wandb" else "export"
            raise UsageError(f"--format {kind} needs {package}: pip install 'dga2d[{extra}]'")
    async with open_store(url, create=False, read_only=True) as store:
        state, notes = await read_run(store, run_id)
    recall_problem(state)
    if kind == "mlflow":
        report = render_html(await read_report_data(url, run_id))
        return [_to_mlflow(run_id, state, notes, report, place)]
    measure = measure_of(state.header)
    tables: dict[str, list[dict[str, Any]]] = {
        "generations": measured_rows(history_view(state), measure),
        "evaluations": measured_rows(evaluation_rows(notes, state.header), measure),
        "calls": calls_view(state.ledger),
    }
    if kind == "wandb":
        return [_to_wandb(run_id, state, tables, place)]
    write: Callable[[list[dict[str, Any]], Path], None] = _write_csv if kind == "csv" else _write_parquet
    folder = Path(place)
    folder.mkdir(parents=True, exist_ok=True)
    written = [folder / f"{name}.{kind}" for name in tables]
    for rows, path in zip(tables.values(), written, strict=True):
        write(rows, path)
    return [str(path) for path in written]


def _write_csv(rows: list[dict[str, Any]], path: Path) -> None:
    write_file(path, csv_text(rows))


def _write_parquet(rows: list[dict[str, Any]], path: Path) -> None:
    table(rows).to_parquet(path, engine="pyarrow", index=False)


def _to_mlflow(run_id: str, state: RunState, notes: Notes, report: str, place: str) -> str:
    """Log settings as parameters, generations as metrics, and the report as an artefact; return the run."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")  # nothing leaves the machine unasked
    if "://" not in place:  # a folder is what one takes along; MLflow wants to be asked for it
        os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
        place = Path(place).absolute().as_uri()
    from mlflow import MlflowClient
    from mlflow.entities import Metric, Param, RunTag

    client = MlflowClient(tracking_uri=place)
    known = client.get_experiment_by_name(EXPERIMENT)
    experiment = client.create_experiment(EXPERIMENT) if known is None else known.experiment_id
    made = client.create_run(experiment, start_time=notes.times[0] // 1000, run_name=run_id).info.run_id
    closed_at = {closing.generation: notes.times[closing.seq - 1] // 1000 for closing in notes.closings}
    rows = measured_rows(history_view(state), measure_of(state.header))
    metrics = [
        Metric(key, float(value), closed_at[row["generation"]], row["generation"])
        for row in rows
        for key, value in row.items()
        if key != "generation" and isinstance(value, int | float)
    ]
    settings = _settings(state)
    params = [Param(key, json.dumps(value)) for key, value in settings.items()]
    tags = [RunTag("dga2d.run", run_id), RunTag("dga2d.code_version", state.code_version)]
    for start in range(0, max(len(params), len(metrics) // 10 + 1), AT_ONCE):
        some = slice(start, start + AT_ONCE)
        client.log_batch(made, metrics[10 * start : 10 * (start + AT_ONCE)], params[some], tags)
    client.log_text(made, report, "report.html")
    status = {"completed": "FINISHED", "failed": "FAILED"}.get(state.status, "KILLED")
    client.set_terminated(made, status, notes.times[-1] // 1000)
    return f"{place}: run {made}"


def _to_wandb(run_id: str, state: RunState, tables: dict[str, list[dict[str, Any]]], place: str) -> str:
    """Log settings, generations as metrics, evaluations and calls as tables, without a network; return the
    folder that ``wandb sync`` uploads.
    """
    os.environ.setdefault("WANDB_ERROR_REPORTING", "false")  # nothing leaves the machine unasked
    import wandb

    Path(place).mkdir(parents=True, exist_ok=True)
    quiet = wandb.Settings(
        console="off",
        silent=True,
        disable_git=True,
        save_code=False,
        x_disable_stats=True,
        x_disable_meta=True,
    )
    run = wandb.init(
        project=EXPERIMENT,
        name=run_id,
        config=_settings(state),
        mode="offline",
        dir=place,
        settings=quiet,
        reinit="create_new",
    )
    run.define_metric("*", step_metric="generation")
    for row in tables["generations"]:
        run.log({key: value for key, value in row.items() if isinstance(value, int | float)})
    for name in ("evaluations", "calls"):
        rows = tables[name]
        columns = list(rows[0]) if rows else ["seq"]
        run.log({name: wandb.Table(columns=columns, data=[list(row.values()) for row in rows])})
    run.summary["status"] = state.status
    run.finish(exit_code=int(state.status == "failed"))
    return str(run.settings.sync_dir)


def _settings(state: RunState) -> dict[str, Any]:
    return {"domain": state.header.domain, "seed": state.header.seed, **state.settings.model_dump()}
