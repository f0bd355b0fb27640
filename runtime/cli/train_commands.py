"""``train``: learned solvers, as baselines beside the evolved ones."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dga2d.runtime.cli import options
from dga2d.runtime.errors import ExitCode, UsageError
from dga2d.runtime.learned.names import DOMAINS
from dga2d.runtime.terminal.output import Announce, check_writable, print_json

if TYPE_CHECKING:
    import torch

    from dga2d.runtime.learned.recording import Trained
    from dga2d.runtime.learned.training import Budget, Training


@click.command(short_help="Train a learned solver: POMO, ReSched, SDDS or BPP-DRL.")
@click.argument("method", type=click.Choice(list(DOMAINS)))
@options.file_option(
    "-o",
    "--out",
    help="Weights, in safetensors; METHOD.safetensors by default. Checkpoint and card lie beside it.",
)
@click.option("--steps", type=click.IntRange(1), help="Steps of the optimiser: reproducible bit for bit.")
@click.option("--hours", type=float, help="Wall-clock hours, all sessions together.")
@click.option("--size", type=click.IntRange(2), help="Cities, jobs, vertices or boxes of an instance.")
@click.option("--width", type=click.IntRange(8), help="Length of an embedding.")
@click.option("--layers", type=click.IntRange(1), help="Layers of the encoder.")
@click.option("--batch", type=click.IntRange(1), help="Instances per step.")
@click.option("--learning-rate", type=float, help="Of Adam.")
@click.option("--seed", type=click.IntRange(0, options.LARGEST_INTEGER), help="0 by default.")
@click.option("--device", default="cpu", show_default=True, help="cpu, cuda or cuda:N.")
@click.option("--resume", is_flag=True, help="Go on from the checkpoint that lies beside FILE.")
@click.option("--run-id", metavar="RUN", help="Name of the run that records the training.")
@options.quiet_option
@options.store_option
@options.json_option
def train(
    method: str,
    out: Path | None,
    steps: int | None,
    hours: float | None,
    device: str,
    resume: bool,
    run_id: str | None,
    quiet: bool,
    url: str,
    as_json: bool,
    **given: Any,
) -> int:
    """Train METHOD on instances that it makes itself, and write its weights.

    Nothing is downloaded. The training is recorded as a run of the database (`dga2d show`, `dga2d log`).

    \b
    Examples:
      dga2d train pomo --size 20 --hours 1 -o pomo20.safetensors
      dga2d train pomo --hours 2 -o pomo20.safetensors --resume
      dga2d solve tsp berlin52.tsp --method pomo --weights pomo20.safetensors
    """
    require_learned("dga2d train")
    from dga2d.runtime.learned.method import device_named
    from dga2d.runtime.learned.training import Budget

    if hours is not None and not (math.isfinite(hours) and hours > 0.0):
        raise UsageError(f"--hours {hours:g}: expected a number above 0")
    weights = out or Path(f"{method}.safetensors")
    check_writable(weights)
    budget, chosen = Budget(steps, hours), {key: value for key, value in given.items() if value is not None}
    place = device_named(device)

    def announce(line: str) -> None:
        if not quiet:
            click.echo(line, err=True)

    if resume:
        if chosen or run_id is not None:
            names = ", ".join(sorted(key.replace("_", "-") for key in chosen)) or "run-id"
            raise UsageError(f"--resume goes on with the settings of the checkpoint; leave out --{names}")
        training, budget = _reopen(method, weights, budget, place)
        trained = _run(training, budget, weights, url, announce, is_new=False)
    else:
        training = _new(method, budget, place, chosen, run_id)
        trained = _run(training, budget, weights, url, announce, is_new=True)
    view = _view(trained, budget)
    if as_json:
        print_json(view)
    else:
        _print(view)
    return ExitCode.OK if trained.digest is not None else ExitCode.STOPPED


def require_learned(purpose: str) -> None:
    """Raise UsageError where a package of the optional extra ``learned`` is not installed."""
    from dga2d.runtime.errors import require_package
    from dga2d.runtime.learned.names import PACKAGES

    for package in PACKAGES:
        require_package(package, "learned", purpose)


def _new(
    method: str, budget: Budget, device: torch.device, chosen: dict[str, Any], run: str | None
) -> Training:
    from pydantic import ValidationError

    from dga2d.runtime.learned.method import learned_method
    from dga2d.runtime.learned.training import Training
    from dga2d.runtime.runs.start import checked_run_id, new_run_id

    if budget.steps is None and budget.hours is None:
        raise UsageError("how long? give --steps N, --hours H or both")
    learned = learned_method(method)
    try:
        settings = learned.settings(**{"size": learned.default_size, **chosen})
    except ValidationError as error:
        first = error.errors()[0]
        raise UsageError(f"--{'-'.join(map(str, first['loc'])) or method}: {first['msg']}") from error
    return Training(learned, settings, device, new_run_id(method) if run is None else checked_run_id(run))


def _reopen(method: str, weights: Path, budget: Budget, device: torch.device) -> tuple[Training, Budget]:
    """Return the training of the checkpoint beside `weights`, and what is its budget now."""
    from dga2d.runtime.learned.recording import checkpoint_path
    from dga2d.runtime.learned.training import Training

    training = Training.load(checkpoint_path(weights), method, device)
    if budget.steps is None and budget.hours is None:
        budget = training.budget
    is_used = (budget.steps is not None and training.step >= budget.steps) or (
        budget.hours is not None and training.seconds >= 3600.0 * budget.hours
    )
    if is_used and training.is_finished:
        raise UsageError(
            f"{weights}: its budget is used up ({training.step} steps, "
            f"{training.seconds / 3600.0:.2f} hours); a larger --steps or --hours goes on"
        )
    return training, budget


def _run(
    training: Training, budget: Budget, weights: Path, url: str, announce: Announce, *, is_new: bool
) -> Trained:
    """Train until the budget is used or a signal comes: the first stops after a step, the second at once."""
    from dga2d.runtime.learned.recording import Session, resume_training, start_training
    from dga2d.runtime.runs.interruption import Interruption

    stop = Interruption(go_on=f"dga2d train {training.method.name} -o {weights} --resume")
    announce(f"run {training.run_id}: {training.method.name} on {training.device}, from step {training.step}")
    work = start_training if is_new else resume_training
    with stop.handles_signals():
        stop.finish()  # nothing is to be cancelled: the loop looks at the name
        session = Session(training, budget, weights, lambda: stop.signal_name is not None, announce)
        return options.run_async(work, url, session)


def _view(trained: Trained, budget: Budget) -> dict[str, Any]:
    from dga2d.runtime.learned.method import device_in_words

    training = trained.training
    return {
        "method": training.method.name,
        "domain": training.method.domain,
        "run": training.run_id,
        "status": "paused" if trained.digest is None else "completed",
        "weights": None if trained.digest is None else str(trained.weights),
        "card": None if trained.digest is None else str(trained.card),
        "checkpoint": str(trained.checkpoint),
        "sha256": trained.digest,
        "settings": training.settings.model_dump(),
        "budget": budget._asdict(),
        "device": device_in_words(training.device),
        "steps": training.step,
        "instances": training.step * training.settings.batch,
        "seconds": training.seconds,
        "cost": training.method.cost,
        "curve": [point.model_dump() for point in training.curve],
    }


def _print(view: dict[str, Any]) -> None:
    first, last = view["curve"][0], view["curve"][-1]
    click.echo(f"run         {view['run']}  ({view['status']} at step {view['steps']})")
    click.echo(f"trained     {view['instances']} instances, {view['seconds']:.0f} s on {view['device']}")
    click.echo(f"cost        {view['cost']}")
    click.echo(f"validation  {last['validation']:.4f}, untrained {first['validation']:.4f}")
    if view["weights"] is None:
        click.echo(f"checkpoint  {view['checkpoint']}; --resume goes on")
    else:
        click.echo(f"weights     {view['weights']}  {view['sha256']}")
        click.echo(f"card        {view['card']}")
