"""What ``dga2d show`` tells of the training of a learned solver."""

from __future__ import annotations

from typing import Any

from dga2d.replay.state.digest import state_digest
from dga2d.replay.state.run_state import RunState
from dga2d.replay.state.training_state import TrainingState


def training_view(run_id: str, state: RunState, training: TrainingState) -> dict[str, Any]:
    """Return a training at one event."""
    started = training.started
    return {
        "run": run_id,
        "seq": state.seq,
        "status": state.status,
        "reason": state.reason,
        "domain": started.domain,
        "seed": started.seed,
        "code_version": state.code_version,
        "settings": started.settings,
        "state_digest": state_digest(state),
        "training": {
            "method": started.method,
            "data": started.data,
            "cost": started.cost,
            "parameters": started.parameters,
            "torch": started.torch_version,
            "devices": list(training.devices),
            "budget": {"steps": training.budget_steps, "hours": training.budget_hours},
            "weights": training.weights,
            "curve": [point.model_dump(mode="json", exclude={"checkpoint"}) for point in training.points],
        },
    }
