"""Reading runs: their list, the state at any point, trainings, the replay. Nothing here writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dga2d.events import Dga2dError, RunId
from dga2d.replay.snapshots import SnapshotCheck
from dga2d.replay.state.digest import state_digest
from dga2d.replay.state.fold import fold
from dga2d.replay.state.run_state import RunState
from dga2d.replay.state.training_state import TrainingState
from dga2d.runtime.errors import RunStateError
from dga2d.runtime.inspection.log_check import DIFFERENCES
from dga2d.runtime.inspection.measures import measure_of
from dga2d.runtime.inspection.views import best_gap, run_row, state_view
from dga2d.runtime.runs.code_version import plugin_change
from dga2d.runtime.runs.states import load_generation, load_state, recall_problem, snapshot_seal
from dga2d.store import EventStore, RunSummary, open_store, verify_events

if TYPE_CHECKING:
    from dga2d.agents.decision_replay import DecisionVerifier


async def run_names(url: str, domain: str | None = None) -> list[str]:
    """Return the names of the runs of a database, oldest first; those of `domain` alone if one is given."""
    async with open_store(url, create=False, read_only=True) as store:
        return [run.run_id for run in await store.runs() if domain is None or run.domain == domain]


async def list_runs(url: str) -> list[dict[str, Any]]:
    """Return all runs of a database with their status, oldest first."""
    rows = []
    async with open_store(url, create=False, read_only=True) as store:
        for run in await store.runs():
            row = run_row(run)
            try:
                state = await load_state(store, run.run_id)
            except Dga2dError:
                row.update(status="damaged", generations=None, calls=None, best_gap_percent=None)
            else:
                if state.training is not None:
                    row.update(domain=state.training.started.domain)
                row.update(
                    status=status_of(run, state),
                    generations=state.completed,
                    calls=state.ledger.used,
                    best_gap_percent=best_gap(state),
                    **({} if state.started is None else measure_of(state.header).entry),
                )
            rows.append(row)
    return rows


def status_of(run: RunSummary, state: RunState) -> str:
    """Return the status of a run; ``stopped`` where it was under way and its process is gone."""
    return "stopped" if state.status == "running" and not run.is_leased else state.status


async def read_state_view(url: str, run_id: str, seq: int | None, generation: int | None) -> dict[str, Any]:
    """Return what ``dga2d show`` prints of the state that `state_at` returns. Raises as that."""
    from dga2d.runtime.inspection.verdict import read_achievement

    async with open_store(url, create=False, read_only=True) as store:
        state = await state_at(store, run_id, seq, generation)
        if seq is None and generation is None:  # earlier, it was what it was
            row = next(run for run in await store.runs() if run.run_id == run_id)
            status = status_of(row, state)
        else:
            status = state.status
        if state.training is not None:
            return training_view(run_id, state, state.training) | {"status": status}
        view = state_view(run_id, state, await read_achievement(store, run_id, state))
        return view | {"status": status}


async def state_at(store: EventStore, run_id: str, seq: int | None, generation: int | None) -> RunState:
    """Return the state of a run now, after event `seq`, or when `generation` had closed (0: with its graph).

    Raises
    ------
    RunStateError
        The run has not come that far.
    """
    if generation is None:
        state = await load_state(store, RunId(run_id), seq)
        if seq is not None and state.seq < seq:
            raise RunStateError(f"run {run_id} has {state.seq} events; there is no event {seq}")
        return _begun(run_id, state)
    found = await load_generation(store, RunId(run_id), generation)
    if found is not None:
        return found
    closed = (await load_state(store, RunId(run_id))).completed
    raise RunStateError(f"run {run_id} has closed {closed} generations, not {generation}")


async def replay_run(url: str, run_id: str, verify: bool, kept_head: str | None = None) -> dict[str, Any]:
    """Fold a whole log with all its checks, up to the first difference.

    With `verify`, every decision is repeated from its recorded inputs, too (``decisions`` counts them), and
    the snapshots are compared with the states of the log (``snapshots``).
    `kept_head` is a hash that was printed earlier and kept elsewhere: if no event of the log has it, the log
    was cut off or rewritten since.

    Raises
    ------
    UnknownRunError
        There is no such run.
    UnknownDomainError
        `verify`: the run's domain is not known here.
    """
    report: dict[str, Any] = {
        "run": run_id,
        "events": 0,
        "generations": [],
        "decisions": 0,
        "snapshots": None,
        "difference": None,
        "state_digest": None,
        "head_hash": None,
    }
    state = RunState()
    verifier, snapshots = None, None
    is_head_found = False
    async with open_store(url, create=False, read_only=True) as store:
        report["head_hash"] = (await store.head(RunId(run_id))).hash.hex()
        if verify:
            snapshots = SnapshotCheck(RunId(run_id), await store.snapshots(RunId(run_id)), snapshot_seal())
        try:
            async for event in verify_events(store.read(RunId(run_id))):
                before, state = state, fold(state, event)
                is_head_found = is_head_found or event.hash.hex() == kept_head
                if snapshots is not None:
                    snapshots.compare(event, state)
                if verify and state.training is None:
                    recall_problem(state)
                    verifier = verifier or _verifier(state.header.domain, store)
                    await verifier.check(before, event)
                    report["decisions"] = verifier.decisions
                if event.type == "GenerationCompleted":
                    summary = state.history[state.completed]
                    report["generations"].append(
                        {"generation": summary.number, "state_digest": summary.state_digest}
                    )
        except DIFFERENCES as error:
            changed = plugin_change(state.code_version, state.header.domain) if verifier is not None else None
            report["difference"] = str(error) if changed is None else f"{error}; {changed}"
    if snapshots is not None:
        checked = snapshots.report(is_whole=report["difference"] is None)
        report["snapshots"] = {"kept": checked.kept, "ignored": checked.kept - checked.sealed}
        if report["difference"] is None and checked.differences:
            report["difference"] = f"run {run_id}: {'; '.join(checked.differences)}"
    if kept_head is not None and not is_head_found and report["difference"] is None:
        report["difference"] = (
            f"run {run_id}: none of its {state.seq} events has the kept hash {kept_head}; "
            "the log was cut off or rewritten since that hash was printed"
        )
    report["events"] = state.seq
    report["state_digest"] = state_digest(state)
    return report


def _verifier(domain_name: str, store: EventStore) -> DecisionVerifier:
    # domains (numba) and agents take a second to import; only --verify pays for them
    from dga2d.agents.decision_replay import DecisionVerifier
    from dga2d.agents.proposing.tasks import PromptContext
    from dga2d.domains.core.registry import get_domain

    domain = get_domain(domain_name)
    return DecisionVerifier(PromptContext.of(domain.card, domain.operators()), store)


def _begun(run_id: str, state: RunState) -> RunState:
    if state.started is None and state.training is None:
        raise RunStateError(f"run {run_id} has no events; it was killed before it began")
    return state


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
