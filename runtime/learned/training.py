"""The training loop that all learned solvers share: steps, measurements, checkpoints, exact resumption.

Every step draws from a random stream of its own, named by seed and step. So a checkpoint holds parameters,
the moments of Adam and a number, and a training that was stopped goes on to the same bits.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import torch
from pydantic import BaseModel, ConfigDict, ValidationError
from torch import Tensor

from dga2d.runtime.errors import UsageError
from dga2d.runtime.learned.method import LearnedMethod, TrainingSettings, stream
from dga2d.runtime.learned.weights import (
    Contents,
    digest_of,
    fill,
    read_contents,
    untrained_network,
    write_contents,
)

LARGEST_GRADIENT: Final = 1.0
"""Norm that gradients are clipped to."""
LAST_PART: Final = 0.1
"""Of a budget in steps: the learning rate is a tenth there, as in POMO's last epochs."""
STEPS_PER_POINT: Final = 500
CHECKPOINT_S: Final = 60.0


class Budget(NamedTuple):
    """How long a training lasts; what comes first ends it."""

    steps: int | None
    hours: float | None
    """Of wall-clock time, all sessions together."""


class CurvePoint(BaseModel):
    """A measurement of a training."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    step: int
    instances: int
    """Training instances seen."""
    seconds: float
    """Wall-clock seconds of training, all sessions together."""
    cpu_seconds: float
    """Of this process; on a busy machine the better measure."""
    loss: float | None
    """Mean since the point before; ``None`` before the first step."""
    cost: float | None
    """Mean cost of what was sampled in training since then."""
    validation: float
    """Mean cost on the fixed instances; lower is better."""


class _Progress(BaseModel):
    """What a checkpoint says beside its tensors."""

    model_config = ConfigDict(extra="forbid")

    run: str
    step: int = 0
    steps: int | None = None
    """Of the budget, which the learning rate follows."""
    hours: float | None = None
    is_finished: bool = False
    """The weights are written."""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    loss: float = 0.0
    cost: float = 0.0
    """Sums since the last point of the curve."""
    summed: int = 0
    curve: list[CurvePoint] = []


class Training:
    """A training at one moment: network, optimiser, and how far it has come."""

    def __init__(
        self, method: LearnedMethod[Any], settings: TrainingSettings, device: torch.device, run: str
    ) -> None:
        self.method = method
        self.settings = settings
        self.device = device
        self.network = untrained_network(method, settings).to(device)
        self._optimiser = torch.optim.Adam(self.network.parameters(), lr=settings.learning_rate)
        self._progress = _Progress(run=run)

    @property
    def run_id(self) -> str:
        """The run that records it."""
        return self._progress.run

    @property
    def step(self) -> int:
        """Steps done."""
        return self._progress.step

    @property
    def budget(self) -> Budget:
        """What it was trained under last."""
        return Budget(self._progress.steps, self._progress.hours)

    @property
    def is_finished(self) -> bool:
        """The weights of the last budget are written."""
        return self._progress.is_finished

    @property
    def seconds(self) -> float:
        """Wall-clock seconds so far."""
        return self._progress.seconds

    @property
    def curve(self) -> tuple[CurvePoint, ...]:
        """The measurements, the first of the untrained network."""
        return tuple(self._progress.curve)

    def train(
        self,
        budget: Budget,
        checkpoint: Path,
        is_stopped: Callable[[], bool],
        measured: Callable[[CurvePoint, str], None],
        announce: Callable[[str], None],
    ) -> bool:
        """Train until the budget is used; return whether it was, not that `is_stopped` said so.

        Checkpoints are written at every measurement, every minute, and at the end. `measured` gets each
        measurement with the digest of the checkpoint that holds it.
        """
        self._progress.steps, self._progress.hours = budget
        self._progress.is_finished = False
        saved = start = time.monotonic()
        base, cpu_base, cpu_start = self._progress.seconds, self._progress.cpu_seconds, time.process_time()

        def used_up() -> bool:
            self._progress.seconds = base + time.monotonic() - start
            self._progress.cpu_seconds = cpu_base + time.process_time() - cpu_start
            steps, hours = budget
            is_over = steps is not None and self.step >= steps
            return is_over or (hours is not None and self.seconds >= 3600.0 * hours)

        while True:
            is_over = used_up()
            if (is_over or is_measured(self.step)) and not self._has_point():
                point = self._measure()
                announce(in_words(point))
                measured(point, digest_of(self.save(checkpoint)))
                saved = time.monotonic()
            stopped = is_stopped()
            if is_over or stopped or time.monotonic() - saved > CHECKPOINT_S:
                self.save(checkpoint)
                saved = time.monotonic()
            if is_over or stopped:
                return is_over
            self._one_step()

    def _has_point(self) -> bool:
        return bool(self._progress.curve) and self._progress.curve[-1].step == self.step

    def _one_step(self) -> None:
        settings, progress = self.settings, self._progress
        rng = stream(self.device, "train", settings.seed, progress.step)
        part = 0.0 if progress.steps is None else progress.step / progress.steps
        for group in self._optimiser.param_groups:
            group["lr"] = settings.learning_rate * (LAST_PART if part >= 1.0 - LAST_PART else 1.0)
        loss, cost = self.method.loss(self.network, settings, rng, progress.step)
        self._optimiser.zero_grad()
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), LARGEST_GRADIENT)
        self._optimiser.step()
        progress.step += 1
        progress.loss += float(loss.detach())
        progress.cost += cost
        progress.summed += 1

    def _measure(self) -> CurvePoint:
        progress = self._progress
        self.network.eval()
        with torch.no_grad():
            validation = self.method.validate(self.network, self.settings)
        self.network.train()
        n = progress.summed
        point = CurvePoint(
            step=progress.step,
            instances=progress.step * self.settings.batch,
            seconds=progress.seconds,
            cpu_seconds=progress.cpu_seconds,
            loss=progress.loss / n if n else None,
            cost=progress.cost / n if n else None,
            validation=validation,
        )
        progress.curve.append(point)
        progress.loss = progress.cost = 0.0
        progress.summed = 0
        return point

    # ------------------------------------------------------------ files

    def save(self, path: Path) -> bytes:
        """Write a checkpoint; return its bytes. Raises OutputFileError."""
        tensors = {f"network.{name}": tensor for name, tensor in self.network.state_dict().items()}
        for index, moments in self._optimiser.state_dict()["state"].items():
            tensors |= {f"adam.{index}.{name}": tensor for name, tensor in moments.items()}
        notes: dict[str, Any] = self._progress.model_dump(mode="json")
        return write_contents(path, "checkpoint", Contents(self.method, self.settings, notes, tensors))

    def finish(self, path: Path) -> None:
        """Note in the checkpoint that the weights are written. Raises OutputFileError."""
        self._progress.is_finished = True
        self.save(path)

    def save_weights(self, path: Path) -> bytes:
        """Write what solving needs; return its bytes. Raises OutputFileError."""
        contents = Contents(self.method, self.settings, {}, dict(self.network.state_dict()))
        return write_contents(path, "weights", contents)

    @classmethod
    def load(cls, path: Path, method: str, device: torch.device) -> Training:
        """Return a training as a checkpoint holds it.

        Raises
        ------
        UsageError
            As `read_contents`, and where tensors or progress are not those of such a training.
        """
        contents = read_contents(path, "checkpoint", method)
        training = cls(contents.method, contents.settings, device, "")
        try:
            training._progress = _Progress.model_validate(contents.notes)
        except ValidationError as error:
            raise UsageError(f"{path}: its progress cannot be read ({error.errors()[0]['msg']})") from error
        parts: dict[str, dict[str, Tensor]] = {"network": {}, "adam": {}}
        for name, tensor in contents.tensors.items():
            part, _, rest = name.partition(".")
            parts.setdefault(part, {})[rest] = tensor
        fill(training.network, parts["network"], path)
        training._fill_moments(parts["adam"], path)
        return training

    def _fill_moments(self, tensors: dict[str, Tensor], path: Path) -> None:
        parameters = list(self.network.parameters())
        state: dict[int, dict[str, Tensor]] = {}
        for name, tensor in tensors.items():
            index, _, moment = name.partition(".")
            known = index.isdecimal() and int(index) < len(parameters)
            if not known or (moment != "step" and tensor.shape != parameters[int(index)].shape):
                raise UsageError(f"{path}: adam.{name} is not of this network")
            state.setdefault(int(index), {})[moment] = tensor
        whole = {"step", "exp_avg", "exp_avg_sq"}
        if any(moments.keys() != whole for moments in state.values()) or (
            self.step and len(state) != len(parameters)
        ):
            raise UsageError(f"{path}: the moments of Adam are not complete")
        groups = self._optimiser.state_dict()["param_groups"]
        self._optimiser.load_state_dict({"state": state, "param_groups": groups})


def is_measured(step: int) -> bool:
    """Return whether the curve has a point there: 0, then 1, 2 and 5 times powers of ten, then every 500."""
    if step >= STEPS_PER_POINT:
        return step % STEPS_PER_POINT == 0
    return step == 0 or (step >= 10 and str(step).rstrip("0") in ("1", "2", "5"))


def in_words(point: CurvePoint) -> str:
    """Return a line of progress."""
    cost = "" if point.cost is None else f"  cost {point.cost:.4f}"
    return f"step {point.step}  validation {point.validation:.4f}{cost}  {point.seconds:.0f} s"
